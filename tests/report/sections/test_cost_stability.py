from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from made_page import made_page
from made_wordings import tables_of, trial

from shaketable.analyses.wording.cost_stability import cost_stability
from shaketable.report.section import Section
from shaketable.report.sections.cost_stability import section


def tell(trials: Iterable[dict[str, Any]]) -> Section:
    tables = tables_of(trials)
    result = cost_stability(tables)
    return section(result, made_page(tables, result))


def test_of_one_run_chance_is_not_known() -> None:
    trials = [trial(f"q{i}", n_searches=2) for i in range(3)]
    trials += [trial(f"q{i}", "spelling", n_searches=3) for i in range(3)]
    (text,) = tell(trials).sentences
    assert text.startswith("How often m on squad searches changes with spelling by 50 %")
    assert "of the original's searches on average. How much of it is chance is not known: " in text
    assert text.endswith(" (n = 3 questions).")


def test_changes_beyond_those_of_another_run_are_told_by_the_excess() -> None:
    counts = {"original": (2, 2), "spelling": (4, 4), "grammar": (2, 2)}
    made = tell(
        trial(f"q{i}", name, n_searches=n, repeat=repeat)
        for i in range(12)
        for name, runs in counts.items()
        for repeat, n in enumerate(runs)
    )
    (text,) = made.sentences
    assert text.startswith(
        "Rewording changes how often m on squad searches: spelling by 100 %, 0 % between two runs of the same wording: "
        "100 points more ["
    )
    # Two of the three pairs of wordings cost 2 and 4, whose steadiness is 3/4.
    assert "Steadiness of two wordings is 0.833, 1.00 between two runs of the same wording: 0.167 less" in text
    (beside,) = [table for table in made.tables if table.title == "Beside runs of the same wording"]
    names = {row[3] for row in beside.rows}
    assert {"relative change of searches", "steadiness of searches, by pair"} < names


def test_what_no_rewording_changes_is_said_so() -> None:
    names = ("original", "grammar", "spelling")
    trials = [trial(f"q{i}", name, n_searches=1, repeat=run) for i in range(8) for name in names for run in range(2)]
    made = tell(trials)
    (text,) = made.sentences
    assert text.startswith("No rewording is shown to change how often m on squad searches beyond chance. It changes")
    assert made.caveats[-4] == "RE divides by the calls of the original wording, and by 1 where it made none."
    (figure,) = made.figures
    assert {(mark.x, mark.series) for mark in figure.marks} == {
        (way, count) for way in ("original", "grammar", "spelling") for count in ("searches", "model calls")
    }
