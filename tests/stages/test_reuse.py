"""Answers of other runs by their keys: asked once, told as such, and never where a key does not say all."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import warnings
import zlib

import pytest
from asked_viewer import Client, serving
from made_studies import small_study, study_of
from stand_in_endpoint import StandIn, said
from typer.testing import CliRunner

from shaketable import catalog
from shaketable.cli.app import app
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.stages.reuse import is_shared
from shaketable.store import RecordStore, Run
from shaketable.store.money import spent_by_system
from shaketable.store.user_cache import cache_path, cache_size, open_cache
from shaketable.types import Limits, Scan, Shake

PRICED = "scripted(replies=('Paris', 'Rome', 'ERROR'), price_in=1000.0, price_out=3000.0)"


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SHAKETABLE_CACHE", raising=False)


def answered(study, path):
    """As `made_studies.answered`, with the cache."""
    with RecordStore(path) as store, open_cache(True) as cache:
        result = answer(plan(study), store, cache=cache)
        return result, {record.trial.key: record for record in store.records()}


def plain(records):
    """Without what says where they come from."""
    return {
        key: dataclasses.replace(
            record,
            reused=False,
            environment={name: value for name, value in record.environment.items() if name != "reused_from"},
        )
        for key, record in records.items()
    }


def test_what_another_run_asked_is_taken_and_says_so(tmp_path):
    study = small_study(tmp_path, models=[PRICED], perturbations=["unchanged", "sentence_removal"])
    first, own = answered(study, tmp_path / "a.sqlite")
    second, taken = answered(dataclasses.replace(study, name="other"), tmp_path / "b.sqlite")
    n_failed = first.n_failed
    assert n_failed > 0
    assert (first.n_shared, first.n_done) == (0, 24 - n_failed)
    assert (second.n_shared, second.n_done, second.n_failed) == (24 - n_failed, 0, n_failed)
    assert plain(taken) == own
    for record in taken.values():
        assert record.reused is (record.failure is None), "Failures are asked again."
        if record.reused:
            assert record.environment["reused_from"]["study"] == "small"


def test_more_questions_and_repeats_in_another_run_ask_what_is_new_alone(tmp_path):
    answered(small_study(tmp_path, models=["scripted"]), tmp_path / "a.sqlite")
    more = small_study(tmp_path, n=4, models=["scripted"], repeats=3, temperatures=[0.0, 1.0, 1.5])
    result, _ = answered(more, tmp_path / "b.sqlite")
    assert (result.n_shared, result.n_done) == (12, 4 * 3 * 3 - 12)


@pytest.mark.parametrize(
    "changed", [{"seed": 4}, {"generation": {"max_tokens": 9}}, {"models": ["scripted(replies=('x',))"]}]
)
def test_another_key_is_another_answer(tmp_path, changed):
    answered(small_study(tmp_path, models=["scripted"]), tmp_path / "a.sqlite")
    other = study_of(tmp_path / "questions.jsonl", **{"models": ["scripted"]} | changed)
    assert answered(other, tmp_path / "b.sqlite")[0].n_shared == 0


def test_what_was_taken_costs_nothing_now_and_does_not_count_against_a_limit(tmp_path):
    study = small_study(tmp_path, models=[PRICED.replace(", 'ERROR'", "")], methods=["closed_book"])
    with RecordStore(tmp_path / "own.sqlite") as store, open_cache() as cache:
        answer(plan(study), store, cache=cache)
    assert cache_size().n_answers == 0, "It is off at first."
    _, records = answered(study, tmp_path / "a.sqlite")
    whole = sum(record.cost.dollars for record in records.values())
    more = dataclasses.replace(study, repeats=3)
    result, taken = answered(dataclasses.replace(more, limits=Limits(max_calls=4)), tmp_path / "b.sqlite")
    assert (result.n_done, result.stop.limit) == (4, "max_calls")
    [spent] = spent_in(tmp_path / "b.sqlite")
    own = sum(record.cost.dollars for record in taken.values() if not record.reused)
    assert (spent.n_trials, spent.n_reused, spent.n_calls) == (4, result.n_shared, 4)
    assert (spent.n_planned, spent.n_left) == (18, 18 - 4 - result.n_shared)
    assert spent.dollars == pytest.approx(own)
    assert spent.dollars_left == pytest.approx(own / 4 * spent.n_left)
    rest, every = answered(more, tmp_path / "b.sqlite")
    assert (result.n_shared + rest.n_shared, rest.n_done, len(every)) == (12, 2, 18)
    [spent] = spent_in(tmp_path / "b.sqlite")
    assert (spent.n_calls, spent.n_left, spent.dollars_reused) == (6, 0, pytest.approx(whole))


def spent_in(path):
    with RecordStore(path, read_only=True) as store:
        return spent_by_system(store)


def test_code_that_may_change_beside_its_key_and_models_that_run_here_are_not_shared(tmp_path):
    (tmp_path / "app.py").write_text("def answer(question):\n    return 'x'\n")
    pipeline = catalog.build("model", f"pipeline(python='{tmp_path / 'app.py'}:answer')")
    assert [is_shared(catalog.build("model", name)) for name in ("smollm2", "scripted")] == [False, True]
    assert not is_shared(pipeline)


def test_one_key_at_another_address_is_another_answer(tmp_path, monkeypatch):
    monkeypatch.delenv("SHAKETABLE_OFFLINE", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-mine-123")
    places = StandIn(), StandIn()
    places[0].reply = lambda body, n: said("Paris.")
    places[1].reply = lambda body, n: said("Rome.")
    study = small_study(tmp_path, models=["openai(model='x')"], methods=["closed_book"], temperatures=[0.0], repeats=1)
    texts = []
    for name, place in (("a", 0), ("b", 0), ("c", 1)):
        monkeypatch.setenv("OPENAI_BASE_URL", places[place].url)
        result, records = answered(study, tmp_path / f"{name}.sqlite")
        texts.append(({record.answer.text for record in records.values()}, result.n_shared))
    assert texts == [({"Paris."}, 0), ({"Paris."}, 3), ({"Rome."}, 0)]
    assert [len(place.requests) for place in places] == [3, 3]
    with sqlite3.connect(cache_path()) as connection:
        bodies = [zlib.decompress(body) for (body,) in connection.execute("SELECT body FROM answers")]
    assert len(bodies) == 6
    assert not any(b"secret-of-mine" in body for body in bodies)
    for place in places:
        place.server.shutdown()
        place.server.server_close()


def test_an_altered_answer_is_asked_again(tmp_path):
    study = small_study(tmp_path, models=["scripted"])
    _, own = answered(study, tmp_path / "a.sqlite")
    with sqlite3.connect(cache_path()) as connection:
        connection.execute("UPDATE answers SET body = zeroblob(LENGTH(body)) WHERE id % 2")
    connection.close()
    with pytest.warns(UserWarning, match="6 answers in .* do not match their checksums; they are asked again"):
        result, taken = answered(study, tmp_path / "b.sqlite")
    assert (result.n_shared, result.n_done) == (6, 6)
    assert plain(taken) == own


def test_a_broken_cache_stops_no_run(tmp_path):
    cache_path().parent.mkdir(parents=True)
    cache_path().write_bytes(b"broken" * 1000)
    with pytest.warns(UserWarning, match="All is asked"):
        result, _ = answered(small_study(tmp_path, models=["scripted"]), tmp_path / "a.sqlite")
    assert (result.n_shared, result.n_done) == (0, 12)


def test_a_scan_takes_what_it_would_have_asked_and_no_more(tmp_path):
    replies = "scripted(replies=('Author 1', 'Rome', 'Author 1', 'Paris'))"
    crossed = small_study(tmp_path, models=[replies], temperatures=[0.0, 0.5, 1.0, 1.5], repeats=3)
    scan = dataclasses.replace(crossed, scan=Scan(strategy="curtailed_bisection"))
    with RecordStore(tmp_path / "alone.sqlite") as store:
        answer(plan(scan), store)
        alone = {record.trial.key: record for record in store.records()}
    answered(crossed, tmp_path / "crossed.sqlite")
    result, taken = answered(scan, tmp_path / "scan.sqlite")
    assert (result.n_done, result.n_shared) == (0, len(alone))
    assert plain(taken) == alone


def test_a_shaken_run_gives_its_answers_and_takes_none(tmp_path):
    model = "scripted(replies=('Author 1', 'Rome', 'Author 2'))"
    crossed = small_study(tmp_path, n=6, models=[model], perturbations=["unchanged", "sentence_removal"], repeats=1)
    shaken = dataclasses.replace(crossed, shake=Shake(), limits=Limits(max_calls=16))
    for name in ("a", "b"):
        result, asked = answered(shaken, tmp_path / f"{name}.sqlite")
        assert (result.n_done, result.n_shared) == (16, 0)
    result, every = answered(crossed, tmp_path / "crossed.sqlite")
    assert result.n_shared == len(asked.keys() & every.keys()) > 0


# --- as a user meets it -----------------------------------------------------------------------------

STUDY = f"""
name = "small"
[dataset]
name = "builtin"
limit = 3
[cross]
models = ["{PRICED}"]
methods = ["closed_book"]
temperatures = [0.0, 1.0]
[generation]
max_tokens = 8
"""


@pytest.fixture
def study(monkeypatch, tmp_path):
    monkeypatch.setattr("shaketable.stages.report.report", lambda run, **_: run.folder / "report.html")
    (tmp_path / "small.toml").write_text(STUDY.replace(", 'ERROR'", ""))
    return tmp_path / "small.toml"


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_run_with_the_cache_says_what_it_took_and_spent(study, tmp_path):
    first = call("run", study, "--out", tmp_path / "a", "--cache")
    assert first.exit_code == 0, first.output
    assert "Spent on answers: " in first.output
    assert "Taken from the cache" not in first.output
    second = call("run", study, "--out", tmp_path / "b", "--cache")
    assert "6 trials, 6 asked by other runs" in second.output
    assert "Spent on answers: 0.00 USD." in second.output
    assert "Taken from the cache: 6 answers of other runs, which had cost them " in second.output
    told = json.loads(call("run", study, "--out", tmp_path / "c", "--cache", "--json").stdout)
    assert (told["shared"], told["done"], told["spent"][0]["n_reused"]) == (6, 6, 6)
    assert json.loads(call("run", study, "--out", tmp_path / "d", "--json").stdout)["shared"] == 0


def test_the_environment_switches_it_on_and_an_option_off(study, tmp_path, monkeypatch):
    monkeypatch.setenv("SHAKETABLE_CACHE", "1")
    call("run", study, "--out", tmp_path / "a")
    assert json.loads(call("run", study, "--out", tmp_path / "b", "--json").stdout)["shared"] == 6
    assert json.loads(call("run", study, "--out", tmp_path / "c", "--json", "--no-cache").stdout)["shared"] == 0
    monkeypatch.setenv("SHAKETABLE_CACHE", "maybe")
    said = call("run", study, "--out", tmp_path / "d")
    assert (said.exit_code, "SHAKETABLE_CACHE is 'maybe'; set it to 1" in said.output) == (2, True)


def test_the_cache_is_shown_and_cleared(study, tmp_path):
    assert "0 answers, 0.0 MB of 1,024.0 MB" in call("cache").output
    call("run", study, "--out", tmp_path / "a", "--cache")
    shown = call("cache").output
    assert f"{cache_path()}: 6 answers, 0.0 MB" in shown
    assert "It is off (SHAKETABLE_CACHE)" in shown
    told = json.loads(call("cache", "--json").stdout)
    assert (told["answers"], told["path"], told["on"]) == (6, str(cache_path()), False)
    assert call("cache", "clear").exit_code == 0
    assert json.loads(call("cache", "--json").stdout)["answers"] == 0
    wrong = call("cache", "empty")
    assert wrong.exit_code == 2
    assert "'empty' is not one of" in wrong.output


def test_no_warning_is_given_where_all_is_well(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("a", "b"):
            answered(small_study(tmp_path, models=["scripted"]), tmp_path / f"{name}.sqlite")


def test_the_run_of_a_viewer_tells_its_money_and_what_it_took(study, tmp_path):
    for name in ("a", "b"):
        call("run", study, "--out", tmp_path / name, "--cache", *(["--max-calls", 4] if name == "a" else []))
    with serving(Run(tmp_path / "a"), Run(tmp_path / "b")) as viewer:
        client = Client(viewer)
        pages = [client.ask(f"/run/{name}")[2] for name in ("a", "b")]
        key = next(record.trial.key for record in Run(tmp_path / "b").store.records() if record.reused)
        record = client.ask(f"/run/b/record/{key}")[2]
    assert "USD for 4 calls, about " in pages[0]
    assert "USD more for 2 trials left" in pages[0]
    assert "4 answers of other runs, which had cost them " in pages[1]
    assert "reused_from" in record
