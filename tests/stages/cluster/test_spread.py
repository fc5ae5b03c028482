"""What the driver hands out, takes back and stores, with workers in this process."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path

import pytest
from crew_here import CrewHere
from made_studies import answered, row, small_study, study_of, write_rows

import shaketable
from shaketable.errors import ModelError, RunError, StudyError
from shaketable.stages.answer import answer
from shaketable.stages.cluster import spread
from shaketable.stages.cluster.executor import Ray
from shaketable.stages.cluster.machine import note_differences
from shaketable.stages.cluster.messages import Orders
from shaketable.stages.plan import plan
from shaketable.store import RecordStore
from shaketable.types import Scan


@pytest.fixture
def spread_here(monkeypatch, tmp_path):
    """Answers a study with workers of this process: the result, its records by key, and the crew."""
    monkeypatch.setenv("OMP_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))

    def go(study, name="spread", orders=lambda orders: orders, progress=lambda tick: None, **settings):
        crews = []

        class Hired:
            def __init__(self, executor, study, conditions):
                identities = tuple(condition.identity for condition in conditions)
                given = Orders(study=study, identities=identities, threads=1, folder=str(Path.cwd()))
                crews.append(CrewHere(orders(given), **settings))

            def __enter__(self):
                return crews[-1]

            def __exit__(self, *_):
                pass

        monkeypatch.setattr(spread, "hired", Hired)
        monkeypatch.setattr(spread, "connected", lambda address: contextlib.nullcontext())
        with RecordStore(tmp_path / name) as store:
            result = answer(plan(study), store, progress, executor=Ray())
            return result, {record.trial.key: record for record in store.records()}, *crews

    return go


def two_searches(folder, n=12, **changes):
    return small_study(folder, n, perturbations=["unchanged", "sentence_removal"], repeats=6, **changes)


def test_records_are_those_of_a_run_in_this_process(tmp_path, spread_here):
    study = two_searches(tmp_path)
    here, expected = answered(study, tmp_path / "here")
    result, records, crew = spread_here(study)
    assert records == expected
    assert (result.n_done, result.n_failed, result.n_tokens) == (here.n_done, here.n_failed, here.n_tokens)
    assert {worker for worker, _ in crew.tasks} == {1, 2}


def test_a_prompt_is_asked_by_one_worker(tmp_path, spread_here):
    _, _, crew = spread_here(two_searches(tmp_path))
    seen = {}
    for worker, task in crew.tasks:
        for trial, place in task.trials:
            assert seen.setdefault((trial.question_id, place), worker) == worker
        assert {question.id for question in task.questions} == {trial.question_id for trial, _ in task.trials}


def test_no_worker_has_more_under_way_than_it_should(tmp_path, spread_here, monkeypatch):
    monkeypatch.setattr(spread, "MOST_UNDER_WAY", 24)
    monkeypatch.setattr(spread, "LEAST_UNDER_WAY", 12)
    _, records, crew = spread_here(two_searches(tmp_path, 30))
    assert len(records) == 30 * 2 * 2 * 6
    assert crew.most_unanswered < 24 + 12  # the last prompt is handed over whole
    assert len(crew.tasks) > 20


def test_few_trials_are_shared_by_all_workers(tmp_path, spread_here):
    study = small_study(tmp_path, 6, methods=["closed_book"], temperatures=[0.0], repeats=1)
    _, _, crew = spread_here(study, n=3)
    assert [sum(len(task.trials) for own, task in crew.tasks if own == worker) for worker in (1, 2, 3)] == [2, 2, 2]


def test_what_a_dead_worker_had_not_answered_goes_to_others(tmp_path, spread_here):
    study = two_searches(tmp_path, 20)
    _, expected = answered(study, tmp_path / "here")
    _, records, crew = spread_here(study, dies=lambda worker, n_heard: worker == 1 and n_heard > 3)
    assert crew.n_started == 3
    handed = [trial.key for _, task in crew.tasks for trial, _ in task.trials]
    assert len(handed) > len(set(handed)) == len(expected)
    assert records == expected


def test_a_scan_goes_by_answers_of_workers(tmp_path, spread_here):
    study = small_study(
        tmp_path, 8, models=["scripted(replies=('Author 0', 'Author 1', 'Rome'))"], methods=["closed_book"]
    )
    study = replace(study, scan=Scan(known="correct", correct="correct", limit=3), metrics=("correct",), repeats=3)
    here, expected = answered(study, tmp_path / "here")
    result, records, _ = spread_here(study)
    assert records == expected
    assert (here.n_trials, here.n_done) == (result.n_trials, result.n_done)


def test_settings_that_follow_the_dataset_are_settled_by_the_worker_too(tmp_path, spread_here):
    rows = write_rows(tmp_path / "q.jsonl", [row(i, tags={"hops": 1 + i % 2}) for i in range(4)])
    study = study_of(rows, methods=["search_o1(task='by_dataset')"], retrievers=["gold"])
    _, expected = answered(study, tmp_path / "here")
    _, records, _ = spread_here(study)
    assert records == expected


@pytest.mark.slow
def test_a_stopped_run_is_resumed(tmp_path, spread_here):
    study = two_searches(tmp_path, 20)
    _, expected = answered(study, tmp_path / "here")

    def stop(tick):
        if tick.n_done > 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spread_here(study, progress=stop)
    result, records, _ = spread_here(study)
    assert records == expected
    assert result.n_reused > 50


def test_time_that_is_up_ends_a_run_to_be_resumed(tmp_path, spread_here, monkeypatch):
    study = two_searches(tmp_path, 20)
    limited = replace(study, limits=replace(study.limits, max_minutes=1e-9))
    result, records, _ = spread_here(limited)
    assert result.stop is not None
    assert result.stop.limit == "max_minutes"
    assert result.stop.n_left + len(records) == result.n_trials


# --- what cannot go on ------------------------------------------------------------------------------


def test_workers_that_die_again_and_again_end_the_run(tmp_path, spread_here):
    with pytest.raises(RunError, match=r"died again and again over trials .* such as q\d+.*the power went.*kept"):
        spread_here(two_searches(tmp_path), dies=lambda worker, n_heard: True)


def test_a_worker_with_other_parts_does_not_answer(tmp_path, spread_here):
    with pytest.raises(ModelError, match=r"A worker of the cluster .*not those of the driver.*Install the same"):
        spread_here(two_searches(tmp_path), orders=lambda orders: replace(orders, identities=("other",)))


def test_limits_of_calls_are_refused(tmp_path, spread_here):
    study = two_searches(tmp_path)
    with pytest.raises(StudyError, match=r"limits.max_calls is counted before each call.*max_minutes"):
        spread_here(replace(study, limits=replace(study.limits, max_calls=10)))


def test_a_part_of_this_process_cannot_travel(tmp_path, spread_here):
    @shaketable.perturbation(name="shouting")
    def shouting(sentences):
        return [sentence.upper() for sentence in sentences]

    with pytest.raises(StudyError, match=r"shouting is registered in this process.*entry point"):
        spread_here(small_study(tmp_path, perturbations=["unchanged", "shouting"]))


def test_a_function_is_asked_in_this_process(tmp_path, spread_here):
    @shaketable.model(name="echo")
    def echo(prompt):
        return f"{os.getpid()} {len(prompt)}"

    _, records, *crews = spread_here(small_study(tmp_path, models=["echo"], methods=["closed_book"]))
    assert crews == []
    assert all(record.answer.text.startswith(f"{os.getpid()} ") for record in records.values())


# --- machines ---------------------------------------------------------------------------------------


def test_records_say_where_a_worker_differs_from_the_driver():
    driver = {"processor": "a", "threads": 2, "torch": "2"}
    assert note_differences(driver, dict(driver)) == ""
    note = note_differences(driver, {**driver, "processor": "b", "threads": 1})
    assert "driver: processor, threads (1, not 2). A trial" in note


def test_nothing_is_said_of_a_model_that_computes_nothing():
    assert note_differences({}, {}) == ""
