from __future__ import annotations

import random
import time

import numpy as np
import polars as pl
import pytest
from scipy import stats
from score_rows import TWO_QUESTIONS, score_rows

from shaketable.analyses.evidence.correctness import correctness
from shaketable.identity import seed_from

RIGHT, WRONG = (1.0, 1.0), (0.0, 0.0)


def ten(n_right: int) -> dict[str, tuple[float, ...]]:
    """Ten questions, the first few of them right."""
    return {f"q{i}": RIGHT if i < n_right else WRONG for i in range(10)}


def test_the_worked_example_of_the_specification_comes_out() -> None:
    (row,) = correctness(score_rows(TWO_QUESTIONS)).rows
    assert row["value"] == pytest.approx(0.88)
    assert row["sd_runs"] == pytest.approx(0.055)
    assert row["sd_questions"] == pytest.approx(0.1131371, abs=1e-7)
    assert (row["n"], row["n_missing"]) == (2, 0)


def test_the_band_with_ddof_zero_comes_out() -> None:
    (row,) = correctness(score_rows(TWO_QUESTIONS), ddof=0).rows
    assert row["sd_runs"] == pytest.approx(0.0449073, abs=1e-7)


def test_a_missing_value_is_left_out_and_counted_never_a_zero() -> None:
    (row,) = correctness(score_rows({"q1": (1.0, None), "q2": (0.5, 0.5), "q3": (None, None)})).rows
    assert row["value"] == pytest.approx(0.75)
    assert (row["n"], row["n_missing"]) == (2, 3)


def test_the_interval_is_that_of_scipy_on_the_question_means() -> None:
    means = [i / 19 for i in range(20)]
    table = score_rows({f"q{i:02}": (mean,) for i, mean in enumerate(means)})
    (row,) = correctness(table).rows
    seed = seed_from("bootstrap", *(f"q{i:02}" for i in range(20)))
    expected = stats.bootstrap(
        (means,), np.mean, n_resamples=2000, method="percentile", rng=np.random.default_rng(seed)
    ).confidence_interval
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("n_right", [0, 10])
def test_questions_that_agree_are_not_certain(n_right: int) -> None:
    # The resamples of ten questions that agree agree too; the exact binomial interval does not pretend to know others.
    found = correctness(score_rows(ten(n_right), metric="contains"))
    (row,) = found.rows
    exact = stats.binomtest(n_right, 10).proportion_ci(0.95, method="exact")
    assert (row["value"], row["low"], row["high"]) == pytest.approx((n_right / 10, exact.low, exact.high))
    assert any("exact binomial" in caveat for caveat in found.caveats)


def test_one_of_many_leaves_no_less_open_than_none() -> None:
    none, one = (correctness(score_rows(ten(n), metric="contains")).rows[0]["high"] for n in (0, 1))
    assert one >= none
    nine, all_ = (correctness(score_rows(ten(n), metric="contains")).rows[0]["low"] for n in (9, 10))
    assert nine <= all_


def test_a_difference_on_which_all_questions_agree_is_said_to_be_no_certainty() -> None:
    tables = [
        score_rows(ten(5), metric="contains", perturbation=perturbation) for perturbation in ("unchanged", "removal")
    ]
    found = correctness(pl.concat(tables))
    (lost,) = (row for row in found.rows if row["contrast"])
    assert (lost["low"], lost["high"]) == (0.0, 0.0)
    assert any("not that the value is certain" in caveat for caveat in found.caveats)


def test_a_single_question_has_no_interval() -> None:
    (row,) = correctness(score_rows({"q1": (0.5, 0.7)})).rows
    assert (row["value"], row["low"], row["high"]) == (pytest.approx(0.6), None, None)


def test_types_are_pooled_and_shown_apart() -> None:
    bridge = score_rows({"q1": (0.2,), "q2": (0.4,)}, type="bridge")
    comparison = score_rows({"q3": (0.9,)}, type="comparison")
    found = {row["type"]: row["value"] for row in correctness(pl.concat([bridge, comparison])).rows}
    assert found == pytest.approx({None: 0.5, "bridge": 0.3, "comparison": 0.9})


