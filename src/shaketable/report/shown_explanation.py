"""An explanation as a page or a terminal shows it: marked sentences, answers side by side, and lines of words."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from shaketable.factors import UNCHANGED, word_for
from shaketable.report.explanation_words import (
    CHANGED,
    describe_explanation,
    describe_limits,
    name_sentences,
    verdict_of,
)
from shaketable.report.word_diff import Change, word_diff
from shaketable.store.explanations import Explanation, GivenAnswer

Mark = Literal["turns", "could", "alone"]
"""A sentence whose change turns the answer; of another set of the same size that does; of those that are enough."""


SUPPORTING = "★ supports"


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownSentence:
    number: int
    text: str
    title: str
    """With a star where the dataset says that it supports the answer."""
    marks: frozenset[Mark]
    """What it does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownChange:
    """One line of the answers side by side."""

    change: str
    answer: GivenAnswer
    verdict: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownExplanation:
    heading: str
    sentences: tuple[ShownSentence, ...]
    changes: tuple[ShownChange, ...]
    """The answers before and after, the first as it was."""
    rewording: tuple[tuple[Change, str], ...]
    """The words of the smallest rewording, beside those that were asked; empty: there is none."""
    lines: tuple[str, ...]


def show_explanation(explanation: Explanation) -> ShownExplanation:
    marks = _marks(explanation)
    flipping = explanation.rewording.flipping if explanation.rewording else None
    return ShownExplanation(
        heading=_heading(explanation),
        sentences=tuple(
            ShownSentence(
                number=number,
                text=own.text,
                title=" ".join(filter(None, [own.title, SUPPORTING if own.is_supporting else ""])),
                marks=frozenset(mark for mark, ids in marks.items() if own.id in ids),
            )
            for number, own in enumerate(explanation.sentences, 1)
        ),
        changes=tuple(_changes(explanation)),
        rewording=tuple(word_diff(explanation.wording, flipping.text)) if flipping else (),
        lines=(*describe_explanation(explanation), *describe_limits(explanation)),
    )


def _heading(own: Explanation) -> str:
    judged = f", {verdict_of(own.answer, own)} by {word_for(own.judged_by)}" if own.judged_by else ""
    repeats = f", the most of {own.repeats} answers" if own.repeats > 1 else ""
    evidence = f", {own.perturbation}" if own.perturbation not in (None, UNCHANGED) else ""
    return f"{own.name} at temperature {own.temperature:g}{evidence}{repeats}: “{own.answer.text}”{judged}."


def _marks(own: Explanation) -> dict[Mark, Collection[str]]:
    removal = next((sets for sets in own.flipping if sets.operation == "removal"), None)
    turning = removal or next(iter(own.flipping), None)
    alone = own.by("alone")
    return {
        "turns": set(turning.sentences or ()) if turning else set(),
        "could": {id for other in turning.others for id in other} if turning else set(),
        "alone": set(alone.sentences or ()) if alone else set(),
    }


def _changes(own: Explanation) -> Iterator[ShownChange]:
    yield ShownChange(change="as it was asked", answer=own.answer, verdict=verdict_of(own.answer, own))
    for sets in own.sets:
        if sets.sentences is not None and sets.answer is not None:
            change = (
                "without any sentence"
                if not sets.sentences
                else CHANGED[sets.operation].format(name_sentences(sets.sentences, own))
            )
            yield ShownChange(change=change, answer=sets.answer, verdict=verdict_of(sets.answer, own))
    if own.rewording and (flipping := own.rewording.flipping):
        verdict = verdict_of(flipping.answer, own)
        yield ShownChange(change=f"asked as “{flipping.text}”", answer=flipping.answer, verdict=verdict)
