"""Sentences on drift: of queries, and along the chain from the wording to the answer."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from made_page import made_page
from made_wordings import Compass, searches, tables_of, trial

from shaketable.analyses.wording import vectors
from shaketable.analyses.wording.drift_chain import drift_chain
from shaketable.analyses.wording.trajectories import trajectories
from shaketable.report.sections import drift_chain as chain_section
from shaketable.report.sections import trajectories as drift_section


@pytest.fixture(autouse=True)
def compass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "encoder", lambda name: Compass())


def drifting(n: int) -> tuple[list[dict[str, Any]], Any]:
    """Queries after spelling drift the further the higher the question, which is worded the longer."""
    trials, found = [], []
    for i, name, run in itertools.product(range(n), ("original", "spelling"), range(2)):
        is_original = name == "original"
        one = trial(f"q{i:02}", name, repeat=run, n_searches=1, wording="w " * (1 if is_original else 2 + i))
        trials.append(one)
        found.append((one, [("1,0" if is_original else f"1,{(1 + i) / 9}", "ab", True)]))
    return trials, searches(*found)


def test_queries_that_drift_further_than_those_of_two_runs_are_said_to() -> None:
    trials, found = drifting(12)
    tables = tables_of(trials, searches=found)
    result = trajectories(tables)
    (headline,) = drift_section.section(result, made_page(tables, result)).headlines
    assert headline.sentence.startswith(
        "After spelling the queries of m on squad drift: their similarity to those after the original wording is 0.8"
    )
    assert ", 1.00 between two runs of the same wording: 0.1" in headline.sentence
    assert headline.is_clear


def test_links_that_are_shown_say_which_way_they_go() -> None:
    trials, found = drifting(12)
    tables = tables_of(trials, searches=found)
    result = drift_chain(tables)
    (headline,) = chain_section.section(result, made_page(tables, result)).headlines
    assert headline.sentence == (
        "Along the chain from wording to answer of m on squad, spelling: similarity of queries falls with query length "
        "(rank correlation −1.00)."
    )
    assert headline.is_clear


def test_links_of_few_questions_are_not_claimed() -> None:
    trials, found = drifting(6)
    tables = tables_of(trials, searches=found)
    result = drift_chain(tables)
    (headline,) = chain_section.section(result, made_page(tables, result)).headlines
    assert headline.sentence == "No link of the chain from wording to answer is shown for m on squad, spelling."
    assert headline.detail.startswith("Not shown: query length and similarity of queries −1.00")
    assert not headline.is_clear
