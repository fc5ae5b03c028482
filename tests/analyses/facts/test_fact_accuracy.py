from __future__ import annotations

import pytest
from made_facts import GRID, fact_rows, known, made_curve, scan, table_of

from shaketable.analyses.facts.fact_accuracy import fact_accuracy
from shaketable.report.charts.facts_by_temperature import accuracy_rows
from shaketable.types import Scan


def test_accuracy_falls_as_facts_break():
    # Four known facts that break at 0.6, 1, 1 and never; a wrong one is not counted.
    groups = [fact_rows(f"q{i}", scores=known(0.1), shares=scan(at)) for i, at in enumerate((0.6, 1.0, 1.0, None))] + [
        fact_rows("wrong", scores=known(0.1, right=0.0), shares=scan(0.2))
    ]
    finding = fact_accuracy(table_of(*groups))
    found = {row["temperature"]: row["value"] for row in finding.rows}
    assert (found[0.0], found[0.4], found[0.6], found[0.8], found[1.0], found[2.0]) == (1, 1, 0.75, 0.75, 0.25, 0.25)
    assert {row["n"] for row in finding.rows} == {4}
    assert finding.sentences[0].startswith("At temperature 2 smollm2 still gives 25 % [0, 75] of the facts it knows.")


def test_a_scan_that_left_broken_facts_is_marked_and_claims_nothing():
    table = table_of(
        fact_rows("q1", scores=known(0.1), shares={0.2: 1.0, 0.4: 1.0}),
        fact_rows("q2", scores=known(0.1), shares={0.2: 0.0}),
    )
    finding = fact_accuracy(table)
    assert [(row["temperature"], row["n"], row["is_partial"]) for row in finding.rows] == [
        (0.0, 2, False),
        (0.2, 2, False),
        (0.4, 1, True),
    ]
    assert finding.sentences == ()
    assert any("accuracy is too high" in caveat for caveat in finding.caveats)


def test_known_facts_beyond_the_limit_leave_no_temperature_partial():
    # Two of five known facts were scanned; all have curves.
    groups = [fact_rows(f"q{i}", scores=known(0.1), shares=scan(1.0) if i < 2 else None) for i in range(5)]
    curves = [made_curve(f"smollm2/builtin/q{i}/0", 0.5) for i in range(5)]
    finding = fact_accuracy(table_of(*groups), curves=curves, scan=Scan(limit=2, curves="all"))
    sampled = [row for row in finding.rows if row["source"] == "sampled"]
    assert [row["temperature"] for row in sampled] == [0.0, *GRID]
    assert {(row["n"], row["n_known"], row["is_partial"]) for row in sampled} == {(2, 2, False)}
    assert {row["n"] for row in finding.rows if row["source"] == "curve"} == {2}
    # Figure 1 draws what was sampled at every temperature.
    assert [row["temperature"] for row in accuracy_rows(finding)] == [0.0, *GRID]


def test_failed_answers_leave_a_temperature_whole():
    rows = fact_rows("q1", scores=known(0.1), shares=scan(None)) + fact_rows("q2", scores=known(0.1), shares=scan(None))
    rows = [row | ({"value": None} if (row["question_id"], row["temperature"]) == ("q2", 1.0) else {}) for row in rows]
    (at,) = [row for row in fact_accuracy(table_of(rows)).rows if row["temperature"] == 1.0]
    assert (at["n"], at["n_known"], at["is_partial"]) == (1, 2, False)


def test_curves_are_averaged_beside_the_samples():
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.1)) for i in range(2)))
    curves = [made_curve(f"smollm2/builtin/q{i}/0", middle) for i, middle in enumerate((1.0, 1.4))]
    finding = fact_accuracy(table, curves=curves, scan=Scan(strategy="none"))
    assert {row["source"] for row in finding.rows} == {"curve"}
    (at,) = [row["value"] for row in finding.rows if row["temperature"] == 1.2]
    assert at == pytest.approx(0.5)  # two logistic curves, 0.2 on either side


def test_datasets_stand_alone_and_pooled():
    table = table_of(
        fact_rows("q", scores=known(0.1), shares=scan(None), dataset="squad"),
        fact_rows("q", scores=known(0.1), shares=scan(0.2), dataset="triviaqa"),
    )
    found = {row["dataset"]: row["value"] for row in fact_accuracy(table).rows if row["temperature"] == 2.0}
    assert found == {"squad": 1.0, "triviaqa": 0.0, None: 0.5}
