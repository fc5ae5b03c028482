"""The analyze stage: what it hands to analyses beside the score table."""

from __future__ import annotations

import dataclasses

import polars as pl
import pytest

from shaketable.errors import StudyError
from shaketable.stages.analyze import analyze
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.stages.score import score
from shaketable.store import Run
from shaketable.study import parse_study

OF_FACTS = (
    "factual_robustness",
    "fact_accuracy",
    "breaking",
    "certainty_bins",
    "question_types",
    "predict_breaking",
    "weakest_facts",
)
SCAN = {"known": "contains", "correct": "exact_match(normalization='squad')", "threshold": 0.95}
METRICS = ["contains", "exact_match(normalization='squad')", "entropy", "certainty"]


def study(folder, analyses=OF_FACTS, metrics=METRICS, **scan):
    path = folder / "questions.jsonl"
    path.write_text("\n".join(f'{{"id": "q{i}", "question": "Q{i}?", "answers": ["Paris"]}}' for i in range(6)))
    return parse_study(
        {
            "name": "facts",
            "seed": 3,
            "dataset": {"name": "jsonl", "path": str(path)},
            # At temperature 0 the answer contains the right one and is not equal to it.
            "cross": {
                "models": ["scripted(replies=('Paris, of course', 'The Paris', 'The Paris', 'Rome'))"],
                "methods": ["recall"],
                "temperatures": [0.5, 1.0],
                "repeats": 4,
            },
            "scan": SCAN | scan,
            "score": {"metrics": metrics},
            "analyze": {"analyses": list(analyses)},
        },
        "facts.toml",
    )


def analyzed(study_, folder):
    run = Run.prepare(folder, study_)
    with run.writing() as store:
        answer(plan(study_), store)
    score(run)
    return run, {finding.analysis: finding for finding in analyze(run)}


def test_every_analysis_of_facts_judges_as_the_scan_does(tmp_path):
    run, findings = analyzed(study(tmp_path), tmp_path / "run")
    assert {name: findings[name].settings["known"] for name in OF_FACTS} == dict.fromkeys(OF_FACTS, SCAN["known"])
    assert {name: findings[name].settings["correct"] for name in OF_FACTS} == dict.fromkeys(OF_FACTS, SCAN["correct"])
    judging = [finding.settings["threshold"] for finding in findings.values() if "threshold" in finding.settings]
    assert judging == [SCAN["threshold"]] * 5
    assert findings["breaking"].settings["repeats"] == 4
    # All six questions are known by contains; none is by exact_match.
    [known] = [row for row in findings["factual_robustness"].rows if row["kind"] == "accuracy"]
    assert (known["value"], known["n"], known["metric"]) == (1, 6, "contains")
    # Counted from the answers: an article does not matter to squad's rule, and below 95 % is broken.
    hot = run.records().filter(pl.col("temperature") > 0)
    right = hot.group_by("question_id", "temperature").agg(share=(pl.col("answer") == "The Paris").mean())
    broken = right.filter(pl.col("share") < 0.95)["question_id"].n_unique()
    [share] = [row for row in findings["breaking"].rows if row["kind"] == "broken" and row["temperature"] is None]
    assert (share["value"], share["n"]) == (broken / 6, 6)
    assert broken > 0


def test_an_analysis_may_be_told_otherwise(tmp_path):
    told = "breaking(known='exact_match', threshold=0.25, repeats=10)"
    _, findings = analyzed(study(tmp_path, [told, "latent_facts"]), tmp_path / "run")
    settings = findings["breaking"].settings
    assert (settings["known"], settings["threshold"], settings["repeats"]) == ("exact_match", 0.25, 10)
    assert settings["correct"] == SCAN["correct"]
    # Facts are latent where the greedy answer is not even correct.
    assert findings["latent_facts"].settings["known"] == SCAN["correct"]


def test_without_a_scan_its_defaults_hold(tmp_path):
    crossed = dataclasses.replace(study(tmp_path, ["breaking"], ["contains", "exact_match"]), scan=None)
    _, findings = analyzed(crossed, tmp_path / "run")
    settings = findings["breaking"].settings
    assert (settings["known"], settings["correct"], settings["threshold"]) == ("exact_match", "contains", 0.5)


def test_a_metric_that_scans_and_scores_with_other_settings_is_refused(tmp_path):
    unlike = study(tmp_path, metrics=["contains", "exact_match"])
    with pytest.raises(
        StudyError, match=r"scan\.correct is 'exact_match\(normalization='squad'\)', but score\.metrics"
    ):
        plan(unlike)
