from __future__ import annotations

import pytest
from made_facts import GRID, fact_rows, fact_tables, known, made_curve, scan, table_of

from shaketable.analyses.facts.fact_accuracy import fact_accuracy
from shaketable.types import Scan


def test_accuracy_falls_as_facts_break():
    # Four known facts that break at 0.6, 1, 1 and never; a wrong one is not counted.
    groups = [fact_rows(f"q{i}", scores=known(0.1), shares=scan(at)) for i, at in enumerate((0.6, 1.0, 1.0, None))] + [
        fact_rows("wrong", scores=known(0.1, right=0.0), shares=scan(0.2))
    ]
    accuracies = fact_accuracy(fact_tables(table_of(*groups))).accuracies
    values = {accuracy.cell.temperature: accuracy.share.value for accuracy in accuracies}
    assert [values[t] for t in (0.0, 0.4, 0.6, 0.8, 1.0, 2.0)] == [1, 1, 0.75, 0.75, 0.25, 0.25]
    assert {accuracy.share.n for accuracy in accuracies} == {4}


def test_a_scan_that_left_broken_facts_is_marked():
    table = table_of(
        fact_rows("q1", scores=known(0.1), shares={0.2: 1.0, 0.4: 1.0}),
        fact_rows("q2", scores=known(0.1), shares={0.2: 0.0}),
    )
    accuracies = fact_accuracy(fact_tables(table)).accuracies
    assert [(accuracy.cell.temperature, accuracy.share.n, accuracy.is_partial) for accuracy in accuracies] == [
        (0.0, 2, False),
        (0.2, 2, False),
        (0.4, 1, True),
    ]


def test_known_facts_beyond_the_limit_leave_no_temperature_partial():
    # Two of five known facts were scanned; all have curves.
    groups = [fact_rows(f"q{i}", scores=known(0.1), shares=scan(1.0) if i < 2 else None) for i in range(5)]
    curves = [made_curve(f"smollm2/builtin/q{i}/0", 0.5) for i in range(5)]
    result = fact_accuracy(fact_tables(table_of(*groups), curves, scan=Scan(limit=2, curves="all")))
    sampled = [accuracy for accuracy in result.accuracies if accuracy.source == "sampled"]
    assert [accuracy.cell.temperature for accuracy in sampled] == [0.0, *GRID]
    assert {(accuracy.share.n, accuracy.n_known, accuracy.is_partial) for accuracy in sampled} == {(2, 2, False)}
    assert {accuracy.share.n for accuracy in result.accuracies if accuracy.source == "curve"} == {2}


def test_failed_answers_leave_a_temperature_whole():
    rows = fact_rows("q1", scores=known(0.1), shares=scan(None)) + fact_rows("q2", scores=known(0.1), shares=scan(None))
    rows = [row | ({"value": None} if (row["question_id"], row["temperature"]) == ("q2", 1.0) else {}) for row in rows]
    accuracies = fact_accuracy(fact_tables(table_of(rows))).accuracies
    (at,) = [accuracy for accuracy in accuracies if accuracy.cell.temperature == 1.0]
    assert (at.share.n, at.n_known, at.is_partial) == (1, 2, False)


def test_curves_are_averaged_beside_the_samples():
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.1)) for i in range(2)))
    curves = [made_curve(f"smollm2/builtin/q{i}/0", middle) for i, middle in enumerate((1.0, 1.4))]
    accuracies = fact_accuracy(fact_tables(table, curves, scan=Scan(strategy="none"))).accuracies
    assert {accuracy.source for accuracy in accuracies} == {"curve"}
    (at,) = [accuracy.share.value for accuracy in accuracies if accuracy.cell.temperature == 1.2]
    assert at == pytest.approx(0.5)  # two logistic curves, 0.2 on either side


def test_datasets_stand_alone_and_pooled():
    table = table_of(
        fact_rows("q", scores=known(0.1), shares=scan(None), dataset="squad"),
        fact_rows("q", scores=known(0.1), shares=scan(0.2), dataset="triviaqa"),
    )
    accuracies = fact_accuracy(fact_tables(table)).accuracies
    hottest = {one.cell.dataset: one.share.value for one in accuracies if one.cell.temperature == 2.0}
    assert hottest == {"squad": 1.0, "triviaqa": 0.0, None: 0.5}