def test_drops_are_paired_by_question() -> None:
    clean = score_rows({"q1": (1.0,), "q2": (0.5,), "q3": (0.0,)})
    disturbed = score_rows({"q1": (0.5,), "q2": (0.25,), "q4": (0.0,)}, perturbation="sentence_removal")
    (drop,) = (row for row in correctness(pl.concat([clean, disturbed])).rows if row["contrast"])
    assert drop["contrast"] == "unchanged - sentence_removal"
    assert drop["perturbation"] == "sentence_removal"
    assert (drop["value"], drop["n"]) == (pytest.approx(0.375), 2)


def test_order_and_company_change_nothing() -> None:
    table = pl.concat(
        [
            score_rows(
                {f"q{i}": (i / 10, i / 20) for i in range(10)}, perturbation=perturbation, temperature=temperature
            )
            for perturbation in ("unchanged", "entity_masking")
            for temperature in (0.0, 1.0)
        ]
    )
    whole = correctness(table)
    assert correctness(table.sample(fraction=1.0, shuffle=True, seed=1)) == whole
    alone = correctness(table.filter(perturbation="unchanged", temperature=0.0)).rows[0]
    (same,) = (
        row
        for row in whole.rows
        if row["contrast"] is None and row["perturbation"] == "unchanged" and row["temperature"] == 0
    )
    assert (same["low"], same["high"]) == (alone["low"], alone["high"])


def test_sentences_give_shares_in_percent_and_drops_in_points() -> None:
    table = pl.concat(
        [
            score_rows(ten(8), metric="contains"),
            score_rows(ten(2), metric="contains", temperature=1.5),
            score_rows(ten(1), metric="contains", perturbation="sentence_removal"),
            score_rows(ten(2), metric="contains", perturbation="sentence_removal", temperature=1.5),
        ]
    )
    heat, evidence = correctness(table).sentences
    assert heat.startswith("Heating from temperature 0 to 1.5 costs smollm2 60 points of correctness [")
    assert "smollm2 with unchanged evidence is correct in 80 % [" in heat
    assert heat.endswith("(n = 10 questions).")
    assert evidence.startswith("Sentence removal costs smollm2 70 points of correctness [")
    assert "At temperature 1.5 no difference was found (0 points [0, 0]" in evidence


def test_an_interval_that_holds_zero_is_no_found_difference() -> None:
    table = pl.concat(
        [score_rows(ten(5), metric="contains"), score_rows(ten(4), metric="contains", perturbation="noise")]
    )
    (evidence,) = (text for text in correctness(table).sentences if text.startswith("Noise"))
    assert evidence.startswith("Noise: no difference was found for smollm2 at temperature 0 (10 points [0, 30])")


def test_other_metrics_speak_in_neutral_words() -> None:
    scores = {f"q{i}": (0.8 + i / 100,) for i in range(10)}
    higher = {question: (value[0] + 0.1,) for question, value in scores.items()}
    table = pl.concat([score_rows(scores), score_rows(higher, perturbation="entity_masking")])
    sentence = correctness(table).sentences[0]
    assert sentence.startswith(
        "Entity masking raises the bertscore of smollm2 by 0.100 [0.100, 0.100] at temperature 0."
    )


def test_methods_that_differ_are_told_apart() -> None:
    closed = score_rows({"q1": (0.1,)}, method="closed_book", retriever=None, perturbation=None)
    systems = {row["system"] for row in correctness(pl.concat([score_rows({"q1": (0.9,)}), closed])).rows}
    assert systems == {"smollm2 · single_retrieval", "smollm2 · closed_book"}


def test_an_empty_table_gives_an_empty_finding() -> None:
    finding = correctness(score_rows({"q1": (1.0,)}).clear())
    assert (finding.rows, finding.sentences) == ((), ())


def test_a_table_without_any_value_claims_nothing() -> None:
    finding = correctness(score_rows({"q1": (None,), "q2": (None,)}))
    assert [(row["value"], row["n"], row["n_missing"]) for row in finding.rows] == [(None, 0, 2)]
    assert finding.sentences == ()


def test_440_conditions_of_100_questions_take_a_few_seconds() -> None:
    rng = random.Random(0)
    questions = {f"q{i}": tuple(rng.random() for _ in range(3)) for i in range(100)}
    table = pl.concat(
        [
            score_rows(questions, model=f"m{model}", perturbation=perturbation, temperature=step / 5)
            for model in range(10)
            for perturbation in ("unchanged", "a", "b", "c")
            for step in range(11)
        ]
    )
    started = time.monotonic()
    assert sum(row["contrast"] is None for row in correctness(table).rows) == 440
    assert time.monotonic() - started < 10
