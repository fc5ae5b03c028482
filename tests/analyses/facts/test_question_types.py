from __future__ import annotations

import pytest
from made_facts import fact_rows, fact_tables, known, made_curve, scan, table_of

from shaketable.analyses.facts.question_types import question_types
from shaketable.facts.score import frs
from shaketable.types import Scan


def by_type(values):
    return {value.cell.group: value for value in values}


def test_the_worked_ratios():
    # Section 8.2: 1000 highest and 1000 lowest, by type.
    top = {"NUM": 420, "LOC": 230, "ENTY": 200, "HUM": 150}
    bottom = {"NUM": 228, "LOC": 170, "ENTY": 250, "HUM": 352}
    groups = [
        fact_rows(f"{side}{label}{i:03}", scores=known(0.1), shares={2.0: share}, n=1, type=label)
        for side, counts, share in (("top", top, 1.0), ("bottom", bottom, 0.0))
        for label, n in counts.items()
        for i in range(n)
    ]
    ratios = by_type(question_types(fact_tables(table_of(*groups), n_resamples=100), n_extreme=1000).ratios)
    expected = {"NUM": 0.6481, "LOC": 0.5750, "ENTY": 0.4444, "HUM": 0.2988}
    assert {label: ratio.share.value for label, ratio in ratios.items()} == pytest.approx(expected, abs=5e-5)
    assert (ratios["NUM"].n_top, ratios["NUM"].n_bottom, ratios["NUM"].n_tied) == (420, 228, 1000)


def test_ties_go_by_entropy_then_by_accuracy_when_hottest_then_by_id():
    rows = [
        fact_rows("d", scores=known(0.2), shares={2.0: 1.0}, type="NUM"),
        fact_rows("c", scores=known(0.1), shares={2.0: 0.5}, type="LOC"),
        fact_rows("b", scores=known(0.1), shares={2.0: 0.9}, type="ENTY"),
        fact_rows("a", scores=known(0.1), shares={2.0: 0.5}, type="HUM"),
    ]
    # All unbroken, so all score 1: b before a before c by accuracy and id, d last by entropy.
    ratios = by_type(question_types(fact_tables(table_of(*rows)), n_extreme=2).ratios)
    assert {label: ratio.n_top for label, ratio in ratios.items()} == {"ENTY": 1, "HUM": 1, "LOC": 0, "NUM": 0}
    assert {ratio.n_tied for ratio in ratios.values()} == {4}


def test_random_ties_are_the_same_for_the_same_seed():
    rows = [fact_rows(f"q{i}", scores=known(0.1), shares=scan(None), type="NUM" if i % 2 else "LOC") for i in range(30)]
    tables = fact_tables(table_of(*rows), n_resamples=20)

    def n_top(seed):
        return by_type(question_types(tables, ties="random", seed=seed).ratios)["NUM"].n_top

    assert n_top(1) == n_top(1)
    assert len({n_top(seed) for seed in range(8)}) > 1


def test_facts_without_types_are_counted():
    # HotpotQA's tag is no type of answer, and nobody scored one.
    rows = [fact_rows(f"q{i}", scores=known(0.1), shares=scan(None), type=("bridge", None)[i % 2]) for i in range(9)]
    result = question_types(fact_tables(table_of(*rows)))
    assert [(untyped.n_untyped, untyped.n_scored) for untyped in result.untyped] == [(9, 9)]
    assert (result.ratios, result.means) == ((), ())


def test_facts_left_out_for_want_of_a_type_are_counted():
    rows = [fact_rows(f"q{i}", scores=known(0.1), shares=scan(None), type=("NUM", None)[i < 2]) for i in range(9)]
    result = question_types(fact_tables(table_of(*rows)))
    assert [(untyped.n_untyped, untyped.n_scored) for untyped in result.untyped] == [(2, 9)]
    assert by_type(result.means)["NUM"].score.n == 7


def test_means_need_no_cut_and_are_uncapped_where_there_are_curves():
    rows = [fact_rows(f"q{i}", scores=known(0.1), type=("NUM", "HUM")[i % 2]) for i in range(12)]
    curves = [made_curve(f"smollm2/builtin/q{i}/0", (3.0, 1.0)[i % 2]) for i in range(12)]
    means = by_type(question_types(fact_tables(table_of(*rows), curves, scan=Scan(strategy="none"))).means)
    assert means["NUM"].score.value == pytest.approx(frs(0.1, 3.0))
    assert means["HUM"].score.value == pytest.approx(frs(0.1, 1.0))
    assert (means["LOC"].score.value, means["LOC"].score.reason) == (None, "no known fact of this type has a score")


def test_means_are_capped_where_no_curve_tells_where_a_fact_breaks():
    rows = [fact_rows(f"q{i}", scores=known(0.1), shares=scan(None), type="NUM") for i in range(3)]
    nothing = {"low": (0.0,) * 40, "high": (1.0,) * 40, "value": (None,) * 40}
    curves = [made_curve(f"smollm2/builtin/q{i}/0", 9.0, **nothing) for i in range(3)]
    mean = by_type(question_types(fact_tables(table_of(*rows), curves)).means)["NUM"]
    assert (mean.score.value, mean.score.n, mean.is_capped) == (1, 3, True)


def test_descriptions_and_abbreviations_take_places_but_are_not_shown():
    rows = [fact_rows(f"q{i}", scores=known(0.1), shares=scan(None), type=("DESC", "NUM")[i % 2]) for i in range(6)]
    result = question_types(fact_tables(table_of(*rows)))
    assert {value.cell.group for value in (*result.ratios, *result.means)} == {"NUM", "LOC", "ENTY", "HUM"}
    assert {ratio.n_extreme for ratio in result.ratios} == {2}


def test_all_pairs_of_types_are_candidates_and_weigh_as_one():
    types = ("NUM", "LOC", "HUM")
    rows = [
        fact_rows(f"q{i}", scores=known(0.1 + i / 200), shares=scan((1.8, 1.0, 0.4)[i % 3]), type=types[i % 3])
        for i in range(30)
    ]
    result = question_types(fact_tables(table_of(*rows)))
    claims = list(result.claims())
    assert {(claim.subject.cell.group, claim.subject.other) for claim in claims} == {
        ("NUM", "LOC"),
        ("NUM", "HUM"),
        ("LOC", "HUM"),
    }
    assert sum(claim.weight for claim in claims) == pytest.approx(1)
    assert all(claim.p < 0.01 and claim.estimate.low > 0 for claim in claims)


def test_a_type_with_one_fact_is_compared_without_a_test():
    rows = [fact_rows(f"q{i}", scores=known(0.1), shares=scan(1.0), type="NUM" if i else "HUM") for i in range(9)]
    (difference,) = question_types(fact_tables(table_of(*rows))).differences
    assert (difference.p, difference.difference.low) == (None, None)


def test_facts_that_all_hold_tell_nothing_of_types():
    rows = [fact_rows(f"q{i}", scores=known(0.1), shares=scan(None), type=("NUM", "HUM")[i % 2]) for i in range(20)]
    (difference,) = question_types(fact_tables(table_of(*rows))).differences
    assert (difference.difference.low, difference.p) == (None, None)
    assert difference.difference.reason == "all facts of both types have the same score"
