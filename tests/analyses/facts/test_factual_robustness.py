from __future__ import annotations

from dataclasses import replace

import pytest
from made_facts import GRID, fact_rows, fact_tables, known, made_curve, made_facts, scan, table_of
from scipy import stats

from shaketable.analyses.facts.factual_robustness import factual_robustness
from shaketable.facts.score import D, frs
from shaketable.types import Curve, Scan


def scores(result, *, d=None, is_capped=True):
    return [mean for mean in result.scores if d in (None, mean.d) and mean.is_capped == is_capped]


def test_the_mean_score_of_facts_worked_in_the_specification():
    # Section 6.3: H .10 breaking at 1.0 and H .25 breaking at 0.6, and one unbroken fact, which scores 1.
    table = table_of(
        fact_rows("a", scores=known(0.10), shares=scan(1.0)),
        fact_rows("b", scores=known(0.25), shares=scan(0.6)),
        fact_rows("c", scores=known(0.70), shares=scan(None)),
        fact_rows("wrong", scores=known(0.70, right=0.0)),
    )
    result = factual_robustness(fact_tables(table))
    values = {mean.d: mean.score.value for mean in scores(result)}
    assert tuple(values) == D
    assert values[1] == pytest.approx((0.733333 + 0.671458 + 1) / 3, abs=1e-6)
    (unbroken,), (asked,) = result.unbroken, result.known
    assert (unbroken.share.value, unbroken.share.n) == (pytest.approx(1 / 3), 3)
    assert (asked.share.value, asked.share.n, asked.metric) == (0.75, 4, "exact_match")
    assert scores(result, is_capped=False) == []


def test_without_a_cap_the_curve_tells_where_a_fact_breaks():
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.1), shares=scan(None)) for i in range(2)))
    curves = [made_curve("smollm2/builtin/q0/0", 2.5), made_curve("smollm2/builtin/q1/0", 9.0)]
    result = factual_robustness(fact_tables(table, curves))
    (capped,), (uncapped,) = (scores(result, d=5, is_capped=is_capped) for is_capped in (True, False))
    assert capped.score.value == 1
    assert uncapped.score.value == pytest.approx((frs(0.1, 2.5, 5) + frs(0.1, 4.0, 5)) / 2)
    assert uncapped.n_censored == 1


def test_an_uncapped_score_carries_the_error_of_its_curve():
    """H = .1, and the curve breaks at 1.9. The lower end of its interval holds at 1.0 and the upper one breaks at 2.5:
    f = .9 · 2 - .1 / 2 = 1.75, score 2.75 / 3.75 = .733333; f = .9 · 3.5 - .1 / 3.5 = 3.121429, score .804742."""
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.1), shares=scan(1.8)) for i in range(2)))
    curves = [
        Curve(
            key=f"smollm2/builtin/q{i}/0",
            temperatures=(0.5, 1.0, 1.5, 2.0, 2.5, 3.0),
            low=(0.9, 0.7, 0.2, 0.1, 0.0, 0.0),
            high=(1.0, 1.0, 1.0, 0.9, 0.9, 0.9),
            value=(1.0, 0.9, 0.7, 0.45, 0.2, 0.1),
            value_low=(1.0, 0.85, 0.45, 0.3, None, None),
            value_high=(1.0, 0.95, 0.8, 0.6, 0.45, None),
            breaking=1.9,
            breaking_low=0.8,
        )
        for i in range(2)
    ]
    result = factual_robustness(fact_tables(table, curves))
    (uncapped,) = scores(result, d=1, is_capped=False)
    assert uncapped.score.value == pytest.approx(frs(0.1, 1.9))
    assert [uncapped.score.low, uncapped.score.high] == pytest.approx([0.733333, 0.804742], abs=1e-6)
    fact = result.facts[0]
    assert [fact.uncapped_low, fact.uncapped_high] == pytest.approx([0.733333, 0.804742], abs=1e-6)
    # Where the upper end of the interval never breaks, the score may be as high as that of a fact that holds.
    open_ended = [replace(curve, value_high=(1.0, 0.95, 0.8, 0.6, 0.55, 0.55)) for curve in curves]
    (uncapped,) = scores(factual_robustness(fact_tables(table, open_ended)), d=1, is_capped=False)
    assert [uncapped.score.low, uncapped.score.high] == pytest.approx([0.733333, 1.0], abs=1e-6)


def test_known_facts_without_entropy_are_counted_not_scored():
    table = table_of(
        fact_rows("a", scores=known(0.1), shares=scan(1.0)), fact_rows("b", scores=known(None), shares=scan(None))
    )
    (mean,) = scores(factual_robustness(fact_tables(table)), d=1)
    assert (mean.score.value, mean.score.n, mean.n_missing) == (pytest.approx(frs(0.1, 1.0)), 1, 1)


def test_exactly_the_scanned_facts_are_in_the_score_whatever_curves_there_are():
    # Eight known facts, of which the scan took two; all have curves.
    groups = [fact_rows(f"q{i}", scores=known(0.0), shares=scan(2.0) if i < 2 else None) for i in range(8)]
    curves = [made_curve(f"smollm2/builtin/q{i}/0", 0.5) for i in range(8)]
    result = factual_robustness(fact_tables(table_of(*groups), curves, scan=Scan(limit=2, curves="all")))
    (mean,) = scores(result, d=1)
    assert (mean.score.value, mean.score.n, mean.n_missing) == (pytest.approx(0.8), 2, 0)
    assert [fact.question_id for fact in result.facts] == ["q0", "q1"]
    assert {mean.score.n for mean in scores(result, is_capped=False)} == {2}
    (asked,) = result.known
    assert (asked.share.value, asked.share.n) == (1, 8)


