"""Tables that are written some rows after the other are the same files, whatever the slices."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaketable.store.frame_file import FileFormat, write_frames

WHOLE = pl.DataFrame(
    {
        "key": [f"k{i}" for i in range(12)],
        "text": [None, "a,b", 'say "x"', "line\nline", "ü", ""] * 2,
        "value": [None if i % 5 == 0 else i / 7 for i in range(12)],
    }
)
READ = {"csv": pl.read_csv, "jsonl": pl.read_ndjson, "parquet": pl.read_parquet}


def slices_at(cuts: list[int]) -> list[pl.DataFrame]:
    ends = [0, *sorted(cuts), WHOLE.height]
    return [WHOLE[start:end] for start, end in itertools.pairwise(ends)]


@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(0, 12), max_size=5), file_format=st.sampled_from(["csv", "jsonl", "parquet"]))
def test_a_file_does_not_depend_on_the_slices_it_is_written_in(cuts: list[int], file_format: FileFormat) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sliced, whole = Path(folder, "sliced"), Path(folder, "whole")
        assert write_frames(slices_at(cuts), sliced, file_format) == WHOLE.height
        write_frames([WHOLE], whole, file_format)
        assert READ[file_format](sliced).equals(READ[file_format](whole))
        if file_format != "parquet":
            assert sliced.read_bytes() == whole.read_bytes()
        assert sorted(path.name for path in Path(folder).iterdir()) == ["sliced", "whole"]


def test_a_table_without_rows_still_has_its_columns(tmp_path: Path) -> None:
    assert write_frames([WHOLE.clear()], tmp_path / "none.csv", "csv") == 0
    assert (tmp_path / "none.csv").read_text() == "key,text,value\n"


@pytest.mark.parametrize("cuts", [[], [4, 9]])
def test_what_a_table_was_made_from_is_kept_in_the_file(tmp_path: Path, cuts: list[int]) -> None:
    write_frames(slices_at(cuts), tmp_path / "file", "parquet", {"made_from": "abc"})
    assert pl.read_parquet_metadata(tmp_path / "file")["made_from"] == "abc"


def test_a_folder_of_somebody_else_beside_the_file_is_no_part_of_it_and_stays(tmp_path: Path) -> None:
    other = tmp_path / "file.parts"
    other.mkdir()
    WHOLE.write_parquet(other / "000007.parquet")
    write_frames(slices_at([4, 9]), tmp_path / "file", "parquet")
    assert pl.read_parquet(tmp_path / "file").equals(WHOLE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "file.parts"]
