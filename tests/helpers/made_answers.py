"""Runs of answers that are right or wrong as a test says, made by importing them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from shaketable.stages.import_answers import import_answers
from shaketable.stages.score import score
from shaketable.store import Run


def answer_rows(right: Sequence[int | None], **factors: Any) -> list[dict[str, Any]]:
    """One question for each mark: 1 is right, 0 is wrong, None failed."""
    rows = []
    for i, mark in enumerate(right):
        texts = {1: f"It is town{i:03}, of course.", 0: "It is Oslo.", None: None}
        asked = {"question_id": f"q{i}", "question": f"Where is {i}?", "gold": f"town{i:03}", "model": "theirs"}
        rows.append({**asked, "answer": texts[mark], "n_generations": 1, "n_tokens": 10, **factors})
    return rows


def made_run(folder: Path, rows: Iterable[dict[str, Any]], metrics: Sequence[str] = ("contains",)) -> Run:
    folder.parent.mkdir(parents=True, exist_ok=True)
    path = folder.with_suffix(".jsonl")
    path.write_text("\n".join(map(json.dumps, rows)))
    import_answers(path, folder)
    run = Run(folder)
    score(run, metrics)
    return run
