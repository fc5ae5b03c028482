from __future__ import annotations

import polars as pl
from few_resamples import few_tables
from made_page import made_page
from made_study import DROPS, pair
from score_rows import score_rows

from shaketable.analyses.evidence.equivalence import equivalence
from shaketable.report.section import Section
from shaketable.report.sections.equivalence import section


def told(table: pl.DataFrame, margin: float | None = None) -> Section:
    tables = few_tables(table)
    return section(equivalence(tables, margin=margin), made_page(tables))


def test_where_it_is_equivalent_is_told_with_the_margin_and_the_difference_when_cool() -> None:
    table = pl.concat([pair(DROPS, temperature=t) for t in (0.0, 0.2, 0.4, 0.6)])
    (sentence,) = told(table, 0.02).sentences
    assert sentence.startswith(
        "Sentence removal, smollm2: equivalent to the original within 0.02 bertscore at every temperature tried. "
        "At 0 the difference is 0.00810 ["
    )
    assert sentence.endswith("(n = 10 questions).")


def test_each_verdict_has_its_temperatures() -> None:
    table = pl.concat(
        [
            pair((0.0,) * 5, temperature=0.0, metric="token_f1"),
            pair((0.5,) * 5, temperature=1.0, metric="token_f1"),
            pair((0.05, -0.05, 0.06, -0.04, 0.01), temperature=2.0, metric="token_f1"),
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
            score_rows({f"q{i}": (float(i % 2),) for i in range(6)}, metric="contains", perturbation=perturbation)
            for perturbation in ("unchanged", "noise")
        ]
    )
    made = told(table)
    assert made.sentences[0].startswith("Noise, smollm2: equivalent to the original within 5 points of correctness")
    assert made.notes == ("Cells hold original minus disturbed with its interval; the margin is 5 points.",)
    assert made.caveats[0] == "The margin is 5 points of correctness, as the study or the default says."


def test_one_question_has_a_cell_that_says_why_and_no_sentence() -> None:
    made = told(pair((0.1,)))
    assert made.sentences == ()
    ((_, ((_, (cell,)),)),) = made.matrices[0].groups
    assert (cell.look, cell.mark, cell.lines) == ("quiet", "–", ("fewer than two questions",))


def test_cells_hold_the_verdict_and_the_difference() -> None:
    ((_, ((name, (cell,)),)),) = told(pair(DROPS), 0.02).matrices[0].groups
    assert (name, cell.look, cell.mark, cell.lines[0]) == ("sentence removal", "good", "≈ equivalent", "0.008")
