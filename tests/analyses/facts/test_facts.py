"""What all analyses of facts read out of a table: known facts, their scans, their curves and types."""

from __future__ import annotations

import pytest
from made_facts import GRID, fact_rows, fact_tables, known, made_curve, scan, table_of

from shaketable.analyses.facts.breaking_rule import HOTTEST, BreakingRule
from shaketable.analyses.facts.fact_table import read_facts
from shaketable.analyses.facts.facts import pool_datasets
from shaketable.errors import PartError
from shaketable.facts.score import frs
from shaketable.types import Scan


def only(table, *curves):
    ((fact,),) = ([*facts.asked] for facts in read_facts(fact_tables(table, curves), Scan()))
    return fact


def test_a_fact_is_known_when_it_is_right_at_temperature_0_and_was_scanned():
    table = table_of(
        fact_rows("right", scores=known(0.1), shares=scan(1.0)),
        fact_rows("wrong", scores=known(0.1, right=0.0), shares=scan(0.2)),
        fact_rows("failed", scores=known(0.1, right=None), shares=scan(0.2)),
        fact_rows("not_scanned", scores=known(0.1)),
        fact_rows("curve_only", scores=known(0.1)),
    )
    curves = [made_curve("smollm2/builtin/curve_only/0", 1.0)]
    (facts,) = read_facts(fact_tables(table, curves), Scan())
    assert [fact.question_id for fact in facts.known] == ["right"]
    assert {fact.question_id: fact.is_known for fact in facts.asked} == {
        "right": True,
        "wrong": False,
        "failed": None,
        "not_scanned": True,
        "curve_only": True,
    }


def test_a_curve_is_a_scan_only_where_the_study_samples_nothing():
    table = table_of(fact_rows("curve_only", scores=known(0.1)), fact_rows("neither", scores=known(0.1)))
    (facts,) = read_facts(fact_tables(table, [made_curve("smollm2/builtin/curve_only/0", 1.0)]), Scan(strategy="none"))
    assert [fact.question_id for fact in facts.known] == ["curve_only"]


def test_the_first_record_at_temperature_0_speaks_for_its_fact():
    again = [row | {"repeat": 1, "key": "again", "value": 0.0} for row in fact_rows("q", scores=known(0.3))]
    fact = only(table_of(again, fact_rows("q", scores=known(0.3))))
    assert (fact.is_known, fact.entropy, fact.key) == (True, 0.3, "smollm2/builtin/q/0")


def test_a_scan_that_stopped_early_is_read_as_far_as_it_went():
    # Curtailed: 5 right of 6 hold, 6 wrong of 8 break; nothing was asked beyond.
    rows = [
        *fact_rows("q", scores=known(0.1), shares={0.2: 5 / 6}, n=6),
        *fact_rows("q", scores={}, shares={0.4: 2 / 8}, n=8),
    ]
    assert BreakingRule().capped(only(table_of(rows))) == 0.4
    held = only(table_of(fact_rows("q", scores=known(0.1), shares={0.2: 1.0, 0.4: 1.0}, n=5)))
    assert (BreakingRule().capped(held), BreakingRule().is_decided(held), BreakingRule().score(held, 1)) == (
        None,
        True,
        1,
    )


def test_a_scan_cut_short_before_the_hottest_temperature_says_nothing_unless_it_found_a_break():
    table = table_of(
        fact_rows("cut", scores=known(0.1), shares={0.2: 1.0}),
        fact_rows("broken", scores=known(0.1), shares={0.2: 0.0}),
        fact_rows("whole", scores=known(0.1), shares=scan(None)),
    )
    (facts,) = read_facts(fact_tables(table), Scan())
    assert {fact.question_id: BreakingRule().score(fact, 1) for fact in facts.known} == {
        "cut": None,
        "broken": frs(0.1, 0.2),
        "whole": 1,
    }


def test_failed_answers_say_nothing_about_a_temperature():
    rows = fact_rows("q", scores=known(0.1), shares={0.2: 0.5})
    rows[-1]["value"] = rows[-2]["value"] = None
    assert only(table_of(rows)).accuracies == {0.2: 5 / 8}


def test_curves_give_breaking_temperatures_beyond_the_grid():
    table = table_of(fact_rows("q", scores=known(0.1), shares=scan(None)))
    fact = only(table, made_curve("smollm2/builtin/q/0", 2.7))
    rule = BreakingRule()
    assert (rule.capped(fact), rule.uncapped(fact)) == (None, 2.7)
    assert rule.score(fact, 1) == 1
    assert rule.score(fact, 1, is_capped=False) == frs(0.1, 2.7)


def test_a_curve_that_ends_before_its_fact_breaks_gives_a_lower_bound_and_says_so():
    table = table_of(fact_rows("q", scores=known(0.1)))
    fact = only(table, made_curve("smollm2/builtin/q/0", 9.0))
    assert BreakingRule().is_censored(fact)
    assert BreakingRule().uncapped(fact) == 4.0
    unknown = only(table, made_curve("smollm2/builtin/q/0", 9.0, value=(None,) * 40, low=(0.0,) * 40))
    assert not BreakingRule().is_censored(unknown)
    assert BreakingRule().uncapped(unknown) is None


