"""What a model replied to a trial that goes on is kept: an interrupted run asks and pays for none of it again."""

from __future__ import annotations

import dataclasses
import math
import random
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_studies import answered, small_study
from tiny_letters import write_letters

from shaketable.engine.sweep import SweepEngine
from shaketable.methods.search_o1 import BEGIN_QUERY, END_QUERY
from shaketable.stages.scheduler import WINDOW, Batches, Scheduler
from shaketable.store import RecordStore
from shaketable.store.money import lost
from shaketable.store.verify import verify
from shaketable.types import Completion, Limits, Record

SEARCHING = f"scripted(replies=('I look. {BEGIN_QUERY}book{END_QUERY}', 'So it is.'), price_in=1.0, price_out=2.0)"
METHODS = ["search_o1(max_turns=3)", "query_rewrite", "fixed_length(n_examples=1)", "closed_book"]


class Calls:
    """Counts the replies that a model gives, hands them out a few at a time, and interrupts the run in between."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.n, self.at, self.rng = 0, -1, random.Random(0)
        monkeypatch.setattr(Batches, "collect", lambda batches: self._some(batches))

    def _some(self, batches: Batches):
        if self.n == self.at:
            self.at = -1
            raise KeyboardInterrupt
        most = 5 if self.at < 0 else min(5, self.at - self.n)
        some = self.rng.sample(batches.waiting, min(most, len(batches.waiting)))
        batches.waiting = [waiting for waiting in batches.waiting if waiting not in some]
        self.n += len(some)
        replies = batches.model.generate([prompt for _, prompt in some])
        return [(ticket, reply) for (ticket, _), reply in zip(some, replies, strict=True)]


def but_for_seconds(records: dict[str, Record]) -> dict[str, Record]:
    return {
        key: dataclasses.replace(record, cost=dataclasses.replace(record.cost, seconds=0.0), trace=())
        for key, record in records.items()
    }


def undated(records: dict[str, Record]) -> dict[str, Record]:
    """With replies that took no time."""
    return {
        key: dataclasses.replace(
            record,
            cost=dataclasses.replace(record.cost, seconds=0.0),
            trace=tuple(
                dataclasses.replace(event, reply=dataclasses.replace(event.reply, seconds=0.0))
                if isinstance(event.reply, Completion)
                else event
                for event in record.trace
            ),
        )
        for key, record in records.items()
    }


@settings(max_examples=12, deadline=None)
@given(stops=st.lists(st.integers(1, 40), max_size=4), seed=st.integers(0, 99))
def test_no_reply_is_asked_for_twice_wherever_a_run_is_interrupted(tmp_path_factory, stops, seed):
    folder = tmp_path_factory.mktemp("kept")
    study = small_study(folder, methods=METHODS, models=[SEARCHING], generation={"max_tokens": 20})
    with pytest.MonkeyPatch.context() as monkeypatch:
        calls = Calls(monkeypatch)
        _, whole = answered(study, folder / "whole.sqlite")
        n_needed, calls.n, calls.rng = calls.n, 0, random.Random(seed)
        for n_more in stops:
            calls.at = calls.n + n_more
            try:
                answered(study, folder / "r.sqlite")
            except KeyboardInterrupt:
                with RecordStore(folder / "r.sqlite", read_only=True) as store:
                    stored = sum(record.cost.n_generations for record in store.records())
                    assert stored + lost(store).n_calls == calls.n, "What was replied is all kept."
                    assert verify(store).problems == ()
        calls.at = -1
        _, records = answered(study, folder / "r.sqlite")
    assert calls.n == n_needed
    assert records == whole
    with RecordStore(folder / "r.sqlite", read_only=True) as store:
        assert store.kept_replies() == {} and lost(store).n_calls == 0


def test_a_methods_own_extras_survive_an_interruption(tmp_path, monkeypatch):
    # Attention, entropies and token ids decide what DRAGIN does next.
    folder = write_letters(tmp_path / "letters")
    study = small_study(
        tmp_path,
        n=2,
        models=[f"transformers(path={str(folder)!r})"],
        methods=[
            "dragin(n_examples=1, max_length=12, layout='plain')",
            "flare(n_examples=1, max_length=12, layout='plain')",
        ],
        generation={"max_tokens": 6},
    )
    _, whole = answered(study, tmp_path / "whole.sqlite")
    collect, n_seen = Scheduler._collect, 0

    def interrupted(scheduler: Scheduler):
        nonlocal n_seen
        if n_seen >= 5:
            n_seen = 0
            raise KeyboardInterrupt
        replies = collect(scheduler)
        n_seen += len(replies)
        return replies

    monkeypatch.setattr(Scheduler, "_collect", interrupted)
    for _ in range(100):
        try:
            _, records = answered(study, tmp_path / "r.sqlite")
            break
        except KeyboardInterrupt:
            pass
    assert but_for_seconds(records) == but_for_seconds(whole)
    assert [len(records[key].trace) for key in whole] == [len(record.trace) for record in whole.values()]


@pytest.mark.parametrize(
    "method", ["closed_book(layout='plain')", "dragin(n_examples=1, max_length=40, layout='plain')"]
)
def test_a_run_that_is_killed_every_few_tokens_ends_with_the_same_answers(tmp_path, monkeypatch, method):
    """Killed so often that no process ever writes a whole reply."""
    monkeypatch.setattr("shaketable.stages.kept_steps.DRAFTS_EVERY_SECONDS", 0.0)
    monkeypatch.setattr("shaketable.stages.kept_steps.WRITING_SHARE", math.inf)  # Also where a disk is slow for once.
    letters = write_letters(tmp_path / "letters")
    study = small_study(
        tmp_path,
        n=2,
        temperatures=[0.0, 1.0],
        repeats=1,
        models=[f"transformers(path={str(letters)!r})"],
        methods=[method],
        generation={"max_tokens": 24},
    )
    _, whole = answered(study, tmp_path / "whole.sqlite")
    step, n_tokens, n_left = SweepEngine._step, 0, 0

    def killed_after_some(engine: SweepEngine):
        nonlocal n_tokens, n_left
        n_left -= 1
        if n_left < 0:
            raise SystemError("What a process that is killed stores afterwards: nothing.")
        n_tokens += sum(len(group.rows) for group in engine.groups)
        return step(engine)

    with monkeypatch.context() as during:
        during.setattr(SweepEngine, "_step", killed_after_some)
        n_left = 10_000
        answered(study, tmp_path / "counted.sqlite")
        n_needed, n_tokens, n_goes, records = n_tokens, 0, 0, None
        while records is None:
            n_goes, n_left = n_goes + 1, 7
            try:
                _, records = answered(study, tmp_path / "r.sqlite")
            except SystemError:
                continue
    assert undated(records) == undated(whole)
    assert n_goes >= 4
    assert n_tokens == n_needed, "No token is written twice."
    assert not (tmp_path / "drafts.json").exists()


def test_limits_count_what_is_kept_once(tmp_path, monkeypatch):
    study = small_study(tmp_path, methods=["search_o1(max_turns=3)"], models=[SEARCHING], generation={"max_tokens": 20})
    calls = Calls(monkeypatch)
    n_needed = sum(record.cost.n_generations for record in answered(study, tmp_path / "whole.sqlite")[1].values())
    calls.n = 0
    for max_calls in (3, 3, 7, n_needed):
        limited = dataclasses.replace(study, limits=Limits(max_calls=max_calls))
        result, _records = answered(limited, tmp_path / "r.sqlite")
        assert calls.n <= max_calls
    assert (result.stop, calls.n) == (None, n_needed)


def test_a_kept_reply_that_was_altered_is_asked_for_again(tmp_path, monkeypatch):
    study = small_study(tmp_path, methods=["search_o1(max_turns=3)"], models=[SEARCHING], generation={"max_tokens": 20})
    calls = Calls(monkeypatch)
    _, whole = answered(study, tmp_path / "whole.sqlite")
    calls.at = calls.n + 20
    with pytest.raises(KeyboardInterrupt):
        answered(study, tmp_path / "r.sqlite")
    with sqlite3.connect(tmp_path / "r.sqlite") as connection:
        assert connection.execute("UPDATE underway SET reply = replace(reply, 'look', 'loop')").rowcount
    assert answered(study, tmp_path / "r.sqlite")[1] == whole


@pytest.mark.parametrize("method", ["closed_book", "search_o1(max_turns=3)"])
def test_a_reply_that_took_long_is_kept_before_its_method_goes_on(tmp_path, monkeypatch, method):
    """A method may load what takes seconds when it goes on, and the run may be killed in that time."""
    study = small_study(tmp_path, methods=[method], models=[SEARCHING], generation={"max_tokens": 20})
    calls = Calls(monkeypatch)
    _, whole = answered(study, tmp_path / "whole.sqlite")
    n_needed, calls.n = calls.n, 0
    monkeypatch.setattr("shaketable.stages.scheduler.LONG_WAIT_SECONDS", 0.0)

    def killed(*_: object) -> None:
        raise SystemError("What a process that is killed stores afterwards: nothing.")

    with monkeypatch.context() as during, pytest.raises(SystemError):
        during.setattr(Scheduler, "_take", killed)
        answered(study, tmp_path / "r.sqlite")
    with RecordStore(tmp_path / "r.sqlite", read_only=True) as store:
        assert sum(map(len, store.kept_replies().values())) == calls.n > 0
    assert answered(study, tmp_path / "r.sqlite")[1] == whole
    assert calls.n == n_needed
    with RecordStore(tmp_path / "r.sqlite", read_only=True) as store:
        assert store.kept_replies() == {} and verify(store).problems == ()


def test_a_run_that_is_always_cut_before_many_replies_come_gets_on_with_few(tmp_path, monkeypatch):
    """Replies of many trials together take longer than a go lasts; so does a second round of calls."""
    study = small_study(tmp_path, methods=["query_rewrite"], models=[SEARCHING], generation={"max_tokens": 20})
    _, whole = answered(study, tmp_path / "whole.sqlite")
    collect, sizes = Batches.collect, []

    def cut(batches: Batches):
        sizes.append(len(batches.waiting))
        if sum(sizes) > 3:
            sizes.clear()
            raise KeyboardInterrupt
        return collect(batches)

    monkeypatch.setattr(Batches, "collect", cut)
    n_goes, records = 0, None
    while records is None and n_goes < 60:
        n_goes += 1
        try:
            _, records = answered(study, tmp_path / "r.sqlite")
        except KeyboardInterrupt:
            continue
    assert records == whole
    with RecordStore(tmp_path / "r.sqlite", read_only=True) as store:
        assert store.meta()["side_by_side"] == str(WINDOW), "The next go begins with all again."
