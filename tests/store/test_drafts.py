"""What is written of unfinished replies, in a file beside the records."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.store.drafts import NAME, KeptDraft, load_drafts, write_drafts
from shaketable.store.ownership import make_run_folder
from shaketable.types import Draft

numbers = st.floats(allow_nan=False) | st.integers() | st.text()
drafts = st.builds(
    Draft,
    made_by=st.text(),
    token_ids=st.lists(st.integers(0, 1 << 20)).map(tuple),
    seconds=st.floats(0, 1e9),
    extras=st.dictionaries(st.text(), st.lists(numbers | st.lists(numbers))),
)


def kept(key: str, draft: Draft) -> KeptDraft:
    return KeptDraft(key=key, place=2, prompt="p", draft=draft)


DRAFT = Draft(made_by="me", token_ids=(3, 5), seconds=0.25, extras={"entropy": [0.1, 1e-300]})


@given(st.dictionaries(st.text(min_size=1), drafts, min_size=1))
def test_drafts_come_back_bit_by_bit(tmp_path_factory, given_drafts):
    folder = tmp_path_factory.mktemp("drafts")
    written = {key: kept(key, draft) for key, draft in given_drafts.items()}
    write_drafts(folder, written.values())
    assert load_drafts(folder) == written


def test_without_drafts_there_is_no_file(tmp_path):
    assert load_drafts(tmp_path) == {}
    write_drafts(tmp_path, [kept("a", DRAFT)])
    write_drafts(tmp_path, [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", [b"", b"{", b"x\n[]", b"\xff\xfe\n[]", b"\0" * 64])
def test_a_file_that_is_something_else_is_not_used(tmp_path, damage):
    (tmp_path / NAME).write_bytes(damage)
    assert load_drafts(tmp_path) == {}


def test_no_changed_byte_is_believed(tmp_path):
    write_drafts(tmp_path, [kept("a", DRAFT), kept("b", replace(DRAFT, token_ids=(9,)))])
    whole = (tmp_path / NAME).read_bytes()
    for place in range(len(whole)):
        (tmp_path / NAME).write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert load_drafts(tmp_path) == {}, place
    (tmp_path / NAME).write_bytes(whole[:-9])
    assert load_drafts(tmp_path) == {}


def test_a_folder_that_cannot_be_written_costs_no_more_than_the_drafts(tmp_path):
    write_drafts(tmp_path / "missing", [kept("a", DRAFT)])
    assert load_drafts(tmp_path / "missing") == {}


def test_drafts_are_as_closed_as_their_run(tmp_path: Path):
    make_run_folder(tmp_path / "run")
    write_drafts(tmp_path / "run", [kept("a", DRAFT)])
    assert stat.S_IMODE((tmp_path / "run" / NAME).stat().st_mode) == 0o600
