"""What a system would have answered without any search: the closed-book answers to the same wordings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from shaketable.analyses.rewording import ORIGINAL, Asked, Row

Wording = Literal["same", "original"]
"""Which closed-book answer tells whether a search was needed: that to the same wording, or to the original."""


@dataclass(frozen=True, kw_only=True)
class Unaided:
    """Closed-book correctness by question and wording, averaged over runs."""

    correct: Mapping[tuple[str, str, str], float]
    """By question id, variation and wording."""
    wording: Wording
    reason: str | None = None
    """Why there is none."""

    def of(self, row: Row) -> float | None:
        """How likely the closed-book answer to this trial's question is correct."""
        if self.wording == "same":
            return self.correct.get((row["question_id"], row["variation"], row["wording"]))
        return self.correct.get((row["question_id"], ORIGINAL, ""))


def unaided_of(every: Sequence[Asked], asked: Asked, method: str, wording: Wording = "same") -> Unaided:
    """The closed-book answers of the same model to the same dataset at the same temperature."""
    same = ("dataset", "model", "temperature")
    here = [one for one in every if all(one.place[name] == asked.place[name] for name in same)]
    found = [one for one in here if method in (one.place["method"], str(one.place["method"]).partition("(")[0])]
    if not found:
        return Unaided(
            correct={},
            wording=wording,
            reason=f"{method} was not asked with this model at this temperature; add it to the methods",
        )
    values: dict[tuple[str, str, str], list[float]] = {}
    for question, rows in found[0].answers.items():
        for row in rows:
            if row["correct"] is not None:
                values.setdefault((question, row["variation"], row["wording"]), []).append(row["correct"])
                if row["variation"] == ORIGINAL and row["wording"]:
                    values.setdefault((question, ORIGINAL, ""), []).append(row["correct"])
    return Unaided(correct={key: math.fsum(one) / len(one) for key, one in values.items()}, wording=wording)


def searching(every: Sequence[Asked]) -> list[Asked]:
    return [one for one in every if one.searches]


def act(row: Row) -> bool:
    """Whether the trial searched at least once."""
    return bool(row["n_searches"])
