"""The report of a run that is not done, made by the viewer from the records so far."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import made_run
import pytest
from asked_viewer import Client, serving

from shaketable.store import Run
from shaketable.viewer import live_report
from shaketable.viewer.live_report import LiveReport, PartialRun, render_partial

FEW: Any = {"analyze": {"analyses": ["correctness"], "n_resamples": 99}}
PER_QUESTION = made_run.N_RECORDS // made_run.N_QUESTIONS


def half(folder: Path, **keys: Any) -> Run:
    return made_run.made_run(folder, n_answered=4, with_scores=False, **(FEW | keys))


def banner(page: str) -> str:
    found = re.search(r'<div class="banner" role="status">(.*?)</div>', page, re.DOTALL)
    assert found
    return unescape(" ".join(re.sub("<[^>]*>", " ", found[1]).split()))


def files(folder: Path) -> dict[str, int]:
    # SQLite's readers share `-shm`; it is no part of the run.
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*") if not path.name.endswith("-shm")}


def test_a_run_that_is_going_has_a_report_marked_as_partial(tmp_path: Path) -> None:
    run = half(tmp_path / "run", score={"metrics": ["contains", "bertscore", "rouge"]})
    with serving(run) as viewer, run.writing():
        before = files(run.folder)
        status, headers, page = Client(viewer).ask("/run/run/report")
        after = files(run.folder)
    assert status == 200
    assert banner(page) == (
        "This run is still going: all results are partial. 144 of 288 trials are done. Reload this page for newer "
        "results. Left out until all is answered and scored: bertscore, rouge."
    )
    assert "<figure" in page and "The verdict" in page
    assert "sandbox allow-scripts" in headers["Content-Security-Policy"]
    assert before == after


def test_its_numbers_are_those_of_the_records_so_far(tmp_path: Path) -> None:
    partial = PartialRun(half(tmp_path / "run"))
    [finding] = live_report.findings_of(partial, partial.study.analyses).findings
    found = {
        (level.cell.perturbation, level.cell.temperature): (level.mean.value, level.mean.n)
        for level in finding.result.levels
        if level.cell.group is None and level.cell.system.model == "plain"
    }
    # By the rule of `made_run.record`, of questions 0 to 3: all are right when cool, the even without evidence.
    assert found["unchanged", 0.0] == (1.0, 4)
    assert found["sentence_removal", 0.6] == (0.5, 4)
    assert found["unchanged", 1.2] == (0.0, 4)


def test_a_large_run_is_shown_by_its_first_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_report, "N_MOST", 3 * PER_QUESTION + 1)
    run = half(tmp_path / "run")
    assert len(PartialRun(run).records()) == 3 * PER_QUESTION
    assert "It shows the first 3 of 8 questions." in banner(render_partial(run))


def test_it_is_made_again_for_new_records_but_not_too_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = half(tmp_path / "run")
    made: list[int] = []

    def rendered(fresh: Run) -> str:
        made.append(len(fresh.records()))
        return str(len(made))

    monkeypatch.setattr(live_report, "render_partial", rendered)
    monkeypatch.setattr(live_report, "REST", 0)
    live = LiveReport(run)
    assert (live.page(), live.page()) == (b"1", b"1")
    with run.writing() as store:
        store.append(list(made_run.records_of(made_run.question(4))), {})
    monkeypatch.setattr(live_report, "REST", 10**9)
    assert live.page() == b"2"
    with run.writing() as store:
        store.append(list(made_run.records_of(made_run.question(5))), {})
    assert live.page() == b"2"
    assert made == [4 * PER_QUESTION, 5 * PER_QUESTION]


def test_an_analysis_that_half_a_run_does_not_allow_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = half(tmp_path / "run", analyze={"analyses": ["correctness", "variability"], "n_resamples": 99})
    findings_of = live_report.findings_of

    def picky(partial: Run, analyses: list[str]) -> Any:
        if analyses == ["variability"]:
            raise ZeroDivisionError
        return findings_of(partial, analyses)

    monkeypatch.setattr(live_report, "findings_of", picky)
    page = render_partial(run)
    assert "Left out until all is answered and scored: variability." in banner(page)
    assert "<figure" in page


def test_scores_of_all_records_are_used_as_they_are_stored(tmp_path: Path) -> None:
    run = made_run.made_run(tmp_path / "run", n_answered=4, **FEW)
    partial = PartialRun(run)
    assert partial.scores().equals(run.scores())
    assert partial.left_out == []


def test_a_finished_run_without_a_report_has_one_here(tmp_path: Path) -> None:
    run = made_run.made_run(tmp_path / "run", with_scores=False, **FEW)
    assert "12 of 288 have no answer" in banner(render_partial(run))


@pytest.mark.parametrize("n_answered", [1, 2])
@pytest.mark.slow  # Every analysis, on a run that has hardly begun.
def test_every_analysis_of_the_shipped_studies_can_be_shown_early(tmp_path: Path, n_answered: int) -> None:
    from shaketable.study import load_study

    names = ("demo", "context_temperature", "factual_robustness", "query_variation")
    analyses = list(dict.fromkeys(text for name in names for text in load_study(name).analyses))
    run = made_run.made_run(tmp_path / "run", n_answered=n_answered, with_scores=False, analyze={"analyses": analyses})
    assert "This run was interrupted" in banner(render_partial(run))
