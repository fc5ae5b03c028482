"""Why a wording is not asked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shaketable.types import REFUSAL, Variant


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    kind: str
    """By which like ones are counted: `names_lost`, `model_failed`."""
    text: str
    """For people, with what was found in this one wording."""


def refuse(variant: Variant, refusal: Refusal | None) -> Variant:
    """The wording, marked as rejected where there is a reason."""
    if refusal is None:
        return variant
    return replace(variant, rejected=refusal.text, provenance={**variant.provenance, REFUSAL: refusal.kind})
