"""Score tables of a study that crosses wording, evidence and temperature."""

from __future__ import annotations

import itertools
import random

import polars as pl
from score_rows import score_rows


def joint_study(*, closed_book: bool = True) -> pl.DataFrame:
    """12 questions, two wordings, two kinds of evidence and closed book, three temperatures, three runs."""
    dice = random.Random(5)
    evidence: list[tuple[str, str | None, float]] = [
        ("single_retrieval", "unchanged", 0.95),
        ("single_retrieval", "sentence_removal", 0.4),
    ]
    evidence += [("closed_book", None, 0.3)] if closed_book else []
    return pl.concat(
        [
            score_rows(
                {
                    f"q{question:02}": tuple(float(dice.random() < right * (1 - 0.4 * temperature)) for _ in range(3))
                    for question in range(12)
                },
                method=method,
                retriever="gold" if perturbation else None,
                perturbation=perturbation,
                variation=variation,
                temperature=temperature,
                metric="contains",
            )
            for (method, perturbation, right), variation, temperature in itertools.product(
                evidence, ("original", "spelling"), (0.0, 0.5, 1.5)
            )
        ]
    )
