"""Which sentences say that something differs: by their words alone, whatever the claims behind them."""

from __future__ import annotations

import re

ASSERTIONS = (
    # evidence and temperature
    *("costs", "gains", "lowers", "raises", "that hurts", "hurts .* more than", "lose more than", "begins to fall"),
    *(
        "the higher the temperature of .*, the (more|less)",
        "moves? the .* more than",
        "changes? with temperature",
        "reverses",
    ),
    *("has the best", "varies (more|less)", "(is|are) different", "different at", "misleads", "takes .* of what"),
    # wording
    *(r"the (most|least) of \d", "moves the answers", "steadier than", "the queries of .* drift:", "rewording adds"),
    *("rewording (changes|steadies)", "changes the decision", "(more|less) often:", "(more|less|least) likely"),
    *("mends more", "spoils more", "(rises|falls|grows|shrinks) with"),
    # facts, and all together
    *("more firmly", "most firmly", "foretells", "explains", "differs? between", "goes? together"),
)
PATTERN = re.compile(rf"\b({'|'.join(ASSERTIONS)})", re.IGNORECASE)
DENIALS = re.compile(
    r"\b(no|not|nothing|none|undecided|cannot|too few|whether|unclear|neither|would|could)\b", re.IGNORECASE
)


def asserts(text: str) -> bool:
    """Whether some part of a text says that something differs, and does not deny it."""
    clauses = re.split(r"[.;] |[.:]$", text)
    return any(PATTERN.search(clause) and not DENIALS.search(clause) for clause in clauses)
