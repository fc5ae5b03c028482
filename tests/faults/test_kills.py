"""A run that is killed, at any moment, loses, doubles and changes no record."""

from __future__ import annotations

import shutil
import signal
import sys
from pathlib import Path

import pytest
from made_studies import row, write_rows

from faults.killing import SYSTEM_CALLS, command, kill_at_call, kill_at_random, stop_when, stored
from shaketable.cli import main
from shaketable.stages.run import ask
from shaketable.study import load_study

SEARCH_O1 = "scripted(replies=('I look. <|begin_search_query|>book<|end_search_query|>', 'So it is.', 'ERROR'))"
STUDY = """
name = "killed"
seed = 3
[dataset]
name = "jsonl"
path = "{path}"
[cross]
models = ["{model}"]
methods = [{methods}]
perturbations = ["unchanged", "sentence_removal"]
temperatures = [0.0, 0.7, 1.4]
repeats = {repeats}
[generation]
max_tokens = 20
"""
KINDS = {
    "one call": (SEARCH_O1, '"single_retrieval"', 12),
    "several calls": (SEARCH_O1, '"search_o1(max_turns=4)", "query_rewrite"', 4),
}


@pytest.fixture(params=list(KINDS), ids=list(KINDS))
def killed(request, tmp_path):
    """A study file, and the records of its run that nobody disturbed."""
    model, methods, repeats = KINDS[request.param]
    path = write_rows(tmp_path / "questions.jsonl", [row(n) for n in range(40)])
    study = Path(tmp_path / "killed.toml")
    study.write_text(STUDY.format(path=path, model=model, methods=methods, repeats=repeats), "utf-8")
    ask(load_study(study), tmp_path / "whole")
    return study, stored(tmp_path / "whole")


def test_kills_at_random_moments_leave_every_record_as_it_was(killed, tmp_path):
    study, whole = killed
    toll = kill_at_random(study, tmp_path / "run", whole, n_kills=3, most_seconds=0.6)
    assert toll.is_nothing, toll


needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace kills at chosen system calls")


@pytest.mark.slow
@needs_strace
@pytest.mark.parametrize("call", SYSTEM_CALLS)
def test_kills_at_chosen_system_calls_leave_every_record_as_it_was(killed, tmp_path, call):
    study, whole = killed
    tolls = [kill_at_call(study, tmp_path / "run", whole, call, number) for number in (1, 3, 9)]
    assert all(toll.is_nothing for toll in tolls), tolls
    assert any(toll.n_kills for toll in tolls), "It makes this call."


@pytest.mark.parametrize("killed", ["several calls"], indirect=True)
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_word_to_stop_is_heard_and_answered_with_how_to_go_on(killed, tmp_path, by):
    study, whole = killed
    folder = tmp_path / "run"
    for moment in ("study.toml", "scores.parquet"):
        end = stop_when(command("run", study, "--out", folder, "--max-failures", "100%"), (folder / moment).exists, by)
        assert "Traceback" not in end.errors
        if end.exit_code != 0:  # It was not done before it heard.
            assert end.exit_code == 130
            assert f"Go on with: shaketable run {folder}/study.toml --out {folder}" in end.errors
    ask(load_study(study), folder)
    assert stored(folder) == whole


def test_an_interruption_while_libraries_are_imported_is_no_traceback(monkeypatch, capsys):
    class Interrupted:
        def find_spec(self, name, path=None, target=None):
            if name == "shaketable.cli.app":
                raise KeyboardInterrupt

    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "shaketable.cli.app", raising=False)
    usual = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit) as end:
            main()
    finally:
        signal.signal(signal.SIGTERM, usual)
    assert (end.value.code, capsys.readouterr().err) == (130, "Interrupted.\n")
