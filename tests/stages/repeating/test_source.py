"""Repeats that end of themselves: which trials are asked depends on the answers, and on nothing else."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shaketable.errors import StudyError
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.stages.repeating.looks import look_points, looked_at, n_least_trials
from shaketable.stages.repeating.source import Repeated
from shaketable.store import Run
from shaketable.store.verify import verify
from shaketable.study import parse_study
from shaketable.types import Answer, Failure, Precision, Record

MIXED = ("Paris", "Rome", "Paris", "Paris")


@pytest.fixture(scope="module")
def questions(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "questions.jsonl"
    path.write_text(
        "\n".join(json.dumps({"id": f"q{i}", "question": f"Q{i}?", "answers": ["Paris"]}) for i in range(9))
    )
    return path


def study(path, replies=MIXED, metrics=("correct",), **repeats):
    return parse_study(
        {
            "name": "repeated",
            "dataset": {"name": "jsonl", "path": str(path)},
            "cross": {
                "models": [f"scripted(replies={replies!r})"],
                "methods": ["closed_book", "recall"],
                "temperatures": [0.0, 1.0],
                "repeats": {"until": "±0.2", "max": 30} | repeats,
            },
            "score": {"metrics": list(metrics)},
        },
        "repeated.toml",
    )


def reply(trial):
    """By the key alone, as a model with seeds: q0 to q2 never change, some trials of the others fail."""
    if int(trial.question_id[1:]) < 3:
        return "Paris"
    digit = int(trial.key[:8], 16) % 10
    return None if digit == 0 else "Paris" if digit < 7 else "Rome"


def record(trial):
    text = reply(trial)
    failed = Failure(kind="x", message="x", step="x", may_retry=False)
    return Record(
        trial=trial, answer=None if text is None else Answer(text=text), failure=failed if text is None else None
    )


def drive(planned, stored, draw, stop_after=None):
    """Answer in a random order, some at a time; a killed run keeps what it has."""
    source, ended, waiting = Repeated(planned, planned.conditions, dict(stored)), dict(stored), []
    while True:
        waiting += [trial for trial, _ in source.take(draw.randint(0, 40))]
        if not waiting and not (rest := source.take(1)):
            return source, ended
        waiting = waiting or [rest[0][0]]
        draw.shuffle(waiting)
        for _ in range(draw.randint(1, len(waiting))):
            if stop_after is not None and len(ended) >= stop_after:
                return source, ended
            trial = waiting.pop()
            assert trial.key not in ended
            ended[trial.key] = reply(trial)
            source.done(record(trial))


@pytest.fixture(scope="module")
def in_order(questions):
    planned = plan(study(questions))
    source, ended = drive(planned, {}, random.Random(0))
    return planned, source.result(), ended


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_any_order_of_completion_asks_the_same_trials(in_order, seed):
    planned, result, ended = in_order
    source, again = drive(planned, {}, random.Random(seed))
    assert again == ended
    assert source.result() == result


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(seed=st.integers(0, 10**6), data=st.data())
def test_a_run_that_is_killed_anywhere_goes_on_to_the_same_trials(in_order, seed, data):
    planned, result, ended = in_order
    draw = random.Random(seed)
    _, begun = drive(planned, {}, draw, data.draw(st.integers(0, len(ended))))
    source, resumed = drive(planned, begun, draw)
    assert resumed == ended
    assert source.result() == result


def test_conditions_stop_on_their_own_and_after_whole_repeats(in_order):
    planned, result, ended = in_order
    assert len(ended) == sum(9 * cell.n_repeats for cell in result)
    assert n_least_trials(planned) <= len(ended) < planned.n_trials
    for cell in result:
        assert cell.is_narrow and cell.high - cell.low <= 0.4


def test_what_is_expected_ends_with_the_run(questions):
    planned = plan(study(questions))
    source = Repeated(planned, planned.conditions, {})
    assert n_least_trials(planned) <= sum(source.expected().values()) <= planned.n_trials
    source, _ = drive(planned, {}, random.Random(1))
    assert sum(source.expected().values()) == 0


@given(st.integers(1, 300), st.integers(1, 4), st.floats(0.01, 0.4), st.integers(2, 9), st.integers(0, 60))
def test_looks_are_fixed_beforehand_and_end_with_the_most(n_questions, n_wordings, until, least, more):
    looks = look_points(Precision(until=until, least=least), n_questions, n_questions * n_wordings, least + more, 0.95)
    assert list(looks) == sorted(set(looks))
    assert least <= looks[0] <= looks[-1] == least + more


def test_several_wordings_of_a_question_weigh_as_one(questions):
    wordy = plan(study(questions))
    [first, *_] = looked_at(wordy.worded((*wordy.variants, *wordy.variants[:1])), wordy.conditions[:1])
    assert sum(first.weights) == 9


# --- runs -------------------------------------------------------------------------------------------


def answered(study_, folder, stop_after=None):
    planned = plan(study_)
    with Run.prepare(folder, study_).writing() as store:
        if stop_after is None:
            answer(planned, store)
        else:
            with pytest.raises(KeyboardInterrupt):
                answer(planned, store, lambda tick: tick.n_done >= stop_after and _interrupt())
    return Run(folder)


def _interrupt():
    raise KeyboardInterrupt


def rows(run):
    return set(run.records().select("key", "temperature", "repeat", "answer").rows())


def test_an_interrupted_run_goes_on_to_the_same_records_and_is_sound(questions, tmp_path):
    whole = answered(study(questions), tmp_path / "whole")
    answered(study(questions), tmp_path / "halved", stop_after=50)
    halved = answered(study(questions), tmp_path / "halved")
    assert rows(halved) == rows(whole)
    assert halved.summary().repeats == whole.summary().repeats
    assert (halved.summary().state, halved.summary().missing) == ("finished", 0)
    assert verify(halved.store).problems == ()


def test_a_narrower_width_or_a_larger_most_extends_a_run_to_the_records_of_one_made_at_once(questions, tmp_path):
    answered(study(questions, until="±0.2", max=20), tmp_path / "grown")
    grown = answered(study(questions, until="±0.15", max=50), tmp_path / "grown")
    whole = answered(study(questions, until="±0.15", max=50), tmp_path / "whole")
    assert rows(grown) >= rows(whole)
    assert [str(change) for change in grown.extensions()[0]] == [
        "repeats was 20, now 50",
        "repeats.until was 0.2, now 0.15",
    ]


def test_a_condition_without_any_score_is_not_asked_to_the_end(questions, tmp_path):
    run = answered(study(questions, replies=("ERROR",)), tmp_path / "run")
    repeats = run.summary().repeats
    assert repeats.n_asked == n_least_trials(plan(study(questions)))
    assert (repeats.n_narrow, {cell.low for cell in repeats.cells}) == (0, {None})


def test_failures_are_missing_and_not_wrong(questions, tmp_path):
    """A third fails, and all that is answered is right."""
    run = answered(study(questions, replies=("Paris", "Paris", "ERROR")), tmp_path / "run")
    assert run.summary().failed > 0
    assert {cell.high for cell in run.summary().repeats.cells} == {1.0}


# --- what cannot be done ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metrics", "told"),
    [
        (["bertscore", "correct"], "bertscore, which reads all answers together"),
        (["judge(model='scripted')", "correct"], "judge, which asks a model"),
        (["answer_tokens"], "answer_tokens, which is not declared to lie between 0 and 1"),
    ],
)
def test_a_number_that_cannot_tell_when_to_stop_is_refused_before_anything_is_asked(questions, metrics, told):
    with pytest.raises(StudyError) as error:
        plan(study(questions, metrics=metrics))
    assert told in str(error.value)
    assert "or give a number of repeats" in str(error.value)


def test_scores_between_0_and_1_may_end_repeats(questions, tmp_path):
    run = answered(study(questions, metrics=["token_f1"]), tmp_path / "run")
    assert run.summary().repeats.metric == "token_f1"
    assert run.summary().repeats.n_narrow == 4
