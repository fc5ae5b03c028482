from __future__ import annotations

from typing import Any

from made_page import made_page
from made_wordings import tables_of, trial

from shaketable.analyses.wording.wording_accuracy import wording_accuracy
from shaketable.report.section import Headline, Section
from shaketable.report.sections.wording_accuracy import section

NAMES = ("original", "spelling", "grammar", "formality")


def tell(trials: list[dict[str, Any]]) -> Section:
    tables = tables_of(trials)
    result = wording_accuracy(tables)
    return section(result, made_page(tables, result))


def reworded(*counts: int, n: int = 20) -> list[dict[str, Any]]:
    """The original right in so many of n questions, then one rewording after the other."""
    return [
        trial(f"q{i}", name, correct=float(i < right))
        for name, right in zip(NAMES, counts, strict=False)
        for i in range(n)
    ]


def headline_of(trials: list[dict[str, Any]]) -> Headline:
    (headline,) = tell(trials).headlines
    return headline


def test_a_loss_is_named_with_the_others_that_are_shown() -> None:
    headline = headline_of(reworded(20, 5, 12, 20))
    assert headline.sentence.startswith("Spelling costs m on squad 7")
    assert headline.sentence.endswith("] of correctness, the most of 3 rewordings.")
    assert "; by itself the difference is 75 points [" in headline.detail
    assert "Also shown: grammar 40 points less [" in headline.detail and "formality" not in headline.detail
    # Drawn towards the mean of 75, 40 and 0.
    assert headline.number in headline.sentence and 70 <= int(headline.number.split()[0]) < 75
    assert headline.is_clear


def test_of_one_rewording_nothing_is_said_of_others() -> None:
    headline = headline_of(reworded(20, 5))
    assert headline.sentence.startswith("Spelling costs m on squad 75 points [")
    assert headline.sentence.endswith("] of correctness.")


def test_what_failed_answers_might_have_been_is_told_in_the_direction_of_the_sentence() -> None:
    marks = {"original": "-" * 20, "spelling": "+" * 10 + "x" * 4 + "-" * 6}
    answers: dict[str, tuple[str | None, float | None]] = {"+": ("Rome", 1.0), "-": ("Oslo", 0.0), "x": (None, None)}
    headline = headline_of(
        [
            trial(f"q{i}", name, answer=answers[mark][0], correct=answers[mark][1])
            for name, row in marks.items()
            for i, mark in enumerate(row)
        ]
    )
    assert headline.sentence.startswith("Spelling raises the correctness of m on squad by 62 points [")
    assert "or the reverse, it would lie between a gain of 70 points and a gain of 50 points." in headline.detail


def test_a_gain_is_a_gain() -> None:
    headline = headline_of(reworded(5, 15))
    assert headline.sentence.startswith("Spelling raises the correctness of m on squad by 50 points [")
    assert "Also shown" not in headline.detail
    assert (headline.number, headline.is_clear) == ("50 points", True)


def test_what_is_not_shown_says_what_could_have_been_seen() -> None:
    headline = headline_of(reworded(10, 10, 11, 10))
    assert headline.sentence == "No rewording is shown to change the correctness of m on squad."
    assert (
        "; the largest change is a gain of 5 points [" in headline.detail
        and ", with grammar (n = 20" in headline.detail
    )
    assert "−0" not in headline.detail
    assert headline.number == "5 points", "As the sentence has it: a change, of which more is better."
    assert "or more would likely have been seen" in headline.detail
    assert not headline.is_clear


def test_of_few_questions_nothing_is_claimed() -> None:
    headline = headline_of(reworded(6, 0, n=6))
    assert headline.sentence.startswith("No rewording is shown")
    assert "too few to claim anything" in headline.detail and not headline.is_clear


def test_the_table_has_the_verdicts_of_the_sentences() -> None:
    made = tell(reworded(20, 5, 19))
    rows = {row[2]: row for row in made.tables[1].rows}
    assert made.tables[1].columns[4:7] == ("Original minus reworded", "p, not adjusted", "Verdict")
    assert {name: row[6] for name, row in rows.items()} == {"spelling": "shown", "grammar": "not shown"}
