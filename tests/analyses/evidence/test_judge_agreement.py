from __future__ import annotations

import polars as pl
import pytest
from score_rows import score_rows, verdict_table

from shaketable.analyses.evidence.judge_agreement import RuleAgreement, judge_agreement
from shaketable.analyses.tables import Tables
from shaketable.types import JudgeEffort


def asked(table: pl.DataFrame) -> tuple[RuleAgreement, ...]:
    return judge_agreement(Tables(scores=table)).agreements


def test_agreement_and_kappa_of_the_textbook() -> None:
    # 20 and 15 of 50 alike, marginals 25/25 and 30/20: (0.7 - 0.5) / (1 - 0.5) = 0.4.
    (agreement,) = asked(verdict_table(contains=(20, 5, 10, 15)))
    assert (agreement.metric, agreement.cell.system) == ("contains", None)
    assert (agreement.share.n, agreement.n_missing) == (50, 0)
    assert agreement.share.value == pytest.approx(0.7)
    assert agreement.kappa.value == pytest.approx(0.4)
    assert agreement.kappa.low is not None and agreement.kappa.high is not None
    assert agreement.kappa.low < 0.4 < agreement.kappa.high
    assert (agreement.n_judge_only, agreement.n_rule_only) == (5, 10)


def test_answers_without_a_verdict_are_left_out_and_counted() -> None:
    scored = pl.concat(
        [
            score_rows({"q1": (1.0, None), "q2": (0.0,), "q3": (None,)}, metric="judge"),
            score_rows({"q1": (1.0, 1.0), "q2": (1.0,), "q3": (0.0,)}, metric="contains"),
        ]
    )
    (agreement,) = asked(scored)
    assert (agreement.share.n, agreement.n_missing, agreement.share.value) == (2, 2, 0.5)


def test_where_nothing_has_both_verdicts_it_says_so() -> None:
    (agreement,) = asked(
        pl.concat([score_rows({"q1": (None,)}, metric="judge"), score_rows({"q1": (1.0,)}, metric="contains")])
    )
    assert (agreement.share.value, agreement.share.n, agreement.n_missing) == (None, 0, 1)
    assert agreement.share.reason == "no answer has a verdict of both"


def test_each_rule_and_each_model_has_an_agreement() -> None:
    first = score_rows({"q1": (1.0,), "q2": (0.0,)}, metric="judge")
    rules = [score_rows({"q1": (1.0,), "q2": (0.0,)}, metric=metric) for metric in ("correct", "contains")]
    single = pl.concat([first, *rules])
    both = pl.concat([single, single.with_columns(model=pl.lit("other"), key=pl.col("key") + "o")])
    agreements = asked(both)
    models = sorted(set(both["model"]))
    assert [(own.metric, own.cell.system and own.cell.system.model) for own in agreements] == [
        (rule, model) for rule in ("contains", "correct") for model in (None, *models)
    ]
    assert {own.share.value for own in agreements} == {1.0}


def test_without_a_judge_there_is_nothing_to_compare() -> None:
    result = judge_agreement(Tables(scores=score_rows({"q1": (1.0,)}, metric="contains")))
    assert (result.agreements, result.is_scored) == ((), False)


def test_what_the_judge_was_asked_is_kept() -> None:
    effort = JudgeEffort(judge="judge(model='x')", n_calls=1200, n_prompt_tokens=90000, n_tokens=3000, n_unclear=4)
    tables = Tables(scores=verdict_table(contains=(2, 1, 1, 2)), read_verdicts=lambda: (effort,))
    assert judge_agreement(tables).efforts == (effort,)
