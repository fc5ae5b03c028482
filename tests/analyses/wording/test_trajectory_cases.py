"""Two trajectories side by side, as in Table 5 of the study of query variation."""

from __future__ import annotations

from typing import Any

import pytest
from made_wordings import Compass, searches, tables_of, trial

from shaketable.analyses.wording import vectors
from shaketable.analyses.wording.trajectory_cases import TrajectoryCase, TrajectoryCases, trajectory_cases
from shaketable.errors import WeightsError


@pytest.fixture(autouse=True)
def compass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "encoder", lambda name: Compass())


def towards(cosine: float) -> str:
    """A query with this similarity to `1,0`."""
    return f"{cosine},{(1 - cosine**2) ** 0.5}"


def ask(*trails: tuple[dict[str, Any], list[tuple[str, str, bool | None]]], **settings: Any) -> TrajectoryCases:
    return trajectory_cases(tables_of([one for one, _ in trails], searches=searches(*trails)), **settings)


def ask_one(*trails: tuple[dict[str, Any], list[tuple[str, str, bool | None]]]) -> TrajectoryCase:
    (case,) = ask(*trails).cases
    return case


def hops(*made_: tuple[float, bool]) -> list[tuple[str, str, bool | None]]:
    return [(towards(cosine), "a", is_hit) for cosine, is_hit in made_]


def test_the_published_example() -> None:
    """Similarities .99 1 .85 .13, hits 1 1 1 1 against 1 1 0 0: MSS .7425."""
    before = trial("q", answer="Rome", n_searches=4)
    after = trial("q", "human", answer="Oslo", correct=0.0, n_searches=4)
    case = ask_one(
        (before, hops(*[(1.0, True)] * 4)),
        (after, hops((0.99, True), (1.0, True), (0.85, False), (0.13, False))),
    )
    assert [hop.hop for hop in case.hops] == [1, 2, 3, 4]
    assert [hop.similarity for hop in case.hops] == pytest.approx([0.99, 1.0, 0.85, 0.13], abs=1e-6)
    assert [(hop.original_is_hit, hop.reworded_is_hit) for hop in case.hops] == [
        (True, True),
        (True, True),
        (True, False),
        (True, False),
    ]
    assert case.mss == pytest.approx(0.7425, abs=1e-6)
    assert (case.original.answer, case.reworded.answer) == ("Rome", "Oslo")
    assert (case.original.correct, case.reworded.correct) == (1.0, 0.0)
    assert (case.original.key, case.reworded.key) == (before["key"], after["key"])
    assert (case.hops[0].original_query, case.hops[0].reworded_query) == (towards(1.0), towards(0.99))


def test_a_search_that_one_of_them_made_alone_has_no_similarity() -> None:
    case = ask_one(
        (trial("q", n_searches=1), hops((1.0, True))),
        (trial("q", "spelling", n_searches=2), hops((1.0, True), (0.0, False))),
    )
    last = case.hops[-1]
    assert (last.similarity, last.original_query, last.original_is_hit) == (None, None, None)
    assert last.reworded_query == towards(0.0)
    assert case.mss == 1


def pair(question: str, right: float, *drifts: tuple[float, bool]) -> list[Any]:
    n = len(drifts)
    return [
        (trial(question, n_searches=n), hops(*[(1.0, True)] * n)),
        (trial(question, "spelling", correct=right, n_searches=n), hops(*drifts)),
    ]


@pytest.mark.parametrize(
    ("others", "chosen"),
    [
        # A lost answer comes before any drift.
        ([pair("a", 1.0, (0.1, False)), pair("b", 0.0, (0.9, True))], "b"),
        # Among lost answers the one that lost more supporting documents.
        ([pair("a", 0.0, (0.1, True)), pair("b", 0.0, (0.9, False))], "b"),
        # Then the one whose queries drifted further.
        ([pair("a", 0.0, (0.9, False)), pair("b", 0.0, (0.2, False))], "b"),
        # Then the first by id.
        ([pair("b", 0.0, (0.9, False)), pair("a", 0.0, (0.9, False))], "a"),
        # Where no answer was lost, the same among all.
        ([pair("a", 1.0, (0.9, True)), pair("b", 1.0, (0.9, False))], "b"),
    ],
)
def test_the_case_is_picked_by_the_stated_rule(others: list[list[Any]], chosen: str) -> None:
    found = ask(*[one for own in others for one in own])
    assert [case.question_id for case in found.cases] == [chosen]


def test_more_cases_can_be_asked_for_each_of_another_question() -> None:
    found = ask(*pair("a", 0.0, (0.9, False)), *pair("b", 0.0, (0.2, False)), n=2)
    assert [case.question_id for case in found.cases] == ["b", "a"]
    again = (trial("a", "grammar", correct=0.0, n_searches=1), hops((0.1, False)))
    both = ask(*pair("a", 0.0, (0.9, False)), again, n=2)
    assert [case.cell.variation for case in both.cases] == ["grammar"]


def test_trials_that_did_not_both_search_make_no_case() -> None:
    found = ask((trial("q", n_searches=1), hops((1.0, True))), (trial("q", "spelling"), []))
    assert found.cases == ()
    assert found.reason == "no two wordings of a question were both searched for"


def test_without_the_encoder_the_searches_are_shown_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise WeightsError(f"Weights '{name}' are not here.")

    monkeypatch.setattr(vectors, "encoder", missing)
    found = ask(*pair("a", 0.0, (0.9, False)))
    (hop,) = found.cases[0].hops
    assert (hop.similarity, hop.reworded_is_hit) == (None, False)
    assert found.not_compared is not None and found.not_compared.startswith("not measured: Weights")
