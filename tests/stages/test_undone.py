"""Disturbances that could not be done as asked: left out where nothing was changed, told apart where something was."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import made_run
import polars as pl
import pytest
from made_studies import row, write_rows
from markupsafe import escape

from shaketable.analyses.evidence.correctness import Correctness
from shaketable.analyses.evidence.degradation import Degradation
from shaketable.report.words import describe_left_out
from shaketable.stages.analyze import analyze
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.stages.report import report, sections_of
from shaketable.stages.score import score
from shaketable.store import Run
from shaketable.store.evidence_flags import FlagCount
from shaketable.study import parse_study
from shaketable.types import Edit, Event, Evidence, Findings, Record, Score, Search

GONE = Edit(kind="remove", sentence_id="d#0", before="It was here.", after=None)


def studied(folder: Path, rows: list[dict[str, Any]], **analyze_: Any) -> Run:
    """A model that is always right, asked with and without sentences."""
    study = parse_study(
        {
            "name": "undone",
            "dataset": {"name": "jsonl", "path": str(write_rows(folder / "q.jsonl", rows))},
            "cross": {
                "models": ["scripted(replies=('Author',))"],
                "perturbations": ["unchanged", "sentence_removal", "sentence_replacement"],
            },
            "analyze": {"analyses": ["correctness", "degradation"], "n_resamples": 99, **analyze_},
        },
        "undone.toml",
    )
    run = Run.prepare(folder / "run", study)
    with run.writing() as store:
        answer(plan(study), store)
    score(run)
    return run


def one_fact(n: int) -> dict[str, Any]:
    """One supporting sentence: half of it, rounded down, is none."""
    return row(n, facts=[[f"Book {n}", 0]], answers=["Author"])


def drops(findings: Findings, model: str | None = None) -> dict[tuple[str | None, bool], tuple[float | None, int]]:
    """What each disturbance costs at temperature 0, of all questions and of those where it was done as asked."""
    (result,) = (finding.result for finding in findings.findings if isinstance(finding.result, Correctness))
    return {
        (own.cell.perturbation, own.is_as_asked): (own.drop.value, own.drop.n)
        for own in result.evidence_drops
        if own.cell.group is None and own.cell.temperature == 0 and own.metric == result.metric
        if model is None or (own.cell.system is not None and own.cell.system.model == model)
    }


def left_out(findings: Findings) -> list[str]:
    return [describe_left_out(own) for own in findings.left_out]


def test_a_disturbance_that_was_done_on_no_question_has_no_effect_and_says_so(tmp_path: Path) -> None:
    """Before: no difference was found, 0 points [0, 0]."""
    run = studied(tmp_path, [one_fact(0), one_fact(1)])
    findings = analyze(run)
    assert drops(findings) == {("sentence_removal", False): (None, 0), ("sentence_replacement", False): (None, 0)}
    correctness, degradation = sections_of(run, findings)
    assert not [headline for headline in correctness.headlines if "removal" in headline.text]
    assert degradation.headlines == ()
    assert (
        "Sentence removal was done on none of the 2 questions (nothing_changed, too_few_sentences): it has no effect "
        "to tell."
    ) in left_out(findings)
    assert "was done on none of the 2 questions" in report(run).read_text("utf-8")


def test_questions_on_which_nothing_was_changed_are_left_out_and_counted(tmp_path: Path) -> None:
    run = studied(tmp_path, [one_fact(0), row(1, answers=["Author"]), row(2, answers=["Author"])])
    findings = analyze(run)
    assert drops(findings)["sentence_removal", False] == (0, 2)
    assert (
        "Sentence removal: 1 of 3 questions are left out of its effect (nothing_changed, too_few_sentences)."
        in left_out(findings)
    )
    assert run.flags() == tuple(
        FlagCount(perturbation=name, flag=flag, n=1)
        for name in ("sentence_removal", "sentence_replacement")
        for flag in ("nothing_changed", "too_few_sentences")
    )


# --- flags of done disturbances ---------------------------------------------------------------------


def flagged_run(folder: Path, flags_of: dict[int, list[tuple[str, ...]]], **keys: Any) -> Run:
    """Eight questions with one search each, or with as many as there are flags given; all disturbed ones wrong when
    flagged. Evidence whose flags say `nothing` has no edit."""
    run = made_run.made_run(folder, with_scores=False, n_answered=0, **keys)
    records, scores = [], []
    for n in range(made_run.N_QUESTIONS):
        for record, condition in made_run.records_of(made_run.question(n)):
            if record.trial.perturbation not in ("unchanged", "sentence_removal") or record.failure:
                continue
            flags = flags_of.get(n, [()]) if record.trial.perturbation == "sentence_removal" else [()]
            records.append((with_searches(record, flags), condition))
            is_wrong = record.trial.perturbation == "sentence_removal" and any(flags)
            scores.append(Score(key=record.trial.key, metric="contains", value=float(not is_wrong)))
    with run.writing() as store:
        store.append(records, {})
    run.write_scores(scores)
    return run


def with_searches(record: Record, flags: list[tuple[str, ...]]) -> Record:
    searches = [
        Event(
            step=Search(query="q", k=1),
            reply=Evidence(hits=(), edits=() if "nothing" in some else (GONE,), flags=some),
        )
        for some in flags
    ]
    cost = dataclasses.replace(record.cost, n_searches=len(searches))
    return dataclasses.replace(record, trace=(*searches, *record.trace[1:]), cost=cost)


def test_flags_of_every_search_of_a_record_count(tmp_path: Path) -> None:
    run = flagged_run(
        tmp_path / "run", {0: [(), ("fallback",)], 1: [("nothing",), ()], 2: [("nothing",), ("nothing",)]}
    )
    flags = run.score_table().filter(perturbation="sentence_removal").select("question_id", "flags").unique()
    assert sorted(filter(None, flags["flags"].to_list())) == ["fallback", "nothing", "nothing nothing_changed"]
    assert {(count.flag, count.n) for count in run.flags()} == {("fallback", 1), ("nothing", 2), ("nothing_changed", 1)}
    # Only where no search was changed is the record left out.
    values = run.score_table().filter(pl.col("flags") == "nothing nothing_changed")
    assert values["value"].null_count() == len(values)
    assert set(values["reason"]) == {"left out: nothing nothing_changed"}


def test_effects_are_told_with_and_without_flagged_questions(tmp_path: Path) -> None:
    """Two of eight questions are flagged and wrong: a quarter is lost with them, nothing without them."""
    run = flagged_run(tmp_path / "run", {0: [("fallback",)], 1: [("fallback",)]})
    findings = analyze(run, ["correctness"])
    assert drops(findings, "plain") == {("sentence_removal", False): (0.25, 8), ("sentence_removal", True): (0, 6)}
    (section,) = sections_of(run, findings)
    (text,) = (one.text for one in section.headlines if "removal" in one.text and one.text.count("plain"))
    assert "Where it was done as asked it is a difference of 0 points [" in text


def mean_losses(result: object) -> list[tuple[float | None, int]]:
    assert isinstance(result, Degradation)
    return [
        (loss.drop.value, loss.drop.n)
        for loss in result.losses
        if loss.cell.system is not None and loss.cell.system.model == "plain"
        if loss.cell.group is None and loss.cell.temperature == 0
    ]


def test_every_analysis_of_evidence_is_told_with_and_without_flagged_questions(tmp_path: Path) -> None:
    """26.5 % of HotpotQA records cannot be replaced from the same title (specification, 3.5)."""
    run = flagged_run(tmp_path / "run", {0: [("fallback",)], 1: [("fallback",)]})
    both = analyze(run, ["degradation", "amplification", "correctness"])
    assert [(finding.analysis, finding.is_as_asked) for finding in both.findings] == [
        ("degradation", False),
        ("degradation", True),
        ("amplification", False),
        ("amplification", True),
        ("correctness", False),
    ]
    assert [mean_losses(finding.result) for finding in both.findings[:2]] == [[(0.25, 8)], [(0, 6)]]
    again = [section for section in sections_of(run, both) if section.name.endswith("as-asked")]
    assert [bool(section.matrices) for section in again] == [True, True]
    assert not any(section.headlines for section in again), "claims are made of all evidence, once"
    page = report(run).read_text("utf-8")
    assert all(str(escape(section.heading)) in page for section in again)


def test_without_flags_nothing_is_told_twice(tmp_path: Path) -> None:
    (finding,) = analyze(flagged_run(tmp_path / "run", {}), ["degradation"]).findings
    assert not finding.is_as_asked


def test_a_study_may_leave_flags_out_of_every_analysis(tmp_path: Path) -> None:
    keys = {"analyze": {"without_flags": ["fallback"]}}
    run = flagged_run(tmp_path / "run", {0: [("fallback",)], 1: [("fallback",)]}, **keys)
    findings = analyze(run, ["correctness", "degradation"])
    assert drops(findings, "plain") == {("sentence_removal", False): (pytest.approx(0), 6)}
    assert mean_losses(findings.findings[1].result) == [(pytest.approx(0), 6)]
    assert left_out(findings) == ["Sentence removal: 2 of 8 questions are left out of its effect (fallback)."]
