"""Small files that would fill the memory or take for ever: each is refused in a process that may hold little."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from shaketable.datasets.reading.rows import read_rows
from shaketable.errors import DataError
from shaketable.stages.starting.table import open_table

SECONDS = 60
MEMORY = 3 << 30
"""Bytes of addresses, of which the libraries take most."""
OPENED = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
from shaketable.errors import DataError
from shaketable.stages.starting.table import open_table
try:
    open_table(sys.argv[1])
except DataError as error:
    print(error)
"""


def zipped(content: bytes, times: int) -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=6) as file:
        for _ in range(times):
            file.write(content)
    return packed.getvalue()


def parquet(**columns: pl.Series) -> bytes:
    packed = io.BytesIO()
    pl.DataFrame(columns).write_parquet(packed)
    return packed.getvalue()


def one_long_text() -> bytes:
    return parquet(question=pl.repeat("Who?" * 250_000, 400, eager=True), answer=pl.repeat("Ann", 400, eager=True))


BOMBS = {
    "text.parquet": (one_long_text, "unpacks to more than"),
    "rows.parquet": (
        lambda: parquet(question=pl.repeat("Who?", 30_000_000, eager=True)),
        "has more than 5,000,000 rows",
    ),
    "columns.parquet": (lambda: parquet(**{f"c{n}": pl.Series(["a"]) for n in range(6000)}), "has 6,000 columns"),
    "columns.csv": (
        lambda: (",".join(f"c{n}" for n in range(1_000_000)) + "\n" + "," * 999_999 + "\n").encode(),
        "has 1,000,000 columns",
    ),
    "zeros.jsonl.gz": (lambda: zipped(bytes(1_000_000), 300), "unpacks to more than 0.256 GB"),
    "rows.csv.gz": (lambda: zipped(b"question,answer\n" * 60_000, 300), "unpacks to more than 0.256 GB"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_with_little_memory(tmp_path: Path, name: str) -> None:
    make, told = BOMBS[name]
    (tmp_path / name).write_bytes(make())
    assert (tmp_path / name).stat().st_size < 20_000_000
    done = subprocess.run(
        [sys.executable, "-c", OPENED, str(tmp_path / name)],
        capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert name in done.stdout and told in done.stdout


def test_more_rows_than_a_table_may_have_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shaketable.datasets.reading.rows.MOST_ROWS", 10)
    (tmp_path / "a.csv").write_text("question,answer\n" + "a,b\n" * 11)
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n' * 11)
    for name in ("a.csv", "a.jsonl"):
        with pytest.raises(DataError, match="has more than 10 rows"):
            list(read_rows(tmp_path / name, tables=True))


def test_texts_that_repeat_are_read(tmp_path: Path) -> None:
    """As those of a dataset that gives each question its passages again."""
    pl.DataFrame({"question": ["Who?" * 1000] * 10_000, "answer": ["Ann"] * 10_000}).write_parquet(
        tmp_path / "a.parquet"
    )
    (tmp_path / "a.jsonl.gz").write_bytes(zipped(b'{"question": "Who?", "answer": "Ann"}\n' * 1000, 20))
    for name, n in (("a.parquet", 10_000), ("a.jsonl.gz", 20_000)):
        assert len(open_table(str(tmp_path / name)).rows) == n
