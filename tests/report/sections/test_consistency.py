from __future__ import annotations

from typing import Any

import pytest
from made_page import made_page
from made_wordings import Compass, tables_of, trial

from shaketable.analyses.wording import vectors
from shaketable.analyses.wording.consistency import consistency
from shaketable.report.section import Section
from shaketable.report.sections.consistency import section


@pytest.fixture(autouse=True)
def compass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "encoder", lambda name: Compass())


def answered(before: list[str], after: list[str], n: int = 12) -> list[dict[str, Any]]:
    """Of each question a run for each answer to the original wording, and to the misspelled one."""
    return [
        trial(f"q{i}", variation, answer=answer, repeat=repeat)
        for i in range(n)
        for variation, answers in (("original", before), ("spelling", after))
        for repeat, answer in enumerate(answers)
    ]


def tell(trials: list[dict[str, Any]]) -> Section:
    tables = tables_of(trials)
    result = consistency(tables)
    return section(result, made_page(tables, result))


def test_of_one_run_chance_is_not_known() -> None:
    made = tell(
        [trial("q", answer="1,0"), trial("q", "human", answer="0,1"), trial("q", "formality", answer="0.6,0.8")]
    )
    assert made.sentences == (
        "Answers of m on squad after rewriting by people: their similarity to those to the original wording is 0. How "
        "much of it is chance is not known: there are too few runs of the original wording to tell rewording from "
        "chance; raise repeats (n = 1 question).",
    )
    table = made.tables[0]
    asked = [row[2] for row in table.rows]
    assert asked == ["original", "formality (more casual)", "people", "all wordings", "without rewrites by people"]
    assert table.columns[3:6] == ("similarity", "diversity", "empty answers")


def test_answers_that_move_further_than_chance_are_told_by_the_excess() -> None:
    made = tell(answered(["1,0", "0.6,0.8"], ["0,1", "0,1"]))
    (text,) = made.sentences
    # Between the two runs .6; spelling has 0 to the first run and .8 to the second.
    assert text == (
        "Spelling moves the answers of m on squad: their similarity to those to the original wording is 0.400, 0.600 "
        "between two runs of the same wording: 0.200 less [0.147, 0.465]. Paired by question (n = 12 "
        "questions)."
    )
    beside = made.tables[1]
    assert beside.title == "Beside runs of the same wording"
    assert beside.columns[3:7] == ("Number", "Reworded", "Same wording again", "Excess")
    assert beside.columns[7:] == ("p, not adjusted", "Verdict", "Questions", "Runs")
    (similarity,) = [row for row in beside.rows if row[3] == "similarity"]
    assert [str(entry).split()[0] for entry in similarity[4:7]] == ["0.400", "0.600", "−0.200"]
    assert similarity[7:] == ("< 0.001", "shown", 12, 2)


def test_answers_that_move_as_far_as_those_of_another_run_are_not_said_to_move() -> None:
    made = tell(answered(["1,0", "0.6,0.8"], ["0.6,0.8", "1,0"]))
    (headline,) = made.headlines
    assert headline.sentence == "No rewording is shown to move the answers of m on squad further than chance does."
    assert not headline.is_clear
    (similarity,) = [row for row in made.tables[1].rows if row[3] == "similarity"]
    assert similarity[8] == "not shown"


def test_pairs_without_an_empty_answer_are_told_apart() -> None:
    trials = []
    for name, before, after in (("a", "1,0", "0.6,0.8"), ("b", "1,0", ""), ("c", "", "1,0"), ("d", "", "")):
        trials += [trial(name, answer=before), trial(name, "spelling", answer=after)]
    (text,) = tell(trials).sentences
    assert text.endswith("Where neither answer is empty it is 0.600 (n = 4 questions).")
