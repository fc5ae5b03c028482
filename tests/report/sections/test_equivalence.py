from __future__ import annotations

from dataclasses import replace

import polars as pl
from few_resamples import few_tables
from made_page import made_page
from made_study import DROPS, pair
from score_rows import score_rows

from shaketable.analyses.evidence.equivalence import equivalence
from shaketable.analyses.floors import find_nothing_to_lose
from shaketable.report.section import Section
from shaketable.report.sections.equivalence import section


def told(table: pl.DataFrame, margin: float | None = None) -> Section:
    tables = few_tables(table)
    result = equivalence(tables, margin=margin)
    return section(result, made_page(tables, result))


def test_where_it_is_equivalent_is_told_with_the_margin_and_the_difference_when_cool() -> None:
    table = pl.concat([pair(DROPS, temperature=t) for t in (0.0, 0.2, 0.4, 0.6)])
    (sentence,) = told(table, 0.02).sentences
    assert sentence.startswith(
        "Sentence removal, smollm2: equivalent to the original within 0.02 bertscore at every temperature tried. "
        "At 0 the difference is a loss of 0.00810 ["
    )
    assert sentence.endswith("(n = 10 questions).")


def test_each_verdict_has_its_temperatures() -> None:
    table = pl.concat(
        [
            pair(tuple((-1) ** i * 0.002 for i in range(40)), temperature=0.0, metric="token_f1"),
            pair(tuple(0.4 + 0.002 * i for i in range(40)), temperature=1.0, metric="token_f1"),
            pair(tuple((-1) ** i * 0.05 for i in range(40)), temperature=2.0, metric="token_f1"),
        ]
    )
    (sentence,) = told(table, 0.01).sentences
    assert sentence.startswith(
        "Sentence removal, smollm2: equivalent to the original within 0.01 token_f1 at temperature 0; "
        "different at temperature 1; undecided at temperature 2."
    )


def test_margins_of_shares_are_in_points() -> None:
    table = pl.concat(
        [
            score_rows({f"q{i:03}": (float(i % 2),) for i in range(200)}, metric="contains", perturbation=perturbation)
            for perturbation in ("unchanged", "noise")
        ]
    )
    made = told(table)
    assert made.sentences[0].startswith("Noise, smollm2: equivalent to the original within 5 points of correctness")
    assert made.notes[0].endswith("that it lies within the margin of 5 points.")
    assert made.caveats[0] == "The margin is 5 points of correctness, as the study or the default says."


def test_where_heat_has_ruined_all_answers_there_is_nothing_to_lose() -> None:
    table = pl.concat(
        [
            score_rows(
                {f"q{i:03}": (float(temperature == 0),) for i in range(200)},
                metric="contains",
                perturbation=perturbation,
                temperature=temperature,
            )
            for perturbation in ("unchanged", "noise")
            for temperature in (0.0, 2.0)
        ]
    )
    tables = few_tables(table)
    result, floors = equivalence(tables), find_nothing_to_lose(tables)
    page = made_page(tables, result)
    made = section(result, replace(page, findings=replace(page.findings, nothing_to_lose=floors)))
    assert made.headlines[0].sentence == (
        "Noise, smollm2: equivalent to the original within 5 points of correctness at temperature 0; baseline not "
        "above chance level at temperature 2."
    )
    ((_, ((_, cells),)),) = made.matrices[0].groups
    assert [cell.mark for cell in cells] == ["≈ equivalent", "– not above chance"]


def test_too_few_questions_decide_nothing_and_say_so() -> None:
    (headline,) = told(pair((0.0,) * 5), 0.01).headlines
    assert headline.sentence == "Sentence removal, smollm2: undecided at temperature 0."
    assert headline.detail.endswith("5 questions are too few to claim anything.")
    assert not headline.is_clear


def test_one_question_has_a_cell_that_says_why() -> None:
    made = told(pair((0.1,)))
    assert made.sentences[0].endswith("(n = 1 question); fewer than two questions.")
    ((_, ((_, (cell,)),)),) = made.matrices[0].groups
    assert (cell.look, cell.mark, cell.lines) == ("quiet", "–", ("fewer than two questions",))


def test_cells_hold_the_verdict_and_the_difference() -> None:
    ((_, ((name, (cell,)),)),) = told(pair(DROPS), 0.02).matrices[0].groups
    assert (name, cell.look, cell.mark, cell.lines[0]) == ("sentence removal", "good", "≈ equivalent", "loss 0.008")
