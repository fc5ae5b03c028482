"""Thresholds on runs whose numbers are worked by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import pytest
from score_rows import condition_rows, score_rows

from shaketable.analyses.gate.held_facts import breaking_temperatures, robustness_scores
from shaketable.analyses.gate.quantities import Quantity
from shaketable.analyses.gate.regressions import regressions
from shaketable.analyses.gate.thresholds import accuracies, drops, failures, flip_rates
from shaketable.analyses.gate.verdicts import Checked, judge
from shaketable.analyses.tables import Tables
from shaketable.errors import StudyError
from shaketable.types import Gate

N = 40


def first(n_right: int, *, of: int = N, runs: int = 1) -> dict[str, tuple[float, ...]]:
    """Questions, the first few of them right in each run."""
    return {f"q{i:02}": (float(i < n_right),) * runs for i in range(of)}


def correct(runs: Mapping[str, Sequence[float | None]], **factors: Any) -> pl.DataFrame:
    return score_rows(runs, **({"metric": "contains"} | factors))


def tables(*parts: pl.DataFrame, **more: Any) -> Tables:
    return Tables(scores=pl.concat(parts, how="diagonal"), **more)


def verdicts(checked: Checked) -> list[str]:
    return [check.verdict for check in checked.checks]


# --- what is measured -----------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "verdict"), [(0.6, "holds"), (0.75, "undecided"), (0.9, "broken")])
def test_accuracy_is_that_of_the_condition_in_which_nothing_is_shaken(limit, verdict) -> None:
    """30 of 40: an exact one-sided 95 % bound would be 0.613 from below and 0.859 from above."""
    run = tables(
        correct(first(30)),
        correct(first(0), perturbation="sentence_removal"),
        correct(first(0), variation="keywords"),
        correct(first(0), temperature=1.0),
    )
    checked = judge(accuracies(run), Gate(min_accuracy=limit))
    (check,) = checked.checks
    assert check.estimate.value == pytest.approx(0.75)
    assert (check.verdict, checked.passes) == (verdict, verdict == "holds")


def test_the_drop_is_that_of_the_worst_condition_whatever_shakes_it() -> None:
    run = tables(
        correct(first(36)),
        correct(first(30), perturbation="sentence_removal"),
        correct(first(12), variation="keywords", perturbation="sentence_removal"),
        correct(first(34), temperature=1.0),
    )
    checked = judge(drops(run), Gate(max_drop=0.3))
    (worst,) = checked.worst()
    assert worst.check.estimate.value == pytest.approx(24 / N)
    assert (worst.check.cell.variation, worst.n, worst.n_failing) == ("keywords", 3, 1)
    assert sorted(verdicts(checked)) == ["broken", "holds", "holds"]


def test_what_can_lose_nothing_does_not_hold_because_it_loses_nothing() -> None:
    run = tables(correct(first(0)), correct(first(0), perturbation="sentence_removal"))
    (check,) = judge(drops(run), Gate(max_drop=0.5)).checks
    assert (check.verdict, check.passes) == ("undecided", False)
    assert "nothing to lose" in str(check.reason)


def test_flips_are_counted_between_conditions_and_between_runs_of_one() -> None:
    """Clean runs 1, 0: two different runs always disagree. Against one that is always right, half of the pairs do."""
    run = tables(
        correct({f"q{i}": (1.0, 0.0) for i in range(20)}),
        correct({f"q{i}": (1.0, 1.0) for i in range(20)}, perturbation="sentence_removal"),
    )
    clean, removed = judge(flip_rates(run), Gate(max_flip_rate=0.7)).checks
    assert (clean.estimate.value, clean.verdict) == (1.0, "broken")
    assert (removed.estimate.value, removed.verdict) == (0.5, "holds")


def test_failures_are_counted_by_question() -> None:
    records = correct(first(0, of=20, runs=2)).with_columns(
        failure=pl.when(pl.col("question_id") == "q00").then(pl.lit("timeout"))
    )
    run = Tables(scores=records, read_records=lambda: records)
    (check,) = judge(failures(run), Gate(max_failures=0.4)).checks
    assert check.estimate.value == pytest.approx(1 / 20)
    assert check.verdict == "holds"


def test_a_fact_counts_with_the_last_temperature_at_which_it_holds() -> None:
    """Ten break between 0.5 and 1 (they hold up to 0.5), ten never do up to 1: 0.75 on average."""
    right = {f"q{i}": (1.0, 1.0) for i in range(20)}
    hot = {f"q{i}": (float(i < 10),) * 2 for i in range(20)}
    parts = [
        condition_rows("unchanged", temperature, "contains", **runs)
        for temperature, runs in ((0.0, right), (0.5, right), (1.0, hot))
    ]
    run = tables(*parts, repeats=2)
    (check,) = judge(breaking_temperatures(run, has_scan=False), Gate(min_breaking_temperature=0.5)).checks
    assert check.estimate.value == pytest.approx(0.75)
    assert check.verdict == "holds"


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (drops, "gate.max_drop: nothing is shaken in this run"),
        (flip_rates, "gate.max_flip_rate: each question has one answer in one condition, so none can flip. Add rep"),
        (
            lambda run: breaking_temperatures(run, has_scan=False),
            "gate.min_breaking_temperature: nothing was asked abo",
        ),
        (lambda run: robustness_scores(run, has_scan=False), "gate.min_frs: nothing was asked above temperature 0."),
    ],
)
def test_what_the_run_cannot_tell_is_refused_with_what_to_add(
    measure: Callable[[Tables], list[Quantity]], message: str
) -> None:
    with pytest.raises(StudyError) as caught:
        measure(tables(correct(first(30))))
    assert str(caught.value).startswith(message)


def test_one_answer_at_a_temperature_does_not_tell_whether_a_fact_is_broken() -> None:
    run = tables(correct(first(30)), correct(first(20), temperature=1.0), repeats=1)
    with pytest.raises(StudyError, match="Add repeats = 10"):
        breaking_temperatures(run, has_scan=False)


def test_a_run_without_an_undisturbed_condition_is_refused() -> None:
    with pytest.raises(StudyError, match="smollm2 with single_retrieval was not asked in the condition in which nothi"):
        accuracies(tables(correct(first(30), perturbation="sentence_removal")))


# --- what is claimed ------------------------------------------------------------------------------


def test_a_few_questions_show_nothing() -> None:
    (check,) = judge(accuracies(tables(correct(first(7, of=7)))), Gate(min_accuracy=0.1)).checks
    assert (check.verdict, check.reason, check.passes) == ("undecided", "fewer than 8 questions", False)


@pytest.mark.parametrize(("undecided", "passes"), [("pass", True), ("fail", False), (None, False)])
def test_what_is_undecided_counts_as_the_gate_says(undecided, passes) -> None:
    checked = judge(accuracies(tables(correct(first(30)))), Gate(min_accuracy=0.75, undecided=undecided))
    assert checked.passes is passes


def test_missing_answers_leave_open_what_they_would_have_been() -> None:
    """36 of 36 with a score, but 4 of 40 failed: at worst 90 %, so 95 % cannot hold."""
    runs = {question: (1.0 if i < 36 else None,) for i, question in enumerate(first(0))}
    later = correct(dict.fromkeys(runs, (1.0,)), temperature=1.0)
    (check,) = judge(accuracies(tables(correct(runs), later)), Gate(min_accuracy=0.88)).checks
    assert check.estimate.value == 1.0
    assert check.verdict == "undecided"


def test_all_thresholds_hold_only_where_each_does_and_one_that_is_broken_is_shown_among_all() -> None:
    """6 of 40 are lost, none gained: shown by itself (1/2⁶), and not as one of a hundred conditions."""
    clean = correct(first(36))
    alone = tables(clean, correct(first(30), perturbation="removal"))
    others = [correct(first(36), perturbation=f"masking{i}") for i in range(100)]
    among = tables(clean, correct(first(30), perturbation="removal"), *others)
    assert verdicts(judge(drops(alone), Gate(max_drop=0.0))) == ["broken"]
    every = judge(drops(among), Gate(max_drop=0.0))
    assert "broken" not in verdicts(every)
    assert not every.passes


# --- against a base -------------------------------------------------------------------------------


def against(base: pl.DataFrame, run: pl.DataFrame, **gate: Any) -> Checked:
    quantities, unpaired = regressions(base, run, "contains")
    return judge(quantities, Gate(**gate), unpaired=unpaired)


def test_the_same_answers_pass_and_say_how_much_worse_they_may_be() -> None:
    checked = against(correct(first(30)), correct(first(30)))
    (check,) = checked.checks
    assert (check.verdict, checked.passes, check.estimate.value) == ("undecided", True, 0.0)
    assert check.adjusted.high is not None and 0 < check.adjusted.high < 0.1


def test_a_loss_that_is_shown_closes_the_gate_and_one_that_is_allowed_does_not() -> None:
    base, worse = correct(first(36)), correct(first(28))
    assert not against(base, worse).passes
    assert against(base, worse, max_regression=0.2).passes


def test_a_gain_passes() -> None:
    checked = against(correct(first(20)), correct(first(30)))
    assert verdicts(checked) == ["holds"]


def test_a_loss_in_one_condition_is_found_beside_conditions_that_gain() -> None:
    def run(removed: int, masked: int) -> pl.DataFrame:
        return pl.concat(
            [correct(first(removed), perturbation="removal"), correct(first(masked), perturbation="masking")]
        )

    checked = against(run(36, 20), run(24, 32))
    by_place = {check.cell.perturbation: check.verdict for check in checked.checks}
    assert by_place == {None: "undecided", "removal": "broken", "masking": "holds"}
    assert not checked.passes
    (worst,) = checked.worst()
    assert worst.check.cell.perturbation == "removal"


def test_more_of_a_number_of_which_less_is_better_is_a_loss() -> None:
    few, many = correct(first(4), metric="refusal"), correct(first(20), metric="refusal")
    quantities, _ = regressions(few, many, "refusal")
    (check,) = judge(quantities, Gate()).checks
    assert (check.estimate.value, check.verdict) == (pytest.approx(16 / N), "broken")
    with pytest.raises(StudyError, match="of which less is better"):
        accuracies(tables(few))


def test_systems_are_matched_by_name_and_a_single_one_by_being_alone() -> None:
    assert against(correct(first(30), model="old"), correct(first(30), model="new")).passes
    two = pl.concat([correct(first(30), model="a"), correct(first(30), model="b")])
    checked = against(two, pl.concat([correct(first(10), model="b"), correct(first(30), model="c")]))
    assert {check.cell.system.model for check in checked.checks if check.cell.system} == {"b"}
    with pytest.raises(StudyError, match=r"no system is in both runs\. Found x ·"):
        against(two, pl.concat([correct(first(10), model="x"), correct(first(30), model="y")]))


def test_runs_without_a_common_question_are_refused() -> None:
    with pytest.raises(StudyError, match="no question under the same condition"):
        against(correct(first(30)), correct({f"other{i}": (1.0,) for i in range(20)}))
