from __future__ import annotations

from made_page import made_page
from made_wordings import tables_of, trial

from shaketable.analyses.wording.cost_stability import cost_stability
from shaketable.report.sections.cost_stability import section


def test_the_rewording_that_changes_searches_most_is_named() -> None:
    trials = [trial(f"q{i}", n_searches=2) for i in range(3)]
    trials += [trial(f"q{i}", "spelling", n_searches=3) for i in range(3)]
    tables = tables_of(trials)
    (text,) = section(cost_stability(tables), made_page(tables)).sentences
    assert text.startswith(
        "Spelling changes how often m on squad searches by 50 % of the original's searches on average, the most of 1 "
        "rewordings. Steadiness over all wordings is 0."
    )
    assert text.endswith(" of 1 (n = 3 questions).")


def test_what_no_rewording_changes_is_said_so() -> None:
    trials = [trial(f"q{i}", name, n_searches=1) for i in range(3) for name in ("original", "grammar", "spelling")]
    tables = tables_of(trials)
    made = section(cost_stability(tables), made_page(tables))
    (text,) = made.sentences
    assert text.startswith("No rewording changes how often m on squad searches. Steadiness")
    assert made.caveats[-2] == "RE divides by the calls of the original wording, and by 1 where it made none."
    (figure,) = made.figures
    assert {(mark.x, mark.series) for mark in figure.marks} == {
        (way, count) for way in ("original", "grammar", "spelling") for count in ("searches", "model calls")
    }
