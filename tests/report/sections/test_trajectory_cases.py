from __future__ import annotations

from made_page import made_page
from made_wordings import searches, tables_of, trial

from shaketable.analyses.wording.trajectory_cases import trajectory_cases
from shaketable.report.sections.trajectory_cases import section


def test_two_trajectories_stand_side_by_side() -> None:
    before = trial("q1", wording="Who <i>wrote</i> it?", answer="Ann", n_searches=1)
    after = trial("q1", "spelling", wording="Who wrot it?", answer="", correct=0.0, n_searches=2)
    made_ = searches((before, [("wrote it", "ab", True)]), (after, [("wrot it", "cd", False), ("it", "e", None)]))
    tables = tables_of([before, after], searches=made_)
    made = section(trajectory_cases(tables, encoder="not here"), made_page(tables))
    (table,) = made.tables
    assert table.title == "m on squad: question q1"
    assert table.columns == ("Search", "Original", "Spelling", "Similarity", "Gold, original", "Gold, spelling")
    assert table.rows == (
        ("asked", "Who <i>wrote</i> it?", "Who wrot it?", None, None, None),
        (1, "wrote it", "wrot it", None, "found", "not found"),
        (2, None, "it", None, "–", "–"),
        ("answer", "Ann (right)", "nothing (wrong)", None, None, None),
    )
    assert made.sentences == (
        "Question q1 after spelling, m on squad: its answer goes from right to wrong. 1 of 1 searches of the original "
        "wording found a supporting document, 0 of 2 of the other.",
    )
