from __future__ import annotations

import numpy as np
import pytest
from made_facts import fact_rows, fact_tables, foretold_facts, known, made_curve, made_facts, scan, table_of

from shaketable.analyses.facts.predict_breaking import folds_of, predict_breaking, predicted, r_squared
from shaketable.types import Scan

CURVES_ALONE = Scan(strategy="none")


def by_predictors(result):
    return {" + ".join(fit.predictors): fit for fit in result.fits}


def test_entropy_suffices_where_it_alone_decides():
    fits = by_predictors(predict_breaking(fact_tables(*foretold_facts(), scan=CURVES_ALONE)))
    assert list(fits) == ["entropy", "entropy + margin", "entropy + margin + length"]  # one type tells nothing
    # The variance of entropy is 0.8² / 12 = 0.0533, that of the noise 0.0004.
    assert fits["entropy"].r_squared.value == pytest.approx(1 - 0.0004 / 0.0537, abs=0.005)
    assert fits["entropy"].gain is None
    assert fits["entropy"].p < 0.001
    gains = [fit.gain for fit in fits.values() if fit.gain is not None]
    assert all(gain.low <= 0 <= gain.high or gain.value < 0 for gain in gains)


def test_the_margin_adds_where_it_matters():
    fits = by_predictors(predict_breaking(fact_tables(*foretold_facts(weight=0.5), scan=CURVES_ALONE)))
    assert fits["entropy + margin"].gain.low > 0.1
    assert fits["entropy + margin"].p < 0.001
    assert fits["entropy"].r_squared.value < 0.8 < fits["entropy + margin"].r_squared.value


def test_noise_foretells_nothing():
    rng = np.random.default_rng(3)
    rows = [
        fact_rows(f"q{i}", scores=known(rng.uniform()), shares=scan(rng.choice([0.4, 1.0, 1.8]))) for i in range(50)
    ]
    result = predict_breaking(fact_tables(table_of(*rows)))
    (fit,) = result.fits
    assert fit.r_squared.value < 0.1
    assert fit.p > 0.05
    assert [claim.p for claim in result.claims()] == [fit.p]


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
    (fit,) = predict_breaking(fact_tables(made_facts(n=8))).fits
    assert fit.r_squared.value is None
    assert fit.r_squared.reason.endswith("25 are needed")


def test_facts_that_outlast_their_curve_are_left_out():
    table, curves = foretold_facts(n=40)
    curves[0] = made_curve(curves[0].key, 99.0)
    fits = predict_breaking(fact_tables(table, curves, scan=CURVES_ALONE)).fits
    assert {(fit.r_squared.n, fit.n_left_out) for fit in fits} == {(39, 1)}
