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
    return section(search_decisions(tables), made_page(tables))


def flipping(repeats: int) -> list[dict[str, Any]]:
    """Original 1 0 1 0; rewrites (1,0), (1,1), (0,0), (0,0)."""
    trials = []
    for i, (before, *after) in enumerate(((1, 1, 0), (0, 1, 1), (1, 0, 0), (0, 0, 0))):
        for repeat in range(repeats):
            trials.append(trial(f"q{i}", n_searches=before, repeat=repeat))
            for wording, n in zip("xy", after, strict=True):
                trials.append(trial(f"q{i}", "rewrites(path='r')", wording=wording, n_searches=n, repeat=repeat))
    return trials


def test_of_one_run_chance_is_not_known() -> None:
    (headline,) = tell(flipping(1)).headlines
    assert headline.sentence.startswith("Rewriting by people changes the decision to search in 75 % [")
    assert headline.sentence.endswith("] of questions (m on squad).")
    assert headline.detail.startswith("How much of it is chance is not known: there are too few runs")
    assert (headline.kind, headline.number) == ("decision", "75 %")


def test_what_runs_do_alone_stands_beside_what_rewording_does() -> None:
    trials = flipping(3)
    for own in trials:  # One run of the first question's original does otherwise.
        if (own["question_id"], own["variation"], own["repeat"]) == ("q0", "original", 2):
            own["n_searches"] = 0
    (text,) = tell(trials).sentences
    assert "changes the decision to search in 75 % [" in text
    assert "; runs of the same wording alone change it in 25 %. Rewording " in text


def test_over_confidence_is_told_of_the_wording_that_has_the_most() -> None:
    trials = [
        trial(f"q{i}", variation, correct=0.0, **NO_RETRIEVAL)
        for i in range(4)
        for variation in ("original", "grammar", "spelling")
    ]
    searched = {"original": 3, "grammar": 4, "spelling": 1}
    trials += [trial(f"q{i}", name, n_searches=int(i < n)) for name, n in searched.items() for i in range(4)]
    (headline,) = [headline for headline in tell(trials).headlines if headline.kind == "confidence"]
    assert headline.sentence.startswith(
        "After spelling, m · search_o1 on squad leaves out a search that it needs in 75"
    )
    assert "the most of 2 rewordings; with the original wording in 25 % [" in headline.sentence
    assert headline.detail.startswith("It makes one that it does not need in 0 %")
    assert headline.links == ("confidence_by_wording",)


def test_over_confidence_of_the_original_wording_alone_is_not_compared() -> None:
    trials = [trial(f"q{i}", correct=0.0, **NO_RETRIEVAL) for i in range(4)]
    trials += [trial(f"q{i}", name, n_searches=int(i < 2)) for name in ("original", "spelling") for i in range(4)]
    assert [headline.kind for headline in tell(trials).headlines] == ["decision"]


def test_what_always_searches_is_not_said_to_decide() -> None:
    trials = [trial(f"q{i}", name, n_searches=1) for i in range(3) for name in ("original", "spelling")]
    made = tell(trials)
    assert made.headlines == () and made.tables


def test_a_picture_stands_under_a_sentence_of_what_it_shows() -> None:
    captions = {figure.name: figure.caption for figure in tell(several()[0]).figures}
    assert "changes the decision to search" in captions["flip_rates"]
    assert "leaves out a search that it needs" in captions["confidence_by_wording"]


def test_a_closed_book_that_is_asked_otherwise_is_a_caveat() -> None:
    trials = [trial("q", method="flare(n_examples=8)"), trial("q", **NO_RETRIEVAL)]
    caveats = tell(trials).caveats
    assert any(caveat.startswith("closed_book stands for no retrieval") for caveat in caveats)
    assert any(caveat.startswith("flare(n_examples=8): not known to be asked in the form of") for caveat in caveats)
