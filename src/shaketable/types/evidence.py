"""What a search brings, and what a perturbation changed in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shaketable.types.questions import Passage, Question


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """What a retriever is told. The scheduler adds the question; a method never sees it."""

    text: str
    question: Question


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A passage that a search brought, and where it stands.

    >>> import shaketable
    >>> from shaketable.types import Passage, Sentence
    >>> france = Passage(id="p1", title="France", sentences=(Sentence(id="p1#0", text="Its capital is Paris."),))
    >>> shaketable.Hit(passage=france, rank=1, score=None, source="mine").passage.text
    'Its capital is Paris.'
    """

    passage: Passage
    rank: int
    """1 is best."""
    score: float | None
    """The retriever's own number; None where it has none (gold evidence)."""
    source: str
    """The part that put it there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """One change to one sentence, or a passage that moves; replaying a log's edits on the input gives the output."""

    kind: Literal["replace", "remove", "insert", "move"]
    sentence_id: str
    """A passage moves with its first sentence."""
    before: str | None
    """None: inserted."""
    after: str | None
    """None: removed."""
    note: str = ""
    rank: int | None = None
    """Where a moved or new passage stands after all edits, 1 is first; None: the edit stays inside its passage."""
    title: str | None = None
    """Of the new passage that the inserted sentence belongs to; None: it joins a passage that is there."""
    source: str | None = None
    """The part that brings the new passage."""
    id_after: str | None = None
    """Of a replacing sentence that has an id of its own; None: the sentence keeps its id."""
    anchor: str | None = None
    """Id of the sentence that an inserted one stands beside; None: it is not inserted, or opens a passage."""
    side: Literal["before", "after"] | None = None
    """Of the anchor."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What a search brought after the perturbation had its turn.

    >>> import shaketable
    >>> shaketable.Evidence(hits=(), flags=("nothing_found",)).flags
    ('nothing_found',)
    """

    hits: tuple[Hit, ...]
    edits: tuple[Edit, ...] = ()
    flags: tuple[str, ...] = ()
    """What could not be done as asked, such as `nothing_to_mask`; counted in the report."""
