"""The analyze stage: what it hands to analyses beside the score table."""

from __future__ import annotations

import dataclasses

import polars as pl
import pytest

from shaketable.analyses.facts.reading import Reading
from shaketable.catalog import bind
from shaketable.errors import PartError, StudyError
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
    return run, {finding.analysis: finding.result for finding in analyze(run).findings}


def test_every_analysis_of_facts_judges_as_the_scan_does(tmp_path):
    run, results = analyzed(study(tmp_path), tmp_path / "run")
    readings = [getattr(result, "reading", result) for result in results.values()]
    assert [(reading.known, reading.correct) for reading in readings] == [(SCAN["known"], SCAN["correct"])] * 7
    thresholds = [reading.threshold for reading in readings if isinstance(reading, Reading)]
    assert thresholds == [SCAN["threshold"]] * 5
    # All six questions are known by contains; none is by exact_match.
    [known] = results["factual_robustness"].known
    assert (known.share.value, known.share.n, known.metric) == (1, 6, "contains")
    # Counted from the answers: an article does not matter to squad's rule, and below 95 % is broken.
    hot = run.records().filter(pl.col("temperature") > 0)
    right = hot.group_by("question_id", "temperature").agg(share=(pl.col("answer") == "The Paris").mean())
    broken = right.filter(pl.col("share") < 0.95)["question_id"].n_unique()
    [share] = [one.share for one in results["breaking"].shares if one.cell.temperature is None]
    assert (share.value, share.n) == (broken / 6, 6)
    assert broken > 0


def test_an_analysis_may_be_told_otherwise(tmp_path):
    otherwise = "breaking(known='exact_match', threshold=0.25, rule='last')"
    _, results = analyzed(study(tmp_path, [otherwise, "latent_facts"]), tmp_path / "run")
    reading = results[otherwise].reading
    assert (reading.known, reading.threshold, reading.rule) == ("exact_match", 0.25, "last")
    assert reading.correct == SCAN["correct"]
    # Facts are latent where the greedy answer is not even correct.
    assert results["latent_facts"].known == SCAN["correct"]


def test_without_a_scan_its_defaults_hold(tmp_path):
    crossed = dataclasses.replace(study(tmp_path, ["breaking"], ["contains", "exact_match"]), scan=None)
    _, results = analyzed(crossed, tmp_path / "run")
    reading = results["breaking"].reading
    assert (reading.known, reading.correct, reading.threshold) == ("exact_match", "contains", 0.5)


def test_a_setting_that_analyses_of_facts_share_is_checked_like_their_own(tmp_path):
    with pytest.raises(PartError, match=r"breaking has no setting 'treshold'\. Did you mean 'threshold'\?"):
        bind("analysis", "breaking(treshold=0.25)")
    with pytest.raises(PartError, match="breaking: 'rule' is 'middle'"):
        bind("analysis", "breaking(rule='middle')")


def test_a_metric_that_scans_and_scores_with_other_settings_is_refused(tmp_path):
    unlike = study(tmp_path, metrics=["contains", "exact_match"])
    with pytest.raises(
        StudyError, match=r"scan\.correct is 'exact_match\(normalization='squad'\)', but score\.metrics"
    ):
        plan(unlike)
