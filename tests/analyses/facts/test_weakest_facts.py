from __future__ import annotations

import pytest
from made_facts import fact_rows, fact_tables, known, made_curve, scan, table_of

from shaketable.analyses.facts.weakest_facts import weakest_facts
from shaketable.facts.score import frs
from shaketable.types import Scan

WRONG = ({"text": "Lyon", "probability": 0.3, "temperature": 0.7},)


def test_the_weakest_facts_come_first():
    breakings = {"late": 1.8, "early": 0.4, "middle": 1.0, "held": None}
    table = table_of(*(fact_rows(id, scores=known(0.1), shares=scan(at)) for id, at in breakings.items()))
    facts = weakest_facts(fact_tables(table), n=3).facts
    assert [(fact.rank, fact.question_id) for fact in facts] == [(1, "early"), (2, "middle"), (3, "late")]
    assert (facts[0].score, facts[0].breaking, facts[0].n_known) == (frs(0.1, 0.4), 0.4, 4)
    assert {fact.position for fact in facts} == {None}


def test_a_curve_tells_the_token_that_breaks_first_and_the_likeliest_wrong_answer():
    table = table_of(fact_rows("q", scores=known(0.1), shares=scan(1.0)))
    curve = made_curve("smollm2/builtin/q/0", 0.73, position_losses=(0.05, 0.4, 0.1), wrong=WRONG)
    (fact,) = weakest_facts(fact_tables(table, [curve])).facts
    assert (fact.position, fact.loss, fact.wrong, fact.wrong_probability) == (1, 0.4, "Lyon", 0.3)
    assert (fact.breaking, fact.breaking_low, fact.breaking_high) == (0.73, 0.73, 0.73)


def test_the_curves_of_the_first_few_are_kept_for_drawing():
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.1)) for i in range(5)))
    curves = [made_curve(f"smollm2/builtin/q{i}/0", 1.0 + i / 10) for i in range(5)]
    points = weakest_facts(fact_tables(table, curves, scan=Scan(strategy="none")), n_curves=2).points
    assert [point.question_id for point in points] == ["q0"] * 40 + ["q1"] * 40
    assert [point.cell.temperature for point in points[:40]] == list(curves[0].temperatures)
    assert points[9].probability.value == pytest.approx(0.5)
