"""Questions that fare otherwise with another system: both answers side by side, with the words that changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from shaketable.analyses.compared import Compared
from shaketable.analyses.moves import Given, Move, TwoAnswers
from shaketable.factors import judges
from shaketable.report.comparison_words import name_condition
from shaketable.report.word_diff import Change, word_diff
from shaketable.report.words import format_amount, format_number
from shaketable.types import Unit

LONGEST = 6_000
"""Characters of an answer on the page."""
Verdict = Literal["right", "wrong", ""]
SHOWN: dict[str, tuple[Change, Change]] = {"first": ("kept", "gone"), "second": ("kept", "new")}


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownAnswer:
    name: str
    """The system."""
    words: tuple[tuple[Change, str], ...]
    """Runs of words, those that the other answer has not marked; none: it said nothing."""
    score: str
    verdict: Verdict
    """Empty: the number tells no right from wrong."""
    key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownPair:
    condition: str
    """Empty: the only one there is."""
    wording: str
    """Empty: as the question is written."""
    first: ShownAnswer
    second: ShownAnswer


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownMove:
    question: str
    gold: tuple[str, ...]
    what: str
    """`1 point more under 2 of 4 conditions`."""
    pairs: tuple[ShownPair, ...]


def show_moves(compared: Compared) -> list[ShownMove]:
    """Those that moved most first."""
    return [_show(move, compared) for move in compared.moves.questions]


def _show(move: Move, compared: Compared) -> ShownMove:
    return ShownMove(
        question=move.question,
        gold=move.gold,
        what=_describe(move, compared),
        pairs=tuple(_pair(answers, move, compared) for answers in move.answers),
    )


def _describe(move: Move, compared: Compared) -> str:
    difference = compared.comparison.overall.difference
    size = format_amount(replace(difference, value=abs(move.difference), low=None, high=None))
    how = f"{size} {'more' if move.difference > 0 else 'less'}" if move.difference else "both ways, as much"
    if move.n_conditions == 1:
        return f"{how} with {compared.second.name}"
    where = f"{move.n_moved:,} of {move.n_conditions:,} conditions"
    return f"{how} with {compared.second.name} on average; it differs under {where}"


def _pair(answers: TwoAnswers, move: Move, compared: Compared) -> ShownPair:
    texts = answers.first.text[:LONGEST], answers.second.text[:LONGEST]
    diff = word_diff(*texts)
    first, second = (
        _side(contender.name, given, [run for run in diff if run[0] in SHOWN[side]], compared)
        for side, contender, given in (
            ("first", compared.first, answers.first),
            ("second", compared.second, answers.second),
        )
    )
    return ShownPair(
        condition=name_condition(answers.cell, compared.comparison),
        wording=answers.wording if answers.wording != move.question else "",
        first=first,
        second=second,
    )


def _side(name: str, given: Given, words: list[tuple[Change, str]], compared: Compared) -> ShownAnswer:
    metric, unit = compared.comparison.metric, compared.comparison.overall.difference.unit
    verdict: Verdict = ""
    if judges(metric) and given.value in (0.0, 1.0):
        verdict = "right" if given.value else "wrong"
    cut: list[tuple[Change, str]] = [("kept", "…")] if len(given.text) > LONGEST else []
    return ShownAnswer(name=name, words=(*words, *cut), score=_score(given.value, unit), verdict=verdict, key=given.key)


def _score(value: float, unit: Unit) -> str:
    return format_number(value, unit) + (" %" if unit == "share" else "")
