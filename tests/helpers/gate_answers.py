"""Answers of a system as files: what it got right with and without its evidence is known."""

from __future__ import annotations

import json
from pathlib import Path

N = 40
HOSTILE = "Rome | <script>alert(1)</script> @everyone [x](https://a.b) www.a.b \u202e`"


def answers(file: Path, *, n_right: int, n_removed: int, n_failed: int = 0) -> Path:
    """Two kinds of evidence; each question has its own accepted answer."""
    with file.open("w", encoding="utf-8") as lines:
        for i in range(N):
            for perturbation, right in (("unchanged", n_right), ("sentence_removal", n_removed)):
                row = {
                    "question_id": f"q{i}",
                    "question": f"Which city is number {i}?",
                    "gold": [f"City{i}"],
                    "answer": None if i >= N - n_failed else f"City{i}" if i < right else HOSTILE,
                    "model": "prod",
                    "method": "rag",
                    "perturbation": perturbation,
                }
                lines.write(json.dumps(row) + "\n")
    return file
