"""What a system would have answered without any search: the closed-book answers to the same wordings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from shaketable import catalog
from shaketable.analyses.tables import Tables
from shaketable.analyses.wording.answers import group_replies, read_scores
from shaketable.analyses.wording.asked import Asked, Reply
from shaketable.errors import PartError
from shaketable.factors import ORIGINAL, System
from shaketable.protocols import ExampleMethod, LaidOutMethod, PromptingPart

EXAMPLES = "chain_examples"
"""The prompt that holds the worked examples."""
Wording = Literal["same", "original"]
"""Which closed-book answer tells whether a search was needed: that to the same wording, or to the original."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClosedBook:
    """What stands for no retrieval beside one system."""

    system: System
    method: str
    """The closed-book method, as it is written in the study."""
    is_alike: bool
    """Whether it was asked in the form of the system it is compared with, so that searching alone differs."""


@dataclass(frozen=True, kw_only=True)
class Unaided:
    """Closed-book correctness by question and wording, averaged over runs."""

    correct: Mapping[tuple[str, str, str], float]
    """By question id, variation and wording."""
    wording: Wording
    closed_book: ClosedBook | None = None
    """None: there is none."""
    reason: str | None = None
    """Why there is none."""

    def of(self, reply: Reply) -> float | None:
        """How likely the closed-book answer to this trial's question is correct."""
        if self.wording == "same":
            return self.correct.get((reply.question_id, reply.variation, reply.wording))
        return self.correct.get((reply.question_id, ORIGINAL, ""))


def find_unaided(
    every: Sequence[Asked],
    asked: Asked,
    method: str,
    scores: Mapping[str, float | None],
    wording: Wording,
    tables: Tables,
) -> Unaided:
    """The closed-book answers of the same model to the same dataset at the same temperature.

    Of several such methods the one that is asked in the system's own form, with as many worked examples and the same
    layout, so that searching alone differs; where none is, the one with the most worked examples.
    """
    candidates = [
        other
        for other in every
        if _conditions(other) == _conditions(asked)
        and method in (other.system.method, tables.method_of(other.system).partition("(")[0])
    ]
    if not candidates:
        return Unaided(
            correct={},
            wording=wording,
            reason=f"{method} was not asked with this model at this temperature; add it to the methods",
        )
    own = _form(tables.method_of(asked.system))
    chosen = max(
        candidates,
        key=lambda other: (
            (form := _form(tables.method_of(other.system))) == own,
            form or (0, ""),
            other.system.method,
        ),
    )
    is_alike = own is not None and _form(tables.method_of(chosen.system)) == own
    return Unaided(
        correct=_mean_scores(chosen, scores),
        wording=wording,
        closed_book=ClosedBook(system=asked.system, method=chosen.system.method, is_alike=is_alike),
    )


def _conditions(asked: Asked) -> tuple[object, ...]:
    return asked.cell.dataset, asked.system.model, asked.cell.temperature


def _mean_scores(asked: Asked, scores: Mapping[str, float | None]) -> dict[tuple[str, str, str], float]:
    """By question id, variation and wording, over runs; that of the original also without its wording."""
    values: dict[tuple[str, str, str], list[float]] = {}
    for reply in asked.every_reply():
        score = scores.get(reply.key)
        if score is not None:
            values.setdefault((reply.question_id, reply.variation, reply.wording), []).append(score)
            if reply.variation == ORIGINAL and reply.wording:
                values.setdefault((reply.question_id, ORIGINAL, ""), []).append(score)
    return {key: math.fsum(numbers) / len(numbers) for key, numbers in values.items()}


def _form(method: str) -> tuple[int, str] | None:
    """Worked examples that reason first, and the layout; None: asked in a form of its own, or not known here."""
    try:
        part = catalog.build("method", method)
    except PartError:
        return None
    if not isinstance(part, PromptingPart) or EXAMPLES not in {template.name for template in part.prompts}:
        return None
    layout = part.layout if isinstance(part, LaidOutMethod) else "chat"
    return (part.n_examples, layout) if isinstance(part, ExampleMethod) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """A system that searches beside its closed-book answers."""

    asked: Asked
    unaided: Unaided


def compare_with_closed_book(
    tables: Tables, correct: str | None, closed_book: str, need: Wording
) -> tuple[list[Compared], Mapping[str, float | None]]:
    """Every system that searches, and which trials are correct."""
    scores = read_scores(tables, correct)
    every = group_replies(tables.records)
    compared = [
        Compared(asked=asked, unaided=find_unaided(every, asked, closed_book, scores, need, tables))
        for asked in every
        if asked.searches
    ]
    return compared, scores


def closed_books(compared: Sequence[Compared]) -> tuple[ClosedBook, ...]:
    """What stood for no retrieval, once for each system."""
    known = (pair.unaided.closed_book for pair in compared)
    return tuple(dict.fromkeys(closed_book for closed_book in known if closed_book))
