from __future__ import annotations

import polars as pl
import pytest
from score_rows import score_rows

from shaketable.analyses.evidence.judge_agreement import judge_agreement
from shaketable.types import JudgeEffort


def table(**numbers):
    """Scores of questions with one answer each: of judge and rule both 1, judge alone, rule alone, neither."""
    frames = []
    for rule, (both, first, second, neither) in numbers.items():
        pairs = [(1, 1)] * both + [(1, 0)] * first + [(0, 1)] * second + [(0, 0)] * neither
        for metric, place in (("judge", 0), (rule, 1)):
            frames.append(score_rows({f"q{i:02}": (float(p[place]),) for i, p in enumerate(pairs)}, metric=metric))
    return pl.concat(frames)


def test_agreement_and_kappa_of_the_textbook():
    # 20 and 15 of 50 alike, marginals 25/25 and 30/20: (0.7 - 0.5) / (1 - 0.5) = 0.4.
    finding = judge_agreement(table(contains=(20, 5, 10, 15)))
    (row,) = finding.rows
    assert (row["metric"], row["model"], row["n"], row["n_missing"]) == ("contains", None, 50, 0)
    assert row["value"] == pytest.approx(0.7)
    assert row["kappa"] == pytest.approx(0.4)
    assert row["kappa_low"] < 0.4 < row["kappa_high"]
    assert (row["n_judge_only"], row["n_rule_only"]) == (5, 10)
    (sentence,) = finding.sentences
    assert sentence.startswith("The judge agrees with contains on 70% [")
    assert sentence.endswith("(Cohen's kappa 0.40): 5 are correct by the judge alone, 10 by contains alone.")


def test_answers_without_a_verdict_are_left_out_and_counted():
    scored = pl.concat(
        [
            score_rows({"q1": (1.0, None), "q2": (0.0,), "q3": (None,)}, metric="judge"),
            score_rows({"q1": (1.0, 1.0), "q2": (1.0,), "q3": (0.0,)}, metric="contains"),
        ]
    )
    (row,) = judge_agreement(scored).rows
    assert (row["n"], row["n_missing"], row["value"]) == (2, 2, 0.5)


def test_each_rule_and_each_model_has_a_row():
    first = score_rows({"q1": (1.0,), "q2": (0.0,)}, metric="judge")
    rules = [score_rows({"q1": (1.0,), "q2": (0.0,)}, metric=metric) for metric in ("correct", "contains")]
    one = pl.concat([first, *rules])
    both = pl.concat([one, one.with_columns(model=pl.lit("other"), key=pl.col("key") + "o")])
    rows = judge_agreement(both).rows
    models = sorted(set(both["model"]))
    assert [(row["metric"], row["model"]) for row in rows] == [
        (rule, model) for rule in ("contains", "correct") for model in (None, *models)
    ]
    assert {row["value"] for row in rows} == {1.0}


def test_without_a_judge_it_says_what_is_missing():
    (row,) = judge_agreement(score_rows({"q1": (1.0,)}, metric="contains")).rows
    assert row["value"] is None
    assert "add them to score.metrics" in row["reason"]


def test_what_the_judge_was_asked_is_told():
    effort = JudgeEffort(judge="judge(model='x')", n_calls=1200, n_prompt_tokens=90000, n_tokens=3000, n_unclear=4)
    (caveat,) = judge_agreement(table(contains=(2, 1, 1, 2)), verdicts=[effort]).caveats
    assert caveat == (
        "judge(model='x') was asked 1,200 times: 90,000 tokens read, 3,000 written; 4 replies had no verdict."
    )
