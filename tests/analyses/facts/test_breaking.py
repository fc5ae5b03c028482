from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_facts import GRID, fact_rows, fact_tables, known, made_curve, made_facts, scan, table_of
from scipy import stats

from shaketable.analyses.facts.breaking import breaking, pearson
from shaketable.analyses.facts.reading import Reading
from shaketable.facts.score import chances_of_breaking
from shaketable.types import Scan

# The specification's test vector, section 7.2: r = -0.955602.
ENTROPIES = (0.05, 0.10, 0.20, 0.30, 0.40)
BREAKINGS = (1.8, 1.6, 1.6, 0.8, 0.4)


def worked():
    pairs = zip(ENTROPIES, BREAKINGS, strict=True)
    facts = [fact_rows(f"q{i}", scores=known(h), shares=scan(at)) for i, (h, at) in enumerate(pairs)]
    return fact_tables(table_of(*facts, fact_rows("held", scores=known(0.01), shares=scan(None))))


def test_facts_of_which_nobody_knows_where_they_break_are_left_out_and_counted():
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.1)) for i in range(3)))
    nothing = {"low": (0.0,) * 40, "high": (1.0,) * 40, "value": (None,) * 40}
    curves = [
        made_curve(f"smollm2/builtin/q{i}/0", 1.0, **(nothing | {"breaking": None} if i else {})) for i in range(3)
    ]
    result = breaking(fact_tables(table, curves, scan=Scan(strategy="none")))
    (broken,) = [broken.share for broken in result.shares if broken.cell.temperature is None]
    assert (broken.value, broken.n) == (1, 1)
    assert [correlation.n_missing for correlation in result.correlations] == [2]


def test_entropy_and_breaking_temperature_of_the_worked_example():
    (entropy,) = breaking(worked()).correlations
    assert entropy.pearson.value == pytest.approx(-0.955602, abs=5e-7)
    assert (entropy.pearson.n, entropy.n_unbroken) == (5, 1)
    # Some resamples of five hold one fact alone, so there is no interval.
    assert entropy.pearson.low is None


def test_facts_that_do_not_break_are_tied_above_all_others():
    """By hand: of the 15 pairs of the worked example and the fact that holds, with the least entropy, one is tied in
    breaking temperature and all others disagree: −14 / √(15 · 14)."""
    (entropy,) = breaking(worked()).correlations
    assert (entropy.tau.value, entropy.tau.n) == (pytest.approx(-14 / (15 * 14) ** 0.5), 6)
    assert entropy.p == pytest.approx(stats.kendalltau([*ENTROPIES, 0.01], [*BREAKINGS, 9]).pvalue)
    assert -1 < entropy.tau.low < entropy.tau.value < entropy.tau.high < 0


def test_where_no_fact_breaks_there_is_no_correlation_and_nothing_to_claim():
    held = fact_tables(table_of(*(fact_rows(f"q{i}", scores=known(i / 10), shares=scan(None)) for i in range(9))))
    result = breaking(held)
    (entropy,) = result.correlations
    assert (entropy.tau.value, entropy.tau.reason, entropy.p) == (None, "no fact breaks", None)
    (claim,) = result.claims()
    assert claim.p is None


def test_a_single_fact_has_no_correlation():
    (entropy,) = breaking(fact_tables(table_of(fact_rows("q", scores=known(0.1), shares=scan(1.0))))).correlations
    assert (entropy.tau.value, entropy.tau.reason) == (None, "entropy or breaking temperature does not vary")


def test_unbroken_facts_can_be_put_beyond_the_grid():
    (entropy,) = breaking(worked(), unbroken=2.2).correlations
    expected = stats.pearsonr([*ENTROPIES, 0.01], [*BREAKINGS, 2.2]).statistic
    assert (entropy.pearson.value, entropy.pearson.n) == (pytest.approx(expected), 6)


def test_mean_entropy_and_share_by_breaking_temperature():
    result = breaking(worked())
    assert {at.cell.temperature: at.entropy.value for at in result.entropies} == {
        0.4: 0.40,
        0.8: 0.30,
        1.6: pytest.approx(0.15),
        1.8: 0.05,
    }
    shares = {broken.cell.temperature: broken.share.value for broken in result.shares}
    assert shares[None] == pytest.approx(5 / 6)
    assert shares[1.6] == pytest.approx(2 / 6)
    assert shares[1.0] == 0


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from(GRID)), min_size=3, max_size=20), st.integers(0, 99))
def test_a_resampled_correlation_is_scipys(pairs, seed):
    first, second = np.array(pairs).T
    drawn = np.random.default_rng(seed).multinomial(len(pairs), [1 / len(pairs)] * len(pairs))
    ((value,),) = pearson(first, second)(drawn[None].astype(float))
    a, b = np.repeat(first, drawn), np.repeat(second, drawn)
    if np.ptp(a) > 1e-3 and np.ptp(b) > 1e-3:
        assert value == pytest.approx(stats.pearsonr(a, b).statistic, abs=1e-6)


def test_too_few_broken_facts_have_no_correlation():
    (entropy,) = breaking(fact_tables(table_of(fact_rows("q", scores=known(0.1), shares=scan(1.0))))).correlations
    assert (entropy.pearson.value, entropy.pearson.reason) == (None, "fewer than three broken facts")


def early():
    # The curve of q0 breaks at 1.8 on the grid (0.5 at 1.65), its samples at 1.4; q1 breaks at 1.8 in both.
    table = table_of(
        fact_rows("q0", scores=known(0.1), shares=scan(1.4)), fact_rows("q1", scores=known(0.1), shares=scan(1.8))
    )
    return table, [made_curve(f"smollm2/builtin/q{i}/0", 1.65) for i in range(2)]


def test_breaks_that_samples_found_before_the_curve_does_are_counted():
    table, curves = early()
    (counted,) = breaking(fact_tables(table, curves)).too_early
    assert (counted.share.value, counted.share.n) == (0.5, 2)
    true = [curves[0].value[curves[0].temperatures.index(t)] for t in GRID]
    assert counted.expected.value == pytest.approx(sum(chances_of_breaking(true)[:8]))


def test_a_sequential_scan_has_no_expected_share_of_early_breaks():
    table, curves = early()
    (counted,) = breaking(fact_tables(table, curves, scan=Scan(strategy="sequential"))).too_early
    assert (counted.share.value, counted.expected) == (0.5, None)


def test_the_rules_of_the_specification_can_be_chosen():
    # Section 5.2: first 1.4, last 1.8, bisect 1.8, and 1.2 where one half is broken too.
    shares = dict(zip(GRID, (1, 1, 0.9, 0.7, 0.6, 0.5, 0.4, 0.5, 0.3, 0.2), strict=True))
    tables = fact_tables(table_of(fact_rows("q", scores=known(0.1), shares=shares)))

    def breaks_at(**settings):
        (at,) = breaking(tables, reading=Reading(**settings)).entropies
        return at.cell.temperature

    rules = (breaks_at(), breaks_at(rule="last"), breaks_at(rule="bisect"), breaks_at(inclusive=True))
    assert rules == (1.4, 1.8, 1.8, 1.2)


def test_made_facts_show_the_correlation_they_were_made_with():
    (entropy,) = breaking(fact_tables(made_facts(n=40))).correlations
    assert entropy.pearson.low < entropy.pearson.value < entropy.pearson.high < -0.5
    assert entropy.tau.low < entropy.tau.value < entropy.tau.high < 0
    assert entropy.p < 0.001
