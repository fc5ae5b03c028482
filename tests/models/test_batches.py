"""Batches of `openai`: what is sent, what comes back, and what of it is kept for the next go."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from batch_endpoint import Batch, BatchEndpoint, asked, by_what_is_asked
from stand_in_endpoint import Reply

from shaketable.errors import ModelError, RepliesPending
from shaketable.models.endpoint import failures
from shaketable.models.endpoint.batches.ledger import Ledger, underway_in
from shaketable.models.endpoint.batches.line import BatchLine
from shaketable.models.openai import Openai
from shaketable.types import Completion, Failure, Message, Prompt, Sampling

SECRET = "sk-a-secret-that-must-stay-one"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchEndpoint]:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    made = BatchEndpoint()
    yield made
    made.close()


def prompts(n: int, **fields: Any) -> list[Prompt]:
    return [
        Prompt(
            messages=(Message(role="user", content=f"Which city is number {number}? ¿Qué?"),),
            sampling=Sampling(temperature=0.7, max_tokens=20),
            **{"seed": number, **fields},
        )
        for number in range(n)
    ]


def collect(line: BatchLine, given: list[Prompt]) -> list[Completion | Failure]:
    """The reply to each, in the order of the prompts."""
    for ticket, prompt in enumerate(given):
        line.submit(ticket, prompt)
    replies: dict[int, Completion | Failure] = {}
    while some := line.collect():
        assert not replies.keys() & dict(some).keys()
        replies |= dict(some)
    return [replies[ticket] for ticket in range(len(given))]


def failing(status: int, word: str, message: str) -> Any:
    """Requests that hold a word get an error, the others a reply."""

    def answer(body: dict[str, Any]) -> Reply:
        return (status, {}, {"error": {"message": message}}) if word in asked(body) else by_what_is_asked(body)

    return answer


def paid(endpoint: BatchEndpoint) -> list[int]:
    return sorted(endpoint.paid.values())


# --- replies --------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["chat", "plain"])
def test_replies_by_batch_are_those_of_calls_with_a_note(endpoint: BatchEndpoint, tmp_path: Path, layout: str) -> None:
    model, given = endpoint.model(), prompts(5, layout=layout, wants=("logprobs",))
    by_batch = collect(model.batch_line(tmp_path, None), given)
    by_call = model.generate(given)
    assert [replace(reply, seconds=0.0) for reply in by_batch] == [
        replace(reply, seconds=0.0, notes=(*reply.notes, "batch")) for reply in by_call
    ]
    assert [reply.seconds for reply in by_batch] == [60 / 5] * 5  # its share of what the batch took
    assert len(endpoint.batches) == 1 and paid(endpoint) == [1] * 5
    assert model.environment()["reported_model"] == "stand-in-2"


def test_chat_and_plain_prompts_go_in_files_of_their_own(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    replies = collect(endpoint.model().batch_line(tmp_path, None), [*prompts(2), *prompts(2, layout="plain")])
    assert all(isinstance(reply, Completion) for reply in replies)
    shown = [batch.shown["endpoint"] for batch in endpoint.batches.values()]
    assert shown == ["/v1/chat/completions", "/v1/completions"]


@pytest.mark.parametrize("limit", [{"batch_requests": 3}, {"batch_megabytes": 0.0012}])
def test_files_are_kept_within_the_limits(endpoint: BatchEndpoint, tmp_path: Path, limit: Any) -> None:
    collect(endpoint.model(**limit).batch_line(tmp_path, None), prompts(8))
    assert [len(batch.lines) for batch in endpoint.batches.values()] == [3, 3, 2]
    assert paid(endpoint) == [1] * 8


def test_the_very_same_prompts_are_requests_of_their_own(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    given = [*prompts(1), *prompts(1)]
    assert len(collect(endpoint.model().batch_line(tmp_path, None), given)) == 2
    assert paid(endpoint) == [2]


def test_a_prompt_that_is_no_json_fails_alone(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    half = replace(prompts(1)[0], messages=(Message(role="user", content="half \ud83d"),))
    broken, whole = collect(endpoint.model().batch_line(tmp_path, None), [half, *prompts(1)])
    assert isinstance(broken, Failure) and broken.kind == "bad_request"
    assert isinstance(whole, Completion)


# --- what goes wrong ------------------------------------------------------------------------------


def test_error_lines_are_the_failures_of_calls(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    endpoint.answer = failing(400, "number 1", "Unsupported value: 'temperature' does not support 0.7")
    model = endpoint.model()
    by_batch = collect(model.batch_line(tmp_path, None), prompts(3))
    by_call = model.generate(prompts(3)[1:2])
    assert by_batch[1:2] == by_call
    assert isinstance(by_batch[1], Failure) and by_batch[1].kind == "refused_setting"
    assert "send_temperature=False" in by_batch[1].message
    assert paid(endpoint) == [1, 1]


def test_what_the_endpoint_was_too_busy_for_is_sent_again(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    busy = failing(503, "number 1", "overloaded")
    endpoint.answer = lambda body: busy(body) if len(endpoint.batches) < 3 else by_what_is_asked(body)
    replies = collect(endpoint.model().batch_line(tmp_path, None), prompts(3))
    assert all(isinstance(reply, Completion) for reply in replies)
    assert [len(batch.lines) for batch in endpoint.batches.values()] == [3, 1, 1]
    assert paid(endpoint) == [1, 1, 1]


def test_what_expired_is_sent_again_and_what_was_answered_is_not(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    endpoint.n_before_expiry = 2
    replies = collect(endpoint.model().batch_line(tmp_path, None), prompts(5))
    assert all(isinstance(reply, Completion) for reply in replies)
    assert [len(batch.lines) for batch in endpoint.batches.values()] == [5, 3, 1]
    assert paid(endpoint) == [1] * 5


@pytest.mark.parametrize("has_lines", [True, False])
def test_a_batch_that_always_expires_is_given_up(endpoint: BatchEndpoint, tmp_path: Path, has_lines: bool) -> None:
    endpoint.n_before_expiry = 0
    if not has_lines:
        endpoint.tamper = lambda output, errors: ([], [])
    [reply] = collect(endpoint.model(attempts=2).batch_line(tmp_path, None), prompts(1))
    assert isinstance(reply, Failure) and (reply.kind, reply.may_retry) == ("expired", True)
    assert len(endpoint.batches) == 2 and not endpoint.paid


def test_a_batch_that_someone_cancelled_is_not_sent_again(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    endpoint.states = ("validating", "in_progress", "cancelling", "cancelled")
    endpoint.tamper = lambda output, errors: (output[:2], errors)
    replies = collect(endpoint.model().batch_line(tmp_path, None), prompts(3))
    [failure] = [reply for reply in replies if isinstance(reply, Failure)]
    assert (failure.kind, failure.may_retry) == ("cancelled", True) and "batch_1" in failure.message
    assert len(endpoint.batches) == 1


def test_lines_that_lack_are_broken_or_double_spoil_no_other(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    def tamper(output: list[str], errors: list[str]) -> tuple[list[str], list[str]]:
        named = {int(json.loads(line)["id"].rpartition("_")[2]): line for line in output}
        return ["", "[1]", '{"custom_id": 3}', named[2][:40], named[3], named[3], named[4], '{"custom_id"'], errors

    endpoint.tamper = tamper
    replies = collect(endpoint.model().batch_line(tmp_path, None), prompts(5))
    assert [isinstance(reply, Completion) for reply in replies] == [False, False, False, True, True]
    # They may have been paid, so nothing is sent again by itself.
    assert {(reply.kind, reply.may_retry) for reply in replies[:3]} == {("bad_reply", True)}
    assert len(endpoint.batches) == 1


def test_a_reply_of_another_shape_is_a_bad_reply(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    endpoint.answer = lambda body: (200, {}, {"choices": []})
    [reply] = collect(endpoint.model().batch_line(tmp_path, None), prompts(1))
    assert isinstance(reply, Failure) and (reply.kind, reply.may_retry) == ("bad_reply", True)


def test_a_batch_that_is_not_valid_stops_with_the_endpoints_words(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    endpoint.refuse = lambda batch: [{"code": "x", "message": f"no such model, {SECRET}", "line": 1, "param": None}]
    with pytest.raises(ModelError, match=r"refused batch batch_1: line 1: no such model, \*\*\*\. Nothing of it"):
        collect(endpoint.model().batch_line(tmp_path, None), prompts(2))
    endpoint.refuse = lambda batch: []
    assert len(collect(endpoint.model().batch_line(tmp_path, None), prompts(2))) == 2  # nothing is left of it


def test_a_full_queue_takes_the_rest_when_a_batch_has_ended(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    def refuse(batch: Batch) -> list[dict[str, Any]]:
        others = [other for other in endpoint.batches.values() if other is not batch]
        is_full = any(other.shown["status"] in ("in_progress", "finalizing") for other in others)
        return [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}] if is_full else []

    endpoint.refuse = refuse
    replies = collect(endpoint.model(batch_requests=2).batch_line(tmp_path, None), prompts(4))
    assert all(isinstance(reply, Completion) for reply in replies)
    assert [batch.shown["status"] for batch in endpoint.batches.values()] == ["completed", "failed", "completed"]
    assert paid(endpoint) == [1] * 4


def test_a_full_queue_in_a_later_go_sends_what_is_asked_for_after_it(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    """The batch of the earlier go is refused while the later one waits for another: what it held is asked anew."""
    endpoint.states = ("validating", "validating", "in_progress", "finalizing", "completed")
    with pytest.raises(RepliesPending):
        collect(endpoint.model(batch_requests=2).batch_line(tmp_path, 0.0), prompts(4))
    words = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}
    endpoint.refuse = lambda batch: [words] if batch is endpoint.batches["batch_2"] else []
    line = endpoint.model(batch_requests=2).batch_line(tmp_path, None)
    for ticket, prompt in enumerate(prompts(3)):
        line.submit(ticket, prompt)
    replies = dict(line.collect())
    line.submit(3, prompts(4)[3])
    while len(replies) < 4:
        replies |= dict(line.collect())
    assert all(isinstance(reply, Completion) for reply in replies.values())


def test_a_queue_that_is_too_small_for_one_batch_says_what_to_set(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    endpoint.refuse = lambda batch: [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}]
    with pytest.raises(ModelError, match="send less at a time: batch_requests, now 50000"):
        collect(endpoint.model().batch_line(tmp_path, None), prompts(2))


def test_an_endpoint_without_batches_is_named(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    endpoint.respond = lambda method, path: (404, {}, {"error": {"message": "Not Found"}}) if path == "/files" else None
    with pytest.raises(ModelError, match=r"uploading a file of requests \(/files\): HTTP 404: Not Found"):
        collect(endpoint.model().batch_line(tmp_path, None), prompts(1))


@pytest.mark.parametrize("path", ["/files", "/batches", "/batches/batch_1", "/files/file-2/content"])
def test_a_moment_of_weakness_is_waited_out(endpoint: BatchEndpoint, tmp_path: Path, path: str) -> None:
    n_asked = {"n": 0}

    def respond(method: str, asked_path: str) -> Reply | None:
        n_asked["n"] += asked_path == path
        is_weak = asked_path == path and n_asked["n"] in (1, 2)
        return (503, {}, {"error": {"message": "overloaded"}}) if is_weak else None

    endpoint.respond = respond
    replies = collect(endpoint.model().batch_line(tmp_path, None), prompts(2))
    assert all(isinstance(reply, Completion) for reply in replies) and len(endpoint.batches) == 1


def test_a_batch_that_was_created_though_the_answer_was_lost_is_found(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    """The endpoint creates it and answers 502; asking again blindly would pay twice."""

    def respond(method: str, path: str) -> Reply | None:
        if (method, path) == ("POST", "/batches") and not endpoint.batches:
            endpoint.respond = lambda method, path: None
            endpoint._create(
                {
                    "input_file_id": "file-1",
                    "endpoint": "/v1/chat/completions",
                    "metadata": {"shaketable": next(tmp_path.iterdir()).name},
                }
            )
            return 502, {}, {"error": {"message": "bad gateway"}}
        return None

    endpoint.respond = respond
    collect(endpoint.model().batch_line(tmp_path, None), prompts(3))
    assert len(endpoint.batches) == 1 and paid(endpoint) == [1] * 3


# --- another go -----------------------------------------------------------------------------------


def test_a_later_go_takes_the_batch_that_is_under_way(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    first = endpoint.model().batch_line(tmp_path / "model", 0.0)
    with pytest.raises(RepliesPending, match=r"1 batch with 3 requests \(batch_1: in_progress\)\. They end by"):
        collect(first, prompts(3))
    assert [sent.batch_id for sent in underway_in(tmp_path)] == ["batch_1"]
    # The new go asks more: only that is sent.
    replies = collect(endpoint.model().batch_line(tmp_path / "model", None), prompts(5))
    assert all(isinstance(reply, Completion) for reply in replies)
    assert [len(batch.lines) for batch in endpoint.batches.values()] == [3, 2]
    assert paid(endpoint) == [1] * 5 and underway_in(tmp_path) == []


def test_a_later_go_may_ask_for_the_replies_of_a_batch_one_by_one(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    """As a run with a limit of money does, which begins with few trials."""
    with pytest.raises(RepliesPending):
        collect(endpoint.model().batch_line(tmp_path, 0.0), prompts(4))
    line, given = endpoint.model().batch_line(tmp_path, None), prompts(4)
    replies = [*collect(line, given[:1]), *collect(line, given[1:3]), *collect(line, given[3:])]
    assert replies == collect(endpoint.model().batch_line(tmp_path, None), given)
    assert all(isinstance(reply, Completion) for reply in replies)
    assert len(endpoint.batches) == 1 and paid(endpoint) == [1] * 4


def test_replies_that_are_here_are_not_asked_again(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    """As of a method with several rounds that was killed in a later one."""
    first = collect(endpoint.model().batch_line(tmp_path, None), prompts(4))
    assert collect(endpoint.model().batch_line(tmp_path, None), prompts(4)) == first
    assert len(endpoint.batches) == 1


def test_a_failure_that_may_be_mended_is_asked_anew_in_the_next_go(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    endpoint.answer = failing(401, "number 1", "Incorrect API key")
    broken = collect(endpoint.model().batch_line(tmp_path, None), prompts(3))
    assert isinstance(broken[1], Failure) and broken[1].kind == "authentication"
    endpoint.answer = by_what_is_asked
    replies = collect(endpoint.model().batch_line(tmp_path, None), prompts(3))
    assert all(isinstance(reply, Completion) for reply in replies)
    assert [len(batch.lines) for batch in endpoint.batches.values()] == [3, 1] and paid(endpoint) == [1] * 3
    assert collect(endpoint.model().batch_line(tmp_path, None), prompts(3)) == replies


def test_what_is_stored_is_let_go_but_for_what_was_sent(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    line = endpoint.model().batch_line(tmp_path, None)
    collect(line, prompts(2))
    line.let_go()
    [state] = tmp_path.rglob("*.*")
    assert json.loads(state.read_text())["batch_id"] == "batch_1"
    collect(endpoint.model().batch_line(tmp_path, None), prompts(2))
    assert paid(endpoint) == [2, 2]  # A new question, as whoever asks it has no answer.


def test_batches_of_another_endpoint_are_left_alone(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    with pytest.raises(RepliesPending):
        collect(endpoint.model().batch_line(tmp_path, 0.0), prompts(2))
    other = BatchEndpoint()
    try:
        collect(other.model().batch_line(tmp_path, None), prompts(2))
    finally:
        other.close()
    assert len(other.batches) == 1
    collect(endpoint.model().batch_line(tmp_path, None), prompts(2))
    assert len(endpoint.batches) == 1


def test_an_intent_that_the_endpoint_never_heard_of_is_dropped(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, endpoint.url)
    ledger.write("/v1/chat/completions", [b'{"custom_id":"a"}\n'])
    (tmp_path / "half").mkdir()
    asked_for = ledger.write("/v1/chat/completions", [b'{"custom_id":"b"}\n'])
    ledger.save(replace(asked_for, is_creating=True))  # Killed before the call went out.
    line = endpoint.model().batch_line(tmp_path, None)
    assert list(tmp_path.iterdir()) == [] and not line.sent_before


def test_a_state_that_cannot_be_read_is_never_thrown_away(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    with pytest.raises(RepliesPending):
        collect(endpoint.model().batch_line(tmp_path, 0.0), prompts(2))
    (state,) = tmp_path.glob("*/state.json")
    state.write_bytes(b"\0" * 40)
    with pytest.raises(ModelError, match=rf"metadata shaketable = {state.parent.name} at the endpoint"):
        endpoint.model().batch_line(tmp_path, None)
    assert state.read_bytes() == b"\0" * 40


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("token", 3),
        ("token", "../x"),
        ("n_requests", "3"),
        ("n_requests", True),
        ("made_at", None),
        ("is_creatin", True),
    ],
)
def test_a_state_with_a_field_of_another_type_is_one_that_cannot_be_read(
    endpoint: BatchEndpoint, tmp_path: Path, field: str, value: Any
) -> None:
    with pytest.raises(RepliesPending):
        collect(endpoint.model().batch_line(tmp_path, 0.0), prompts(2))
    (state,) = tmp_path.glob("*/state.json")
    state.write_text(json.dumps({**json.loads(state.read_text()), field: value}))
    assert underway_in(tmp_path) == []
    with pytest.raises(ModelError, match=rf"metadata shaketable = {state.parent.name} at the endpoint"):
        endpoint.model().batch_line(tmp_path, None)


def test_replies_that_were_altered_here_are_taken_from_the_endpoint_again(
    endpoint: BatchEndpoint, tmp_path: Path
) -> None:
    first = collect(endpoint.model().batch_line(tmp_path, None), prompts(3))
    (replies,) = tmp_path.glob("*/replies.jsonl")
    came = replies.read_bytes()
    replies.write_bytes(came.replace(b"Zog", b"Zag"))
    assert replies.read_bytes() != came
    line = endpoint.model().batch_line(tmp_path, None)
    assert collect(line, prompts(3)) == first and replies.read_bytes() == came
    assert len(endpoint.batches) == 1 and paid(endpoint) == [1] * 3
    replies.write_bytes(b"")
    line.let_go()
    assert [file.name for file in tmp_path.glob("*/*")] == ["state.json"]


def test_replies_that_an_older_version_brought_are_read(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    first = collect(endpoint.model().batch_line(tmp_path, None), prompts(3))
    (state,) = tmp_path.glob("*/state.json")
    kept = json.loads(state.read_text())
    del kept["sha256"]
    state.write_text(json.dumps(kept))
    endpoint.respond = lambda method, path: (500, {}, {"error": {"message": "asked"}})
    assert collect(endpoint.model().batch_line(tmp_path, None), prompts(3)) == first


def test_a_deadline_ends_the_waiting(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    endpoint.states = ("validating", "in_progress")
    deadline = time.perf_counter() + 0.2
    with pytest.raises(RepliesPending):
        collect(endpoint.model().batch_line(tmp_path, deadline), prompts(1))
    assert time.perf_counter() >= deadline


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"batch_price": -0.5}, "batch_price is -0.5"),
        ({"batch_requests": 0}, "batch_requests is 0"),
        ({"batch_poll_seconds": 0.0}, "batch_poll_seconds is 0.0"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Openai(model="m", **settings)


def test_azure_names_the_call_without_a_version() -> None:
    from shaketable.models.endpoint.batches.requests import path_of

    [prompt] = prompts(1)
    assert path_of(prompt, Openai(model="m"), "api.openai.com") == "/v1/chat/completions"
    assert path_of(prompt, Openai(model="m", api_version="2024-10-21"), "a") == "/chat/completions"
    assert path_of(prompt, Openai(model="m"), "x.openai.azure.com") == "/chat/completions"


# --- endpoints that mean harm -----------------------------------------------------------------------


def test_a_hostile_line_spoils_its_own_reply_and_tells_no_key(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    def tamper(output: list[str], errors: list[str]) -> tuple[list[str], list[str]]:
        lines = sorted(output, key=lambda line: int(json.loads(line)["id"].split("_")[-1]))
        lines[0] = lines[0].replace("Zog 0", f"Zog {SECRET}")
        lines[1] = lines[1].replace('"Zog', '"\\ud800\\u0000Zog').replace("11", "1e999")
        lines[2] = lines[2].replace('"choices": [', '"choices": [' + "[" * 100_000)
        lines[3] = lines[3].replace('"content": "', '"content": null, "x": "')
        return [*lines, "[" * 100_000, f'{{"{SECRET}": "{SECRET}"}}'], errors

    endpoint.tamper = tamper
    replies = collect(endpoint.model().batch_line(tmp_path, None), prompts(5))
    kept = [reply.text for reply in replies if isinstance(reply, Completion)]
    assert kept[0].startswith("Zog ***") and kept[1].startswith("��Zog") and len(kept) == 3
    reasons = [reply.message for reply in replies if isinstance(reply, Failure)]
    assert "has no line for this request" in reasons[0] and "its content is null" in reasons[1]
    files = [file.read_text("utf-8") for file in tmp_path.rglob("*") if file.is_file()]
    assert files and not any(SECRET in text for text in (*files, repr(replies)))


@pytest.mark.parametrize(
    ("field", "value"),
    [("id", 7), ("id", SECRET), ("id", "../x"), ("created_at", "now"), ("request_counts", {"total": "x"})],
)
def test_a_batch_with_a_field_of_another_type_is_told(
    endpoint: BatchEndpoint, tmp_path: Path, field: str, value: Any
) -> None:
    batch = {"id": "b", "object": "batch", "status": "validating", "created_at": 1, "endpoint": "x"}
    endpoint.respond = lambda method, path: (
        (200, {}, {**batch, field: value}) if (method, path) == ("POST", "/batches") else None
    )
    with pytest.raises(ModelError, match="another shape than the API's") as told:
        collect(endpoint.model().batch_line(tmp_path, None), prompts(1))
    assert SECRET not in str(told.value)


def test_a_file_that_drips_ends_by_the_time_limit(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    """It stops halfway for longer than the limit."""
    endpoint.at = lambda event: time.sleep(1.0 if event == "downloaded" else 0.0)
    begun = time.monotonic()
    with pytest.raises(ModelError, match="downloading file-2"):
        collect(endpoint.model(timeout_seconds=0.3, attempts=1).batch_line(tmp_path, None), prompts(1))
    assert time.monotonic() - begun < 30
