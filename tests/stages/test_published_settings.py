"""Settings by which a study does as its paper did."""

from __future__ import annotations

from dataclasses import replace

import pytest
from score_rows import score_rows

from shaketable.analyses.evidence.variability import variability
from shaketable.analyses.tables import Tables
from shaketable.stages.reference import made_by
from shaketable.study import load_study

# Runs of one question at eleven temperatures whose published coefficients are those of the specification's example:
# three runs m − d, m, m + d have the deviation d, so that d / m is the coefficient.
CVS = (0.0, 0.004, 0.006, 0.008, 0.010, 0.012, 0.015, 0.030, 0.060, 0.090, 0.120)


def table():
    import polars as pl

    return pl.concat(
        score_rows({"q1": tuple(0.5 * (1 + sign * cv) for sign in (-1, 0, 1))}, temperature=round(0.2 * i, 1))
        for i, cv in enumerate(CVS)
    )


@pytest.mark.parametrize(("formula", "is_published"), [("published", True), ("unbiased", False)])
def test_the_stability_baseline_has_the_published_formula(formula, is_published):
    result = variability(Tables(scores=table()), formula=formula)
    baselines = {round(spread.baseline.value, 6) for spread in result.spreads if spread.baseline}
    assert (baselines == {0.032273}) is is_published
    shown = [spread.cv.value for spread in result.spreads]
    assert (shown == pytest.approx(CVS)) is is_published


def test_the_published_study_takes_what_the_paper_took():
    study = load_study("published/context_temperature")
    assert "variability(formula='published')" in study.analyses
    assert "correctness(band='sd')" in study.analyses
    assert (study.reference_temperature, study.reference_max_tokens) == (1.0, 1000)


def test_references_of_other_settings_are_others():
    study = load_study("published/context_temperature")
    greedy = replace(study, reference_temperature=0.0, reference_max_tokens=100)
    assert made_by(study) != made_by(greedy)


def test_qwq_has_its_own_limit_and_penalty_in_search_o1_alone():
    study = load_study("published/query_variation")
    [(model, own)] = study.generation_of.items()
    assert "QwQ-32B" in model
    assert own == {"methods": {"search_o1": {"max_tokens": 20480, "repetition_penalty": 1.05}}}
    assert any("search_o1" in text and "reason_sampling='authors'" in text for text in study.methods)


def test_similarities_are_those_of_the_papers_encoder():
    study = load_study("published/query_variation")
    encoded = [text for text in study.analyses if text.partition("(")[0] in ("consistency", "query_difficulty")]
    assert len(encoded) == 2
    assert all("encoder='all-mpnet-base-v2'" in text for text in encoded)
