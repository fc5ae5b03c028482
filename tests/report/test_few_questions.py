"""One or two questions that all lose say the same: too few to claim anything, however large the difference."""

from __future__ import annotations

import polars as pl
import pytest
from few_resamples import few_tables
from made_page import made_page
from score_rows import score_rows

from shaketable.analyses.evidence.correctness import correctness
from shaketable.analyses.evidence.degradation import degradation
from shaketable.report.section import Section
from shaketable.report.sections import correctness as of_correctness
from shaketable.report.sections import degradation as of_degradation


def told(n: int) -> list[Section]:
    """All n questions are right, and wrong when their evidence is disturbed, or when they are hot."""
    right, wrong = ({f"q{i}": (value,) for i in range(n)} for value in (1.0, 0.0))
    scores = [
        score_rows(right, metric="correct"),
        score_rows(wrong, metric="correct", perturbation="sentence_removal"),
        score_rows(wrong, metric="correct", temperature=2.0),
    ]
    tables = few_tables(pl.concat(scores))
    results = correctness(tables), degradation(tables)
    page = made_page(tables, *results)
    return [of_correctness.section(results[0], page), of_degradation.section(results[1], page)]


@pytest.mark.parametrize("n", [1, 2, 7])
def test_a_difference_of_all_of_few_questions_is_neither_claimed_nor_denied(n):
    headlines = [headline for section in told(n) for headline in section.headlines if headline.kind != "level"]
    assert len(headlines) == 3
    for headline in headlines:
        assert "too few to claim anything" in headline.text
        assert not any(words in headline.text for words in ("costs", "lowers", "no difference"))
        assert not headline.is_clear
    cells = [
        cell
        for section in told(n)
        for matrix in section.matrices
        for _, rows in matrix.groups
        for _, row in rows
        for cell in row
    ]
    assert cells and not [cell for cell in cells if cell.look != "quiet"]


def test_eight_questions_are_enough():
    headlines = [headline for section in told(8) for headline in section.headlines]
    costs = [headline for headline in headlines if "costs smollm2 100 points" in headline.sentence]
    assert [headline.kind for headline in costs] == ["heat", "evidence"]
    assert all(headline.is_clear for headline in costs)
