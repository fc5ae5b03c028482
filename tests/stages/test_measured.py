"""What was measured on this machine is a help: no run hangs on the file that it is kept in."""

from __future__ import annotations

import pytest

from shaketable.stages import measured
from shaketable.stages.measured import known_afterwards, known_measures, known_rates, remember_rate

NAMES = ("rates", "measures", "afterwards")
DEEP = "[" * 5000
DAMAGED = (
    *("5", "null", "[1]", '{"a":', DEEP, '{"smollm2": {"n_trials": "x"}}', '{"smollm2": 1e999}', '{"a": [[1]]}'),
    "\0",
)


@pytest.mark.parametrize("content", DAMAGED)
def test_what_cannot_be_read_was_never_measured(content, tmp_path, monkeypatch):
    monkeypatch.setattr(measured, "folder", lambda: tmp_path)
    for name in NAMES:
        (tmp_path / f"{name}.json").write_text(content)
    assert (known_rates(), known_measures(), known_afterwards()) == ({}, {}, {})
    remember_rate("smollm2", 100, 2.0)
    assert known_rates() == {"smollm2": 50.0}


def test_a_cache_that_cannot_be_written_stops_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(measured, "folder", lambda: tmp_path / "file" / "cache")
    remember_rate("smollm2", 100, 2.0)
    assert known_rates() == {}
