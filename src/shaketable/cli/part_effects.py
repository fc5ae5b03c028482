"""A part → what it does to a question that ships with the package: a diff, a score, the steps of a method."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.text import Text

from shaketable import catalog
from shaketable.cli.diffs import sentence_diff, sentences_of, word_diff
from shaketable.errors import ShaketableError
from shaketable.factors import ORIGINAL
from shaketable.protocols import CheckedModel, Method, PreparingMetric, WeightReadingPart
from shaketable.stages.check import lacks_for_wording
from shaketable.stages.pick_analyses import NEEDS
from shaketable.stages.vary import reword
from shaketable.types import (
    Answer,
    Completion,
    Evidence,
    Generate,
    Hit,
    Probe,
    Query,
    Question,
    Reading,
    Record,
    Reply,
    Search,
    Step,
    Trial,
    Variant,
)
from shaketable.variations.gate.reworded import CHECKED_BY_RULES, checked_fully

MOST_STEPS = 6
"""Of a method, that are shown."""
LONGEST = 700
"""Characters of a prompt that are shown."""
TRIED = 4
"""Questions that are tried until a part does something to one."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Effect:
    """What is shown of a part at work. Nothing in it was asked of a model."""

    question: str
    """Empty: it is shown without one."""
    lines: tuple[Text, ...]
    problem: str = ""
    """Why there is nothing to show; empty: there is."""


def show_effect(kind: str, text: str) -> Effect | None:
    """None: there is nothing to show of this kind."""
    showing = {
        "perturbation": _perturbed,
        "variation": _reworded,
        "metric": _scored,
        "method": _steps,
        "retriever": _found,
        "dataset": _read,
        "model": _asked,
        "analysis": _needs,
    }
    if kind not in showing:
        return None
    try:
        return showing[kind](text)
    except ImportError as error:
        package = (error.name or str(error)).partition(".")[0]
        problem = f"it needs the package {package}, which is not installed: pip install 'shaketable[all]'."
        return Effect(question="", lines=(), problem=problem)
    except ShaketableError as error:
        return Effect(question="", lines=(), problem=str(error))


def _questions() -> tuple[Question, ...]:
    return catalog.find("dataset", "builtin")().questions


def _gold(question: Question) -> list[Hit]:
    return catalog.build("retriever", "full_gold").search([Query(text=question.text, question=question)], 5)[0]


def _lacking(part: object) -> str | None:
    return part.lacks() if isinstance(part, WeightReadingPart) else None


def _perturbed(text: str) -> Effect:
    part = catalog.build("perturbation", text)
    if problem := _lacking(part):
        return Effect(question="", lines=(), problem=problem)
    shown = Effect(question="", lines=(), problem="it changes nothing in the questions that were tried.")
    for question in _questions()[:TRIED]:
        hits = _gold(question)
        evidence: Evidence = part.perturb([question], [hits])[0]
        lines = sentence_diff(sentences_of(hits), sentences_of(evidence.hits))
        shown = Effect(question=question.text, lines=tuple(lines))
        if evidence.edits:
            break
    return shown


def _reworded(text: str) -> Effect:
    part = catalog.build("variation", text)
    if problem := lacks_for_wording(part):
        return Effect(question="", lines=(), problem=problem)
    for question in _questions()[:TRIED]:
        made = [variant for batch in reword(part, [question]) for _, own in batch for variant in own.variants]
        accepted = [variant for variant in made if not variant.rejected]
        if accepted:
            lines = [word_diff(question.text, variant.text) for variant in accepted]
            said = [Text(f"  before it: {message.content}") for variant in accepted for message in variant.history]
            checked = [] if checked_fully(part) else [Text(f"  {CHECKED_BY_RULES}", style="dim")]
            return Effect(question=question.text, lines=(*said, *lines, *checked))
    return Effect(question="", lines=(), problem="none of the questions that were tried got a wording that passed.")


# --- metrics --------------------------------------------------------------------------------------


def _scored(text: str) -> Effect:
    metric = catalog.build("metric", text)
    if problem := _lacking(metric):
        return Effect(question="", lines=(), problem=problem)
    question = next(question for question in _questions() if question.answers)
    gold = question.answers[0]
    answers = (gold, f"I believe that it is {gold}, but I am not sure.", "I do not know.", "Atlantis")
    records = [_record(question, answer, n) for n, answer in enumerate(answers)]
    if isinstance(metric, PreparingMetric):
        metric.prepare(records, {question.id: question})
    lines = [Text(f"  accepted: {', '.join(question.answers)}", style="dim")]
    for answer, scores in zip(answers, metric.score(records, {question.id: question}), strict=True):
        numbers = ", ".join(
            f"{score.metric} {score.value:.2f}" if score.value is not None else f"{score.metric}: none ({score.reason})"
            for score in scores
        )
        lines.append(Text(f"  “{answer}” → {numbers}"))
    return Effect(question=question.text, lines=tuple(lines))


def _record(question: Question, answer: str, repeat: int) -> Record:
    trial = Trial(
        key=f"shown-{repeat}",
        question_id=question.id,
        variant=Variant(question_id=question.id, text=question.text, variation=ORIGINAL),
        method="closed_book",
        retriever=None,
        perturbation=None,
        model="shown",
        temperature=0.0,
        repeat=repeat,
        seed=0,
    )
    return Record(trial=trial, answer=Answer(text=answer))


# --- methods --------------------------------------------------------------------------------------


