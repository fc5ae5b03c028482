"""Which sentences say that something differs: by their words alone, whatever the claims behind them."""

from __future__ import annotations

import re

ASSERTIONS = re.compile(
    r"\b(costs|gains|lowers|raises|that hurts|misleads|explains|foretells|reverses|mends more|spoils more"
    r"|begins to fall|moves? the .* more than|the hotter .*, the (more|less)|has the best|varies (more|less)"
    r"|lose more than|more firmly than|most firmly|rewording adds|the (most|least) of \d|moves the answers .* most"
    r"|makes the least likely|hurts .* more than|different at"
    r"|differs? between|is different|are different|takes .* of what|goes? together)\b",
    re.IGNORECASE,
)
DENIALS = re.compile(
    r"\b(no|not|nothing|none|undecided|cannot|too few|whether|unclear|neither|would|could)\b", re.IGNORECASE
)


def asserts(text: str) -> bool:
    """Whether some part of a text says that something differs, and does not deny it."""
    clauses = re.split(r"[.;:] |\.$", text)
    return any(ASSERTIONS.search(clause) and not DENIALS.search(clause) for clause in clauses)
