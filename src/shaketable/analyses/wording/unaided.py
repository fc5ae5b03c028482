"""What a system would have answered without any search: the closed-book answers to the same wordings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from shaketable import catalog
from shaketable.analyses.wording.rewording import ORIGINAL, Asked, Row
from shaketable.errors import PartError
from shaketable.protocols import ExampleMethod, LaidOutMethod, PromptingPart

EXAMPLES = "chain_examples"
"""The prompt that holds the worked examples."""
Wording = Literal["same", "original"]
"""Which closed-book answer tells whether a search was needed: that to the same wording, or to the original."""


@dataclass(frozen=True, kw_only=True)
class Unaided:
    """Closed-book correctness by question and wording, averaged over runs."""

    correct: Mapping[tuple[str, str, str], float]
    """By question id, variation and wording."""
    wording: Wording
    method: str = ""
    """The closed-book method, as it is written in the study."""
    is_alike: bool = False
    """Whether it was asked in the form of the system it is compared with."""
    reason: str | None = None
    """Why there is none."""

    def of(self, row: Row) -> float | None:
        """How likely the closed-book answer to this trial's question is correct."""
        if self.wording == "same":
            return self.correct.get((row["question_id"], row["variation"], row["wording"]))
        return self.correct.get((row["question_id"], ORIGINAL, ""))


def unaided_of(every: Sequence[Asked], asked: Asked, method: str, wording: Wording = "same") -> Unaided:
    """The closed-book answers of the same model to the same dataset at the same temperature.

    Of several such methods the one that is asked in the system's own form, with as many worked examples and the same
    layout, so that searching alone differs; where none is, the one with the most worked examples.
    """
    same = ("dataset", "model", "temperature")
    here = [one for one in every if all(one.place[name] == asked.place[name] for name in same)]
    found = [one for one in here if method in (one.place["method"], str(one.place["method"]).partition("(")[0])]
    if not found:
        return Unaided(
            correct={},
            wording=wording,
            reason=f"{method} was not asked with this model at this temperature; add it to the methods",
        )
    own = _form(asked.place["method"])
    chosen = max(found, key=lambda one: ((form := _form(one.place["method"])) == own, form or (0, ""), one.system))
    values: dict[tuple[str, str, str], list[float]] = {}
    for question, rows in chosen.answers.items():
        for row in rows:
            if row["correct"] is not None:
                values.setdefault((question, row["variation"], row["wording"]), []).append(row["correct"])
                if row["variation"] == ORIGINAL and row["wording"]:
                    values.setdefault((question, ORIGINAL, ""), []).append(row["correct"])
    return Unaided(
        correct={key: math.fsum(one) / len(one) for key, one in values.items()},
        wording=wording,
        method=chosen.place["method"],
        is_alike=own is not None and _form(chosen.place["method"]) == own,
    )


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


def told_choice(compared: Sequence[tuple[Asked, Unaided]]) -> list[str]:
    """What stands for no retrieval, and whose numbers do not compare searching alone."""
    known = [(str(asked.place["method"]), unaided) for asked, unaided in compared if unaided.method]
    told = []
    for method in sorted({unaided.method for _, unaided in known}):
        told.append(
            f"{method} stands for no retrieval: of several closed-book methods the one asked in the system's own form, "
            "with as many worked examples and the same layout, else the one with the most examples."
        )
        others = sorted({own for own, unaided in known if unaided.method == method and not unaided.is_alike})
        if others:
            told.append(
                f"{', '.join(others)}: not known to be asked in the form of {method}, so need, over- and "
                "under-confidence, help and harm may mix prompt and retrieval."
            )
    return told


def searching(every: Sequence[Asked]) -> list[Asked]:
    return [one for one in every if one.searches]


def act(row: Row) -> bool:
    """Whether the trial searched at least once."""
    return bool(row["n_searches"])
