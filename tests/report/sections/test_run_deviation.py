from __future__ import annotations

from made_page import made_page
from made_wordings import tables_of, trial

from shaketable.analyses.wording.run_deviation import run_deviation
from shaketable.report.sections.run_deviation import section


def test_runs_stand_beside_each_other_as_in_published_tables() -> None:
    """Of 10 questions 6, 7 and 8 are right: 70 ± 10; with spelling 5 in the only run that was made of it."""
    trials = [
        trial(f"q{i}", repeat=r, correct=float(i < right)) for r, right in enumerate((6, 7, 8)) for i in range(10)
    ]
    trials += [trial(f"q{i}", "spelling", correct=float(i < 5)) for i in range(10)]
    tables = tables_of(trials)
    made = section(run_deviation(tables), made_page(tables))
    (table,) = made.tables
    assert table.columns == ("System", "Dataset", "original", "spelling", "Runs")
    assert table.rows == (("m", "squad", "70.0 ± 10.0 %", "50.0 %", 3),)
    assert made.sentences == (
        "Runs of m on squad lie 10 points of correctness apart (standard deviation) with the original wording. "
        "3 runs of 10 questions each.",
    )


def test_wordings_are_not_ranked_by_how_far_their_runs_lie_apart() -> None:
    rights = {"original": (6, 7, 8), "spelling": (10, 5, 5)}
    trials = [
        trial(f"q{i}", variation, repeat=repeat, correct=float(i < right), temperature=0.7)
        for variation, counts in rights.items()
        for repeat, right in enumerate(counts)
        for i in range(10)
    ]
    tables = tables_of(trials)
    (headline,) = section(run_deviation(tables), made_page(tables)).headlines
    assert headline.sentence == (
        "Runs of m on squad at temperature 0.7 lie 10 points of correctness apart (standard deviation) with the "
        "original wording; 10 to 29 with each of 2 wordings."
    )
    assert headline.number == "", "No card."
