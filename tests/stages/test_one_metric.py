from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from made_run import made_run, scores_of

from shaketable.analyses.evidence.guidelines import Guidelines
from shaketable.errors import PartError
from shaketable.stages.analyze import analyze
from shaketable.stages.plan import plan
from shaketable.stages.report import report, sections_of
from shaketable.store import Run
from shaketable.store.findings_file import tidy_rows
from shaketable.study import parse_study
from shaketable.viewer.pages import RunSite

ANALYSES = [
    *("variability", "correctness", "context_reliance", "variance_shares", "amplification", "cases", "degradation"),
    *("dominance", "equivalence", "guidelines", "ranking"),
]


def run_with_two_metrics(folder: Path, **analyze: Any) -> Run:
    """Scored by `contains`, then by `bertscore`, which is made of the length of the answer here."""
    run = made_run(
        folder,
        analyze={"analyses": ANALYSES, "n_resamples": 9, **analyze},
        score={"metrics": ["contains", "bertscore"]},
    )
    scores = [score for record in run.store.records() for score in scores_of(record)]
    run.write_scores(
        [
            dataclasses.replace(score, metric="bertscore", value=score.value and min(score.value, 100.0) / 100)
            if score.metric == "length"
            else score
            for score in scores
        ]
    )
    return run


def compared(run: Run) -> set[str]:
    """The metrics that its analyses compare; correctness and variability have a row for every metric."""
    rows = tidy_rows(analyze(run))
    return {str(row["metric"]) for row in rows if row["analysis"] not in ("correctness", "variability")}


def sentences(run: Run) -> str:
    return " ".join(headline.text for section in sections_of(run, run.findings()) for headline in section.headlines)


def test_all_findings_speak_of_one_metric_the_first_of_which_more_is_better(tmp_path: Path) -> None:
    run = run_with_two_metrics(tmp_path / "run")
    assert compared(run) == {"contains"}
    assert "correctness of plain" in sentences(run) and "bertscore" not in sentences(run)


def test_the_study_names_the_metric_that_all_findings_speak_of(tmp_path: Path) -> None:
    run = run_with_two_metrics(tmp_path / "run", metric="bertscore", margin=0.01)
    assert compared(run) == {"bertscore"}
    assert "bertscore of plain" in sentences(run) and "correctness of" not in sentences(run)
    (found,) = (finding.result for finding in run.findings().findings if isinstance(finding.result, Guidelines))
    assert [margin.value for margin in found.margins] == [0.01]
    page = report(run).read_text("utf-8")
    assert "bertscore against temperature" in page
    assert (run.folder / "figures" / "figure_table.csv").is_file()


def test_an_analysis_may_take_a_metric_of_its_own_and_then_not_the_margin_of_the_main_one(tmp_path: Path) -> None:
    run = run_with_two_metrics(tmp_path / "run", metric="bertscore", margin=0.01)
    (finding,) = analyze(run, ["guidelines(metric='contains')"]).findings
    assert isinstance(finding.result, Guidelines)
    assert [(margin.metric, margin.value) for margin in finding.result.margins] == [("contains", 0.05)]


def test_the_viewer_colours_its_pages_by_the_main_metric(tmp_path: Path) -> None:
    for chosen in ("bertscore", "contains"):
        run = run_with_two_metrics(tmp_path / chosen, metric=chosen)
        analyze(run, ["correctness"])
        site = RunSite([run])
        page = site.reply(["run", chosen, "questions"], {}).body.decode()
        assert f"Mean {chosen}" in page
        site.close()


def test_a_main_metric_that_will_not_be_scored_is_refused_before_anything_runs() -> None:
    tables = {
        "name": "x",
        "cross": {"models": ["scripted(replies=('a',))"]},
        "score": {"metrics": ["rouge", "contains"]},
        "analyze": {"metric": "rouge"},
    }
    with pytest.raises(PartError) as error:
        plan(parse_study(tables, "x.toml"))
    assert str(error.value) == (
        "analyze.metric is 'rouge', which these scores do not have. Did you mean 'rougeL'? "
        "Scored numbers: rouge1, rouge2, rougeL, contains."
    )
