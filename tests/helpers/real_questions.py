"""Real questions of six datasets, mixed, for tests that need many."""

import gzip
import json
from pathlib import Path

import pytest

from shaketable.types import Question

DATA = Path(__file__).parents[3] / "shared" / "data"
FOLDER = DATA / "adaptive_rag_test500"
FILES = ("hotpotqa.jsonl.gz", "nq.jsonl", "2wikimultihopqa.jsonl.gz", "musique.jsonl", "squad.jsonl", "triviaqa.jsonl")
needs_data = pytest.mark.skipif(not FOLDER.is_dir(), reason="the folder of real data is not there")


def lines(file: Path) -> list[dict]:
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8") as text:
        return [json.loads(line) for line in text]


def mixed(n: int) -> list[Question]:
    """The first questions of each dataset in turn."""
    columns = [lines(FOLDER / name) for name in FILES]
    rows = [row for together in zip(*columns, strict=True) for row in together][:n]
    return [Question(id=row["qid"], text=row["question_text"], answers=("x",), dataset=row["dataset"]) for row in rows]
