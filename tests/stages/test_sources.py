"""Scans in the answer stage: known facts first, in order, and the same after an interruption."""

from __future__ import annotations

import dataclasses
import json

import polars as pl
import pytest

from shaketable.errors import StudyError
from shaketable.models.scripted import Scripted
from shaketable.stages import sources
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.store import Run
from shaketable.study import parse_study
from shaketable.types import Answer, Completion, Record

GOLD = "Paris"


def study(path, replies, **scan):
    return parse_study(
        {
            "name": "facts",
            "seed": 3,
            "dataset": {"name": "jsonl", "path": str(path)},
            "cross": {
                "models": [f"scripted(replies={replies!r})"],
                "methods": ["recall"],
                "temperatures": [0.2, 0.4, 0.6, 0.8],
                "repeats": 10,
            },
            "generation": {"max_tokens": 5},
            "scan": scan,
        },
        "facts.toml",
    )


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "questions.jsonl"
    # The scripted model says Paris at temperature 0, so every third question is known.
    rows = [
        f'{{"id": "q{i}", "question": "Q{i}?", "answers": ["{GOLD if i % 3 == 0 else "Rome"}"]}}' for i in range(30)
    ]
    path.write_text("\n".join(rows))
    return path


def answered(study_, folder, stop_after=None):
    planned = plan(study_)
    run = Run.prepare(folder, study_)
    with run.writing() as store:
        if stop_after is None:
            answer(planned, store)
        else:

            def stop(tick):
                if tick.n_done >= stop_after:
                    raise KeyboardInterrupt

            with pytest.raises(KeyboardInterrupt):
                answer(planned, store, stop)
    return Run(folder)


def known(study_):
    """The known facts, in the study's order."""
    return [question.id for question in plan(study_).questions if question.answers == (GOLD,)]


def scanned(run):
    hot = run.records().filter(pl.col("temperature") > 0)
    return hot["question_id"].unique(maintain_order=True).to_list()


def test_only_known_facts_are_scanned_and_every_question_is_asked_once_at_zero(questions, tmp_path):
    run = answered(study(questions, (GOLD,)), tmp_path / "run")
    records = run.records()
    assert records.filter(pl.col("temperature") == 0).height == 30
    assert scanned(run) == known(run.study)
    assert len(known(run.study)) == 10
    assert records.filter(pl.col("temperature") > 0).height == 10 * 4 * 10
    assert run.summary().state == "finished"


def test_the_first_known_facts_in_order_are_taken_up_to_the_limit(questions, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "AHEAD", 5)
    run = answered(study(questions, (GOLD,), limit=3), tmp_path / "run")
    assert scanned(run) == known(run.study)[:3]
    # It scans lazily: not all thirty are asked at temperature 0 to find three.
    assert run.records().filter(pl.col("temperature") == 0).height < 25


def test_in_a_union_a_fact_known_in_any_cell_is_scanned_in_each_in_which_it_is_known(tmp_path, monkeypatch):
    def reads(self, prompt):
        """Says Paris where its passage does, else Rome."""
        said = "Paris" if "Paris" in prompt.messages[-1].content else "Rome"
        return Completion(text=said, finish_reason="end", n_prompt_tokens=1, n_tokens=1, seconds=0.0)

    monkeypatch.setattr(Scripted, "_reply", reads)
    # Right in both cells, with evidence alone, in none, closed book alone.
    facts = {"both": ("Rome", "x"), "read": ("Paris", "Paris"), "none": ("Oslo", "x"), "led": ("Rome", "Paris")}
    rows = [
        {"id": id, "question": f"{id}?", "answers": [gold], "facts": [["T", 0]],
         "documents": [{"title": "T", "sentences": [f"It is {text}."]}]}
        for id, (gold, text) in facts.items()
    ]  # fmt: skip
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))

    def cells(name, **scan):
        asked = study(tmp_path / "q.jsonl", ("-",), **scan)
        methods = ("recall", "recall(k=2)")
        run = answered(dataclasses.replace(asked, methods=methods, temperatures=(0.5,), repeats=1), tmp_path / name)
        hot = run.records().filter(pl.col("temperature") > 0)
        return {method: set(hot.filter(method=method)["question_id"]) for method in methods}

    assert cells("all", union=True) == {"recall": {"both", "led"}, "recall(k=2)": {"both", "read"}}
    order = [question.id for question in plan(study(tmp_path / "q.jsonl", ("-",))).questions if question.id != "none"]
    first, second = cells("two", union=True, limit=2).values()
    # Known in either cell, the first two in the study's order; each is scanned wherever it is right.
    assert first | second == set(order[:2])
    assert first == {"both", "led"} & set(order[:2])


