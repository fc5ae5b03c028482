"""The weakest facts and the latent ones."""

from __future__ import annotations

import pytest
from made_facts import GRID, fact_rows, known, made_curve, scan, table_of

from shaketable.analyses.facts.latent_facts import latent_facts
from shaketable.analyses.facts.weakest_facts import weakest_facts
from shaketable.facts.score import frs
from shaketable.types import Scan

WRONG = ({"text": "Lyon", "probability": 0.3, "temperature": 0.7},)


def of(finding, kind):
    return [row for row in finding.rows if row["kind"] == kind]


def test_the_weakest_facts_come_first():
    breakings = {"late": 1.8, "early": 0.4, "middle": 1.0, "held": None}
    table = table_of(*(fact_rows(id, scores=known(0.1), shares=scan(at)) for id, at in breakings.items()))
    finding = weakest_facts(table, n=3)
    assert [row["question_id"] for row in of(finding, "fact")] == ["early", "middle", "late"]
    assert of(finding, "fact")[0]["value"] == frs(0.1, 0.4)
    assert finding.sentences == (
        "The weakest fact that smollm2 knows is question early: it breaks at temperature 0.400. "
        "It has the lowest robustness score of 4 known facts.",
    )
    assert "Without curves the token that breaks first is not known." in finding.caveats


def test_a_curve_tells_the_token_that_breaks_first_and_the_likeliest_wrong_answer():
    table = table_of(fact_rows("q", scores=known(0.1), shares=scan(1.0)))
    curve = made_curve("smollm2/builtin/q/0", 0.73, position_losses=(0.05, 0.4, 0.1), wrong=WRONG)
    finding = weakest_facts(table, curves=[curve])
    (row,) = of(finding, "fact")
    assert (row["position"], row["loss"], row["wrong"], row["breaking"]) == (1, 0.4, "Lyon", 0.73)
    assert "breaks at temperature 0.730, at token 2 of its answer." in finding.sentences[0]
    assert "Its likeliest wrong answer there is “Lyon”." in finding.sentences[0]


def test_the_curves_of_the_first_few_are_kept_for_drawing():
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.1)) for i in range(5)))
    curves = [made_curve(f"smollm2/builtin/q{i}/0", 1.0 + i / 10) for i in range(5)]
    rows = of(weakest_facts(table, curves=curves, scan=Scan(strategy="none"), n_curves=2), "curve")
    assert [row["question_id"] for row in rows] == ["q0"] * 40 + ["q1"] * 40
    assert [row["temperature"] for row in rows[:40]] == list(curves[0].temperatures)
    assert rows[9]["value"] == pytest.approx(0.5)


def test_a_latent_fact_is_wrong_when_greedy_and_right_when_hotter():
    table = table_of(
        fact_rows("latent", scores=known(0.1, right=0.0), shares=dict.fromkeys(GRID, 0.0) | {0.8: 0.4, 1.0: 0.4}),
        fact_rows("lost", scores=known(0.1, right=0.0), shares=dict.fromkeys(GRID, 0.1)),
        fact_rows("known", scores=known(0.1), shares=scan(None)),
    )
    finding = latent_facts(table)
    (share,), (fact,) = of(finding, "latent"), of(finding, "fact")
    assert (share["value"], share["n"]) == (0.5, 2)
    assert (fact["question_id"], fact["value"], fact["peak_temperature"]) == ("latent", 0.4, 0.8)
    assert finding.sentences[0].startswith(
        "Of the facts that smollm2 gets wrong when greedy, 50 % [0, 100] are right in at least 20 % of the answers"
    )
    assert any("chance alone lifts it" in caveat for caveat in finding.caveats)


def test_a_curve_is_preferred_to_samples_for_the_peak():
    table = table_of(fact_rows("q", scores=known(0.1, right=0.0), shares=dict.fromkeys(GRID, 0.3)))
    curve = made_curve("smollm2/builtin/q/0", 1.0, value=(0.0, *[0.15] * 38, None))
    finding = latent_facts(table, curves=[curve])
    (share,) = of(finding, "latent")
    assert (share["value"], of(finding, "fact"), finding.sentences) == (0, [], ())
    (fact,) = of(latent_facts(table, curves=[curve], least=0.1), "fact")
    assert (fact["value"], fact["peak_temperature"], fact["source"]) == (0.15, 0.2, "curve")
