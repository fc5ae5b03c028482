"""What an endpoint does not take is learned once; what would change the meaning of an answer stops the run."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from stand_in_endpoint import Reply, StandIn, said

from shaketable.errors import ModelError
from shaketable.models.endpoint import failures
from shaketable.models.endpoint.honors import N_LIKELIEST, judge_truncation
from shaketable.models.openai import Openai
from shaketable.report.words import describe_truncation
from shaketable.types import Completion, Failure, Message, Prompt, Sampling

NEUTRAL = {"top_k", "min_p", "repetition_penalty", "repeat_penalty"}


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.01)
    for name in ("SHAKETABLE_OFFLINE", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    endpoint = StandIn()
    yield endpoint
    endpoint.server.shutdown()
    endpoint.server.server_close()


def prompts(n: int, **sampling: Any) -> list[Prompt]:
    settings = Sampling(**{"temperature": 0.7, "max_tokens": 20, **sampling})
    return [Prompt(messages=(Message(role="user", content=f"q{i}"),), sampling=settings, seed=i) for i in range(n)]


def refused(message: str, status: int = 400, **more: Any) -> Reply:
    return status, {}, {"error": {"message": message, **more}}


def refusing(name: str, reply: Reply) -> Any:
    return lambda body, n: reply if name in body else said(f"text {body['temperature']} {n}")


FORBIDDEN = {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}


@pytest.mark.parametrize(
    "reply",
    [refused("Unknown parameter: 'seed'.", param="seed"), (422, {}, {"detail": [FORBIDDEN]})],
    ids=["OpenAI", "Mistral"],
)
def test_a_refused_seed_is_left_out(stand_in: StandIn, reply: Reply, caplog: pytest.LogCaptureFixture) -> None:
    stand_in.reply = refusing("seed", reply)
    model = stand_in.model()
    with caplog.at_level(logging.WARNING):
        replies = [*model.generate(prompts(40)), *model.generate(prompts(40))]
    assert all(isinstance(reply, Completion) for reply in replies)
    assert all("seed" not in reply.decoding for reply in replies if isinstance(reply, Completion))
    assert not any("seed" in body for body in stand_in.requests[-40:])
    assert sum("no seed" in record.message for record in caplog.records) == 1
    assert model.environment()["settings_left_out"].keys() == {"seed"}  # type: ignore[union-attr]


def test_the_check_knows_a_refused_seed(stand_in: StandIn) -> None:
    stand_in.reply = refusing("seed", refused("Unknown parameter: 'seed'."))
    assert stand_in.model().check()["seed_honored"].value is False


def test_refused_neutral_settings_are_left_out(stand_in: StandIn) -> None:
    stand_in.reply = refusing("min_p", refused("Unrecognized request argument supplied: min_p"))
    model = stand_in.model()
    (reply,) = model.generate(prompts(1))
    assert isinstance(reply, Completion)
    assert stand_in.requests[0].keys() >= NEUTRAL and not NEUTRAL & stand_in.requests[1].keys()
    assert set(model.environment()["settings_left_out"]) >= NEUTRAL  # type: ignore[arg-type]


def test_a_stated_setting_is_never_left_out(stand_in: StandIn) -> None:
    stand_in.reply = refusing("top_k", refused("property 'top_k' is unsupported"))
    (reply,) = stand_in.model().generate(prompts(1, top_k=5))
    assert isinstance(reply, Failure) and reply.kind == "refused_setting"


def test_the_check_tries_without_them_where_no_name_is_given(stand_in: StandIn) -> None:
    stand_in.reply = refusing("min_p", refused("invalid request"))
    model = stand_in.model()
    model.check()
    (reply,) = model.generate(prompts(1))
    assert isinstance(reply, Completion) and not NEUTRAL & stand_in.requests[-1].keys()


def test_a_refusal_for_another_reason_leaves_nothing_out(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: refused("invalid request") if n < 4 else said(f"text {n}")
    model = stand_in.model()
    model.check()
    assert "settings_left_out" not in model.environment()


@pytest.mark.parametrize(
    ("settings", "is_sent"),
    [
        ({}, True),
        ({"base_url": "https://api.openai.com/v1"}, False),
        ({"base_url": "https://x.openai.azure.com", "api_version": "2024-10-21"}, False),
        ({"base_url": "https://x.openai.azure.com/openai/v1"}, False),
        ({"base_url": "https://api.openai.com/v1", "extended": True}, True),
        ({"extended": False}, False),
    ],
)
def test_who_gets_neutral_settings(settings: dict[str, Any], is_sent: bool) -> None:
    model = Openai(**{"model": "m", "base_url": "http://127.0.0.1:1/v1", **settings})
    assert (model.body(prompts(1)[0]).keys() >= NEUTRAL) is is_sent


# --- temperatures ---------------------------------------------------------------------------------


def only_the_default(body: dict[str, Any], n: int) -> Reply:
    if body["temperature"] == 1.0:
        return said(f"text {n}")
    message = f"'temperature' does not support {body['temperature']}. Only the default (1) value is supported."
    return refused(f"Unsupported value: {message}", code="unsupported_value", param="temperature")


def test_refused_temperatures_end_the_check(stand_in: StandIn) -> None:
    stand_in.reply = only_the_default
    with pytest.raises(ModelError) as raised:
        stand_in.model().check([0.0, 0.7, 1.0])
    words = str(raised.value)
    assert "refuses temperature 0, 0.7 and takes 1" in words and "send_temperature=False" in words


@pytest.mark.parametrize("temperatures", [(), (1.0,)])
def test_temperatures_that_are_taken_do_not(stand_in: StandIn, temperatures: tuple[float, ...]) -> None:
    stand_in.reply = only_the_default
    stand_in.model().check(temperatures)


def test_library_defaults_hold_in_the_check_too(stand_in: StandIn) -> None:
    both = "temperature and top_p cannot both be specified for this model. Please use only one."
    stand_in.reply = refusing("top_p", refused(both))
    stand_in.model().check([0.0, 1.0], library_defaults=True)
    with pytest.raises(ModelError, match="library_defaults = true"):
        stand_in.model().check([0.0, 1.0])


# --- truncation -----------------------------------------------------------------------------------


def drawn(n_unlikely: int, n: int = 24) -> Completion:
    top = [[f"t{i}", -float(i)] for i in range(N_LIKELIEST)]
    tokens = tuple("strange" if i < n_unlikely else "t3" for i in range(n))
    unlikely = [[*top, ["strange", -50.0]] if i < n_unlikely else top for i in range(n)]
    return completion("".join(tokens), tokens, {"top_logprobs": unlikely})


def completion(text: str, tokens: tuple[str, ...] = (), extras: Any = None) -> Completion:
    return Completion(
        text=text,
        finish_reason="length",
        n_prompt_tokens=1,
        n_tokens=24,
        seconds=1.0,
        tokens=tokens,
        extras=extras or {},
    )


@pytest.mark.parametrize(("n_unlikely", "value"), [(23, True), (2, False), (0, False)])
def test_truncation_shows_in_log_probabilities(n_unlikely: int, value: bool) -> None:
    assert judge_truncation(drawn(n_unlikely), 2.0).value is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("On the evening of August 22, I visited the British Library in Newport, England, and it was", False),
        ("Will Ferg Wait cipher similarity holds identify an extremely captivating Lor Mrs continue guamel", True),
        ("Bridgeport", None),
    ],
)
def test_truncation_shows_in_words(text: str, value: bool | None) -> None:
    assert judge_truncation(completion(text), 2.0).value is value


# --- keys -----------------------------------------------------------------------------------------


def test_an_unset_key_and_a_wrong_key_have_their_own_words(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in.reply = lambda body, n: refused("no such key", 401)
    (unset,) = stand_in.model().generate(prompts(1))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-key-that-is-wrong")
    (wrong,) = stand_in.model().generate(prompts(1))
    assert isinstance(unset, Failure) and isinstance(wrong, Failure)
    assert "OPENAI_API_KEY is not set" in unset.message and "is not set" not in wrong.message
    assert "Check the key in OPENAI_API_KEY" in wrong.message


# --- the report -----------------------------------------------------------------------------------

CUT = {"unlikely_drawn": {"value": False, "reason": "0 of 24"}}
DRAWN = {"unlikely_drawn": {"value": True, "reason": "23 of 24"}}


@pytest.mark.parametrize(
    ("environment", "is_named"),
    [
        ({"checks": CUT}, True),
        ({"checks": DRAWN}, False),
        ({"settings_left_out": {"top_k": "HTTP 400"}}, True),
        ({"settings_left_out": {"top_k": "HTTP 400"}, "checks": DRAWN}, False),
        ({"settings_left_out": {"seed": "HTTP 400"}}, False),
        ({}, False),
    ],
)
def test_the_report_names_settings_that_may_not_apply(environment: dict[str, Any], is_named: bool) -> None:
    assert (describe_truncation({"model": "m", **environment}) is not None) is is_named
