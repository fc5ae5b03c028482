"""Runs whose trials are asked in batches: the records of calls, for half the price."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from batch_endpoint import BatchEndpoint
from capitals import QUESTIONS

import shaketable
from shaketable.errors import RepliesPending
from shaketable.models.endpoint import failures
from shaketable.stages.answer import answer
from shaketable.stages.estimate import estimate
from shaketable.store.folder import batches_of
from shaketable.types import Completion, Record

IN_ROUNDS = "fixed_length(layout='chat')"
"""The endpoint ends its text at the third reply."""
PRICES = "price_in=1.0, price_out=4.0"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[BatchEndpoint]:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    made = BatchEndpoint()
    yield made
    made.close()


def model(endpoint: BatchEndpoint, name: str = "stand-in", *, batch: bool = True, more: str = PRICES) -> str:
    return f"openai(model='{name}', base_url='{endpoint.url}', batch={batch}, batch_poll_seconds=0.01, {more})"


def study(*models: str, **tables: Any) -> Any:
    usual = {"methods": ["single_retrieval"], "metrics": ["contains"], "temperatures": [0.0, 1.0], "repeats": 2}
    return shaketable.make_study("capitals", questions=QUESTIONS, models=list(models), **{**usual, **tables})


def ask(made: Any, folder: Path, **how: Any) -> Any:
    run = shaketable.Run.prepare(folder, made)
    with run.writing() as store:
        return answer(shaketable.plan(made), store, **how)


def records(folder: Path) -> list[Record]:
    """All of them, whole, but for what they took and that they came by batch."""
    return [_plain(record) for record in sorted(shaketable.Run(folder).store.records(), key=lambda one: one.trial.key)]


def _plain(record: Record) -> Record:
    trace = tuple(
        replace(event, reply=replace(event.reply, seconds=0.0, notes=tuple(set(event.reply.notes) - {"batch"})))
        if isinstance(event.reply, Completion)
        else event
        for event in record.trace
    )
    return replace(record, trace=trace, cost=replace(record.cost, seconds=0.0, dollars=None))


def test_a_run_by_batch_has_the_records_of_one_by_calls_for_half_the_price(
    endpoint: BatchEndpoint, tmp_path: Path
) -> None:
    ask(study(model(endpoint, batch=False)), tmp_path / "calls")
    assert not endpoint.batches
    ask(study(model(endpoint)), tmp_path / "batch")
    assert records(tmp_path / "batch") == records(tmp_path / "calls")
    assert len(records(tmp_path / "batch")) == 12
    assert [len(batch.lines) for batch in endpoint.batches.values()] == [12]
    [by_call], [by_batch] = (shaketable.Run(tmp_path / name).summary().spent for name in ("calls", "batch"))
    # 12 replies of 11 prompt tokens at 1 USD for a million, and 7 new ones at 4 USD.
    assert by_call.dollars == pytest.approx(12 * (11 + 7 * 4) / 1e6)
    assert by_batch.dollars == pytest.approx(by_call.dollars / 2)
    replies = [event.reply for record in shaketable.Run(tmp_path / "batch").store.records() for event in record.trace]
    assert {reply.notes for reply in replies if isinstance(reply, Completion)} == {("batch",)}


def test_a_method_of_three_rounds_takes_three_batches(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    ask(study(model(endpoint), methods=[IN_ROUNDS]), tmp_path / "batch")
    ask(study(model(endpoint, batch=False), methods=[IN_ROUNDS]), tmp_path / "calls")
    assert records(tmp_path / "batch") == records(tmp_path / "calls")
    assert [len(batch.lines) for batch in endpoint.batches.values()] == [12, 12, 12]
    assert set(endpoint.paid.values()) == {1}


def test_what_a_batch_brought_is_let_go_when_all_is_stored(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    ask(study(model(endpoint)), tmp_path / "run")
    assert [path.name for path in batches_of(tmp_path / "run").rglob("*.*")] == ["state.json"]


def test_the_batches_of_all_models_are_sent_before_one_is_waited_for(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    events: list[str] = []
    endpoint.at = lambda event: events.append(event) if event in ("created", "downloading") else None
    made = study(model(endpoint, "a"), model(endpoint, "b"), model(endpoint, "c", batch=False))
    done = ask(made, tmp_path / "run")
    assert done.n_done == 36 and shaketable.Run(tmp_path / "run").summary().done == 36
    assert events == ["created", "created", "downloading", "downloading"]
    assert len(endpoint.paid_calls) == 12 and set(endpoint.paid.values()) == {1}


def test_whoever_does_not_wait_takes_the_replies_later(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    made = study(model(endpoint), methods=[IN_ROUNDS])
    n_goes = 0
    while True:
        n_goes += 1
        try:
            done = ask(made, tmp_path / "run", waits=False)
        except RepliesPending:
            assert not records(tmp_path / "run")
            continue
        break
    # Each go looks once at a batch, which takes three looks; the last look of a round sends the next one.
    assert done.n_done == 12 and n_goes > 3
    assert len(endpoint.batches) == 3 and set(endpoint.paid.values()) == {1}
    [spent] = shaketable.Run(tmp_path / "run").summary().spent
    assert spent.n_calls == 36  # None is counted twice, though the first round was taken in several goes.


def test_minutes_that_are_over_stop_the_waiting_and_nothing_is_lost(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    endpoint.states = ("validating", "in_progress")
    limits = {"limits": {"max_minutes": 0.005}}
    start = time.perf_counter()
    stopped = ask(study(model(endpoint), **limits), tmp_path / "run")
    assert stopped.stop is not None and stopped.stop.limit == "max_minutes" and stopped.stop.n_left == 12
    assert time.perf_counter() - start >= 0.3
    endpoint.states = ("validating", "completed")
    ask(study(model(endpoint)), tmp_path / "run")
    assert len(endpoint.batches) == 1 and len(records(tmp_path / "run")) == 12
    [spent] = shaketable.Run(tmp_path / "run").summary().spent
    assert (spent.n_calls, shaketable.Run(tmp_path / "run").summary().lost.n_calls) == (12, 0)


def test_a_limit_of_money_knows_the_price_of_batches(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    """Four trials show what one costs; then as many as half the rest pays for."""
    limit = 0.5 * 12 * (11 + 7 * 4) / 1e6
    done = ask(study(model(endpoint), limits={"max_cost": limit}), tmp_path / "run")
    assert done.stop is None and done.n_done == 12
    assert [len(batch.lines) for batch in endpoint.batches.values()][:2] == [4, 4]


def test_a_dry_run_tells_the_price_of_batches_and_no_time(endpoint: BatchEndpoint) -> None:
    [calls], [batch] = (estimate(shaketable.plan(study(model(endpoint, batch=own)))) for own in (False, True))
    assert batch.at_most is not None and calls.at_most is not None
    assert batch.at_most.dollars == pytest.approx(calls.at_most.dollars / 2) and calls.at_most.dollars > 0
    assert batch.at_most.seconds is None


def test_batches_may_be_switched_on_in_a_run_that_began_by_calls(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    ask(study(model(endpoint, batch=False), repeats=1), tmp_path / "run")
    ask(study(model(endpoint), repeats=2), tmp_path / "run")
    assert len(endpoint.paid_calls) == 6 and [len(batch.lines) for batch in endpoint.batches.values()] == [6]
    assert len(records(tmp_path / "run")) == 12


def test_an_expired_batch_and_error_lines_leave_records_as_calls_would(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    own = endpoint.answer
    refused = (400, {}, {"error": {"message": "This model's maximum context length is 5 tokens"}})
    endpoint.answer = lambda body: refused if "Italy" in str(body) else own(body)
    endpoint.n_before_expiry = 5
    ask(study(model(endpoint)), tmp_path / "batch")
    ask(study(model(endpoint, batch=False)), tmp_path / "calls")
    assert records(tmp_path / "batch") == records(tmp_path / "calls")
    assert shaketable.Run(tmp_path / "batch").summary().failed == 4
    assert len(endpoint.batches) == 3 and set(endpoint.paid.values()) == {1}


def test_batches_that_nobody_would_take_are_told(
    endpoint: BatchEndpoint, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(RepliesPending):
        ask(study(model(endpoint)), tmp_path / "run", waits=False)
    ask(study(model(endpoint, batch=False)), tmp_path / "run")
    [warning] = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert "batch_1 will be paid though nobody takes the replies" in warning and "set batch=True" in warning