def test_an_interrupted_scan_goes_on_to_the_same_records(questions, tmp_path):
    mixed = (GOLD, "Rome", GOLD, "London", "Oslo")
    for strategy in ("incremental", "curtailed", "bisection", "sequential"):
        whole = answered(study(questions, mixed, strategy=strategy), tmp_path / f"{strategy}-whole")
        halved = study(questions, mixed, strategy=strategy)
        answered(halved, tmp_path / f"{strategy}-halved", stop_after=40)
        resumed = answered(halved, tmp_path / f"{strategy}-halved")
        columns = ("key", "temperature", "repeat", "answer")
        assert set(whole.records().select(columns).rows()) == set(resumed.records().select(columns).rows())


def test_curtailed_scans_break_where_the_full_grid_breaks_with_fewer_trials(questions, tmp_path):
    mixed = (GOLD, "Rome", GOLD, "London")
    full = answered(study(questions, mixed), tmp_path / "full").records()
    fewer = answered(study(questions, mixed, strategy="curtailed"), tmp_path / "curtailed").records()
    assert fewer.height < full.height
    assert set(fewer["key"]) <= set(full["key"])

    def first_broken(records):
        right = (
            records.filter(pl.col("temperature") > 0)
            .group_by("question_id", "temperature")
            .agg((pl.col("answer") == GOLD).mean().alias("share"))
        )
        return dict(right.filter(pl.col("share") < 0.5).group_by("question_id").agg(pl.col("temperature").min()).rows())

    assert first_broken(fewer) == first_broken(full)


def test_a_run_that_is_finished_is_not_answered_again(questions, tmp_path):
    scan = study(questions, (GOLD,), strategy="curtailed")
    answered(scan, tmp_path / "run")
    with Run.prepare(tmp_path / "run", scan).writing() as store:
        again = answer(plan(scan), store)
    assert (again.n_done, again.n_failed) == (0, 0)
    assert again.n_reused == again.n_trials


def test_no_known_fact_is_a_result_and_not_a_crash(questions, tmp_path):
    run = answered(study(questions, ("Nowhere",)), tmp_path / "run")
    assert scanned(run) == []
    assert run.records().height == 30


def test_failed_trials_do_not_stop_a_scan(questions, tmp_path):
    run = answered(study(questions, (GOLD, "ERROR"), strategy="incremental"), tmp_path / "run")
    assert scanned(run) == known(run.study)
    assert run.summary().failed > 0


def test_every_question_is_scanned_when_nothing_need_be_known(questions, tmp_path):
    run = answered(study(questions, ("Nowhere",), known="", strategy="incremental"), tmp_path / "run")
    assert len(scanned(run)) == 30


def test_a_scan_without_temperatures_above_zero_is_refused(questions):
    cold = parse_study(
        {
            "name": "x",
            "dataset": {"name": "jsonl", "path": str(questions)},
            "cross": {"models": ["scripted"]},
            "scan": {},
        },
        "x",
    )
    with pytest.raises(StudyError, match="has none above 0 to scan"):
        plan(cold)


@pytest.mark.parametrize(
    ("strategy", "limit", "after"), [("full", 1000, 24), ("full", 5, 60), ("curtailed", 1000, 160)]
)
def test_a_scan_expects_about_as_many_trials_as_it_will_ask(questions, strategy, limit, after):
    planned = plan(study(questions, (GOLD, "Rome", GOLD), strategy=strategy, limit=limit))
    source = sources.Scanned(planned, planned.study.scan, planned.conditions, {})
    replies = Scripted(replies=(GOLD, "Rome", GOLD)).replies
    n_taken, expected = 0, []
    while taken := source.take(24):
        n_taken += len(taken)
        for trial, _ in taken:
            text = replies[trial.seed % 3] if trial.temperature else GOLD
            source.done(Record(trial=trial, answer=Answer(text=text)))
        expected.append((n_taken, sum(source.expected().values())))
    assert expected[-1][1] == 0
    totals = [n + left for n, left in expected if n >= after]
    assert len(totals) > 5 and all(n_taken / 1.5 < total < n_taken * 1.5 for total in totals)
