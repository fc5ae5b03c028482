"""The study of factual robustness as it ships, on questions without types, with a model of a few thousand weights."""

from __future__ import annotations

import dataclasses
import json

import polars as pl
import pytest

from shaketable.analyses.facts.facts import LABELS
from shaketable.metrics import question_type
from shaketable.report.sections.fact_accuracy import drawn_accuracies
from shaketable.stages.analyze import analyze
from shaketable.stages.answer import answer
from shaketable.stages.curves import trace_curves
from shaketable.stages.plan import plan
from shaketable.stages.report import report
from shaketable.stages.score import score
from shaketable.store import Run
from shaketable.study import load_study

LIMIT = 3
ASKED = [f"{word} is number {i}?" for i in range(3) for word in ("Who", "Where", "How many")]
GRID = [round(0.2 * step, 1) for step in range(1, 11)]


def study(folder, model, answers):
    """Questions in the plain layout of TriviaQA; `answers` are the accepted ones of each."""
    path = folder / "trivia.jsonl"
    rows = [{"id": i, "question": text, "answers": answers[i]} for i, text in enumerate(ASKED)]
    path.write_text("\n".join(map(json.dumps, rows)))
    overrides = (
        f'dataset={{name="triviaqa", path="{path}"}}',
        f"cross.models=[\"transformers(path='{model}')\"]",
        "cross.methods=[\"recall(layout='plain')\"]",
        f"scan.limit={LIMIT}",
    )
    return load_study("factual_robustness", overrides)


def greedy_answers(study_, folder):
    run = Run.prepare(folder, study_)
    with run.writing() as store:
        answer(plan(study_), store)
    return dict(Run(folder).records().filter(pl.col("temperature") == 0).select("question_id", "answer").iter_rows())


@pytest.fixture
def made(tmp_path, monkeypatch):
    from tiny_letters import write_letters

    # Types by the first word: the classifier needs weights.
    by_word = {"Who": "HUM", "Where": "LOC", "When": "NUM", "How": "NUM"}
    monkeypatch.setattr(
        question_type, "predict", lambda texts, model: [by_word.get(text.split()[0], "ENTY") for text in texts]
    )
    model = write_letters(tmp_path / "model")
    said = greedy_answers(study(tmp_path, model, [["nobody says this"]] * len(ASKED)), tmp_path / "greedy")
    # Every other question accepts what the model says of itself, so that it is known.
    answers = [[said[str(i)]] if i % 2 == 0 and said[str(i)] else ["nobody says this"] for i in range(len(ASKED))]
    shipped = study(tmp_path, model, answers)
    shipped = dataclasses.replace(shipped, n_resamples=50)
    run = Run.prepare(tmp_path / "run", shipped)
    with run.writing() as store:
        answer(plan(shipped), store)
        trace_curves(plan(shipped), store)
    score(run)
    return run, {finding.analysis: finding.result for finding in analyze(run).findings}


@pytest.mark.slow
def test_the_shipped_study_scores_exactly_the_facts_of_its_limit_at_all_temperatures_and_by_type(made):
    run, results = made
    hot = run.records().filter(pl.col("temperature") > 0)
    assert hot["question_id"].n_unique() == LIMIT
    robust = results["factual_robustness"]
    known = robust.known[0].share
    assert known.value * known.n > LIMIT  # the model knows more than are scanned
    assert len(run.curves()) == len(ASKED)
    assert {(mean.score.n, mean.n_missing) for mean in robust.scores if mean.is_capped} == {(LIMIT, 0)}
    assert len(robust.facts) == LIMIT
    # Figure 1.
    drawn = drawn_accuracies(results["fact_accuracy"])
    assert [accuracy.cell.temperature for accuracy in drawn] == [0.0, *GRID]
    assert {accuracy.share.n for accuracy in drawn} == {LIMIT}
    # The data have no types; the study scores them.
    assert {fact.cell.group for fact in robust.facts} <= set(LABELS)
    assert sum(mean.score.n for mean in results["question_types"].means) > 0
    assert results["question_types"].untyped == ()
    # Its page has the chapter, a card that leads to it, and every picture of it.
    page = report(run).read_text("utf-8")
    assert '<section id="facts"' in page and "Which facts does it really hold?" in page
    assert 'href="#factual_robustness"' in page
    drawn = {path.stem for path in (run.folder / "figures").glob("*.png")}
    assert {"facts_by_temperature", "robustness_scatter", "robustness_density", "certainty_histogram"} <= drawn
