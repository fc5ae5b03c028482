"""The floor of a continuous metric stands beside its levels, and losses are a share of what there is to lose."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
from few_resamples import few_tables
from made_page import made_page
from score_rows import score_rows

from shaketable.analyses.evidence.correctness import correctness
from shaketable.analyses.evidence.variability import variability
from shaketable.analyses.floors import find_floors, find_nothing_to_lose
from shaketable.report.section import Headline, Page
from shaketable.report.sections import correctness as correctness_section
from shaketable.report.sections import variability as variability_section

N = 20


def scored(level: float, **factors: object) -> pl.DataFrame:
    """Questions around a level, two runs each, which differ by little."""
    return score_rows({f"q{i:02}": (level + i / 1000, level - i / 1000) for i in range(N)}, **factors)


def page_of(hot: float, metric: str = "bertscore") -> tuple[Page, list[Headline]]:
    """0.73 at temperature 0, a floor of 0.49, and another level at temperature 2."""
    scores = pl.concat([scored(0.73, metric=metric), scored(hot, metric=metric, temperature=2.0)])
    others = score_rows({f"q{i:02}": (0.49,) for i in range(N)}, metric=metric)
    tables = replace(few_tables(scores), read_baselines=lambda: others)
    result, spread = correctness(tables), variability(tables)
    page = made_page(tables, result, spread)
    findings = replace(page.findings, floors=find_floors(tables), nothing_to_lose=find_nothing_to_lose(tables))
    page = replace(page, findings=findings)
    sections = (correctness_section.section(result, page), variability_section.section(spread, page))
    return page, [headline for section in sections for headline in section.headlines]


def test_the_floor_is_what_answers_to_other_questions_score() -> None:
    page, _ = page_of(0.60)
    [floor] = page.findings.floors
    assert (floor.metric, floor.score.value, floor.score.n) == ("bertscore", 0.49, N)


def test_a_loss_is_a_share_of_what_there_is_to_lose() -> None:
    """0.73 − 0.50 of 0.73 − 0.49."""
    _, headlines = page_of(0.50)
    [heat] = [headline for headline in headlines if headline.kind == "heat"]
    assert "Answers to other questions score 0.490, so 0.230 of the 0.240 above this floor is lost." in heat.detail


def test_where_nothing_is_lost_the_floor_alone_is_named() -> None:
    _, headlines = page_of(0.73)
    [heat] = [headline for headline in headlines if headline.kind == "heat"]
    assert "score 0.490: the floor of bertscore." in heat.detail


def test_a_small_spread_at_the_floor_is_no_stability() -> None:
    _, headlines = page_of(0.49)
    [spread] = [headline for headline in headlines if headline.kind == "variability"]
    assert "At temperature 2 answers score no more than chance" in spread.detail
    _, above = page_of(0.60)
    assert not any("no more than chance" in headline.detail for headline in above)


def test_a_share_has_no_floor_beside_it() -> None:
    page, headlines = page_of(0.5, metric="correct")
    assert page.findings.floors == () and not any("floor" in headline.text for headline in headlines)
