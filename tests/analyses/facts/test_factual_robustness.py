from __future__ import annotations

from dataclasses import replace

import pytest
from made_facts import GRID, fact_rows, known, made_curve, made_facts, scan, table_of
from scipy import stats

from shaketable.analyses.facts.factual_robustness import factual_robustness
from shaketable.facts.score import D, frs
from shaketable.types import Curve, Scan


def scores(finding, kind="score", **where):
    return [
        row for row in finding.rows if row["kind"] == kind and all(row[name] == value for name, value in where.items())
    ]


def test_the_mean_score_of_facts_worked_in_the_specification():
    # Section 6.3: H .10 breaking at 1.0 and H .25 breaking at 0.6, and one unbroken fact, which scores 1.
    table = table_of(
        fact_rows("a", scores=known(0.10), shares=scan(1.0)),
        fact_rows("b", scores=known(0.25), shares=scan(0.6)),
        fact_rows("c", scores=known(0.70), shares=scan(None)),
        fact_rows("wrong", scores=known(0.70, right=0.0)),
    )
    finding = factual_robustness(table)
    found = {row["d"]: row["value"] for row in scores(finding, is_capped=True)}
    assert tuple(found) == D
    assert found[1] == pytest.approx((0.733333 + 0.671458 + 1) / 3, abs=1e-6)
    (unbroken,), (accuracy,) = scores(finding, "unbroken"), scores(finding, "accuracy")
    assert (unbroken["value"], unbroken["n"]) == (pytest.approx(1 / 3), 3)
    assert (accuracy["value"], accuracy["n"]) == (0.75, 4)
    assert scores(finding, is_capped=False) == []
    assert finding.sentences[0].startswith("smollm2 holds 33 % [0, 100] of the facts it knows at every temperature")


def test_without_a_cap_the_curve_tells_where_a_fact_breaks():
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.1), shares=scan(None)) for i in range(2)))
    curves = [made_curve("smollm2/builtin/q0/0", 2.5), made_curve("smollm2/builtin/q1/0", 9.0)]
    finding = factual_robustness(table, curves=curves)
    (capped,), (uncapped,) = (scores(finding, d=5, is_capped=one) for one in (True, False))
    assert capped["value"] == 1
    assert uncapped["value"] == pytest.approx((frs(0.1, 2.5, 5) + frs(0.1, 4.0, 5)) / 2)
    assert uncapped["n_censored"] == 1
    assert any("end before their fact breaks" in caveat for caveat in finding.caveats)


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
    finding = factual_robustness(table, curves=curves)
    (uncapped,) = scores(finding, d=1, is_capped=False)
    assert uncapped["value"] == pytest.approx(frs(0.1, 1.9))
    assert [uncapped["low"], uncapped["high"]] == pytest.approx([0.733333, 0.804742], abs=1e-6)
    fact = scores(finding, "fact")[0]
    assert [fact["uncapped_low"], fact["uncapped_high"]] == pytest.approx([0.733333, 0.804742], abs=1e-6)
    # Where the upper end of the interval never breaks, the score may be as high as that of a fact that holds.
    open_ended = [replace(one, value_high=(1.0, 0.95, 0.8, 0.6, 0.55, 0.55)) for one in curves]
    (uncapped,) = scores(factual_robustness(table, curves=open_ended), d=1, is_capped=False)
    assert [uncapped["low"], uncapped["high"]] == pytest.approx([0.733333, 1.0], abs=1e-6)
    assert any("each curve's own error" in caveat for caveat in finding.caveats)


def test_known_facts_without_entropy_are_counted_not_scored():
    table = table_of(
        fact_rows("a", scores=known(0.1), shares=scan(1.0)), fact_rows("b", scores=known(None), shares=scan(None))
    )
    (row,) = scores(factual_robustness(table), d=1, is_capped=True)
    assert (row["value"], row["n"], row["n_missing"]) == (pytest.approx(frs(0.1, 1.0)), 1, 1)


def test_exactly_the_scanned_facts_are_in_the_score_whatever_curves_there_are():
    # Eight known facts, of which the scan took two; all have curves.
    groups = [fact_rows(f"q{i}", scores=known(0.0), shares=scan(2.0) if i < 2 else None) for i in range(8)]
    curves = [made_curve(f"smollm2/builtin/q{i}/0", 0.5) for i in range(8)]
    finding = factual_robustness(table_of(*groups), curves=curves, scan=Scan(limit=2, curves="all"))
    (row,) = scores(finding, d=1, is_capped=True)
    assert (row["value"], row["n"], row["n_missing"]) == (pytest.approx(0.8), 2, 0)
    assert [fact["question_id"] for fact in scores(finding, "fact")] == ["q0", "q1"]
    assert {row["n"] for row in scores(finding, is_capped=False)} == {2}
    (accuracy,) = scores(finding, "accuracy")
    assert (accuracy["value"], accuracy["n"]) == (1, 8)


