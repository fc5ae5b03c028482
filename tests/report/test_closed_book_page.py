"""A study without evidence has no chapter of evidence, and no sentence speaks of any."""

from __future__ import annotations

from seen_page import see, small_run

ANALYSES = ["correctness", "variability", "guidelines"]


def test_a_closed_book_study_speaks_of_no_evidence(tmp_path) -> None:
    run = small_run(
        tmp_path / "run", analyses=ANALYSES, methods=["closed_book"], perturbations=["unchanged"], score=["contains"]
    )
    page = see(run)
    sentences = page.text.partition("What the words mean")[0]
    assert "How good are the answers?" in page.text and "Which noise breaks it?" not in page.text
    for words in ("undisturbed evidence", "unchanged evidence", "worst evidence"):
        assert words not in sentences


def test_a_study_with_evidence_keeps_its_chapter(tmp_path) -> None:
    page = see(small_run(tmp_path / "run", analyses=["correctness"]))
    assert "Which noise breaks it?" in page.text
