"""Thresholds on runs whose numbers are worked by hand."""

from __future__ import annotations

import itertools
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from score_rows import condition_rows, score_rows

from shaketable.analyses.gate.held_facts import breaking_temperatures, robustness_scores
from shaketable.analyses.gate.quantities import Quantity
from shaketable.analyses.gate.regressions import broken_pairs, regressions
from shaketable.analyses.gate.thresholds import accuracies, costs, drops, failures, flip_rates
from shaketable.analyses.gate.verdicts import Check, Checked, judge
from shaketable.analyses.tables import Tables
from shaketable.errors import StudyError
from shaketable.types import Gate

N = 40
GATE_PAGE = Path(__file__).parents[2] / "docs" / "gate.md"


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
    assert "chance level" in str(check.reason)


def test_flips_are_counted_between_conditions_and_between_runs_of_one() -> None:
    """Clean runs 1, 0: two different runs always disagree. Against one that is always right, half of the pairs do."""
    run = tables(
        correct({f"q{i}": (1.0, 0.0) for i in range(20)}),
        correct({f"q{i}": (1.0, 1.0) for i in range(20)}, perturbation="sentence_removal"),
    )
    clean, removed = judge(flip_rates(run), Gate(max_flip_rate=0.7)).checks
    assert (clean.estimate.value, clean.verdict) == (1.0, "broken")
    assert (removed.estimate.value, removed.verdict) == (0.5, "holds")


@pytest.mark.parametrize(
    ("n_failed", "n", "limit", "passes"),
    [(0, 240, 0.02, True), (4, 200, 0.02, True), (5, 200, 0.02, False), (1, 100, 0.01, True), (1, 4, 0.3, True)],
)
def test_failures_are_held_against_the_limit_as_they_happened(n_failed, n, limit, passes) -> None:
    records = correct(first(0, of=n)).with_columns(
        failure=pl.when(pl.int_range(pl.len()) < n_failed).then(pl.lit("timeout"))
    )
    run = Tables(scores=records, read_records=lambda: records)
    checked = judge(failures(run), Gate(max_failures=limit))
    assert checked.checks[0].estimate.value == pytest.approx(n_failed / n)
    assert checked.passes is passes


def test_the_documented_gate_passes_on_a_good_run() -> None:
    """59 of 60 are right where nothing is shaken, and nearly all facts hold at every temperature."""
    [example] = re.findall(r"```toml\n\[gate\]\n(.*?)```", GATE_PAGE.read_text("utf-8"), re.DOTALL)
    gate = Gate(**tomllib.loads(example))
    good = {
        ("unchanged", 0.0): 59,
        ("unchanged", 0.5): 58,
        ("unchanged", 1.0): 57,
        ("sentence_removal", 0.0): 57,
        ("sentence_removal", 0.5): 57,
        ("sentence_removal", 1.0): 56,
    }
    answers = [
        condition_rows(evidence, temperature, "contains", **first(n_right, of=60, runs=3))
        for (evidence, temperature), n_right in good.items()
    ]
    entropies = condition_rows("unchanged", 0.0, "entropy", **dict.fromkeys(first(60, of=60), (0.1,) * 3))
    records = pl.concat(answers).with_columns(failure=pl.lit(None, dtype=pl.String), value=pl.lit(0.001))
    run = tables(*answers, entropies, repeats=3, read_records=lambda: records)
    measured = [
        *(quantity for measure in (accuracies, drops, flip_rates, failures) for quantity in measure(run)),
        *(
            quantity
            for measure in (breaking_temperatures, robustness_scores)
            for quantity in measure(run, has_scan=False)
        ),
        *costs(records),
    ]
    against_itself, _ = regressions(pl.concat(answers), pl.concat(answers), "contains")
    broken = [own.quantity() for own in broken_pairs(pl.concat(answers), pl.concat(answers), "contains")]
    checked = judge([*measured, *against_itself, *broken], gate)
    assert {check.threshold for check in checked.checks} == set(tomllib.loads(example)) - {"confidence"}
    assert checked.passes


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


Asked = tuple[list[float | None], list[float | None]]
"""Runs of one question, where nothing is shaken and where it is; None: failed."""
runs_of_a_question = st.lists(st.sampled_from([0.0, 1.0, None]), min_size=1, max_size=3)


def fillings(asked: Sequence[Asked]) -> Iterator[list[Asked]]:
    """Every way in which the answers that failed could have been judged."""
    n_failed = sum(runs.count(None) for question in asked for runs in question)
    for verdicts in itertools.product([0.0, 1.0], repeat=n_failed):
        left = iter(verdicts)

        def judged(runs: list[float | None], left: Iterator[float] = left) -> list[float | None]:
            return [next(left) if value is None else value for value in runs]

        yield [(judged(clean), judged(shaken)) for clean, shaken in asked]


