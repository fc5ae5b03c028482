"""The file that people fill: whole lines, one writer, nothing of a foreign file is touched."""

from __future__ import annotations

import json
import os

import pytest

from shaketable.annotation.log import AnnotationLog, ReviewRow, RewriteRow
from shaketable.errors import DataError

ROW = {"id": "q1", "question": "Who?", "rewrite": "Which person – 谁?", "annotator": "Ada"}
LINE = json.dumps(ROW, ensure_ascii=False) + "\n"


def test_what_was_appended_is_there_after_opening_again(tmp_path):
    log = AnnotationLog(tmp_path / "new" / "r.jsonl", RewriteRow)
    log.append(ROW)
    assert log.path.read_text("utf-8") == LINE
    log.close()
    assert AnnotationLog(log.path, RewriteRow).rows == [ROW]


def test_a_line_that_a_crash_cut_anywhere_goes(tmp_path):
    whole = LINE.encode()
    for kept in range(1, len(whole) - 1):
        path = tmp_path / f"{kept}.jsonl"
        path.write_bytes(whole + whole[:kept])
        log = AnnotationLog(path, RewriteRow)
        assert (log.rows, log.n_cut) == ([ROW], kept)
        log.append(ROW)
        log.close()
        assert path.read_bytes() == whole * 2


def test_a_whole_last_line_without_its_end_stays(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text(LINE.rstrip(), "utf-8")
    log = AnnotationLog(path, RewriteRow)
    log.append(ROW)
    assert (log.n_cut, path.read_text("utf-8")) == (0, LINE * 2)


def test_an_entry_that_does_not_fit_leaves_nothing_behind(tmp_path, monkeypatch):
    log = AnnotationLog(tmp_path / "r.jsonl", RewriteRow)
    log.append(ROW)

    def full(number):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            log.append(ROW)
    assert log.path.read_text("utf-8") == LINE
    log.append(ROW)
    assert log.path.read_text("utf-8") == LINE * 2


def test_a_second_writer_is_refused(tmp_path):
    first = AnnotationLog(tmp_path / "r.jsonl", RewriteRow)
    with pytest.raises(DataError, match="filled by another"):
        AnnotationLog(first.path, RewriteRow)
    first.close()
    AnnotationLog(first.path, RewriteRow).close()


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n\x00\x01", b"a,b\n1,2", b'[{"id": "q1"}', b'notes\n{"id": "q'])
def test_a_foreign_file_is_left_as_it_is(tmp_path, content):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(DataError):
        AnnotationLog(path, RewriteRow)
    assert path.read_bytes() == content


def test_a_file_of_the_other_kind_is_named(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text(LINE, "utf-8")
    with pytest.raises(
        DataError, match=r"r\.jsonl line 1: 'question_id': field required\. Expected an object with id,"
    ):
        AnnotationLog(path, ReviewRow)
    assert path.read_text("utf-8") == LINE