def _steps(text: str) -> Effect:
    """A method driven by replies that are made here: each prompt is answered with the accepted answer."""
    method: Method = catalog.build("method", text)
    question = _questions()[0]
    hits, gold = _gold(question), question.answers[0]
    lines: list[Text] = []
    steps = method.answer(question.text)
    try:
        step = next(steps)
        while len(lines) < MOST_STEPS:
            lines += _step_lines(step, len(lines) + 1)
            step = steps.send(_reply(step, hits, gold))
        lines.append(Text("  … and so on"))
    except StopIteration as end:
        lines.append(Text(f"  answer: {end.value.text}"))
    except (KeyError, IndexError, ValueError, ZeroDivisionError):
        # What it reads of tokens cannot be made up here.
        lines.append(Text("  … and on, by what it reads of the model's own tokens"))
    finally:
        steps.close()
    return Effect(question=question.text, lines=tuple(lines))


def _step_lines(step: Step, number: int) -> Iterator[Text]:
    match step:
        case Search(query=query, k=k):
            yield Text(f"  {number}. search for “{query}”, {k} passages")
        case Generate(messages=messages):
            asked = "\n".join(message.content for message in messages)
            shown = asked if len(asked) <= LONGEST else f"{asked[: LONGEST // 2]}\n[…]\n{asked[-LONGEST // 2 :]}"
            yield Text(f"  {number}. ask the model:\n").append(_indented(shown), style="dim")
        case Probe():
            yield Text(f"  {number}. read how likely the model finds each word of what it wrote")


def _indented(text: str) -> str:
    return "\n".join(f"       {line}" for line in text.splitlines())


def _reply(step: Step, hits: Sequence[Hit], gold: str) -> Reply:
    match step:
        case Search(k=k):
            return Evidence(hits=tuple(hits[:k]))
        case Generate():
            return Completion(text=gold, finish_reason="end", n_prompt_tokens=0, n_tokens=1, seconds=0.0)
        case Probe(text=text):
            return Reading(tokens=tuple(text.split()), extras={})
        case _:
            return None


# --- retrievers -----------------------------------------------------------------------------------


def _found(text: str) -> Effect:
    part = catalog.build("retriever", text)
    problem = _lacking(part) or (part.lacks(()) if isinstance(part, CheckedModel) else None)
    if problem:
        return Effect(question="", lines=(), problem=problem)
    question = _questions()[0]
    hits = part.search([Query(text=question.text, question=question)], 3)[0]
    lines = [Text(f"  {hit.rank}. {hit.passage.title}: {' '.join(sentences_of([hit]))[:160]}") for hit in hits[:3]]
    return Effect(question=question.text, lines=tuple(lines))


# --- datasets -------------------------------------------------------------------------------------

TINY = {
    "csv": ("questions.csv", "question,answer,level\nWho wrote Emma?,Jane Austen | Austen,easy\n"),
    "jsonl": ("questions.jsonl", '{"question": "Who wrote Emma?", "answers": ["Jane Austen"], "type": "person"}\n'),
    "table": (
        "questions.csv",
        "question,answer,context\nWho wrote Emma?,Jane Austen,Emma is a novel by Jane Austen.\n",
    ),
}
"""A file of a line, for those that read files of one's own."""


def _read(text: str) -> Effect:
    """The first question of the data, or of a file that is made here."""
    name, given = catalog.parse(text) if "(" in text else (text, {})
    load, sample = catalog.find("dataset", name), TINY.get(name)
    lines: list[Text] = []
    if given or name == "builtin":
        question = load(**given).questions[0]
    elif sample is not None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / sample[0]
            file.write_text(sample[1], "utf-8")
            question = load(path=str(file)).questions[0]
        lines.append(Text(f"  from {sample[0]}:\n").append(_indented(sample[1].rstrip()), style="dim"))
    else:
        problem = f"it needs a file. With one its first question is shown: shaketable ls \"{name}(path='FILE')\"."
        return Effect(question="", lines=(), problem=problem)
    lines.append(Text(f"  accepted answers: {', '.join(question.answers) or 'none'}"))
    for document in question.documents:
        supporting = [one for one in document.sentences if one.id in question.supporting]
        about = f"{len(document.sentences)} sentences, {len(supporting)} supporting"
        lines.append(Text(f"  evidence: {document.title} ({about})"))
    tags = ", ".join(f"{tag} = {value}" for tag, value in question.tags.items())
    lines.append(Text(f"  tags: {tags or 'none'}"))
    return Effect(question=question.text, lines=tuple(lines))


# --- models ---------------------------------------------------------------------------------------


def _asked(text: str) -> Effect:
    """The prompt of the plainest methods; nothing is built and nothing asked."""
    question = _questions()[0]
    lines = []
    for name in ("closed_book", "single_retrieval"):
        method: Method = catalog.build("method", name)
        steps = method.answer(question.text)
        step = next(steps)
        while not isinstance(step, Generate):
            step = steps.send(_reply(step, _gold(question), ""))
        steps.close()
        asked = "\n".join(f"{message.role}: {message.content}" for message in step.messages)
        shown = asked if len(asked) <= LONGEST else f"{asked[: LONGEST // 2]}\n[…]\n{asked[-LONGEST // 2 :]}"
        lines.append(Text(f"  by the method {name}:\n").append(_indented(shown), style="dim"))
    return Effect(question=question.text, lines=tuple(lines))


# --- analyses -------------------------------------------------------------------------------------


def _needs(text: str) -> Effect | None:
    """What a run must have for it; nothing is known of analyses from elsewhere."""
    needs = NEEDS.get(catalog.parse(text)[0])
    if needs is None:
        return None
    told = list(dict.fromkeys(need.in_run for need in needs if need.in_run)) or ["scores, which every run has"]
    return Effect(question="", lines=tuple(Text(f"  {need}") for need in told))