def test_a_model_of_which_nothing_is_known_has_no_score_and_the_reason():
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.1)) for i in range(3)))
    nothing = {"low": (0.0,) * 40, "high": (1.0,) * 40, "value": (None,) * 40}
    curves = [made_curve(f"smollm2/builtin/q{i}/0", 9.0, **nothing) for i in range(3)]
    result = factual_robustness(fact_tables(table, curves, scan=Scan(strategy="none")))
    for mean in scores(result):
        assert (mean.score.value, mean.score.n, mean.n_missing, mean.n_undecided) == (None, 0, 3, 3)
    (unbroken,) = result.unbroken
    assert (unbroken.share.value, unbroken.share.reason) == (None, "the curve leaves open where it breaks")
    assert {fact.reason for fact in result.facts} == {"the curve leaves open where it breaks"}


def test_undecided_facts_are_counted_beside_the_score_of_the_others():
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.0)) for i in range(3)))
    unknown = {"low": (0.0,) * 40, "high": (1.0,) * 40, "value": (None,) * 40}
    curves = [made_curve("smollm2/builtin/q0/0", 2.0), made_curve("smollm2/builtin/q1/0", 9.0, **unknown)]
    curves.append(made_curve("smollm2/builtin/q2/0", 1.0, reason="no accepted answer fits into 5 new tokens"))
    (mean,) = scores(factual_robustness(fact_tables(table, curves, scan=Scan(strategy="none"))), d=1)
    assert (mean.score.value, mean.score.n, mean.n_undecided) == (pytest.approx(0.8), 1, 2)


def test_datasets_are_pooled_question_by_question():
    table = table_of(
        fact_rows("q", scores=known(0.0), shares=scan(None), dataset="squad"),
        fact_rows("q", scores=known(0.0), shares=scan(2.0), dataset="hotpotqa"),
        fact_rows("r", scores=known(0.0), shares=scan(2.0), dataset="hotpotqa"),
    )
    values = {mean.cell.dataset: mean.score.value for mean in scores(factual_robustness(fact_tables(table)), d=1)}
    assert values == {"squad": 1, "hotpotqa": pytest.approx(0.8), None: pytest.approx((1 + 0.8 + 0.8) / 3)}


def test_systems_are_compared_on_the_facts_that_all_know():
    table = table_of(
        fact_rows("q1", scores=known(0.0), shares=scan(None), model="a"),
        fact_rows("q2", scores=known(0.0), shares=scan(0.2), model="a"),
        fact_rows("q1", scores=known(0.0), shares=scan(2.0), model="b"),
        fact_rows("q2", scores=known(0.0, right=0.0), shares=scan(0.2), model="b"),
    )
    result = factual_robustness(fact_tables(table), d=(1,))
    assert {shared.cell.system.model: (shared.score.value, shared.score.n) for shared in result.shared} == {
        "a": (1, 1),
        "b": (pytest.approx(0.8), 1),
    }
    (gap,) = result.differences
    assert (gap.cell.system.model, gap.other.system.model) == ("a", "b")
    assert gap.difference.value == pytest.approx(0.2)
    assert result.rank_correlations == ()


def test_rank_correlation_of_accuracy_and_score_is_scipys():
    result = factual_robustness(fact_tables(made_facts(models=("a", "b", "c", "d"), n=30)), d=(1, 50))
    for rank in result.rank_correlations:
        accuracy = {asked.cell.system.model: asked.share.value for asked in result.known}
        score = {mean.cell.system.model: mean.score.value for mean in scores(result, d=rank.d)}
        expected = stats.spearmanr([accuracy[m] for m in "abcd"], [score[m] for m in "abcd"]).statistic
        assert (rank.correlation.value, rank.correlation.n) == (pytest.approx(expected), 4)
    assert [rank.d for rank in result.rank_correlations] == [1, 50]


def test_the_mean_scores_bound_the_share_of_unbroken_facts_as_the_specification_says():
    """A broken fact scores at most .8, which bounds the mean at d = 1 from above, and at least 1/7."""
    result = factual_robustness(fact_tables(made_facts(n=40)))
    (first,), (last,) = (scores(result, d=d) for d in (1, 50))
    (unbroken,) = result.unbroken
    low, high = (first.score.value - 0.8) / 0.2, (last.score.value - 1 / 7) / (6 / 7)
    assert low <= unbroken.share.value <= high
    assert last.score.value < first.score.value


def test_every_known_fact_has_what_charts_draw():
    facts = factual_robustness(fact_tables(made_facts(n=8))).facts
    assert len(facts) == 6
    for fact in facts:
        assert fact.score == frs(fact.entropy, fact.breaking)
        assert fact.breaking in (*GRID, None)
        assert fact.cell.group in ("NUM", "LOC", "ENTY", "HUM")


def test_intervals_hold_the_mean_and_shrink_with_more_facts():
    def width(n):
        (mean,) = scores(factual_robustness(fact_tables(made_facts(n=n)), d=(1,)), d=1)
        assert mean.score.low < mean.score.value < mean.score.high
        return mean.score.high - mean.score.low

    assert width(80) < width(10)


def test_systems_are_compared_by_a_paired_test_and_each_pair_is_a_candidate():
    """By hand: one of two models holds all of ten facts longer, p = 2 · 2⁻¹⁰."""
    rows = [
        fact_rows(f"q{i}", scores=known(0.1), shares=scan(at), model=model)
        for model, at in (("firm", 1.8), ("loose", 0.4))
        for i in range(10)
    ]
    result = factual_robustness(fact_tables(table_of(*rows)))
    (difference,) = result.differences
    assert difference.p == 2 * 0.5**10
    (claim,) = result.claims()
    assert (claim.weight, claim.p) == (1, difference.p)
