from __future__ import annotations

from few_resamples import few_tables
from made_page import made_page
from score_rows import score_rows, verdict_table

from shaketable.analyses.evidence.judge_agreement import judge_agreement
from shaketable.analyses.tables import Tables
from shaketable.report.section import Section
from shaketable.report.sections.judge_agreement import section
from shaketable.types import JudgeEffort


def told(tables: Tables) -> Section:
    return section(judge_agreement(tables), made_page(tables))


def test_agreement_is_told_with_who_is_alone() -> None:
    (headline,) = told(few_tables(verdict_table(contains=(20, 5, 10, 15)))).headlines
    assert headline.text.startswith("The judge agrees with contains on 70% [")
    assert headline.text.endswith("(Cohen's kappa 0.40): 5 are correct by the judge alone, 10 by contains alone.")


def test_without_a_judge_it_says_what_is_missing() -> None:
    made = told(few_tables(score_rows({"q1": (1.0,)}, metric="contains")))
    assert made.headlines == ()
    assert "add them to score.metrics" in made.caveats[-1]


def test_what_the_judge_was_asked_is_told() -> None:
    effort = JudgeEffort(judge="judge(model='x')", n_calls=1200, n_prompt_tokens=90000, n_tokens=3000, n_unclear=4)
    (caveat,) = told(few_tables(verdict_table(contains=(2, 1, 1, 2)), read_verdicts=lambda: (effort,))).caveats
    assert caveat == (
        "judge(model='x') was asked 1,200 times: 90,000 tokens read, 3,000 written; 4 replies had no verdict."
    )