def mean_flips(pairs_of_questions: Sequence[Sequence[tuple[float | None, float | None]]]) -> float:
    """Of pairs of answers, question by question."""
    return float(np.mean([np.mean([a != b for a, b in pairs]) for pairs in pairs_of_questions if pairs]))


@given(st.lists(st.tuples(runs_of_a_question, runs_of_a_question), min_size=1, max_size=3))
def test_flips_are_bounded_by_the_fewest_and_the_most_that_missing_answers_could_make(asked: list[Asked]) -> None:
    is_scored = [any(value is not None for runs in question for value in runs) for question in asked]
    scored = list(itertools.compress(asked, is_scored))  # What the metric scores nowhere did not fail.
    assume(scored and sum(runs.count(None) for question in scored for runs in question) <= 8)
    (quantity,) = flip_rates(
        tables(
            correct({f"q{i}": clean for i, (clean, _) in enumerate(asked)}),
            correct({f"q{i}": shaken for i, (_, shaken) in enumerate(asked)}, perturbation="removal"),
        )
    )
    ways = list(fillings(scored))
    possible = {"removal": [mean_flips([list(itertools.product(*question)) for question in way]) for way in ways]}
    if max(len(clean) for clean, _ in scored) > 1:
        possible["unchanged"] = [
            mean_flips([list(itertools.combinations(clean, 2)) for clean, _ in way]) for way in ways
        ]
    assert {cell.perturbation for cell in quantity.cells} == possible.keys()
    for i, cell in enumerate(quantity.cells):
        rates = possible[cell.perturbation or ""]
        fewest, most = (own[i] if not np.isnan(own[i]).all() else quantity.values[i] for own in quantity.filled)
        assert np.nanmean(fewest) == pytest.approx(min(rates), abs=1e-9)
        assert np.nanmean(most) == pytest.approx(max(rates), abs=1e-9)


def test_answers_that_failed_on_both_sides_may_all_have_flipped() -> None:
    """34 of 40 never flip, and 6 failed in both conditions. All wrong or all right they would not flip either, wrong
    here and right there all do: it is known no better than if they had."""
    failing = {question: (1.0 if i < 34 else None,) for i, question in enumerate(first(0))}

    def flips(*runs: Mapping[str, Sequence[float | None]]) -> Check:
        parts = [correct(own, perturbation=name) for own, name in zip(runs, ("unchanged", "removal"), strict=True)]
        checks = judge(flip_rates(tables(*parts, correct(first(40), temperature=1.0))), Gate(max_flip_rate=0.2)).checks
        return next(check for check in checks if check.cell.perturbation == "removal")

    unknown, known = flips(failing, failing), flips(first(40), first(34))
    assert (unknown.estimate.value, known.estimate.value) == (0.0, 6 / 40)
    assert (unknown.verdict, unknown.passes) == ("undecided", False)
    assert (unknown.estimate.low, unknown.estimate.high) == (0.0, known.estimate.high)


def test_a_condition_in_which_every_answer_failed_is_not_shown_to_flip_rarely() -> None:
    failed = correct(dict.fromkeys(first(0), (None,)), perturbation="removal")
    run = tables(correct(first(30)), correct(first(30), perturbation="masking"), failed)
    checked = judge(flip_rates(run), Gate(max_flip_rate=0.5))
    assert {check.cell.perturbation: check.verdict for check in checked.checks} == {
        "masking": "holds",
        "removal": "undecided",
    }
    assert not checked.passes


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
    broken = broken_pairs(base, run, "contains")
    limited = [own.quantity() for own in broken] if gate.get("max_broken") is not None else []
    return judge([*quantities, *limited], Gate(**gate), unpaired=unpaired, broken=broken)


def test_the_same_answers_pass_and_say_how_much_worse_they_may_be() -> None:
    checked = against(correct(first(30)), correct(first(30)))
    (check,) = checked.checks
    assert (check.verdict, checked.passes, check.estimate.value) == ("holds", True, 0.0)
    assert check.adjusted.high is not None and 0 < check.adjusted.high < 0.1


runs_in_two_conditions = st.lists(st.tuples(runs_of_a_question, runs_of_a_question), min_size=1, max_size=12)


