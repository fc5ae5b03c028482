"""One question of a finished run → the smallest changes of its evidence and of its wording that turn the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shaketable import catalog
from shaketable.errors import RunError, UsageError
from shaketable.protocols import ClosingModel, PipelineModel, RecordRetriever, TemperatureModel
from shaketable.stages.explaining.asking_anew import Asker, Asking
from shaketable.stages.explaining.changed_evidence import Changed
from shaketable.stages.explaining.explain_evidence import EvidenceSearch
from shaketable.stages.explaining.explain_wording import Wordings, WordingSearch
from shaketable.stages.explaining.explained_now import made_from
from shaketable.stages.explaining.explained_trial import ExplainedTrial, find_trial
from shaketable.stages.explaining.judging import Judge, summarize_repeats
from shaketable.stages.readiness import refuse_unready
from shaketable.store import Run
from shaketable.store.explanation_file import write_explanation
from shaketable.store.explanations import (
    EvidenceSentence,
    Explanation,
    GivenAnswer,
    Operation,
    SentenceSet,
    WithoutEvidence,
)
from shaketable.store.lock import hold_lock
from shaketable.types import Record

MAX_CALLS = 200
OPERATIONS: tuple[Operation, ...] = ("removal", "masking", "replacement")


def explain(
    run: Run,
    question: str,
    *,
    system: str | None = None,
    by: Sequence[Operation] = OPERATIONS,
    wordings: Wordings = "all",
    repeats: int = 1,
    max_calls: int = MAX_CALLS,
    progress: Callable[[str], None] = lambda words: None,
) -> Explanation:
    """Ask one question anew, coolest, for the fewest sentences and the smallest rewording that turn its answer.

    `question`: an id, the key of a record, or a part of its text. The run keeps what comes out; its records stay as
    they are. With `repeats`, the most of so many answers decide.
    """
    if repeats < 1 or repeats % 2 == 0:
        raise UsageError(f"--repeats is {repeats}. Give an odd number, such as 3, so that most answers decide.")
    if max_calls < 1:
        raise UsageError(f"--max-calls is {max_calls}. Give 1 or more.")
    explained = find_trial(run, question, system)
    _refuse_without_evidence(explained)
    refuse_unready(explained.plan)
    judge = Judge(run.study, run.asked_metrics() or run.study.metrics)
    asker = Asker(explained.plan, explained.condition, explained.trial, judge, repeats, max_calls)
    try:
        explanation = _explain(explained, asker, judge, by, wordings, progress)
    finally:
        if isinstance(explained.condition.model, ClosingModel):
            explained.condition.model.close()
    with hold_lock(run.folder):
        write_explanation(run.folder, explanation)
    return explanation


def _explain(
    explained: ExplainedTrial,
    asker: Asker,
    judge: Judge,
    by: Sequence[Operation],
    wordings: Wordings,
    progress: Callable[[str], None],
) -> Explanation:
    def tell(words: str) -> None:
        progress(f"{words} ({asker.n_calls} of {asker.max_calls} calls so far)")

    perturbation = explained.condition.perturbation
    watching = None if perturbation is None else Changed(before=perturbation)
    tell(f"asking {explained.name}")
    base, records = _ask_plainly(explained, asker, judge, watching)
    seen = list(watching.seen.values()) if watching else []
    words_too = wordings != "none"
    sets: tuple[SentenceSet, ...] = ()
    search = None
    if watching is not None and seen:
        n_searches = max(record.cost.n_searches for record in records)
        search = EvidenceSearch(explained, asker, base, watching, n_searches=n_searches)
        sets = search.run(by, n_after=int(words_too), progress=tell)
    rewording = WordingSearch(explained, asker, base, watching).run(wordings, tell) if words_too else None
    if search is not None:
        sets = search.settle(sets, tell)
    trial, stored = explained.trial, explained.stored
    return Explanation(
        question_id=explained.question.id,
        question=explained.question.text,
        gold=explained.question.answers,
        system=explained.system,
        name=explained.name,
        wording=trial.variant.text,
        variation=trial.variant.variation,
        perturbation=None if perturbation is None else catalog.label(perturbation),
        temperature=trial.temperature,
        repeats=asker.repeats,
        is_sampled=_is_sampled(explained),
        judged_by=judge.number,
        key=trial.key,
        made_from=made_from(trial.key, explained.question.answers, judge.identity),
        answer=base,
        stored=stored.answer.text if stored and stored.answer else None,
        sentences=tuple(
            EvidenceSentence(
                id=target.sentence.id,
                text=target.sentence.text,
                title=target.title,
                is_supporting=target.sentence.id in explained.question.supporting,
            )
            for target in seen
        ),
        without_evidence=None if seen else _why_none(explained),
        sets=sets,
        rewording=rewording,
        n_calls=asker.n_calls,
        max_calls=asker.max_calls,
        dollars=asker.dollars,
    )


def _ask_plainly(
    explained: ExplainedTrial, asker: Asker, judge: Judge, watching: Changed | None
) -> tuple[GivenAnswer, list[Record]]:
    """The answer that is to be turned; one that cannot be judged is only ever compared with itself."""
    [records] = asker.records([Asking(perturbation=watching)])
    answered = [record for record in records if record.answer is not None]
    if not answered:
        why = next((record.failure.message for record in records if record.failure), "the limit of calls was reached")
        raise RunError(f"{explained.name} did not answer question {explained.question.id}: {why}")
    verdicts = judge.judge(records, explained.question) if judge.number is not None else []
    if all(verdict is None for verdict in verdicts):
        judge.compare_with(answered[0], explained.question)
        assert answered[0].answer is not None
        return GivenAnswer(text=answered[0].answer.text, is_right=True), records
    base = summarize_repeats(records, verdicts)
    if base.is_right is None:
        raise RunError(
            f"{explained.name} is as often right as wrong on question {explained.question.id} at temperature "
            f"{explained.trial.temperature:g}: there is no answer to turn. Ask more often: --repeats 5."
        )
    return base, records


def _refuse_without_evidence(explained: ExplainedTrial) -> None:
    retriever, question = explained.condition.retriever, explained.question
    has_own = {"documents": bool(question.documents), "supporting": bool(question.supporting)}
    if isinstance(retriever, RecordRetriever) and not has_own[retriever.needs]:
        raise UsageError(
            f"Question {question.id} has no evidence of its own, and {explained.condition.labels['retriever']} gives "
            "nothing else, so the system was never asked. Explain another question."
        )


def _is_sampled(explained: ExplainedTrial) -> bool:
    model = explained.condition.model
    takes = not isinstance(model, TemperatureModel) or model.takes_temperature
    return explained.trial.temperature > 0 or not takes


def _why_none(explained: ExplainedTrial) -> WithoutEvidence:
    if explained.condition.perturbation is not None:
        return "nothing_found"
    return "pipeline" if isinstance(explained.condition.model, PipelineModel) else "no_search"
