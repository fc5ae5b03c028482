from __future__ import annotations

import pytest
from made_page import made_page
from made_wordings import Compass, tables_of, trial

from shaketable.analyses.wording import vectors
from shaketable.analyses.wording.consistency import consistency
from shaketable.report.sections.consistency import section


@pytest.fixture(autouse=True)
def compass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "encoder", lambda name: Compass())


def test_the_rewording_that_moves_answers_most_is_named_beside_the_one_that_moves_them_least() -> None:
    tables = tables_of(
        [trial("q", answer="1,0"), trial("q", "human", answer="0,1"), trial("q", "formality", answer="0.6,0.8")]
    )
    made = section(consistency(tables), made_page(tables))
    assert made.sentences == (
        "Rewriting by people moves the answers of m on squad most: similarity 0 to the answer to the original wording. "
        "Formality moves them least, 0.600 (n = 1 question).",
    )
    (table,) = made.tables
    asked = [row[2] for row in table.rows]
    assert asked == ["original", "formality", "people", "all wordings", "without rewrites by people"]
    assert table.columns[3:6] == ("similarity", "diversity", "empty answers")


def test_pairs_without_an_empty_answer_are_told_apart() -> None:
    trials = []
    for name, before, after in (("a", "1,0", "0.6,0.8"), ("b", "1,0", ""), ("c", "", "1,0"), ("d", "", "")):
        trials += [trial(name, answer=before), trial(name, "spelling", answer=after)]
    tables = tables_of(trials)
    (text,) = section(consistency(tables), made_page(tables)).sentences
    assert text.endswith("Measured (n = 4 questions). Of pairs where neither answer is empty: 0.600 (n = 1 question).")
