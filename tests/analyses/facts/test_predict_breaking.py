from __future__ import annotations

import numpy as np
import pytest
from made_facts import fact_rows, known, made_curve, made_facts, scan, table_of

from shaketable.analyses.facts.predict_breaking import folds_of, predict_breaking, predicted, r_squared
from shaketable.types import Scan


def curves_and_table(n=60, *, weight=0.0, seed=0):
    """log(1 + t_b) = 1 − entropy + weight × margin + noise."""
    rng = np.random.default_rng(seed)
    entropy, margin, noise = rng.uniform(0, 0.8, n), rng.uniform(0, 1, n), rng.normal(0, 0.02, n)
    breaking = np.expm1(1 - entropy + weight * margin + noise)
    table = table_of(
        *(
            fact_rows(f"q{i}", scores=known(entropy[i], margin=margin[i], answer_tokens=1.0 + i % 3), type="NUM")
            for i in range(n)
        )
    )
    return table, [made_curve(f"smollm2/builtin/q{i}/0", float(breaking[i])) for i in range(n)]


def of(finding, kind):
    return {row["predictors"]: row for row in finding.rows if row["kind"] == kind}


def test_entropy_suffices_where_it_alone_decides():
    table, curves = curves_and_table()
    finding = predict_breaking(table, curves=curves, scan=Scan(strategy="none"))
    fits, gains = of(finding, "r2"), of(finding, "gain")
    assert list(fits) == ["entropy", "entropy + margin", "entropy + margin + length"]  # one type tells nothing
    # The variance of entropy is 0.8² / 12 = 0.0533, that of the noise 0.0004.
    assert fits["entropy"]["value"] == pytest.approx(1 - 0.0004 / 0.0537, abs=0.005)
    assert all(row["low"] <= 0 <= row["high"] or row["value"] < 0 for row in gains.values())
    assert "nothing else was shown to add to it" in finding.sentences[0]


def test_the_margin_adds_where_it_matters():
    table, curves = curves_and_table(weight=0.5)
    finding = predict_breaking(table, curves=curves, scan=Scan(strategy="none"))
    assert of(finding, "gain")["entropy + margin"]["low"] > 0.1
    assert of(finding, "r2")["entropy"]["value"] < 0.8 < of(finding, "r2")["entropy + margin"]["value"]
    assert "; margin add 0." in finding.sentences[0] or "; margin + length add 0." in finding.sentences[0]


def test_noise_foretells_nothing():
    rng = np.random.default_rng(3)
    rows = [
        fact_rows(f"q{i}", scores=known(rng.uniform()), shares=scan(rng.choice([0.4, 1.0, 1.8]))) for i in range(50)
    ]
    finding = predict_breaking(table_of(*rows))
    (row,) = finding.rows
    assert row["value"] < 0.1
    assert finding.sentences[0].startswith("Entropy alone was not shown to foretell when smollm2 loses a fact: R² is")


def test_predictions_come_from_the_other_folds_alone():
    # The points of either fold lie on a line of their own, which is what the other fold is foretold by.
    x, folds = np.arange(6.0), np.array([0, 0, 0, 1, 1, 1])
    y = np.array([0.0, 1, 2, 13, 14, 15])
    assert predicted(x[:, None], y, folds) == pytest.approx([10, 11, 12, 3, 4, 5])


def test_r_squared_is_one_minus_error_over_variance():
    y = np.array([0.0, 2.0, 4.0])
    ((value,),) = r_squared(np.array([[1.0, 1.0, 1.0]]), y)(np.ones((1, 3)))
    assert value == pytest.approx(1 - 1 / (8 / 3))


def test_folds_are_even_and_depend_on_the_questions_alone():
    folds = folds_of([f"q{i}" for i in range(23)], 5)
    assert sorted(np.bincount(folds.astype(int))) == [4, 4, 5, 5, 5]
    assert (folds == folds_of([f"q{i}" for i in range(23)], 5)).all()


def test_too_few_broken_facts_are_not_fitted():
    (row,) = predict_breaking(made_facts(n=8)).rows
    assert row["value"] is None
    assert row["reason"].endswith("25 are needed")


def test_facts_that_outlast_their_curve_are_left_out():
    table, curves = curves_and_table(n=40)
    curves[0] = made_curve(curves[0].key, 99.0)
    assert {row["n"] for row in predict_breaking(table, curves=curves, scan=Scan(strategy="none")).rows} == {39}
