from __future__ import annotations

from made_facts import fact_rows, fact_tables, known, scan, table_of
from made_page import made_page

from shaketable.analyses.facts.robustness_with_evidence import robustness_with_evidence
from shaketable.report.section import Section
from shaketable.report.sections.robustness_with_evidence import section


def made(questions: str = "ab") -> Section:
    # Worked by hand: wrong with H = .25 scores .6; the others are rows of the study's table.
    with_evidence = {"method": "recall(k=5)", "retriever": "gold"}
    table = table_of(
        *(fact_rows(q, scores=known(0.25, right=0.0)) for q in questions),
        *(
            fact_rows(q, scores=known(0.1), shares=scan(at), **with_evidence, perturbation=perturbation)
            for q in questions
            for perturbation, at in (("unchanged", 1.0), ("sentence_removal", 0.2))
        ),
    )
    tables = fact_tables(table, n_resamples=50)
    result = robustness_with_evidence(tables)
    return section(result, made_page(tables, result))


def test_gain_and_loss_are_told_with_the_score_behind_them() -> None:
    gain, loss = made("abcdefgh").headlines
    assert gain.sentence.startswith(
        "With original evidence smollm2 holds facts more firmly than closed book, by 0.133 ["
    )
    assert gain.detail == ("Over the facts known with any evidence or none, score 0.733, d = 1 (n = 8 questions).")
    assert loss.sentence.startswith("Sentence removal costs smollm2 0.0670 [")
    assert loss.sentence.endswith("] of robustness score.")
    assert gain.claims[0].is_shown and loss.claims[0].is_shown


def test_of_two_facts_nothing_is_claimed() -> None:
    gain, loss = made().headlines
    assert gain.sentence.startswith(
        "That original evidence changes how firmly smollm2 holds facts is not shown (0.133 "
    )
    assert loss.sentence.endswith("2 questions are too few to claim anything).")
    assert not gain.is_clear and not loss.is_clear


def test_one_table_has_a_line_for_each_kind_of_evidence() -> None:
    (table,) = made().tables
    assert table.title == "d = 1"
    # One wording has no range.
    assert table.columns[3:] == (
        "Evidence",
        "Score",
        "More than closed book",
        "Less than with original evidence",
        "Facts",
    )
    without_intervals = [[str(entry).partition(" [")[0] for entry in row[3:]] for row in table.rows]
    assert without_intervals == [
        ["closed book", "0.600", "None", "None", "2"],
        ["gold, sentence removal", "0.666", "None", "0.0670", "2"],
        ["gold, unchanged", "0.733", "0.133", "None", "2"],
    ]


def test_facts_that_were_not_scanned_are_a_caveat() -> None:
    evidence = {"method": "recall(k=5)", "retriever": "gold", "perturbation": "unchanged"}
    table = table_of(
        fact_rows("a", scores=known(0.10), shares=scan(1.0), **evidence), fact_rows("a", scores=known(0.1))
    )
    tables = fact_tables(table, n_resamples=50)
    caveats = section(robustness_with_evidence(tables), made_page(tables)).caveats
    assert any("scan.union" in caveat for caveat in caveats)
