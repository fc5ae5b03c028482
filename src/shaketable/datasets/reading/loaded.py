"""What a dataset function gives back."""

from __future__ import annotations

from dataclasses import dataclass

from shaketable.types import Passage, Question


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejected:
    """A record that was read and left out."""

    where: str
    """File, line or record, and id."""
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Remark:
    """A record that was kept, but not as it was read."""

    where: str
    """File, line or record, and id."""
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    questions: tuple[Question, ...]
    """In the order of the file; ids are unique."""
    rejected: tuple[Rejected, ...] = ()
    corpus: tuple[Passage, ...] = ()
    """What a real retriever may search, ids unique; empty for closed-book sets."""
    remarks: tuple[Remark, ...] = ()
    """Aliases that were dropped, facts that name no sentence."""
