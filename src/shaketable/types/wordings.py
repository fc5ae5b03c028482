"""Questions in other words, how far they are from the original, and what it took to make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import cast

from shaketable.types.plain import NOTHING, Json, Message, Role

REFUSAL = "refusal"
"""Where the provenance of a rejected wording says for what kind of reason."""
HISTORY = "history"
"""Where the provenance of a follow-up question has what was said before it: role and content of each message."""
STRENGTH = "strength"
"""Where the provenance of a wording says how far it is from the original."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Strength:
    """How far a wording is from the original, whoever made it. What is None was not measured."""

    terms_kept: float | None = None
    """Share of the original's search terms that the wording still has, from 0 to 1."""
    edit_distance: float | None = None
    """Words put in, taken out or replaced, as a share of the longer of the two, from 0 to 1."""
    loss: float | None = None
    """Mean loss of a token minus that of the original, in nats, by the embedded model; above 0: less likely."""
    reading_ease: float | None = None
    """Flesch reading ease minus that of the original; below 0: harder to read."""
    meaning: float | None = None
    """Cosine of the two sentence vectors, from −1 to 1."""
    reason: str | None = None
    """Why something is None; None: everything was measured."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    question_id: str
    text: str
    """The wording that is asked."""
    variation: str
    """The variation that made it, as text; `original` for the untouched wording."""
    provenance: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """Who made it and how: attempts, checker, rule, annotator ..."""
    rejected: str | None = None
    """Why the meaning gate refused it; None: accepted. Rejected variants are kept, never averaged."""

    @property
    def refusal(self) -> str | None:
        """The kind of reason, by which like ones are counted; None: accepted, or its maker tells none."""
        kind = self.provenance.get(REFUSAL)
        return kind if isinstance(kind, str) else None

    @property
    def history(self) -> tuple[Message, ...]:
        """What was said before it is asked; empty: it opens the conversation."""
        if HISTORY not in self.provenance:
            return ()
        said = cast(Sequence[Mapping[str, str]], self.provenance[HISTORY])
        return tuple(Message(role=cast(Role, one["role"]), content=one["content"]) for one in said)

    @property
    def spelled(self) -> str:
        """As keys spell it: the wording, after what was said before it."""
        return "\n".join((*(message.content for message in self.history), self.text))

    @property
    def strength(self) -> Strength | None:
        """How far it is from the original; None: nobody measured, as in older runs, or it is the original."""
        measured = self.provenance.get(STRENGTH)
        if not isinstance(measured, dict):
            return None

        def number(name: str) -> float | None:
            value = measured.get(name)
            return float(value) if isinstance(value, int | float) else None

        reason = measured.get("reason")
        return Strength(
            terms_kept=number("terms_kept"),
            edit_distance=number("edit_distance"),
            loss=number("loss"),
            reading_ease=number("reading_ease"),
            meaning=number("meaning"),
            reason=reason if isinstance(reason, str) else None,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Making:
    """What it took to word one question another way."""

    n_attempts: int = 1
    n_calls: int = 0
    """Of a model; 0: rules or people made it."""
    n_failures: int = 0
    """Calls that brought no reply."""
    n_prompt_tokens: int = 0
    n_tokens: int = 0
    seconds: float = 0.0
    """Of all calls, one after the other."""

    def __add__(self, other: Making) -> Making:
        return Making(**{field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(self)})


@dataclass(frozen=True, kw_only=True, slots=True)
class RefusedReply:
    """A model's attempt at rewording that was not accepted."""

    text: str
    """As the model wrote it; empty: it wrote nothing, or the call failed."""
    feedback: str
    """What the model is told about it: why, and what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rewording:
    """What a variation made of one question."""

    variants: tuple[Variant, ...]
    making: Making | None = field(default_factory=Making)
    """None: nobody counted when it was made."""
    may_retry: bool = False
    """Whether it failed for a reason that may pass: a model that was busy, weights that were not there."""