@given(
    asked=runs_in_two_conditions,
    undecided=st.sampled_from([None, "pass", "fail"]),
    max_regression=st.sampled_from([0.0, 0.05, 0.5]),
    max_broken=st.sampled_from([None, 0, 3]),
    confidence=st.sampled_from([0.6, 0.95, 0.999]),
)
def test_a_copy_of_the_base_passes_by_every_rule(asked: list[Asked], max_broken: int | None, **rules: Any) -> None:
    assume(any(value is not None for question in asked for runs in question for value in runs))
    run = pl.concat(
        correct({f"q{i}": question[place] for i, question in enumerate(asked)}, perturbation=name)
        for place, name in enumerate(("unchanged", "removal"))
    )
    assert against(run, run, max_broken=max_broken, **rules).passes


def test_what_differs_by_one_question_is_still_undecided() -> None:
    one_less = against(correct(first(30)), correct(first(29)), undecided="fail", max_regression=0.05)
    assert (verdicts(one_less), one_less.passes) == (["undecided"], False)


@pytest.mark.parametrize(("limit", "passes"), [(0, False), (3, False), (4, True)])
def test_broken_answers_are_counted_one_by_one(limit: int, passes: bool) -> None:
    """4 of 80 answers break and none is mended: too few to be shown as a loss, and all of them are counted."""
    base = pl.concat([correct(first(36)), correct(first(20), perturbation="removal")])
    new = pl.concat([correct(first(34)), correct(first(18), perturbation="removal")])
    assert against(base, new).passes
    checked = against(base, new, max_broken=limit)
    [counted] = [check for check in checked.checks if check.is_counted]
    assert (counted.estimate.value, counted.estimate.n, checked.passes) == (4.0, 80, passes)
    [broken] = checked.broken
    places = [(row["perturbation"], row["question_id"]) for row in broken.rows.iter_rows(named=True)]
    assert places == [("removal", f"q{i}") for i in (18, 19)] + [("unchanged", f"q{i}") for i in (34, 35)]


@pytest.mark.parametrize(
    ("before", "after", "is_broken"),
    [
        ((1.0, 1.0), (0.0, 0.0), True),
        ((1.0,), (0.0, 0.0, 0.0), True),
        ((1.0, 0.0), (0.0, 0.0), False),
        ((1.0, 1.0), (0.0, 1.0), False),
        ((1.0, None), (0.0, 0.0), False),  # An answer that failed was not right.
        ((1.0, 1.0), (0.0, None), True),
        ((1.0, 1.0), (None, None), False),  # No answer is no wrong one; max_failures counts it.
    ],
)
def test_broken_is_right_in_all_runs_and_wrong_in_all_runs(before, after, is_broken) -> None:
    other = {f"other{i}": (1.0,) for i in range(9)}
    [broken] = broken_pairs(correct({"q": before, **other}), correct({"q": after, **other}), "contains")
    assert broken.rows["question_id"].to_list() == ["q"] * is_broken


def test_without_repeats_the_base_cannot_tell_what_chance_breaks() -> None:
    [broken] = broken_pairs(correct(first(30)), correct(first(20)), "contains")
    assert (broken.n_repeated, broken.expected) == (0, None)


def test_repeats_of_the_base_tell_how_many_break_by_chance() -> None:
    """Two runs: half of those that disagree break in one order. Three runs against one: a third of those with two."""
    two = {**first(20, runs=2), **{f"flaky{i}": (1.0, 0.0) for i in range(6)}}
    [broken] = broken_pairs(correct(two), correct(two), "contains")
    assert broken.expected == pytest.approx(3.0)
    three = {**first(20, runs=3), **{f"flaky{i}": (1.0, 0.0, 1.0) for i in range(6)}}
    [broken] = broken_pairs(correct(three), correct(dict.fromkeys(three, (1.0,))), "contains")
    assert broken.expected == pytest.approx(2.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.sampled_from([(2, 1), (2, 2), (3, 1), (3, 3), (5, 2)]))
def test_chance_breaks_no_more_than_expected(chances: list[float], runs: tuple[int, int]) -> None:
    """Enumerated over every outcome of the base: its mean expectation is at least the number that breaks."""
    a, b = runs
    truth = sum(p**a * (1 - p) ** b for p in chances)
    mean = 0.0
    for n_right in range(a + 1):
        outcome = (1.0,) * n_right + (0.0,) * (a - n_right)
        base, new = {"q": outcome, "other": (1.0,) * a}, {"q": (1.0,) * b, "other": (1.0,) * b}
        [broken] = broken_pairs(correct(base), correct(new), "contains")
        assert broken.expected is not None
        mean += sum(math.comb(a, n_right) * p**n_right * (1 - p) ** (a - n_right) for p in chances) * broken.expected
    assert mean >= truth - 1e-9


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
