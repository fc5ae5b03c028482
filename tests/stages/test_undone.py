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

from shaketable.stages.analyze import analyze
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.stages.report import report
from shaketable.stages.score import score
from shaketable.store import Run
from shaketable.store.evidence_flags import FlagCount
from shaketable.study import parse_study
from shaketable.types import Edit, Event, Evidence, OldFinding, Record, Score, Search

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
            "analyze": {"analyses": ["correctness(n_resamples=99)", "degradation(n_resamples=99)"], **analyze_},
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


def contrasts(finding: OldFinding) -> dict[str, tuple[float | None, int]]:
    return {
        str(row["contrast"]): (row["value"], row["n"])
        for row in finding.rows
        if row["contrast"] and row["type"] is None and row["temperature"] == 0
    }


def test_a_disturbance_that_was_done_on_no_question_has_no_effect_and_says_so(tmp_path: Path) -> None:
    """Before: no difference was found, 0 points [0, 0]."""
    run = studied(tmp_path, [one_fact(0), one_fact(1)])
    correctness, degradation = analyze(run)
    assert contrasts(correctness) == {
        "unchanged - sentence_removal": (None, 0),
        "unchanged - sentence_replacement": (None, 0),
    }
    assert not [text for text in correctness.sentences if "removal" in text]
    statement = (
        "Sentence removal was done on none of the 2 questions (nothing_changed, too_few_sentences): it has no effect "
        "to tell."
    )
    assert statement in correctness.caveats
    assert statement in degradation.caveats
    assert degradation.sentences == ()
    assert "was done on none of the 2 questions" in report(run).read_text("utf-8")


def test_questions_on_which_nothing_was_changed_are_left_out_and_counted(tmp_path: Path) -> None:
    run = studied(tmp_path, [one_fact(0), row(1, answers=["Author"]), row(2, answers=["Author"])])
    correctness, _ = analyze(run)
    assert contrasts(correctness)["unchanged - sentence_removal"] == (0, 2)
    assert (
        "Sentence removal: 1 of 3 questions are left out of its effect (nothing_changed, too_few_sentences)."
        in correctness.caveats
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
    (finding,) = analyze(run, ["correctness(n_resamples=99)"])
    found = {
        row["perturbation"]: (row["value"], row["n"])
        for row in finding.rows
        if row["contrast"] and row["model"] == "plain" and row["type"] is None and row["temperature"] == 0
        if row["contrast"].startswith("unchanged")
    }
    assert found == {"sentence_removal": (0.25, 8), "sentence_removal, as asked": (0, 6)}
    (sentence,) = [text for text in finding.sentences if "removal" in text and text.count("plain")]
    assert "Where it was done as asked: 0 points [0, 0] (n = 6 questions)." in sentence


def test_every_analysis_of_evidence_is_told_with_and_without_flagged_questions(tmp_path: Path) -> None:
    """26.5 % of HotpotQA records cannot be replaced from the same title (specification, 3.5)."""
    run = flagged_run(tmp_path / "run", {0: [("fallback",)], 1: [("fallback",)]})
    both = analyze(run, ["equivalence(n_resamples=99)", "amplification(n_resamples=99)", "correctness(n_resamples=99)"])
    names = ["equivalence", "equivalence, as asked", "amplification", "amplification, as asked", "correctness"]
    assert [finding.analysis for finding in both] == names
    found = [
        (row["value"], row["n"])
        for finding in both[:2]
        for row in finding.rows
        if row["model"] == "plain" and row["type"] is None and row["temperature"] == 0
    ]
    assert found == [(0.25, 8), (0, 6)]
    assert not any(row.get("headline") for row in both[1].rows)
    page = report(run).read_text("utf-8")
    assert "Where every disturbance was done as asked" in page
    assert all(str(escape(sentence)) in page for sentence in both[1].sentences)


def test_without_flags_nothing_is_told_twice(tmp_path: Path) -> None:
    (finding,) = analyze(flagged_run(tmp_path / "run", {}), ["equivalence(n_resamples=99)"])
    assert finding.analysis == "equivalence"


def test_a_study_may_leave_flags_out_of_every_analysis(tmp_path: Path) -> None:
    keys = {"analyze": {"without_flags": ["fallback"]}}
    run = flagged_run(tmp_path / "run", {0: [("fallback",)], 1: [("fallback",)]}, **keys)
    for text in ("correctness(n_resamples=99)", "equivalence(n_resamples=99)"):
        (finding,) = analyze(run, [text])
        [(value, n)] = {
            (row["value"], row["n"])
            for row in finding.rows
            if row["perturbation"] == "sentence_removal" and row["type"] is None and row["temperature"] == 0
            if row.get("contrast", "unchanged") and "plain" in row["system"]
        }
        assert (value, n) == (pytest.approx(0), 6)
        assert "Sentence removal: 2 of 8 questions are left out of its effect (fallback)." in finding.caveats
