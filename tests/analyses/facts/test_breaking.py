from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_facts import GRID, fact_rows, known, made_curve, made_facts, scan, table_of
from scipy import stats

from shaketable.analyses.facts.breaking import breaking, pearson
from shaketable.facts.score import chances_of_breaking
from shaketable.types import Scan

# The specification's test vector, section 7.2: r = -0.955602.
ENTROPIES = (0.05, 0.10, 0.20, 0.30, 0.40)
BREAKINGS = (1.8, 1.6, 1.6, 0.8, 0.4)


def worked():
    pairs = zip(ENTROPIES, BREAKINGS, strict=True)
    facts = [fact_rows(f"q{i}", scores=known(h), shares=scan(at)) for i, (h, at) in enumerate(pairs)]
    return table_of(*facts, fact_rows("held", scores=known(0.01), shares=scan(None)))


def of(finding, kind):
    return [row for row in finding.rows if row["kind"] == kind]


def test_facts_of_which_nobody_knows_where_they_break_are_left_out_and_counted():
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.1)) for i in range(3)))
    nothing = {"low": (0.0,) * 40, "high": (1.0,) * 40, "value": (None,) * 40}
    curves = [
        made_curve(f"smollm2/builtin/q{i}/0", 1.0, **(nothing | {"breaking": None} if i else {})) for i in range(3)
    ]
    finding = breaking(table, curves=curves, scan=Scan(strategy="none"))
    (broken,) = [row for row in finding.rows if row["kind"] == "broken" and row["temperature"] is None]
    assert (broken["value"], broken["n"]) == (1, 1)
    assert any(caveat.startswith("2 known facts have no entropy, or it is not known") for caveat in finding.caveats)


def test_entropy_and_breaking_temperature_of_the_worked_example():
    finding = breaking(worked())
    (row,) = of(finding, "pearson")
    assert row["value"] == pytest.approx(-0.955602, abs=5e-7)
    assert (row["n"], row["n_unbroken"]) == (5, 1)
    # Some resamples of five hold one fact alone, so there is no interval, and nothing is claimed.
    assert finding.sentences[0].startswith("The entropy of an answer was not shown to foretell")


def test_unbroken_facts_can_be_put_beyond_the_grid():
    (row,) = of(breaking(worked(), unbroken=2.2), "pearson")
    expected = stats.pearsonr([*ENTROPIES, 0.01], [*BREAKINGS, 2.2]).statistic
    assert (row["value"], row["n"]) == (pytest.approx(expected), 6)


def test_mean_entropy_and_share_by_breaking_temperature():
    finding = breaking(worked())
    assert {row["temperature"]: row["value"] for row in of(finding, "entropy")} == {
        0.4: 0.40,
        0.8: 0.30,
        1.6: pytest.approx(0.15),
        1.8: 0.05,
    }
    shares = {row["temperature"]: row["value"] for row in of(finding, "broken")}
    assert shares[None] == pytest.approx(5 / 6)
    assert shares[1.6] == pytest.approx(2 / 6)
    assert shares[1.0] == 0


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from(GRID)), min_size=3, max_size=20), st.integers(0, 99))
def test_a_resampled_correlation_is_scipys(pairs, seed):
    first, second = np.array(pairs).T
    drawn = np.random.default_rng(seed).multinomial(len(pairs), [1 / len(pairs)] * len(pairs))
    ((found,),) = pearson(first, second)(drawn[None].astype(float))
    a, b = np.repeat(first, drawn), np.repeat(second, drawn)
    if np.ptp(a) > 1e-3 and np.ptp(b) > 1e-3:
        assert found == pytest.approx(stats.pearsonr(a, b).statistic, abs=1e-6)


def test_too_few_broken_facts_have_no_correlation():
    finding = breaking(table_of(fact_rows("q", scores=known(0.1), shares=scan(1.0))))
    (row,) = of(finding, "pearson")
    assert (row["value"], row["reason"]) == (None, "fewer than three broken facts")
    assert finding.sentences == ()


def test_breaks_that_samples_found_before_the_curve_does_are_counted():
    # The curve of q0 breaks at 1.8 on the grid (0.5 at 1.65), its samples at 1.4; q1 breaks at 1.8 in both.
    table = table_of(
        fact_rows("q0", scores=known(0.1), shares=scan(1.4)), fact_rows("q1", scores=known(0.1), shares=scan(1.8))
    )
    curves = [made_curve(f"smollm2/builtin/q{i}/0", 1.65) for i in range(2)]
    finding = breaking(table, curves=curves)
    (early,), (expected,) = of(finding, "too_early"), of(finding, "too_early_expected")
    assert (early["value"], early["n"]) == (0.5, 2)
    true = [curves[0].value[curves[0].temperatures.index(t)] for t in GRID]
    assert expected["value"] == pytest.approx(sum(chances_of_breaking(true)[:8]))
    assert "declares 50 % [0, 100] of the facts of smollm2 broken too early" in finding.sentences[-1]


def test_the_rules_of_the_specification_can_be_chosen():
    # Section 5.2: first 1.4, last 1.8, bisect 1.8, and 1.2 where one half is broken too.
    shares = dict(zip(GRID, (1, 1, 0.9, 0.7, 0.6, 0.5, 0.4, 0.5, 0.3, 0.2), strict=True))
    table = table_of(fact_rows("q", scores=known(0.1), shares=shares))

    def found(**settings):
        (at,) = [row["temperature"] for row in of(breaking(table, **settings), "entropy")]
        return at

    assert (found(), found(rule="last"), found(rule="bisect"), found(inclusive=True)) == (1.4, 1.8, 1.8, 1.2)


def test_made_facts_show_the_correlation_they_were_made_with():
    finding = breaking(made_facts(n=40))
    (row,) = of(finding, "pearson")
    assert row["low"] < row["value"] < row["high"] < -0.5
    assert finding.sentences[0].startswith(
        "The entropy of an answer foretells the temperature at which smollm2 loses it: undecided facts break earlier"
    )