def test_a_model_of_which_nothing_is_known_has_no_score_and_the_reason():
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.1)) for i in range(3)))
    nothing = {"low": (0.0,) * 40, "high": (1.0,) * 40, "value": (None,) * 40}
    curves = [made_curve(f"smollm2/builtin/q{i}/0", 9.0, **nothing) for i in range(3)]
    finding = factual_robustness(table, curves=curves, scan=Scan(strategy="none"))
    for row in scores(finding, is_capped=True):
        assert (row["value"], row["n"], row["n_missing"], row["n_undecided"]) == (None, 0, 3, 3)
    (unbroken,) = scores(finding, "unbroken")
    assert (unbroken["value"], unbroken["reason"]) == (None, "the curve leaves open where it breaks")
    assert {row["reason"] for row in scores(finding, "fact")} == {"the curve leaves open where it breaks"}
    assert finding.sentences[0].startswith("Nothing can be said of how firmly smollm2 holds the facts it knows.")


def test_undecided_facts_are_counted_beside_the_score_of_the_others():
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.0)) for i in range(3)))
    unknown = {"low": (0.0,) * 40, "high": (1.0,) * 40, "value": (None,) * 40}
    curves = [made_curve("smollm2/builtin/q0/0", 2.0), made_curve("smollm2/builtin/q1/0", 9.0, **unknown)]
    curves.append(made_curve("smollm2/builtin/q2/0", 1.0, reason="no accepted answer fits into 5 new tokens"))
    finding = factual_robustness(table, curves=curves, scan=Scan(strategy="none"))
    (row,) = scores(finding, d=1, is_capped=True)
    assert (row["value"], row["n"], row["n_undecided"]) == (pytest.approx(0.8), 1, 2)
    assert "where it breaks is not known of 2 more" in finding.sentences[0]


def test_datasets_are_pooled_question_by_question():
    table = table_of(
        fact_rows("q", scores=known(0.0), shares=scan(None), dataset="squad"),
        fact_rows("q", scores=known(0.0), shares=scan(2.0), dataset="hotpotqa"),
        fact_rows("r", scores=known(0.0), shares=scan(2.0), dataset="hotpotqa"),
    )
    found = {row["dataset"]: row["value"] for row in scores(factual_robustness(table), d=1, is_capped=True)}
    assert found == {"squad": 1, "hotpotqa": pytest.approx(0.8), None: pytest.approx((1 + 0.8 + 0.8) / 3)}


def test_systems_are_compared_on_the_facts_that_all_know():
    table = table_of(
        fact_rows("q1", scores=known(0.0), shares=scan(None), model="a"),
        fact_rows("q2", scores=known(0.0), shares=scan(0.2), model="a"),
        fact_rows("q1", scores=known(0.0), shares=scan(2.0), model="b"),
        fact_rows("q2", scores=known(0.0, right=0.0), shares=scan(0.2), model="b"),
    )
    finding = factual_robustness(table, d=(1,))
    assert {row["system"]: (row["value"], row["n"]) for row in scores(finding, "shared")} == {
        "a": (1, 1),
        "b": (pytest.approx(0.8), 1),
    }
    (gap,) = scores(finding, "difference")
    assert (gap["system"], gap["other"], gap["value"]) == ("a", "b", pytest.approx(0.2))
    assert scores(finding, "rank_correlation") == []


def test_rank_correlation_of_accuracy_and_score_is_scipys():
    finding = factual_robustness(made_facts(models=("a", "b", "c", "d"), n=30), d=(1, 50))
    for d in (1, 50):
        accuracy = {row["system"]: row["value"] for row in scores(finding, "accuracy")}
        score = {row["system"]: row["value"] for row in scores(finding, d=d, is_capped=True)}
        (row,) = scores(finding, "rank_correlation", d=d)
        expected = stats.spearmanr([accuracy[m] for m in "abcd"], [score[m] for m in "abcd"]).statistic
        assert (row["value"], row["n"]) == (pytest.approx(expected), 4)


def test_the_mean_scores_bound_the_share_of_unbroken_facts_as_the_specification_says():
    finding = factual_robustness(made_facts(n=40))
    (first,), (last,) = (scores(finding, d=d, is_capped=True) for d in (1, 50))
    (unbroken,) = scores(finding, "unbroken")
    # On the grid 0.2 … 2.0 a broken fact scores 0.8 at most at d = 1, and 1/7 at least.
    assert (first["value"] - 0.8) / 0.2 <= unbroken["value"] <= (last["value"] - 1 / 7) / (6 / 7)
    assert last["value"] < first["value"]


def test_every_known_fact_is_a_row_that_charts_can_draw():
    table = made_facts(n=8)
    facts = scores(factual_robustness(table), "fact")
    assert len(facts) == 6
    for row in facts:
        assert row["value"] == frs(row["entropy"], row["breaking"])
        assert row["breaking"] in (*GRID, None)
        assert row["type"] in ("NUM", "LOC", "ENTY", "HUM")


def test_intervals_hold_the_mean_and_shrink_with_more_facts():
    def width(n):
        (row,) = scores(factual_robustness(made_facts(n=n), d=(1,)), d=1, is_capped=True)
        assert row["low"] < row["value"] < row["high"]
        return row["high"] - row["low"]

    assert width(80) < width(10)
