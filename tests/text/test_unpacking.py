from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from shaketable import catalog
from shaketable.errors import DataError
from shaketable.text import unpacking
from shaketable.text.unpacking import unpack


def test_what_is_packed_comes_out_and_what_is_not_stays() -> None:
    text = bytes(range(256)) * 9000
    assert unpack(gzip.compress(text), "a") == text == unpack(text, "a")
    assert unpack(gzip.compress(b"one") + gzip.compress(b"two"), "a") == b"onetwo"


def test_a_file_that_unpacks_to_more_than_it_may_is_named_and_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "MOST_BYTES", 5_000_000)
    (tmp_path / "bomb.jsonl.gz").write_bytes(gzip.compress(bytes(50_000_000)))
    with pytest.raises(DataError, match=r"bomb\.jsonl\.gz unpacks to more than 0\.005 GB, from 48,\d+ bytes"):
        catalog.find("dataset", "jsonl")(path=str(tmp_path / "bomb.jsonl.gz"))
