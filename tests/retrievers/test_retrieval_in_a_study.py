"""A real retriever in the study of context and temperature, beside given evidence; and one that fails midway."""

from __future__ import annotations

import json

import pytest
from made_studies import answered, small_study

from shaketable import catalog
from shaketable.datasets.builtin import load_builtin
from shaketable.errors import DataError
from shaketable.retrievers.bm25 import Bm25
from shaketable.study import parse_study
from shaketable.types import Query, Search


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))


METHODS = ["single_retrieval", "fixed_length(n_examples=1, max_length=20, block_tokens=8)"]
PERTURBATIONS = ["unchanged", "sentence_removal", "random_noise", "source_reordering"]


def searches(record):
    return [event for event in record.trace if isinstance(event.step, Search)]


def test_every_search_of_a_real_retriever_is_disturbed_and_the_same_at_every_temperature(tmp_path):
    study = parse_study(
        {
            "name": "real",
            "seed": 3,
            "dataset": {"name": "builtin", "limit": 3},
            "cross": {
                "models": ["scripted(replies=('The oldest river town of the two lies further to the north.',))"],
                "methods": METHODS,
                "retrievers": ["gold", "bm25"],
                "perturbations": PERTURBATIONS,
                "temperatures": [0.0, 1.0],
                "repeats": 1,
            },
            "generation": {"max_tokens": 12},
        },
        "test",
    )
    result, records = answered(study, tmp_path / "r.sqlite")
    assert (result.n_done, result.n_failed) == (3 * 2 * 2 * len(PERTURBATIONS) * 2, 0)
    questions = {question.id: question for question in load_builtin().questions}
    seen = {}
    for record in records.values():
        trial, question = record.trial, questions[record.trial.question_id]
        events = searches(record)
        assert len(events) == (1 if trial.method == "single_retrieval" else 3)
        found = [(event.step.query, event.reply) for event in events]
        cell = (trial.question_id, trial.method, trial.retriever, trial.perturbation)
        assert seen.setdefault(cell, found) == found, "Temperature changes no search."
        if trial.retriever == "gold":
            assert all(hit.score is None for _, evidence in found for hit in evidence.hits)
            continue
        perturbation = catalog.build("perturbation", trial.perturbation)
        for event in events:
            # Independent of the scheduler: the retriever and the perturbation, asked for this search alone.
            hits = Bm25().search([Query(text=event.step.query, question=question)], event.step.k)
            assert event.reply == perturbation.perturb([question], hits)[0]
            if trial.perturbation in ("sentence_removal", "random_noise"):
                assert event.reply.edits


def test_a_retriever_that_goes_down_midway_loses_nothing(tmp_path, with_fake_parts, monkeypatch):
    monkeypatch.setattr("shaketable.stages.scheduler.WINDOW", 4)
    study = small_study(tmp_path, n=4, methods=["two_steps"], retrievers=["flaky_gold"], models=["counting"])
    # A window holds the four trials of one question: one first search for all, and a second for each.
    with_fake_parts.down.append("6")
    result, records = answered(study, tmp_path / "r.sqlite")
    failures = [record.failure for record in records.values() if record.failure]
    assert (result.n_done, result.n_failed, len(failures)) == (4, 12, 12)
    assert {(one.kind, one.step, one.may_retry) for one in failures} == {("retriever", "search", True)}
    assert "run again" in failures[0].message
    before = {key: record for key, record in records.items() if record.failure is None}
    with_fake_parts.forget()
    again, resumed = answered(study, tmp_path / "r.sqlite")
    assert (again.n_reused, again.n_done, again.n_failed) == (4, 12, 0)
    assert {key: resumed[key] for key in before} == before
    _, whole = answered(study, tmp_path / "undisturbed.sqlite")
    assert {key: record.answer for key, record in resumed.items()} == {key: one.answer for key, one in whole.items()}


def test_a_corpus_that_cannot_be_read_stops_a_run_with_its_place(tmp_path):
    (tmp_path / "c.jsonl").write_text(json.dumps({"id": 1, "text": "x"}) + "\n" + json.dumps({"id": 1, "text": "y"}))
    study = small_study(tmp_path, retrievers=[f"bm25(corpus={str(tmp_path / 'c.jsonl')!r})"])
    with pytest.raises(DataError, match="passages 1 and 2 have the same id '1'"):
        answered(study, tmp_path / "r.sqlite")
