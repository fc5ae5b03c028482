"""The chapter on wording on the page of a real run, whose model is scripted."""

from __future__ import annotations

from pathlib import Path

import pytest
from seen_page import SeenPage, see, small_run

from shaketable.store import Run

ANALYSES = ["wording_accuracy", "run_deviation", "cost_stability", "search_decisions", "outcomes", "retrieval_quality"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return small_run(
        tmp_path_factory.mktemp("wording") / "run",
        analyses=ANALYSES,
        score=["contains", "retrieval(k=2)"],
        methods=["closed_book", "single_retrieval"],
        variations=["original", "prefix_injection"],
        perturbations=["unchanged"],
        temperatures=[0.7],
    )


@pytest.fixture(scope="module")
def page(run: Run) -> SeenPage:
    return see(run)


def test_the_page_has_the_chapter_and_its_sections(page: SeenPage) -> None:
    assert {"wording", *ANALYSES[:5]} <= set(page.values("id"))
    assert "#wording_accuracy" in page.values("href"), "A card leads there."
    assert "prefix injection" in page.text and "recall@2 is" in page.text


def test_evidence_that_nobody_disturbed_is_not_said_to_be_shaken(page: SeenPage) -> None:
    assert "Varied wording original, prefix_injection Trials" in page.text


def test_results_are_read_back_in_the_types_of_their_analyses(run: Run) -> None:
    names = {type(finding.result).__name__ for finding in run.findings().findings}
    assert names == {
        *("WordingAccuracy", "RunDeviation", "CostStability", "SearchDecisions", "Outcomes", "RetrievalQuality"),
    }


def test_the_folder_has_the_figures_of_the_chapter(run: Run) -> None:
    names = {path.stem for path in (run.folder / "figures").glob("*.png")}
    assert {"accuracy_by_wording", "calls_by_wording", "confidence_by_wording", "outcome_classes"} <= names
    assert "flip_rates" not in names, "One rewording has no other to stand beside."


def test_a_run_without_rewording_has_no_such_figures(tmp_path: Path) -> None:
    plain = small_run(
        tmp_path / "run", analyses=["wording_accuracy"], perturbations=["unchanged"], temperatures=[0.0], repeats=1
    )
    assert not list((plain.folder / "figures").glob("accuracy_by_wording.*"))
