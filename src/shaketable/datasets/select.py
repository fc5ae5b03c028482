"""Many questions → the ones that are asked, balanced over the values of tags."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shaketable.errors import StudyError, did_you_mean
from shaketable.identity import canonical, seed_from
from shaketable.types import Json, Question


@dataclass(frozen=True, kw_only=True, slots=True)
class ShortCell:
    """A cell with fewer questions than were wanted."""

    values: Mapping[str, Json]
    """Tag → value, such as type: comparison, n_facts: 4."""
    n: int
    """The questions it has; all of them were taken."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    questions: tuple[Question, ...]
    """One from each cell in turn, so that every beginning of the list is balanced too."""
    short: tuple[ShortCell, ...] = ()


def select(
    questions: Sequence[Question],
    *,
    by: Sequence[str] = (),
    per_cell: int | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> Selection:
    """Draw up to `per_cell` questions for each combination of the tags `by`, then at most `limit` of them in all.

    The order of the questions given changes nothing, and a smaller `limit` or `per_cell` with the
    same seed takes a part of what a larger one takes.
    """
    _check(questions, by, per_cell, limit)
    cells: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        cells[_cell(question, by)].append(question)
    drawn = {cell: _shuffled(members, seed, cell)[:per_cell] for cell, members in sorted(cells.items())}
    rounds = itertools.zip_longest(*drawn.values())
    in_turn = [question for one_round in rounds for question in one_round if question is not None]
    return Selection(
        questions=tuple(in_turn[:limit]),
        short=tuple(
            ShortCell(values={tag: members[0].tags.get(tag) for tag in by}, n=len(members))
            for members in drawn.values()
            if per_cell is not None and len(members) < per_cell
        ),
    )


def _cell(question: Question, by: Sequence[str]) -> str:
    """The values of the tags as text; a question without a tag is in a cell of its own kind."""
    return canonical([question.tags.get(tag) for tag in by])


def _shuffled(members: Sequence[Question], seed: int, cell: str) -> list[Question]:
    """The questions of a cell in the order they are drawn: uniform, without replacement."""
    in_order = sorted(members, key=lambda question: question.id)
    random.Random(seed_from(seed, cell)).shuffle(in_order)
    return in_order


def _check(questions: Sequence[Question], by: Sequence[str], per_cell: int | None, limit: int | None) -> None:
    known = sorted({tag for question in questions for tag in question.tags})
    for tag in by:
        if tag not in known:
            raise StudyError(
                f"No question has the tag '{tag}' to balance by.{did_you_mean(tag, known)} "
                f"Tags: {', '.join(known) or 'none'}."
            )
    for name, number in (("per_cell", per_cell), ("limit", limit)):
        if number is not None and number < 1:
            raise StudyError(f"{name} is {number}, expected at least 1. Leave it out to take all questions.")
