"""Small studies, questions and records for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from shaketable.stages.answer import Answered, answer
from shaketable.stages.plan import plan
from shaketable.store import RecordStore
from shaketable.study import parse_study
from shaketable.types import Record, Study

FORGIVING = ("--max-failures", "100%")
"""For commands that run the study below, a third of whose replies fail."""

REPLIES = "scripted(replies=('Paris', 'Rome', 'ERROR', 'Bern', 'Oslo'))"

STUDY = """
name = "small"
seed = 3

[dataset]
name = "builtin"
balance = { by = ["type"] }
limit = 4

[cross]
models = ["scripted(replies=('Paris', 'Rome', 'ERROR'))"]
perturbations = ["unchanged", "sentence_removal"]
temperatures = [0.0, 1.0]
repeats = 2

[generation]
max_tokens = 8
"""
"""4 questions x 2 kinds of evidence x 2 temperatures x 2 repeats = 32 trials."""


def row(n: int, **changes: Any) -> dict[str, Any]:
    """One question of a jsonl dataset, with two documents of two sentences and two facts."""
    return {
        "id": f"q{n}",
        "question": f"Who wrote book {n}?",
        "answers": [f"Author {n}"],
        "documents": [
            {"title": f"Book {n}", "sentences": [f"Book {n} is by Author {n}.", f"Book {n} is long."]},
            {"title": f"Author {n}", "sentences": [f"Author {n} was born in Rome.", "The town is old."]},
        ],
        "facts": [[f"Book {n}", 0], [f"Author {n}", 0]],
        **changes,
    }


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows), "utf-8")
    return path


def study_of(
    path: Path, *, name: str = "small", seed: int = 3, generation: dict[str, Any] | None = None, **cross: Any
) -> Study:
    """A study over a jsonl file."""
    crossed = {"models": [REPLIES], "temperatures": [0.0, 1.0], "repeats": 2, **cross}
    tables = {"name": name, "seed": seed, "dataset": {"name": "jsonl", "path": str(path)}, "cross": crossed}
    return parse_study(tables | {"generation": generation or {"max_tokens": 8}}, "test")


def small_study(folder: Path, n: int = 3, **changes: Any) -> Study:
    return study_of(write_rows(folder / "questions.jsonl", [row(i) for i in range(n)]), **changes)


def answered(study: Study, path: Path) -> tuple[Answered, dict[str, Record]]:
    """Answer a study into a file, and its records by key."""
    with RecordStore(path) as store:
        result = answer(plan(study), store)
        return result, {record.trial.key: record for record in store.records()}