def test_a_curve_alone_is_capped_where_the_study_ends():
    table = table_of(fact_rows("q", scores=known(0.1)))
    assert BreakingRule().capped(only(table, made_curve("smollm2/builtin/q/0", 1.37))) == 1.37
    assert BreakingRule().capped(only(table, made_curve("smollm2/builtin/q/0", HOTTEST + 0.01))) is None


NOTHING_KNOWN = {"low": (0.0,) * 40, "high": (1.0,) * 40, "value": (None,) * 40}
AT_2 = 20
"""How many of the curve's temperatures lie up to 2."""


def test_a_curve_of_which_nothing_is_known_decides_nothing():
    table = table_of(fact_rows("q", scores=known(0.1)))
    rule = BreakingRule()
    fact = only(table, made_curve("smollm2/builtin/q/0", 9.0, **NOTHING_KNOWN))
    assert rule.undecided(fact) == "the curve leaves open where it breaks"
    assert (rule.score(fact, 1), rule.score(fact, 1, is_capped=False), rule.is_unbroken(fact)) == (None, None, None)
    # The estimate holds up to 1.9 and is not known at 2.
    almost = made_curve("smollm2/builtin/q/0", 9.0, **NOTHING_KNOWN | {"value": (0.9,) * (AT_2 - 1) + (None,) * 21})
    assert rule.score(only(table, almost), 1) is None


@pytest.mark.parametrize("line", ["low", "value"])
def test_a_curve_that_holds_up_to_the_end_is_unbroken_by_its_bound_or_by_its_estimate(line):
    table = table_of(fact_rows("q", scores=known(0.1)))
    held = NOTHING_KNOWN | {line: (0.6,) * AT_2 + NOTHING_KNOWN[line][AT_2:]}
    fact = only(table, made_curve("smollm2/builtin/q/0", 9.0, **held))
    rule = BreakingRule()
    assert (rule.undecided(fact), rule.is_unbroken(fact), rule.score(fact, 1)) == (None, True, 1)
    assert rule.score(fact, 1, is_capped=False) is None


def test_a_fact_that_surely_breaks_at_an_unknown_temperature_is_broken_and_has_no_score():
    table = table_of(fact_rows("q", scores=known(0.1)))
    surely = made_curve("smollm2/builtin/q/0", 9.0, **NOTHING_KNOWN, breaking_low=0.3, breaking_high=1.4)
    rule = BreakingRule()
    assert (rule.is_unbroken(only(table, surely)), rule.score(only(table, surely), 1)) == (False, None)


def test_a_curve_read_at_another_threshold_is_not_taken_for_an_answer():
    table = table_of(fact_rows("q", scores=known(0.1)))
    fact = only(table, made_curve("smollm2/builtin/q/0", 1.0, settings={"threshold": 0.5}))
    assert BreakingRule().capped(fact) == 1.0
    assert BreakingRule(threshold=0.3).undecided(fact) == "its curve was read at the threshold 0.5"


def test_a_curve_with_a_reason_is_no_curve():
    table = table_of(fact_rows("q", scores=known(0.1)))
    assert only(table, made_curve("smollm2/builtin/q/0", 1.0, reason="no logits")).curve is None


def test_a_fact_without_entropy_has_no_score_even_if_it_never_breaks():
    fact = only(table_of(fact_rows("q", scores=known(None), shares=scan(None))))
    assert BreakingRule().score(fact, 1) is None


@pytest.mark.parametrize(
    ("given", "predicted", "expected"),
    [("NUM", None, "NUM"), ("person", 5.0, "HUM"), ("bridge", 4.0, "LOC"), (None, 0.0, "ABBR"), ("bridge", None, None)],
)
def test_types_come_from_the_dataset_or_else_from_the_classifier(given, predicted, expected):
    assert only(table_of(fact_rows("q", scores=known(0.1, question_type=predicted), type=given))).type == expected


def test_systems_are_told_apart_by_what_differs_and_pooled_over_datasets():
    table = table_of(
        *(
            fact_rows("q", scores=known(0.1), shares=scan(1.0), dataset=dataset, perturbation=perturbation)
            for dataset in ("squad", "triviaqa")
            for perturbation in ("unchanged", "antonym")
        )
    )
    every = read_facts(fact_tables(table), Scan())
    assert [(facts.cell.perturbation, facts.cell.dataset) for facts in every] == [
        ("antonym", "squad"),
        ("antonym", "triviaqa"),
        ("unchanged", "squad"),
        ("unchanged", "triviaqa"),
    ]
    assert [(facts.cell.dataset, len(facts.asked)) for facts in pool_datasets(every)] == [(None, 2), (None, 2)]


def test_a_metric_that_was_not_scored_is_named():
    table = table_of(fact_rows("q", scores={"contains": 1.0}, shares=dict.fromkeys(GRID, 1.0)))
    with pytest.raises(PartError, match=r"known is 'exact_match', which these scores do not have.*contains"):
        read_facts(fact_tables(table), Scan())


def test_an_entropy_in_another_base_is_refused():
    with pytest.raises(PartError, match=r"entropy reaches 1\.7, but the robustness score takes 0 to 1"):
        read_facts(fact_tables(table_of(fact_rows("q", scores=known(1.7)))), Scan())
