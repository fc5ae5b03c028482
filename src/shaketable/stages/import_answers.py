"""Answers made elsewhere → a run that can be scored and analyzed."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from shaketable.errors import DataError, RunError
from shaketable.factors import UNCHANGED, System
from shaketable.facts.score import GIVEN_ENTROPY
from shaketable.identity import canonical, digest, seed_from, trial_key
from shaketable.metrics.scoring import GIVEN_SCORES
from shaketable.stages.answer_rows import AnswerRow, HitRow, PlacedRow, SearchRow, logprob_pair, read_answer_rows
from shaketable.stages.interchange.logs import LogFormat, read_log
from shaketable.stages.pick_analyses import LeftOut, pick_analyses
from shaketable.store import Run
from shaketable.store.dimensions import UsedPart
from shaketable.store.tables import GOLD_HIT
from shaketable.study import Generation
from shaketable.study.naming import name_after
from shaketable.types import (
    Answer,
    Completion,
    Cost,
    DatasetChoice,
    Event,
    Evidence,
    Failure,
    Generate,
    Hit,
    Message,
    Note,
    Passage,
    Question,
    Record,
    Remark,
    Search,
    Study,
    Trial,
    Variant,
)

BATCH = 1000
LABELS = ("model", "method", "retriever", "perturbation")
_NOT_ANSWERED = Failure(kind="not_answered", message="The file says null here.", step="import", may_retry=False)


@dataclass(frozen=True, kw_only=True)
class ImportedCondition:
    """The labels a file gives; what stands behind them is not known here."""

    labels: Mapping[str, str | None]

    @cached_property
    def identity(self) -> str:
        return canonical(["imported", *self.labels.values()])

    @property
    def parts(self) -> list[UsedPart]:
        return [
            UsedPart(kind=kind, label=label, name=label, version=None, settings={})
            for kind, label in self.labels.items()
            if label is not None
        ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """A run of answers from elsewhere."""

    run: Run
    left_out: tuple[LeftOut, ...]
    """The analyses that its study does not name, and why."""
    remarks: tuple[Remark, ...] = ()
    """What of a log was not taken as it stands there."""


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the collector of garbage: rows are many small values in no circle, which it would walk again and again."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


@_uncollected()
def import_answers(
    path: Path, out: Path, *, log_format: LogFormat | None = None, temperature: float | None = None
) -> Imported:
    """A file of answers, or logs of Inspect and lm-evaluation-harness: their content tells, unless the format is said.

    `temperature` is that of logs which name none.
    """
    log = read_log(path, log_format, temperature)
    rows = _with_clean_evidence(read_answer_rows(path) if log is None else list(log.rows))
    questions = _questions(rows)
    picked = pick_analyses([row for _, row in rows])
    study = Study(
        name=name_after(path.stem),
        seed=0,
        datasets=(DatasetChoice(name="imported", settings={"path": str(path.absolute())}),),
        models=_seen(rows, "model"),
        methods=_seen(rows, "method"),
        retrievers=_seen(rows, "retriever") or ("gold",),
        perturbations=_seen(rows, "perturbation") or (UNCHANGED,),
        variations=_seen(rows, "variation"),
        temperatures=tuple(sorted({row.temperature for _, row in rows})),
        repeats=max(row.repeat for _, row in rows) + 1,
        generation=Generation(max_tokens=1).model_dump(exclude={"models"}),  # type: ignore[call-arg]
        metrics=(*picked.metrics, *_given_metrics(rows)),
        analyses=picked.analyses,
    )
    conditions: dict[tuple[str | None, ...], ImportedCondition] = {}
    keys: dict[str, str] = {}
    for where, row in rows:
        first = keys.setdefault(_key(row, _condition(row, conditions)), where)
        if first != where:
            raise DataError(
                f"{where}: the same question, condition, temperature and repeat as {first}. "
                + ("Number repeated answers with 'repeat': 0, 1, 2 …" if log is None else "Import one log of the two.")
            )
    fingerprint = _fingerprint(rows)
    run = Run.prepare(out, study)
    with run.writing() as store:
        if store.meta().get("fingerprint", fingerprint) != fingerprint:
            raise RunError(
                f"{out} holds answers of an earlier {path.name}. Nothing was changed. Give a new folder with --out."
            )
        store.set_meta(n_trials=len(rows), fingerprint=fingerprint)
        store.add_questions([(question, digest(question.id)) for question in questions.values()])
        placed = zip(keys, rows, strict=True)
        while some := list(itertools.islice(placed, BATCH)):
            records = [_record(row, key, _condition(row, conditions)) for key, (_, row) in some]
            store.append(records, {"engine": "imported"})
    return Imported(run=run, left_out=picked.left_out, remarks=() if log is None else log.remarks)


def _fingerprint(rows: list[PlacedRow]) -> str:
    """The digest of all rows, without a second copy of them in the memory."""
    summed = hashlib.sha256(b"[")
    for n, (_, row) in enumerate(rows):
        summed.update(("," if n else "").encode() + canonical(row.model_dump()).encode("utf-8", "surrogatepass"))
    summed.update(b"]")
    return summed.hexdigest()[:32]


def _condition(row: AnswerRow, known: dict[tuple[str | None, ...], ImportedCondition]) -> ImportedCondition:
    labels = row.model, row.method, row.retriever, row.perturbation
    if labels not in known:
        known[labels] = ImportedCondition(labels=dict(zip(LABELS, labels, strict=True)))
    return known[labels]


def _key(row: AnswerRow, condition: ImportedCondition) -> str:
    item = digest(row.question_id)
    return trial_key(condition.identity, item, row.variation, _wording(row), row.temperature, row.repeat)


def _wording(row: AnswerRow) -> str:
    return row.question if row.wording is None else row.wording


def _with_clean_evidence(rows: list[PlacedRow]) -> list[PlacedRow]:
    """Rows that name no perturbation are undisturbed where others of the same system name one."""
    disturbed = {_system(row) for _, row in rows if row.perturbation is not None}
    return [
        (where, row.model_copy(update={"perturbation": UNCHANGED}))
        if row.perturbation is None and _system(row) in disturbed
        else (where, row)
        for where, row in rows
    ]


def _system(row: AnswerRow) -> System:
    return System(model=row.model, method=row.method, retriever=row.retriever)


def _questions(rows: list[PlacedRow]) -> dict[str, Question]:
    """One question per id: its text is that of the original wording where the file has it."""
    questions: dict[str, Question] = {}
    for where, row in sorted(rows, key=lambda numbered: numbered[1].variation != "original"):
        titles = tuple(row.gold_titles)
        gold = (row.gold,) if isinstance(row.gold, str) else tuple(row.gold)
        if not any(answer.strip() for answer in gold):
            raise DataError(f"{where}: 'gold' is empty. Give an accepted answer.")
        known = questions.get(row.question_id)
        if known is not None and known.answers != gold:
            raise DataError(
                f"{where}: question '{row.question_id}' has the gold answers {list(gold)}, but "
                f"{list(known.answers)} in another line. One question has one list of accepted answers."
            )
        if known is not None and titles and known.gold_titles != titles:
            raise DataError(
                f"{where}: question '{row.question_id}' has the gold titles {list(titles)}, but "
                f"{list(known.gold_titles)} in another line. Give the same in each line of a question, or in its first."
            )
        if known is not None and row.reference is not None and known.reference != row.reference:
            raise DataError(
                f"{where}: question '{row.question_id}' has the reference {row.reference!r}, but {known.reference!r} "
                "in another line. Give the same in each line of a question, or in its first."
            )
        named = {name: value for name, value in (("type", row.type), ("n_facts", row.n_facts)) if value is not None}
        questions.setdefault(
            row.question_id,
            Question(
                id=row.question_id,
                text=row.question,
                answers=gold,
                dataset=row.dataset,
                gold_titles=titles,
                tags={**row.tags, **named},
                reference=row.reference,
            ),
        )
    return questions


def _record(row: AnswerRow, key: str, condition: ImportedCondition) -> tuple[Record, ImportedCondition]:
    wording = _wording(row)
    variant = Variant(question_id=row.question_id, text=wording, variation=row.variation)
    trial = Trial(
        key=key, question_id=row.question_id, variant=variant, temperature=row.temperature, repeat=row.repeat,
        seed=seed_from(key), model=row.model, method=row.method, retriever=row.retriever,
        perturbation=row.perturbation,
    )  # fmt: skip
    n_searches = len(row.searches) if row.n_searches is None else row.n_searches
    record = Record(
        trial=trial,
        answer=None if row.answer is None else Answer(text=row.answer, working=row.working),
        failure=None if row.answer is not None else _failure(row),
        trace=(
            *(event for search in row.searches for event in _events(search)),
            *(_doubt(row, wording) or _asked(row)),
            *_given(row),
        ),
        cost=Cost(
            n_searches=n_searches,
            n_generations=row.n_generations or 0,
            n_prompt_tokens=row.n_prompt_tokens or 0,
            n_tokens=row.n_tokens or 0,
            seconds=row.seconds,
        ),
    )
    return record, condition


def _events(search: SearchRow) -> list[Event]:
    hits = tuple(
        Hit(passage=_passage(hit), rank=rank, score=None, source="imported") for rank, hit in enumerate(search.hits, 1)
    )
    events = [Event(step=Search(query=search.query, k=len(hits)), reply=Evidence(hits=hits))]
    if search.gold_hit is not None:
        events.append(Event(step=Note(name=GOLD_HIT, values={"value": search.gold_hit}), reply=None))
    return events


def _doubt(row: AnswerRow, wording: str) -> list[Event]:
    """How sure the model was: its entropy, or the reply that the metric `entropy` reads it from."""
    if row.entropy is not None:
        return [Event(step=Note(name=GIVEN_ENTROPY, values={"value": row.entropy}), reply=None)]
    if not row.top_logprobs or row.answer is None:
        return []
    n = len(row.top_logprobs)
    completion = Completion(
        text=row.answer,
        finish_reason="end",
        n_prompt_tokens=0,
        n_tokens=n,
        seconds=0.0,
        # Where their texts are not told, all tokens are the answer's, which is said when the last one is.
        tokens=("",) * (n - 1) + (row.answer,) if row.tokens is None else tuple(row.tokens),
        extras={"top_logprobs": [[list(logprob_pair(listed)) for listed in position] for position in row.top_logprobs]},
        decoding={"temperature": row.temperature},
    )
    return [Event(step=Generate(messages=(Message(role="user", content=wording),)), reply=completion)]


def _asked(row: AnswerRow) -> list[Event]:
    """What the model was asked last, and what it said."""
    if not row.prompt:
        return []
    completion = Completion(
        text=row.working or row.answer or "",
        finish_reason="end",
        n_prompt_tokens=row.n_prompt_tokens or 0,
        n_tokens=row.n_tokens or 0,
        seconds=row.seconds,
        decoding={"temperature": row.temperature},
    )
    messages = tuple(Message(role=message.role, content=message.content) for message in row.prompt)
    return [Event(step=Generate(messages=messages), reply=_failure(row) if row.answer is None else completion)]


def _given(row: AnswerRow) -> list[Event]:
    return [Event(step=Note(name=GIVEN_SCORES, values=dict(row.scores)), reply=None)] if row.scores else []


def _given_metrics(rows: list[PlacedRow]) -> list[str]:
    """A metric for each number that came with answers."""
    names = dict.fromkeys(name for _, row in rows for name in row.scores)
    return [f"given(number={name!r})" for name in names]


def _failure(row: AnswerRow) -> Failure:
    if row.failure is None:
        return _NOT_ANSWERED
    return Failure(kind=row.failure, message=row.failure_message, step="import", may_retry=False)


def _passage(hit: HitRow | str) -> Passage:
    if isinstance(hit, str):
        return Passage(id=hit, title=hit, sentences=())
    return Passage(id=hit.id, title=hit.title or hit.id, sentences=())


def _seen(rows: list[PlacedRow], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for _, row in rows if (value := getattr(row, name)) is not None))
