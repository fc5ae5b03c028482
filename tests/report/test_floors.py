"""What a page says of systems that have nothing to lose."""

from __future__ import annotations

from dataclasses import replace

import pytest
from seen_page import see, small_run

from shaketable.report.page import describe_floors
from shaketable.report.words import describe_nothing_to_lose
from shaketable.stages.report import page_of
from shaketable.types import Estimate, NothingToLose

LEVEL = Estimate(value=0.5, low=0.3, high=0.7, level=0.95, n=20, how="by hand", unit="share")
ENTRY = NothingToLose(
    dataset="builtin",
    model="coin",
    method="single_retrieval",
    retriever="gold",
    variation="original",
    metric="correct",
    level=LEVEL,
    baseline=replace(LEVEL, value=0.45),
    against="shuffled answers",
)


@pytest.mark.parametrize(
    ("entry", "beginning"),
    [
        (
            ENTRY,
            "The baseline of coin is at chance level: it scores 50 % [30, 70] correctness (n = 20 questions), and its "
            "answers to other questions score 45 %. Robustness cannot be measured ",
        ),
        (
            replace(ENTRY, is_confirmed=False),
            "Too few questions to tell whether the baseline of coin is above chance level: ",
        ),
        (
            replace(ENTRY, against="closed book", group="bridge"),
            "Evidence adds nothing for coin: it scores 50 % [30, 70] correctness on bridge questions ",
        ),
        (
            replace(ENTRY, against="closed book", is_confirmed=False),
            "Too few questions to tell whether evidence helps coin: ",
        ),
    ],
)
def test_only_a_confirmed_baseline_is_called_chance_level(entry, beginning):
    assert describe_nothing_to_lose(entry, "coin").startswith(beginning)


def test_a_page_warns_above_its_cards_once_for_each_system_of_the_number_it_speaks_of(tmp_path):
    banana = "scripted(replies=('banana',))"
    run = small_run(tmp_path / "run", analyses=["correctness"], models=[banana], score=["correct", "token_f1"])
    assert {entry.metric for entry in run.findings().nothing_to_lose} == {"correct", "token_f1"}
    [warning] = describe_floors(page_of(run, run.findings()))
    assert banana in warning and "chance level: it scores 0 %" in warning
    assert f"The verdict ⚠ {warning}" in see(run).text


def test_types_of_questions_and_rewordings_are_named_where_the_rest_has_something_to_lose(tmp_path):
    run = small_run(tmp_path / "run", analyses=["correctness"])
    groups = (replace(ENTRY, group="bridge"), replace(ENTRY, group="comparison"))
    findings = replace(run.findings(), main_metric="correct", nothing_to_lose=groups)
    assert len(describe_floors(page_of(run, findings))) == 2
    whole = replace(findings, nothing_to_lose=(replace(ENTRY, variation="typos"), ENTRY, *groups))
    assert describe_floors(page_of(run, whole)) == [describe_nothing_to_lose(ENTRY, "coin")]
