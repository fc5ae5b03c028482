from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from shaketable.types import OldFinding


@pytest.fixture
def finding() -> Callable[..., OldFinding]:
    """A finding made by hand: two systems, three kinds of evidence, two temperatures, two types."""

    def make(*, unit: str = "share", systems: tuple[str, ...] = ("smollm2", "gpt"), **changes: Any) -> OldFinding:
        rows = [
            {
                "metric": "contains",
                "system": system,
                "model": system,
                "dataset": "builtin",
                "method": "single_retrieval",
                "retriever": "gold",
                "perturbation": perturbation,
                "variation": "original",
                "type": type_,
                "temperature": temperature,
                "contrast": contrast,
                "unit": unit,
                "value": 0.6 - 0.2 * temperature - 0.1 * i,
                "low": 0.4 - 0.2 * temperature - 0.1 * i,
                "high": 0.8 - 0.2 * temperature - 0.1 * i,
                "sd_runs": 0.05,
                "baseline": 0.25,
                "n": 10,
            }
            | changes
            for system in systems
            for i, perturbation in enumerate(("unchanged", "sentence_removal", "typos"))
            for type_ in (None, "bridge", "comparison")
            for temperature in (0.0, 1.0)
            for contrast in ((None,) if i == 0 else (None, f"unchanged - {perturbation}"))
        ]
        return OldFinding(analysis="correctness", question="?", rows=tuple(rows))

    return make
