from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from made_page import made_page
from made_wordings import NO_RETRIEVAL, several, tables_of, trial

from shaketable.analyses.wording.search_decisions import search_decisions
from shaketable.report.section import Section
from shaketable.report.sections.search_decisions import section


def tell(trials: Sequence[dict[str, Any]]) -> Section:
    tables = tables_of(trials)
    result = search_decisions(tables)
    return section(result, made_page(tables, result))


def flipping(repeats: int, times: int = 1) -> list[dict[str, Any]]:
    """Original 1 0 1 0; rewrites (1,0), (1,1), (0,0), (0,0), so many times."""
    trials = []
    for i, (before, *after) in enumerate(((1, 1, 0), (0, 1, 1), (1, 0, 0), (0, 0, 0)) * times):
        for repeat in range(repeats):
            trials.append(trial(f"q{i}", n_searches=before, repeat=repeat))
            for wording, n in zip("xy", after, strict=True):
                trials.append(trial(f"q{i}", "rewrites(path='r')", wording=wording, n_searches=n, repeat=repeat))
    return trials


def test_of_one_run_chance_is_not_known() -> None:
    (headline,) = tell(flipping(1)).headlines
    assert headline.sentence.startswith("After rewriting by people the decision to search is another in 75 % [")
    assert headline.sentence.endswith("] of questions (m on squad).")
    assert headline.detail.startswith("How much of it is chance is not known: there are too few runs")
    assert (headline.kind, headline.number, headline.is_clear) == ("decision", "75 %", False)


def test_flips_beyond_those_of_runs_are_told_by_the_excess() -> None:
    trials = flipping(3, times=8)
    for own in trials:  # One run of the first question's original does otherwise.
        if (own["question_id"], own["variation"], own["repeat"]) == ("q0", "original", 2):
            own["n_searches"] = 0
    made = tell(trials)
    (headline,) = made.headlines
    assert headline.sentence.startswith(
        "Rewriting by people changes the decision to search of m on squad: it is another in 75 %, 3.1 % between two "
        "runs of the same wording: 72 points more ["
    )
    assert (headline.number, headline.is_clear) == ("72 points", True)
    (beside,) = [table for table in made.tables if table.title == "Beside runs of the same wording"]
    (row,) = [row for row in beside.rows if row[3] == "flips"]
    assert row[8] == "shown"


def test_flips_of_few_questions_are_not_claimed() -> None:
    (headline,) = tell(flipping(3)).headlines
    assert headline.sentence == "No rewording is shown to change the decision to search of m on squad beyond chance."
    assert "too few to claim anything" in headline.detail and not headline.is_clear


def confident(n: int) -> list[dict[str, Any]]:
    """Every question needs a search, which is made for three in four, for all, and for one in four."""
    names = {"original": 3, "grammar": 4, "spelling": 1}
    trials = [trial(f"q{i}", name, correct=0.0, **NO_RETRIEVAL) for i in range(n) for name in names]
    return trials + [
        trial(f"q{i}", name, n_searches=int(i % 4 < right)) for name, right in names.items() for i in range(n)
    ]


def test_over_confidence_is_told_as_a_difference_from_the_original_wording() -> None:
    (headline,) = [headline for headline in tell(confident(40)).headlines if headline.kind == "confidence"]
    assert headline.sentence.startswith(
        "After spelling, m · search_o1 on squad leaves out a search that it needs more often: in 75 % ["
    )
    assert "of questions, with the original wording in 25 % [" in headline.sentence
    assert ", a difference of 50 points [" in headline.sentence
    assert headline.detail.startswith("It makes one that it does not need in 0 %")
    assert (headline.number, headline.is_clear, headline.links) == ("50 points", True, ("confidence_by_wording",))


def test_over_confidence_of_few_questions_is_not_claimed() -> None:
    (headline,) = [headline for headline in tell(confident(4)).headlines if headline.kind == "confidence"]
    assert headline.sentence.startswith("No rewording is shown to change how often m · search_o1 on squad leaves out")
    assert not headline.is_clear


def test_over_confidence_of_the_original_wording_alone_is_not_compared() -> None:
    trials = [trial(f"q{i}", correct=0.0, **NO_RETRIEVAL) for i in range(4)]
    trials += [trial(f"q{i}", name, n_searches=int(i < 2)) for name in ("original", "spelling") for i in range(4)]
    assert [headline.kind for headline in tell(trials).headlines] == ["decision"]


def test_what_always_searches_is_not_said_to_decide() -> None:
    trials = [trial(f"q{i}", name, n_searches=1) for i in range(3) for name in ("original", "spelling")]
    made = tell(trials)
    [headline] = made.headlines
    assert headline.sentence.endswith("it always searched.")
    assert headline.claims == () and made.tables


def test_what_never_searches_gets_no_verdict() -> None:
    trials = [trial(f"q{i}", name, n_searches=0) for i in range(3) for name in ("original", "spelling")]
    searched = [
        trial(f"q{i}", name, n_searches=i % 2, model="other") for i in range(3) for name in ("original", "spelling")
    ]
    made = tell(trials + searched)
    assert [headline.sentence.rpartition(": ")[2] for headline in made.headlines if headline.kind == "no_decision"] == [
        "it never searched."
    ]


def test_a_picture_stands_under_a_sentence_of_what_it_shows() -> None:
    captions = {figure.name: figure.caption for figure in tell(several()[0]).figures}
    assert "the decision to search" in captions["flip_rates"]
    assert "leaves out a search that it needs" in captions["confidence_by_wording"]


def test_a_closed_book_that_is_asked_otherwise_is_a_caveat() -> None:
    trials = [trial("q", method="flare(n_examples=8)"), trial("q", **NO_RETRIEVAL)]
    caveats = tell(trials).caveats
    assert any(caveat.startswith("closed_book stands for no retrieval") for caveat in caveats)
    assert any(caveat.startswith("flare(n_examples=8): not known to be asked in the form of") for caveat in caveats)
