"""Many questions → the ones that are asked: those of some tags, balanced over the values of tags."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shaketable.errors import StudyError, did_you_mean
from shaketable.identity import canonical, seed_from
from shaketable.types import NOTHING, Json, Question

N_LISTED = 20
"""Values that an error names; a tag may have as many as there are questions."""


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
    where: Mapping[str, Sequence[Json]] = NOTHING,
    by: Sequence[str] = (),
    per_cell: int | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> Selection:
    """Draw up to `per_cell` questions for each combination of the tags `by`, then at most `limit` of them in all.

    Only questions that have, of each tag in `where`, one of its values are drawn.
    The order of the questions given changes nothing, and a smaller `limit` or `per_cell` with the
    same seed takes a part of what a larger one takes.
    """
    _check(questions, by, per_cell, limit)
    _check_values(questions, where)
    cells: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        if all(_is_among(question.tags.get(tag), values) for tag, values in where.items()):
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


def _is_among(value: Json, values: Sequence[Json]) -> bool:
    """Unlike Python's own `in`, 1 is not true."""
    return any(value == other and isinstance(value, bool) == isinstance(other, bool) for other in values)


def _shuffled(members: Sequence[Question], seed: int, cell: str) -> list[Question]:
    """The questions of a cell in the order they are drawn: uniform, without replacement."""
    in_order = sorted(members, key=lambda question: question.id)
    random.Random(seed_from(seed, cell)).shuffle(in_order)
    return in_order


def _check(questions: Sequence[Question], by: Sequence[str], per_cell: int | None, limit: int | None) -> None:
    for tag in by:
        _check_tag(questions, tag, "to balance by")
    for name, number in (("per_cell", per_cell), ("limit", limit)):
        if number is not None and number < 1:
            raise StudyError(f"{name} is {number}, expected at least 1. Leave it out to take all questions.")


def _check_values(questions: Sequence[Question], where: Mapping[str, Sequence[Json]]) -> None:
    for tag, values in where.items():
        _check_tag(questions, tag, "to filter by (dataset.where)")
        known = {canonical(question.tags[tag]): question.tags[tag] for question in questions if tag in question.tags}
        for value in values:
            if not _is_among(value, list(known.values())):
                listed = sorted(known, key=lambda text: (len(text), text))
                more = f" and {len(listed) - N_LISTED} more" if len(listed) > N_LISTED else ""
                raise StudyError(
                    f"dataset.where.{tag}: no question has the value {canonical(value)}. "
                    f"Values: {', '.join(listed[:N_LISTED])}{more}."
                )


def _check_tag(questions: Sequence[Question], tag: str, purpose: str) -> None:
    known = sorted({tag for question in questions for tag in question.tags})
    if tag not in known:
        raise StudyError(
            f"No question has the tag '{tag}' {purpose}.{did_you_mean(tag, known)} Tags: {', '.join(known) or 'none'}."
        )
