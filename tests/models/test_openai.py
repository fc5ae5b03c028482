"""How `openai` deals with endpoints that misbehave. The endpoint here is a stand-in that says what each
test needs; `test_openai_real_server.py` asks a real one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from email.utils import formatdate
from typing import Any

import pytest
from stand_in_endpoint import Reply, StandIn, said

from shaketable import catalog
from shaketable.errors import ModelError, PartError
from shaketable.models.endpoint import asking, failures
from shaketable.models.openai import Openai
from shaketable.protocols import StreamingModel
from shaketable.types import Completion, Failure, Message, Prompt, Sampling

SECRET = "sk-a-secret-that-must-stay-one"


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.delenv("SHAKETABLE_OFFLINE", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    endpoint = StandIn()
    yield endpoint
    endpoint.server.shutdown()
    endpoint.server.server_close()


def refused(status: int, message: str, headers: dict[str, str] | None = None, **more: Any) -> Reply:
    return status, headers or {}, {"error": {"message": message, **more}}


def prompt(text: str = "What is the capital of France?", **settings: Any) -> Prompt:
    fields = {name: settings.pop(name) for name in ("seed", "layout", "wants", "messages") if name in settings}
    fields = {"seed": 5, "messages": (Message(role="user", content=text),), **fields}
    return Prompt(sampling=Sampling(**{"temperature": 0.7, "max_tokens": 20, **settings}), **fields)


def complete(model: Openai, asked: Prompt | None = None) -> Completion:
    [reply] = model.generate([asked or prompt()])
    assert isinstance(reply, Completion), reply
    return reply


def fail(model: Openai, asked: Prompt | None = None) -> Failure:
    [reply] = model.generate([asked or prompt()])
    assert isinstance(reply, Failure), reply
    return reply


# --- what is sent -------------------------------------------------------------------------------


NEUTRAL = {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0, "repeat_penalty": 1.0}


def test_it_keeps_the_promise_of_a_streaming_model() -> None:
    assert isinstance(Openai(model="m"), StreamingModel)


def test_a_chat_request_spells_out_what_shapes_the_dice(stand_in: StandIn) -> None:
    reply = complete(stand_in.model(), prompt(temperature=1.5, top_p=0.9))
    assert stand_in.paths == ["/v1/chat/completions"]
    assert stand_in.requests == [
        {
            "model": "stand-in",
            "messages": [{"role": "user", "content": "What is the capital of France?"}],
            "temperature": 1.5,
            "top_p": 0.9,
            "seed": 5,
            "max_tokens": 20,
            **NEUTRAL,
        }
    ]
    assert reply.decoding == {"temperature": 1.5, "top_p": 0.9, "seed": 5, "max_tokens": 20, **NEUTRAL}
    assert (reply.text, reply.finish_reason, reply.n_prompt_tokens, reply.n_tokens) == ("Paris.", "end", 11, 7)
    assert reply.notes == () and reply.seconds > 0


def test_library_defaults_send_the_temperature_alone(stand_in: StandIn) -> None:
    reply = complete(stand_in.model(extended=True, send_seed=False), prompt(top_k=5, library_defaults=True))
    assert reply.decoding == {"temperature": 0.7, "max_tokens": 20}


def test_without_extended_settings_are_sent_only_when_they_do_something(stand_in: StandIn) -> None:
    complete(stand_in.model(extended=False))
    assert not NEUTRAL.keys() & stand_in.requests.pop().keys()
    complete(stand_in.model(extended=False), prompt(top_k=40, repetition_penalty=1.2))
    assert stand_in.requests[0]["top_k"] == 40
    assert stand_in.requests[0]["repetition_penalty"] == stand_in.requests[0]["repeat_penalty"] == 1.2


def test_extended_spells_out_neutral_values_too(stand_in: StandIn) -> None:
    reply = complete(stand_in.model(extended=True))
    assert NEUTRAL.items() <= stand_in.requests[0].items()
    assert NEUTRAL.items() <= reply.decoding.items()


def test_the_largest_seed_does_not_become_llama_cpps_mark_for_random(stand_in: StandIn) -> None:
    complete(stand_in.model(), prompt(seed=2**32 - 1))
    assert stand_in.requests[0]["seed"] == 1  # 2**32 - 1 = 2 * (2**31 - 1) + 1


def test_reasoning_models_get_their_own_name_for_max_tokens(stand_in: StandIn) -> None:
    complete(stand_in.model(max_tokens_field="max_completion_tokens"))
    assert stand_in.requests[0]["max_completion_tokens"] == 20
    assert "max_tokens" not in stand_in.requests[0]


def test_the_plain_layout_joins_the_contents_as_raw_text(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: (200, {}, {"choices": [{"text": " Paris", "finish_reason": "length"}]})
    messages = (Message(role="user", content="Q: capital?\n"), Message(role="assistant", content="A:"))
    reply = complete(stand_in.model(), prompt(messages=messages, layout="plain", wants=("logprobs",)))
    assert stand_in.paths == ["/v1/completions"]
    assert stand_in.requests[0]["prompt"] == "Q: capital?\nA:"
    assert stand_in.requests[0]["logprobs"] == 20
    assert "continue_final_message" not in stand_in.requests[0]
    assert (reply.text, reply.finish_reason) == (" Paris", "length")


@pytest.mark.parametrize(
    ("given", "notes"), [(" Paris.", ()), ("The capital is Paris.", ("prefix_echoed",))], ids=["vLLM", "llama.cpp"]
)
def test_a_last_assistant_message_is_continued_and_not_repeated(
    stand_in: StandIn, given: str, notes: tuple[str, ...]
) -> None:
    stand_in.reply = lambda body, n: said(given)
    messages = (Message(role="user", content="Capital?"), Message(role="assistant", content="The capital is"))
    reply = complete(stand_in.model(), prompt(messages=messages))
    assert stand_in.requests[0]["continue_final_message"] is True
    assert stand_in.requests[0]["add_generation_prompt"] is False
    assert (reply.text, reply.notes) == (" Paris.", notes)


# --- trying again -------------------------------------------------------------------------------


def test_a_crowded_endpoint_is_tried_again_when_it_asked_to_be(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: refused(429, "slow down", {"retry-after": "0.4"}) if n == 1 else said("Paris.")
    assert complete(stand_in.model()).text == "Paris."
    first, second = stand_in.arrivals
    assert 0.4 <= second - first < 3.0


def test_a_retry_date_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_000_000.0)
    assert failures.retry_after({"retry-after": formatdate(1_000_030, usegmt=True)}) == 30.0
    assert failures.retry_after({"retry-after": formatdate(900_000, usegmt=True)}) == 0.0
    assert failures.retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    assert failures.retry_after({"retry-after": "soon"}) is None
    assert failures.retry_after({}) is None


@pytest.mark.parametrize("header", ["retry-after", "retry-after-ms", "x-ratelimit-reset-requests"])
@pytest.mark.parametrize(
    "given",
    [
        *("inf", "nan", "-nan", "1e308", "9" * 5000, "9" * 400 + "h", "Fri, 01 Jan 2099 00:00:00 GMT"),
        *("Wed, 18 Nov 99999999999 10:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 +2359", "soon", ""),
    ],
)
def test_a_wait_that_cannot_be_is_none(header: str, given: str) -> None:
    assert failures.retry_after({header: given, "x-ratelimit-remaining-requests": "0"}) in (None, 0.0)


def test_what_breaks_at_a_reply_fails_its_trial_alone(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(content: bytes, hide: object) -> object:
        raise AssertionError(f"nobody thought of this, nor of {SECRET}")

    stand_in.reply = lambda body, n: said("Paris.")
    monkeypatch.setattr(asking, "parse_reply", broken)
    failure = fail(stand_in.model())
    assert (failure.kind, failure.may_retry) == ("bad_reply", True)
    assert "the reply cannot be read (AssertionError: nobody" in failure.message and SECRET not in failure.message


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_far_wait_of_a_server_that_answers_others_fails_no_trial(
    stand_in: StandIn, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.01)
    far = refused(status, "slow down", {"retry-after": "40000"})
    stand_in.reply = lambda body, n: far if n in (2, 3) else said("Paris.")
    model = stand_in.model()
    assert [complete(model).text for _ in range(3)] == ["Paris."] * 3


def test_a_pause_of_an_hour_is_not_waited_for(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: refused(429, "daily quota", {"retry-after": "3600"})
    failure = fail(stand_in.model())
    assert (failure.kind, failure.may_retry, len(stand_in.requests)) == ("rate_limit", True, 1)


def test_waits_double_and_never_pass_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures.random, "uniform", lambda low, high: high)
    assert [failures.backoff(attempt) for attempt in (1, 2, 3, 20)] == [0.5, 1.0, 2.0, 30.0]


def test_a_refused_call_waits_a_moment_and_never_more_than_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures.random, "uniform", lambda low, high: high)
    waits = [asking.wait_when_refused(n) for n in (1, 2, 3, 4, 5, 6, 50)]
    assert waits == [0.0625, 0.125, 0.25, 0.5, 1.0, 1.0, 1.0]


@pytest.mark.parametrize("status", [500, 502, 504, 409])
def test_a_broken_server_is_a_failure_once_the_attempts_run_out(stand_in: StandIn, status: int) -> None:
    stand_in.reply = lambda body, n: refused(status, "out of memory")
    failure = fail(stand_in.model(attempts=3))
    assert len(stand_in.requests) == 3
    assert (failure.kind, failure.step, failure.may_retry) == ("server", "generate", True)
    assert f"HTTP {status}: out of memory" in failure.message


def test_a_server_that_recovers_leaves_no_trace_of_its_errors(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: refused(503, "loading") if n < 3 else said("Paris.")
    assert complete(stand_in.model()).notes == ()


def test_a_silent_server_is_a_timeout(stand_in: StandIn) -> None:
    def reply(body: dict[str, Any], n: int) -> Reply:
        time.sleep(1.5)
        return said("late")

    stand_in.reply = reply
    failure = fail(stand_in.model(timeout_seconds=0.2, attempts=2))
    assert (failure.kind, failure.may_retry, len(stand_in.requests)) == ("timeout", True, 2)


def test_a_closed_port_ends_in_one_message_and_not_in_failures(stand_in: StandIn) -> None:
    model = stand_in.model()
    stand_in.server.shutdown()
    stand_in.server.server_close()
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:\d+: ConnectError: .* Check that the server runs"):
        model.generate([prompt()] * 5)


@pytest.mark.parametrize(
    ("status", "message", "code", "kind", "may_retry"),
    [
        (401, "wrong key", "invalid_api_key", "authentication", True),
        (403, "not yours", None, "authentication", True),
        (404, "no such model", "model_not_found", "not_found", True),
        # Before anything was answered a refusal may be of all requests, and another go asks again.
        (400, "temperature must be a number", None, "bad_request", True),
        (422, "bad shape", None, "bad_request", True),
        # DeepSeek and OpenRouter say so that an account is empty; Gemini and OpenRouter say 400 for 401 and 404.
        (402, "Insufficient Balance", None, "payment", True),
        (400, "API key not valid. Please pass a valid API key.", None, "authentication", True),
        (400, "xyz is not a valid model ID", None, "not_found", True),
        (400, "The model `xyz` does not exist", None, "not_found", True),
        (400, "Unsupported value: 'temperature'", "unsupported_value", "refused_setting", False),
        (429, "no money left", "insufficient_quota", "rate_limit", True),
        # How OpenAI, vLLM, SGLang, llama.cpp and TGI say that a prompt is too long.
        (400, "too big", "context_length_exceeded", "too_long", False),
        (400, "This model's maximum context length is 2048 tokens. However, you …", None, "too_long", False),
        (400, "The input (9 tokens) is longer than the model's context length (8 tokens).", None, "too_long", False),
        (400, "request (31 tokens) exceeds the available context size (8 tokens)", None, "too_long", False),
        (422, "`inputs` tokens + `max_new_tokens` must be <= 2048", None, "too_long", False),
    ],
)
def test_a_refusal_is_named_and_not_repeated(
    stand_in: StandIn, status: int, message: str, code: str | None, kind: str, may_retry: bool
) -> None:
    stand_in.reply = lambda body, n: refused(status, message, code=code)
    failure = fail(stand_in.model())
    assert (failure.kind, failure.may_retry, len(stand_in.requests)) == (kind, may_retry, 1)
    assert message in failure.message


def test_what_is_refused_when_others_were_answered_is_the_requests_own_fault(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said("Paris.") if n == 1 else refused(400, "bad shape")
    model = stand_in.model()
    assert isinstance(model.generate([prompt()])[0], Completion)
    failure = fail(model)
    assert (failure.kind, failure.may_retry) == ("bad_request", False)


@pytest.mark.parametrize(
    "body",
    ['{"choices": [{"mess', "<html>busy</html>", "[]", {"choices": []}, {"choices": [{"message": {"content": 7}}]}, {}],
)
def test_a_malformed_reply_is_a_failure_and_not_an_empty_answer(stand_in: StandIn, body: Any) -> None:
    stand_in.reply = lambda _, n: (200, {}, body)
    failure = fail(stand_in.model())
    assert (failure.kind, failure.may_retry) == ("bad_reply", True)


def test_a_page_in_place_of_json_is_a_bad_reply(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: (200, {"content-type": "text/html"}, "<html>login</html>")
    assert fail(stand_in.model()).kind == "bad_reply"


@pytest.mark.parametrize("asked", [prompt("half a character: \ud83d"), prompt(temperature=float("nan"))])
def test_a_prompt_that_cannot_be_sent_is_not_blamed_on_the_server(stand_in: StandIn, asked: Prompt) -> None:
    failure = fail(stand_in.model(), asked)
    assert (failure.kind, failure.may_retry, len(stand_in.requests)) == ("bad_request", False, 0)


def test_a_filtered_reply_is_a_failure(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said("", finish="content_filter")
    assert fail(stand_in.model()).kind == "content_filter"


# --- what servers leave out ---------------------------------------------------------------------


def test_missing_counts_are_estimated_and_say_so(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said("Paris is it.", usage=None)
    reply = complete(stand_in.model(), prompt("abcdefghi"))
    assert reply.notes == ("usage_estimated",)
    assert (reply.n_prompt_tokens, reply.n_tokens) == (3, 3)  # 9 and 12 characters, 4 to a token, rounded up


def test_missing_logprobs_are_noted_and_not_invented(stand_in: StandIn) -> None:
    reply = complete(stand_in.model(), prompt(wants=("logprobs", "entropy")))
    assert stand_in.requests[0]["logprobs"] is True and stand_in.requests[0]["top_logprobs"] == 20
    assert (reply.tokens, dict(reply.extras), reply.notes) == ((), {}, ("logprobs_missing", "entropy_missing"))


def test_logprobs_of_chat_are_read(stand_in: StandIn) -> None:
    top = [{"token": "Lyon", "logprob": -2.0}, {"token": "Paris", "logprob": -0.1}]
    content = [
        {"token": "Paris", "logprob": -0.1, "top_logprobs": top},
        {"token": ".", "logprob": -0.3, "top_logprobs": []},
    ]
    stand_in.reply = lambda body, n: said("Paris.", choice={"logprobs": {"content": content}})
    reply = complete(stand_in.model(), prompt(wants=("logprobs", "top_logprobs")))
    assert reply.tokens == ("Paris", ".")
    assert reply.extras == {
        "logprobs": [-0.1, -0.3],
        "top_logprobs": [[["Paris", -0.1], ["Lyon", -2.0]], []],
    }
    assert reply.notes == ()


def test_logprobs_in_the_older_shape_are_read(stand_in: StandIn) -> None:
    logprobs = {"tokens": [" Paris"], "token_logprobs": [-0.1], "top_logprobs": [{" Lyon": -2.0, " Paris": -0.1}]}
    choice = {"text": " Paris", "finish_reason": "length", "logprobs": logprobs}
    stand_in.reply = lambda body, n: (200, {}, {"choices": [choice]})
    reply = complete(stand_in.model(), prompt(layout="plain", wants=("logprobs", "top_logprobs")))
    assert reply.tokens == (" Paris",)
    assert reply.extras == {"logprobs": [-0.1], "top_logprobs": [[[" Paris", -0.1], [" Lyon", -2.0]]]}


# --- stop strings -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["stop_reason", "matched_stop"])
def test_the_stop_string_is_put_back_when_the_server_names_it(stand_in: StandIn, name: str) -> None:
    stand_in.reply = lambda body, n: said("One", choice={name: "\n"})
    reply = complete(stand_in.model(), prompt(stop=(".", "\n")))
    assert stand_in.requests[0]["stop"] == [".", "\n"]
    assert (reply.text, reply.finish_reason, reply.notes) == ("One\n", "stop", ())


@pytest.mark.parametrize("choice", [{"stop_reason": None}, {"matched_stop": 2}])
def test_an_end_mark_that_the_server_names_is_no_stop_string(stand_in: StandIn, choice: dict[str, Any]) -> None:
    stand_in.reply = lambda body, n: said("One", choice=choice)
    reply = complete(stand_in.model(), prompt(stop=(".",)))
    assert (reply.text, reply.finish_reason, reply.notes) == ("One", "end", ())


def test_a_stop_that_the_server_does_not_name_is_noted_and_not_guessed(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said("One")
    reply = complete(stand_in.model(), prompt(stop=(".",)))
    assert (reply.text, reply.finish_reason, reply.notes) == ("One", "end", ("stop_unknown",))


def test_a_single_stop_string_is_known_from_a_finish_reason_of_its_own(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said("One", finish="stop_sequence")
    reply = complete(stand_in.model(), prompt(stop=(".",)))
    assert (reply.text, reply.finish_reason) == ("One.", "stop")
    unsure = complete(stand_in.model(), prompt(stop=(".", "\n")))
    assert (unsure.text, unsure.finish_reason, unsure.notes) == ("One", "stop", ("stop_unknown",))


def test_extended_asks_the_server_to_leave_the_stop_string_in_the_text(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said("One.")
    reply = complete(stand_in.model(extended=True), prompt(stop=(".",)))
    assert stand_in.requests[0]["include_stop_str_in_output"] is stand_in.requests[0]["no_stop_trim"] is True
    assert (reply.text, reply.finish_reason, reply.notes) == ("One.", "stop", ())


def test_a_server_that_ignores_stop_strings_is_cut_and_noted(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said("One. Two", finish="length")
    reply = complete(stand_in.model(), prompt(stop=("Two", ".")))
    assert (reply.text, reply.finish_reason, reply.notes) == ("One.", "stop", ("stop_ignored",))


def test_stopping_at_the_client_cuts_text_and_tokens_alike(stand_in: StandIn) -> None:
    content = [{"token": token, "logprob": -0.5} for token in ("One", ".", " Two")]
    stand_in.reply = lambda body, n: said("One. Two", finish="length", choice={"logprobs": {"content": content}})
    reply = complete(stand_in.model(stop_at="client"), prompt(stop=(".",), wants=("logprobs",)))
    assert "stop" not in stand_in.requests[0]
    assert (reply.text, reply.finish_reason, reply.notes) == ("One.", "stop", ())
    assert reply.tokens == ("One", ".") and reply.extras["logprobs"] == [-0.5, -0.5]
    assert reply.n_tokens == 7  # what was generated, and paid


# --- thoughts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thoughts_in_a_field_of_their_own_are_kept_apart(stand_in: StandIn, name: str) -> None:
    stand_in.reply = lambda body, n: said("Paris.", message={name: "Lyon? No."})
    reply = complete(stand_in.model())
    assert (reply.thoughts, reply.text, reply.n_thought_tokens) == ("Lyon? No.", "Paris.", None)


def test_thoughts_in_tags_are_kept_apart(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said("<think>Lyon? No.</think>\n\nParis.")
    reply = complete(stand_in.model())
    assert (reply.thoughts, reply.text, reply.n_thought_tokens) == ("Lyon? No.", "Paris.", None)


def test_thoughts_that_use_up_all_tokens_leave_an_empty_answer(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said("<think>Lyon? N", finish="length")
    reply = complete(stand_in.model())
    assert (reply.thoughts, reply.text, reply.finish_reason) == ("Lyon? N", "", "length")


@pytest.mark.parametrize("content", [None, "", " \n"])
@pytest.mark.parametrize(
    ("message", "finish"),
    [
        ({"function_call": {"name": "search", "arguments": "{}"}}, "function_call"),
        ({"tool_calls": [{"id": "1"}]}, "tool_calls"),
        ({"tool_calls": [{"id": "1"}], "reasoning_content": "Lyon?"}, "stop"),
        ({}, "tool_calls"),
    ],
)
def test_a_call_of_a_tool_is_no_answer(
    stand_in: StandIn, content: str | None, message: dict[str, Any], finish: str
) -> None:
    stand_in.reply = lambda body, n: said(content, finish=finish, message=message)
    assert fail(stand_in.model()).kind == "bad_reply"


def test_a_text_beside_a_call_of_a_tool_is_an_answer(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said("Paris.", message={"tool_calls": [{"id": "1"}]})
    assert complete(stand_in.model()).text == "Paris."


def test_no_closing_tag_stays_beside_thoughts_given_apart(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said("So.</think>\n\nParis.", message={"reasoning_content": "Lyon? No."})
    reply = complete(stand_in.model())
    assert (reply.thoughts, reply.text) == ("Lyon? No.\nSo.", "Paris.")


QUERY = "<|begin_search_query|>x<|end_search_query|>"


@pytest.mark.parametrize(
    ("content", "more", "written"),
    [
        ("Paris.", {"reasoning": "Lyon? No."}, "<think>\nLyon? No.\n</think>\n\nParis."),
        ("<think>Lyon? No.</think>\n\nParis.", {}, "<think>Lyon? No.</think>\n\nParis."),
        # The server's template wrote the opening tag.
        ("Lyon? No.</think>\n\nParis.", {}, "<think>\nLyon? No.</think>\n\nParis."),
        # It stopped while it was thinking, so the thought is still open.
        (None, {"reasoning": f"Lyon? {QUERY}"}, f"<think>\nLyon? {QUERY}"),
        ("Paris.", {}, ""),
    ],
)
def test_thoughts_and_text_can_be_gone_on_from_as_they_were_written(
    stand_in: StandIn, content: str | None, more: dict[str, str], written: str
) -> None:
    stand_in.reply = lambda body, n: said(content, message=more)
    assert complete(stand_in.model()).written == written


def test_a_reply_that_goes_on_inside_a_thought_opens_no_second_one(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said("No.</think>\n\nParis.")
    messages = (Message(role="user", content="Where?"), Message(role="assistant", content="<think>\nLyon?"))
    reply = complete(stand_in.model(), prompt(messages=messages))
    assert (reply.thoughts, reply.text, reply.written) == ("No.", "Paris.", "No.</think>\n\nParis.")


def test_hidden_thoughts_are_counted(stand_in: StandIn) -> None:
    details = {"reasoning_tokens": 5}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "completion_tokens_details": details}
    stand_in.reply = lambda body, n: said("Paris.", usage=usage)
    reply = complete(stand_in.model())
    assert (reply.thoughts, reply.n_thought_tokens) == ("", 5)


def test_without_thoughts_their_count_is_zero(stand_in: StandIn) -> None:
    assert complete(stand_in.model()).n_thought_tokens == 0


# --- many at once -------------------------------------------------------------------------------


def echo_slowly(body: dict[str, Any], n: int) -> Reply:
    """The prompt says how many milliseconds its reply takes."""
    wording = body["messages"][0]["content"]
    time.sleep(float(wording) / 1000)
    return said(wording)


def test_replies_come_in_the_order_of_the_prompts(stand_in: StandIn) -> None:
    stand_in.reply = echo_slowly
    wordings = ["300", "10", "150", "11"]
    replies = stand_in.model().generate([prompt(wording) for wording in wordings])
    assert [reply.text for reply in replies if isinstance(reply, Completion)] == wordings


def test_one_failure_does_not_spoil_its_neighbors(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: refused(400, "no") if body["messages"][0]["content"] == "bad" else said("Paris.")
    replies = stand_in.model().generate([prompt("good"), prompt("bad"), prompt("good")])
    assert [type(reply) for reply in replies] == [Completion, Failure, Completion]


def test_no_more_requests_than_the_concurrency_are_under_way(stand_in: StandIn) -> None:
    stand_in.reply = echo_slowly
    stand_in.model(concurrency=3).generate([prompt("100")] * 9)
    assert len(stand_in.requests) == 9
    assert stand_in.most_at_once == 3


def test_early_replies_are_collected_before_slow_ones(stand_in: StandIn) -> None:
    stand_in.reply = echo_slowly
    model = stand_in.model()
    model.submit(1, prompt("2000"))
    model.submit(2, prompt("10"))
    [(ticket, _)] = model.collect()
    assert ticket == 2
    [(ticket, reply)] = model.collect()
    assert (ticket, isinstance(reply, Completion)) == (1, True)
    assert model.collect() == []


def test_collecting_before_anything_was_submitted_gives_nothing() -> None:
    assert Openai(model="m").collect() == []


def test_generating_leaves_submitted_replies_alone(stand_in: StandIn) -> None:
    model = stand_in.model()
    model.submit(1, prompt())
    complete(model)
    assert [ticket for ticket, _ in model.collect()] == [1]
    assert model.collect() == []


def test_no_prompts_need_no_key_and_no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert Openai(model="m").generate([]) == []


# --- keys, and what may not be used -------------------------------------------------------------


def test_the_key_is_never_shown(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: refused(401, f"Incorrect API key provided: {SECRET}")
    model = stand_in.model()
    failure = fail(model)
    assert failure.kind == "authentication" and "***" in failure.message
    shown = f"{failure} {model!r} {model.environment()} {catalog.spelled(model)} {catalog.describe(model)}"
    assert SECRET not in shown


def test_a_missing_key_says_where_it_was_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("SHAKETABLE_OFFLINE", raising=False)
    with pytest.raises(ModelError, match=r"api\.openai\.com.*OPENAI_API_KEY is not set.*api_key_variable"):
        Openai(model="gpt").generate([prompt()])


def test_a_local_server_needs_no_key(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert complete(stand_in.model()).text == "Paris."


@pytest.mark.parametrize("setting", ["base_url", "variable"])
def test_offline_a_remote_endpoint_is_refused(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    monkeypatch.setenv("SHAKETABLE_OFFLINE", "1")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://models.example/v1")
    model = Openai(model="m", base_url="https://models.example/v1" if setting == "base_url" else None)
    with pytest.raises(ModelError, match=r"models\.example and SHAKETABLE_OFFLINE is set"):
        model.submit(1, prompt())


def test_offline_a_server_on_this_machine_is_allowed(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHAKETABLE_OFFLINE", "1")
    assert complete(stand_in.model()).text == "Paris."


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ("base_url='http://me:hidden-word@host/v1'", "user name, password"),
        ("base_url='http://host/v1?key=hidden-word'", "query string"),
        ("api_key_variable='sk-hidden-word'", "name of an environment variable"),
        ("base_url='hidden-word'", "not a web address"),
        ("concurrency=0", "concurrency is 0"),
        ("requests_per_minute=1e999", "requests_per_minute is infinite. Leave it out where there is no limit"),
        ("stop_at='nowhere'", "stop_at is 'nowhere'"),
        ("max_tokens_field='tokens'", "max_tokens_field is 'tokens'"),
    ],
)
def test_a_wrong_setting_is_refused_in_words(settings: str, complaint: str) -> None:
    with pytest.raises((PartError, ValueError), match=complaint):
        Openai(**{"model": "m", **catalog.parse(f"openai({settings})")[1]})


def test_a_secret_in_the_wrong_place_is_not_repeated() -> None:
    for settings in ({"api_key_variable": SECRET}, {"base_url": f"http://me:{SECRET}@host/v1"}):
        with pytest.raises(ValueError) as caught:
            Openai(model="m", **settings)
        assert SECRET not in str(caught.value)


def test_settings_that_do_not_change_the_output_are_not_part_of_the_identity() -> None:
    plain = Openai(model="m")
    tuned = Openai(model="m", concurrency=2, timeout_seconds=9, attempts=1, price_in=1.0, api_key_variable="OTHER")
    assert catalog.spelled(plain) == catalog.spelled(tuned)
    assert catalog.spelled(plain) != catalog.spelled(Openai(model="m", extended=True))
    assert catalog.label(plain) == "openai(model='m')"


def test_the_environment_names_what_was_asked_and_what_was_reported(stand_in: StandIn) -> None:
    model = stand_in.model()
    before = model.environment()
    complete(model)
    after = model.environment()
    assert before["engine"] == "openai-compatible" and before["model"] == "stand-in"
    assert before["endpoint"] == stand_in.url.removeprefix("http://").removesuffix("/v1")
    assert "reported_model" not in before
    assert (after["reported_model"], after["reported_fingerprint"]) == ("stand-in-2", "fp")


# --- noticing what is ignored -------------------------------------------------------------------


def faithful(body: dict[str, Any]) -> str:
    """A text that depends on wording, temperature and seed as it should."""
    seed = body["seed"] if body["temperature"] else "greedy"
    return f"{body['messages'][0]['content']} {body['temperature']} {seed}"


def values(checks: dict[str, Any]) -> dict[str, bool | None]:
    assert all(fact.reason for fact in checks.values())
    return {name: fact.value for name, fact in checks.items()}


def test_a_server_that_honors_everything_is_believed(stand_in: StandIn) -> None:
    def reply(body: dict[str, Any], n: int) -> Reply:
        text = faithful(body)
        logprobs = {"content": [{"token": text, "logprob": -1.0}]} if body.get("logprobs") else None
        status, headers, content = said(text, choice={"logprobs": logprobs})
        return status, headers, {**content, "choices": content["choices"] * body.get("n", 1)}

    stand_in.reply = reply
    model = stand_in.model()
    checks = model.check()
    assert values(checks) == {
        "n_honored": True,
        "logprobs_given": True,
        "seed_honored": True,
        "temperature_applied": True,
        "unlikely_drawn": None,
    }
    assert model.environment()["checks"] == {name: asdict(fact) for name, fact in checks.items()}


def test_a_server_that_ignores_n_and_logprobs_is_noticed(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said(faithful(body))
    found = values(stand_in.model().check())
    assert (found["n_honored"], found["logprobs_given"]) == (False, False)


def test_a_server_that_ignores_seed_is_noticed(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said(f"text {n}" if body["temperature"] else "greedy")
    model = stand_in.model()
    checks = model.check()
    found = values(checks)
    assert (found["seed_honored"], found["temperature_applied"]) == (False, True)
    assert "extra_body={'cache_prompt': False} with concurrency=1" in checks["seed_honored"].reason
    assert complete(model).notes == ("seed_ignored",)


def test_a_server_that_always_says_the_same_ignores_the_temperature(stand_in: StandIn) -> None:
    found = values(stand_in.model().check())
    assert (found["seed_honored"], found["temperature_applied"]) == (None, False)


def test_a_server_that_throws_its_own_dice_ignores_the_temperature(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said(f"text {n}")
    found = values(stand_in.model().check())
    assert (found["seed_honored"], found["temperature_applied"]) == (False, False)


def test_empty_replies_tell_nothing(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said("", finish="length")
    found = values(stand_in.model().check())
    assert (found["seed_honored"], found["temperature_applied"]) == (None, None)


def test_a_refused_request_is_a_no_and_a_broken_one_tells_nothing(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: refused(400, "n is not supported") if "n" in body else refused(500, "down")
    found = values(stand_in.model(attempts=1).check())
    assert found == {"n_honored": False, "logprobs_given": None, "seed_honored": None, "temperature_applied": None}


def test_a_request_refused_for_its_words_does_not_mean_that_temperature_and_seed_are_ignored(stand_in: StandIn) -> None:
    def refuses_hot(body: dict[str, Any], n: int) -> Reply:
        return refused(400, "content policy") if body["temperature"] else said(faithful(body))

    stand_in.reply = refuses_hot
    found = values(stand_in.model().check())
    assert (found["seed_honored"], found["temperature_applied"]) == (None, None)


def test_a_request_that_is_refused_once_is_asked_again(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: refused(400, "content policy") if n % 5 == 4 else said(faithful(body))
    found = values(stand_in.model().check())
    assert (found["seed_honored"], found["temperature_applied"]) == (True, True)


def test_a_server_that_takes_no_temperature_above_1_is_asked_at_1(stand_in: StandIn) -> None:
    def reply(body: dict[str, Any], n: int) -> Reply:
        too_hot = body["temperature"] > 1
        return refused(400, "temperature: at most 1 is supported") if too_hot else said(faithful(body))

    stand_in.reply = reply
    checks = stand_in.model().check()
    assert values(checks)["temperature_applied"] is True
    assert checks["temperature_applied"].reason.endswith("2 at 1")
