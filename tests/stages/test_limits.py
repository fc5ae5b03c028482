"""Limits stop a run cleanly: nothing is lost, nothing is asked twice, and what is spent is counted."""

from __future__ import annotations

import dataclasses
import time

import pytest
from made_studies import answered, small_study
from stand_in_endpoint import StandIn, said

from shaketable.errors import RunError, StudyError
from shaketable.models.scripted import Scripted
from shaketable.stages import meter
from shaketable.stages.meter import price_of, prices_of
from shaketable.stages.run import run
from shaketable.store import RecordStore
from shaketable.store.money import lost
from shaketable.types import Completion, Limits, Study

PRICED = "scripted(replies=('Paris', 'Rome'), price_in=1000.0, price_out=3000.0)"
"""A reply of one word costs 0.003 USD, a word of a prompt 0.001 USD."""


def limited(study: Study, **limits: float) -> Study:
    return dataclasses.replace(study, limits=Limits(**limits))


def test_calls_stop_at_their_limit_and_a_second_go_asks_the_rest_alone(tmp_path):
    study = small_study(tmp_path, methods=["closed_book"])
    first, some = answered(limited(study, max_calls=5), tmp_path / "r.sqlite")
    assert (first.n_done + first.n_failed, len(some)) == (5, 5)
    assert first.stop is not None
    assert (first.stop.limit, first.stop.n_left, first.stop.calls) == ("max_calls", 7, 7)
    second, every = answered(study, tmp_path / "r.sqlite")
    assert (second.stop, second.n_done + second.n_failed, second.n_reused) == (None, 7, 5)
    assert every == answered(study, tmp_path / "at_once.sqlite")[1]


def test_a_limit_counts_all_goes_together(tmp_path):
    study = limited(small_study(tmp_path, methods=["closed_book"]), max_calls=5)
    answered(study, tmp_path / "r.sqlite")
    again, records = answered(study, tmp_path / "r.sqlite")
    assert (again.n_done + again.n_failed, len(records), again.stop.limit) == (0, 5, "max_calls")


def test_a_limit_that_is_just_enough_does_not_stop_a_run(tmp_path):
    study = small_study(tmp_path, methods=["closed_book"])
    result, records = answered(limited(study, max_calls=12), tmp_path / "r.sqlite")
    assert (result.stop, len(records)) == (None, 12)


@pytest.mark.parametrize("max_calls", range(1, 25))
def test_trials_of_several_calls_are_not_begun_where_they_could_not_end(tmp_path, with_fake_parts, max_calls):
    study = limited(small_study(tmp_path, methods=["two_steps"], models=["scripted"]), max_calls=max_calls)
    _, records = answered(study, tmp_path / "r.sqlite")
    assert sum(record.cost.n_generations for record in records.values()) <= max_calls
    # Of the first four at most two calls are lost each; once it is known what a trial takes, none are.
    assert len(records) == min(max_calls // 2, 12) if max_calls >= 8 else len(records) <= max_calls // 2


def test_calls_of_trials_that_were_let_go_count_as_spent(tmp_path, with_fake_parts):
    study = limited(small_study(tmp_path, methods=["two_steps"], models=["scripted"]), max_calls=6)
    _, records = answered(study, tmp_path / "r.sqlite")
    with RecordStore(tmp_path / "r.sqlite") as store:
        n_lost = lost(store).n_calls
    assert n_lost + sum(record.cost.n_generations for record in records.values()) == 6
    assert answered(study, tmp_path / "r.sqlite")[0].n_done == 0


def test_money_is_counted_by_the_prices_of_the_model(tmp_path):
    reply = Completion(text="", finish_reason="end", n_prompt_tokens=2_000_000, n_tokens=500_000, seconds=0.0)
    assert price_of(reply, prices_of(Scripted(price_in=3.0, price_out=8.0))) == 2 * 3 + 0.5 * 8
    assert price_of(reply, prices_of(Scripted())) is None
    assert price_of(dataclasses.replace(reply, dollars=0.25), None) == 0.25


def test_money_stops_a_run_and_is_stored_with_each_record(tmp_path):
    study = small_study(tmp_path, models=[PRICED], methods=["closed_book"], n=20)
    _, every = answered(study, tmp_path / "at_once.sqlite")
    costs = [record.cost.dollars for record in every.values()]
    assert costs == pytest.approx([0.001 * record.cost.n_prompt_tokens + 0.003 for record in every.values()])
    half = sum(costs) / 2
    result, records = answered(limited(study, max_cost=half), tmp_path / "r.sqlite")
    spent = sum(record.cost.dollars for record in records.values())
    assert result.stop.limit == "max_cost"
    assert half - 2 * max(costs) < spent <= half + max(costs)
    assert result.stop.dollars == pytest.approx(sum(costs) - spent, rel=0.02)


def test_what_has_no_price_has_no_cost_and_not_a_cost_of_nothing(tmp_path):
    _, records = answered(small_study(tmp_path), tmp_path / "r.sqlite")
    assert {record.cost.dollars for record in records.values()} == {None}


def test_money_cannot_be_limited_where_no_price_is_known(tmp_path):
    study = limited(small_study(tmp_path), max_cost=1.0)
    with pytest.raises(StudyError, match=r"limits.max_cost is 1, and the price of scripted.* is not known. Give price"):
        answered(study, tmp_path / "r.sqlite")


def test_a_system_that_does_not_tell_its_cost_cannot_be_limited_by_it(tmp_path, with_fake_parts):
    study = limited(small_study(tmp_path, models=["counting"], methods=["closed_book"]), max_cost=1.0)
    with pytest.raises(RunError, match=r"limits.max_cost is 1, and counting does not tell what its answers cost"):
        answered(study, tmp_path / "r.sqlite")


def test_minutes_stop_a_run_and_nothing_more_is_sent(tmp_path, monkeypatch):
    monkeypatch.delenv("SHAKETABLE_OFFLINE", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    endpoint = StandIn()
    endpoint.reply = lambda body, n: time.sleep(0.01) or said("Paris.")
    monkeypatch.setattr(meter, "perf_counter", lambda: 60.0 * len(endpoint.requests))  # A minute for each request.
    model = f"openai(model='stand-in', base_url={endpoint.url!r}, concurrency=2)"
    study = small_study(tmp_path, n=20, models=[model], methods=["closed_book"])
    result, records = answered(limited(study, max_minutes=20), tmp_path / "r.sqlite")
    n_sent = len(endpoint.requests)
    assert result.stop.limit == "max_minutes"
    assert 0 < len(records) < 80
    time.sleep(0.3)
    assert len(endpoint.requests) <= n_sent + 2  # What stood in a place of the line when it was let go.
    endpoint.server.shutdown()
    endpoint.server.server_close()


def test_a_stopped_run_has_a_report_that_says_so_and_goes_on_later(tmp_path, monkeypatch):
    study = small_study(tmp_path, methods=["closed_book"], models=["scripted"])
    made = run(limited(study, max_calls=5), tmp_path / "run")
    assert (made.summary().state, made.summary().stopped_by, made.summary().done) == ("stopped", "max_calls", 5)
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "It stopped at its limit (5 calls) after 5 of 12 trials." in page
    assert "--max-calls 14" in page  # 12 calls, and a tenth more.
    assert run(limited(study, max_calls=14), tmp_path / "run").summary().state == "finished"
