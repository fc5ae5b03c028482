"""A small run whose two repeats agree, disagree, are empty, or fail, as each question says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from made_answers import made_run

from shaketable.store import Run

ANSWERS: tuple[tuple[str | None, str | None], ...] = (
    ("It is town0.", "It is town0."),
    ("It is town1.", "It is Oslo."),
    ("It is Oslo.", "It is Bergen."),
    ("", " \n"),
    (None, None),
    ("It is town5.", "it is TOWN5. "),
)
"""Right twice; right and wrong; wrong in two ways; empty; failed; right in two spellings."""


def rows(**factors: Any) -> list[dict[str, Any]]:
    return [
        {
            "question_id": f"q{n}", "question": f"Where is place {n}?", "gold": f"town{n}", "model": "theirs",
            "answer": answer, "temperature": 0.7, "repeat": repeat, "n_generations": 1, "n_tokens": 10 * n + repeat,
            **factors,
        }
        for n, answers in enumerate(ANSWERS) for repeat, answer in enumerate(answers)
    ]  # fmt: skip


def disagreeing_run(folder: Path, **factors: Any) -> Run:
    return made_run(folder, rows(**factors))
