"""Examples of a run: which questions are chosen, and what is told of them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from made_studies import small_study

from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.store import Run
from shaketable.types import Record, Score

MODELS = ("scripted(replies=('Paris',))", "scripted(replies=('Rome',))")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Three questions with two models, untouched and with sentences removed."""
    folder: Path = tmp_path_factory.mktemp("examples")
    perturbations = ["unchanged", "sentence_removal", "sentence_replacement"]
    study = small_study(folder, models=list(MODELS), perturbations=perturbations, temperatures=[0.0, 1.0], repeats=1)
    run = Run.prepare(folder / "run", study)
    with run.writing() as store:
        answer(plan(study), store)
    return run


def values(record: Record) -> Mapping[str, float]:
    """Every question is right with untouched evidence alone, and no two metrics agree on the others."""
    is_right = record.trial.perturbation == "unchanged"
    lost = record.trial.question_id == "q2" and record.trial.perturbation == "sentence_removal"
    return {"contains": float(is_right), "token_f1": 0.25 if lost else 1.0, "n_words": 7.0}


def examples(run: Run, metrics: Sequence[str]) -> list[tuple[str, str, str]]:
    scores = [
        Score(key=record.trial.key, metric=metric, value=values(record)[metric])
        for metric in metrics
        for record in run.store.records()
    ]
    run.write_scores(scores, metrics=list(run.study.metrics))
    return [(example.question, example.perturbation, example.system.model) for example in run.examples(9)]


def test_examples_are_the_same_in_whatever_order_metrics_were_scored(run: Run) -> None:
    orders = itertools.permutations(("contains", "token_f1", "n_words"))
    chosen = [examples(run, metrics) for metrics in orders]
    # Equal losses: by question, then disturbance, then model; and each disturbance has its turn.
    assert chosen[0] == [(f"Who wrote book {n}?", "sentence_removal", MODELS[0]) for n in range(3)]
    assert all(one == chosen[0] for one in chosen)


def test_an_example_has_both_evidences_and_every_answer(run: Run) -> None:
    examples(run, ["contains"])
    example = run.examples(1)[0]
    assert example.gold == ("Author 0",)
    assert "Book 0 is by Author 0." in example.evidence_before
    assert len(example.evidence_after) < len(example.evidence_before)
    assert [(answer.perturbation, answer.temperature, answer.text, answer.correct) for answer in example.answers] == [
        (perturbation, temperature, "Paris", float(perturbation == "unchanged"))
        for perturbation in ("unchanged", "sentence_removal")
        for temperature in (0.0, 1.0)
    ]


def test_a_run_without_untouched_evidence_has_no_examples(tmp_path: Path) -> None:
    study = small_study(tmp_path, perturbations=["sentence_removal"], temperatures=[0.0], repeats=1)
    run = Run.prepare(tmp_path / "run", study)
    with run.writing() as store:
        answer(plan(study), store)
    run.write_scores([Score(key=record.trial.key, metric="contains", value=0.0) for record in run.store.records()])
    assert run.examples(9) == ()
