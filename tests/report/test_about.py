"""What a page says of its run as a whole: how far it has come, and what it took."""

from dataclasses import replace
from pathlib import Path

import pytest

from shaketable.report.about import describe_selection, list_costs, make_banner
from shaketable.store.summary import RunSummary
from shaketable.store.wordings import WordingEffort
from shaketable.types import Making

SUMMARY = RunSummary(run="r", study="s", state="finished", trials=40, done=30, failed=2)


def told(*efforts):
    return dict(list_costs(RunSummary(run="r", study="s", state="finished", rewordings=efforts), seed=7))


def test_what_a_rewording_model_took_stands_beside_what_answering_took():
    making = Making(n_attempts=40, n_calls=40, n_failures=3, n_prompt_tokens=4000, n_tokens=900, seconds=62.0)
    said = told(WordingEffort(part="formality(by='m')", n_questions=30, making=making))
    assert said["Rewording by formality(by='m')"] == (
        "40 calls for 30 questions, 3 of them failed; 4,000 tokens read, 900 written; 1 min 2 s"
    )


def test_without_a_rewording_model_nothing_is_said_of_one():
    assert not [name for name in told() if name.startswith("Rewording")]


@pytest.mark.parametrize("state", ["interrupted", "empty", "finished_with_failures"])
def test_a_run_that_can_go_on_says_how(state):
    banner = make_banner(replace(SUMMARY, state=state), Path("my run"))
    assert banner.command == "shaketable run 'my run/study.toml' --out 'my run'"


@pytest.mark.parametrize("state", ["running", "planning"])
def test_a_run_that_is_going_on_needs_no_command(state):
    banner = make_banner(replace(SUMMARY, state=state), Path("run"))
    assert banner.command is None
    assert "40 trials" in banner.text or "30 of 40" in banner.text


def test_partial_results_say_so():
    assert "all results are partial" in make_banner(replace(SUMMARY, state="running"), Path("run")).title
    assert make_banner(replace(SUMMARY, state="finished"), Path("run")) is None
    assert make_banner(replace(SUMMARY, state="finished"), Path("run"), "Of 8 questions.").remark == "Of 8 questions."


def test_the_selection_is_told_in_words() -> None:
    choice = {"name": "builtin", "limit": 24, "balance_by": ["type", "n_facts"], "per_cell": None, "where": {}}
    told = {"datasets": [choice], "questions": 1, "rejected_rows": 1, "remarks": 0, "short_cells": {"type bridge": 2}}
    assert describe_selection(told) == (
        "1 question asked; at most 24 of builtin, balanced by type and n facts; 1 row was left out; "
        "only 2 questions for type bridge"
    )
    assert describe_selection({}) == "all questions"


@pytest.mark.parametrize("state", ["empty", "planning"])
def test_before_the_trials_are_counted_no_number_of_them_is_told(state):
    banner = make_banner(replace(SUMMARY, state=state, trials=0, done=0, failed=0, missing=0), Path("run"))
    assert banner.text.startswith("How many trials are planned is not known yet.")
