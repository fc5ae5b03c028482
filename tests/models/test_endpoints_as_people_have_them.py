"""`openai` against endpoints as people have them: reasoning models, Azure, gateways. The stand-in refuses what each of
them refuses, in the words that its makers use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stand_in_endpoint import Reply, StandIn, said

from shaketable import catalog
from shaketable.errors import PartError
from shaketable.models.endpoint import failures
from shaketable.models.openai import Openai
from shaketable.stages.answer import answer
from shaketable.stages.plan import Plan, plan
from shaketable.store import Run
from shaketable.study import parse_study
from shaketable.types import Completion, Failure, Message, Prompt, Sampling

KEY, TEAM_KEY = "sk-the-key-of-the-account", "tk-the-key-of-the-team"


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.01)
    for name in ("SHAKETABLE_OFFLINE", "OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    endpoint = StandIn()
    yield endpoint
    endpoint.server.shutdown()
    endpoint.server.server_close()


def prompt(**sampling: Any) -> Prompt:
    messages = (Message(role="user", content="What is the capital of France?"),)
    return Prompt(messages=messages, sampling=Sampling(**{"temperature": 0.7, "max_tokens": 20, **sampling}), seed=5)


def ask(model: Openai, **sampling: Any) -> Completion | Failure:
    [reply] = model.generate([prompt(**sampling)])
    return reply


def refused(message: str, status: int = 400, **more: Any) -> Reply:
    return status, {}, {"error": {"message": message, **more}}


def reasoning_model(body: dict[str, Any], n: int) -> Reply:
    """Refuses what OpenAI's reasoning models refuse."""
    for name, instead in (("max_tokens", " Use 'max_completion_tokens' instead."), ("temperature", ""), ("top_p", "")):
        if name in body:
            message = f"Unsupported parameter: '{name}' is not supported with this model.{instead}"
            return refused(message, code="unsupported_parameter", param=name)
    details = {"reasoning_tokens": 64}
    usage = {"prompt_tokens": 11, "completion_tokens": 70, "completion_tokens_details": details}
    return said("Paris.", usage=usage)


# --- reasoning models -----------------------------------------------------------------------------


def test_each_refusal_of_a_reasoning_model_names_the_setting_that_mends_it(stand_in: StandIn) -> None:
    stand_in.reply = reasoning_model
    settings: dict[str, Any] = {}
    for hint, more in (
        ("max_tokens_field='max_completion_tokens'", {"max_tokens_field": "max_completion_tokens"}),
        ("send_temperature=False", {"send_temperature": False}),
    ):
        failure = ask(stand_in.model(**settings))
        assert isinstance(failure, Failure)
        assert (failure.kind, failure.may_retry) == ("refused_setting", False)
        assert hint in failure.message
        settings |= more
    reply = ask(stand_in.model(**settings, reasoning_effort="low", extended=False))
    assert isinstance(reply, Completion)
    assert (reply.text, reply.n_thought_tokens, reply.n_tokens) == ("Paris.", 64, 70)
    assert stand_in.requests[-1].keys() == {"model", "messages", "seed", "max_completion_tokens", "reasoning_effort"}
    assert reply.decoding == {"seed": 5, "max_completion_tokens": 20}


def test_a_top_p_that_the_study_sets_is_sent_even_where_no_temperature_is(stand_in: StandIn) -> None:
    assert isinstance(ask(stand_in.model(send_temperature=False), top_p=0.9), Completion)
    assert stand_in.requests[0]["top_p"] == 0.9


def test_an_endpoint_is_not_asked_again_for_the_same_refusal(stand_in: StandIn) -> None:
    """Only the default, as OpenAI says it of some models: other values of the temperature may be taken."""

    def reply(body: dict[str, Any], n: int) -> Reply:
        if body["temperature"] == 1.0:
            return said("Paris.")
        message = f"'temperature' does not support {body['temperature']}. Only the default (1) value is supported."
        return refused(f"Unsupported value: {message}", code="unsupported_value", param="temperature")

    stand_in.reply = reply
    model = stand_in.model()
    replies = [ask(model, temperature=temperature) for temperature in (0.0, 0.0, 1.0, 0.0, 1.0)]
    assert [type(reply) for reply in replies] == [Failure, Failure, Completion, Failure, Completion]
    assert [body["temperature"] for body in stand_in.requests] == [0.0, 1.0, 1.0]
    assert replies[0] == replies[1] == replies[3]


@pytest.mark.parametrize(
    ("content", "thoughts", "text"),
    [
        ([{"type": "text", "text": "Paris."}], "", "Paris."),
        (
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Lyon? No."}]},
                {"type": "text", "text": "Paris."},
            ],
            "Lyon? No.",
            "Paris.",
        ),
        ([{"type": "thinking", "thinking": "Lyon?"}], "Lyon?", ""),
    ],
)
def test_thoughts_that_come_as_parts_of_the_content_are_kept_apart(
    stand_in: StandIn, content: Any, thoughts: str, text: str
) -> None:
    stand_in.reply = lambda body, n: said(content)
    reply = ask(stand_in.model())
    assert isinstance(reply, Completion)
    assert (reply.thoughts, reply.text) == (thoughts, text)


def test_a_part_of_another_kind_is_a_bad_reply(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: said([{"type": "image_url", "image_url": "x"}])  # type: ignore[arg-type]
    failure = ask(stand_in.model())
    assert isinstance(failure, Failure) and failure.kind == "bad_reply"


# --- words of other endpoints ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "sampling", "reply", "hint"),
    [
        ({}, {"top_k": 5}, refused("property 'top_k' is unsupported"), "Leave top_k out of [generation]"),
        ({"extended": True}, {}, refused("Unrecognized request argument supplied: min_p"), "extended=False"),
        ({}, {"stop": ("\n",)}, refused("'stop' is not supported with this model."), "stop_at='client'"),
        (
            {},
            {},
            refused("temperature and top_p cannot both be specified for this model. Please use only one."),
            "library_defaults = true",
        ),
        (
            {},
            {"temperature": 3.0},
            refused("Invalid 'temperature': decimal above maximum value. Expected a value <= 2.", param="temperature"),
            "Change cross.temperatures",
        ),
        ({"extra_body": {"thinking": 1}}, {}, refused("Unknown parameter: 'thinking'."), "stands in extra_body"),
        ({"reasoning_effort": "huge"}, {}, refused("Unsupported value: 'reasoning_effort'"), "reasoning_effort out"),
        (
            {"max_tokens_field": "max_completion_tokens"},
            {},
            refused("Unrecognized request argument supplied: max_completion_tokens"),
            "max_tokens_field='max_tokens'",
        ),
    ],
)
def test_a_refusal_says_which_setting_to_change(
    stand_in: StandIn, settings: dict[str, Any], sampling: dict[str, Any], reply: Reply, hint: str
) -> None:
    stand_in.reply = lambda body, n: reply
    failure = ask(stand_in.model(**settings), **sampling)
    assert isinstance(failure, Failure)
    assert failure.kind == "refused_setting"
    assert hint in failure.message


def test_words_of_any_length_leave_room_for_the_hint(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: refused("'temperature' is not supported. " + "x" * 2000)
    failure = ask(stand_in.model())
    assert isinstance(failure, Failure)
    assert "send_temperature=False" in failure.message and failure.message.endswith("others.")


def test_a_bad_request_about_something_else_gets_no_hint_and_is_asked_again(stand_in: StandIn) -> None:
    stand_in.reply = lambda body, n: refused("the temperature in the data center is too high")
    model = stand_in.model()
    failure = ask(model)
    assert isinstance(failure, Failure)
    assert (failure.kind, "→" in failure.message) == ("bad_request", False)
    ask(model)
    assert len(stand_in.requests) == 2


def test_a_prompt_that_azures_filter_refuses_is_told_apart_from_a_wrong_request(stand_in: StandIn) -> None:
    words = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
    stand_in.reply = lambda body, n: refused(words, code="content_filter")
    failure = ask(stand_in.model())
    assert isinstance(failure, Failure) and failure.kind == "content_filter"


@pytest.mark.parametrize(
    ("status", "settings", "hint"),
    [(401, {}, "key in OPENAI_API_KEY"), (404, {}, "ends with /v1"), (404, {"api_version": "x"}, "deployment")],
)
def test_a_wrong_key_or_address_says_where_to_look(
    stand_in: StandIn, status: int, settings: dict[str, Any], hint: str
) -> None:
    stand_in.reply = lambda body, n: refused("no", status)
    failure = ask(stand_in.model(**settings))
    assert isinstance(failure, Failure) and hint in failure.message


# --- Azure, gateways, more in the body ------------------------------------------------------------


def test_azure_gets_its_deployment_its_version_and_its_key(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", TEAM_KEY)
    resource = stand_in.url.removesuffix("/v1")
    model = Openai(model="our-gpt", base_url=resource, api_version="2024-10-21")
    assert isinstance(ask(model), Completion)
    assert stand_in.paths == ["/openai/deployments/our-gpt/chat/completions?api-version=2024-10-21"]
    assert stand_in.headers[0]["api-key"] == TEAM_KEY
    assert "authorization" not in stand_in.headers[0]
    assert TEAM_KEY not in f"{model!r} {model.environment()} {catalog.spelled(model)}"


def test_azures_address_is_read_where_its_sdk_reads_it(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Openai(model="our-gpt", api_version="2024-10-21")
    assert "AZURE_OPENAI_ENDPOINT" in str(model.lacks())
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", stand_in.url.removesuffix("/v1"))
    assert isinstance(ask(model), Completion)
    assert stand_in.paths[0].startswith("/openai/deployments/our-gpt/")


def test_headers_take_secrets_from_the_environment_and_show_them_nowhere(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_KEY", TEAM_KEY)
    stand_in.reply = lambda body, n: refused(f"Key {TEAM_KEY} of account {KEY} is not known", 401)
    model = stand_in.model(headers={"X-Api-Key": "${TEAM_KEY}", "X-Team": "search"})
    failure = ask(model)
    assert (stand_in.headers[0]["x-api-key"], stand_in.headers[0]["x-team"]) == (TEAM_KEY, "search")
    shown = f"{failure} {model!r} {model.environment()} {catalog.spelled(model)} {catalog.describe(model)}"
    assert TEAM_KEY not in shown and KEY not in shown and "${TEAM_KEY}" in shown


def test_a_key_in_the_headers_is_key_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "TEAM_KEY", "SHAKETABLE_OFFLINE", "SHAKETABLE_ALLOW"):
        monkeypatch.delenv(name, raising=False)
    model = Openai(model="m", base_url="https://gateway.example/v1", headers={"Authorization": "Bearer ${TEAM_KEY}"})
    assert "TEAM_KEY" in str(model.lacks())
    monkeypatch.setenv("TEAM_KEY", TEAM_KEY)
    assert "SHAKETABLE_ALLOW" in str(model.lacks())  # The host is none that is known.
    monkeypatch.setenv("SHAKETABLE_ALLOW", "TEAM_KEY@gateway.example")
    assert model.lacks() is None


def test_an_authorization_of_ones_own_takes_the_place_of_the_key(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_KEY", TEAM_KEY)
    ask(stand_in.model(headers={"Authorization": "Basic ${TEAM_KEY}"}))
    assert stand_in.headers[0]["authorization"] == f"Basic {TEAM_KEY}"


def test_extra_body_is_sent_and_its_order_makes_no_other_key(stand_in: StandIn) -> None:
    one = stand_in.model(extra_body={"provider": {"order": ["x"], "sort": "price"}, "chat_template_kwargs": {"a": 1}})
    other = stand_in.model(extra_body={"chat_template_kwargs": {"a": 1}, "provider": {"sort": "price", "order": ["x"]}})
    assert catalog.spelled(one) == catalog.spelled(other) != catalog.spelled(stand_in.model())
    ask(one)
    assert stand_in.requests[0]["provider"] == {"order": ["x"], "sort": "price"}
    assert stand_in.requests[0]["temperature"] == 0.7


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ("extra_body={'temperature': 1.0}", "extra_body has 'temperature', which the study"),
        ("extra_body={'a': {1, 2}}", "extra_body cannot be sent as JSON"),
        ("headers={'api-key': 'hidden-word'}", r"headers: 'api-key' is written out.*\$\{MY_VARIABLE\}"),
        ("headers={'Authorization': 'Bearer hidden-word'}", "'Authorization' is written out"),
        ("headers={'X Team': 'a'}", "a name has characters"),
        ("headers={'X-Team': 7}", "should be a valid string"),
        ("send_temperature='no'", "should be a valid boolean"),
        ("base_url='https://r.openai.azure.com/openai?api-version=2024-10-21'", "api_version='2024-10-21'"),
        ("base_url='https://host/v1/chat/completions'", "ends with /chat/completions"),
    ],
)
def test_a_wrong_setting_is_told_with_what_to_write(settings: str, complaint: str) -> None:
    with pytest.raises(PartError, match=complaint) as caught:
        catalog.build("model", f"openai(model='m', {settings})", "cross.models[0]")
    assert str(caught.value).startswith("cross.models[0]")
    if "hidden-word" in settings:
        assert "hidden-word" not in str(caught.value).replace(settings, "")


# --- a study --------------------------------------------------------------------------------------


def study(model: str, **cross: Any) -> Any:
    tables = {
        "name": "endpoints",
        "dataset": {"limit": 3},
        "cross": {"models": [model, "scripted"], "methods": ["closed_book"], "temperatures": [0.5, 1.0, 1.5], **cross},
        "score": {"metrics": ["contains"]},
        "analyze": {"analyses": ["correctness"]},
    }
    return parse_study(tables, "test")


def answered(planned: Plan, folder: Path) -> Run:
    made = Run.prepare(folder / "run", planned.study)
    with made.writing() as store:
        answer(planned, store)
    return made


def test_a_model_without_temperature_has_one_in_the_plan_and_no_claims_on_others(
    stand_in: StandIn, tmp_path: Path
) -> None:
    stand_in.reply = reasoning_model
    text = (
        f"openai(model='o9', base_url='{stand_in.url}', max_tokens_field='max_completion_tokens', "
        "send_temperature=False)"
    )
    planned = plan(study(text, repeats=2))
    assert planned.n_trials == 3 * (1 + 3) * 2 == len(list(planned.trials()))
    made = answered(planned, tmp_path)
    own = made.records().filter(model=catalog.label(planned.conditions[0].model))
    assert own["temperature"].unique().to_list() == [0.5] and own.height == 6
    assert made.without_temperature() == {(own["model"][0], "closed_book"): "it is not sent to the endpoint"}


def test_a_refused_temperature_fails_its_trials_and_changes_no_study(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.reply = reasoning_model
    text = f"openai(model='o9', base_url='{stand_in.url}', max_tokens_field='max_completion_tokens', concurrency=1)"
    made = answered(plan(study(text)), tmp_path)
    [failure] = made.failures()
    assert (failure.kind, failure.n) == ("refused_setting", 9)
    assert "send_temperature=False" in failure.message
    assert len(stand_in.requests) == 3  # one for each temperature, and no more for the same refusal


# --- names in place of parts ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("gpt-4o", "openai(model='gpt-4o')."),
        ("o3-mini", "openai(model='o3-mini', max_tokens_field='max_completion_tokens', send_temperature=False)"),
        ("claude-sonnet-4-5", "base_url='https://api.anthropic.com/v1', api_key_variable='ANTHROPIC_API_KEY'"),
        ("llama3", "openai(model='llama3', base_url='http://127.0.0.1:11434/v1')"),
        ("qwen2.5:7b", "openai(model='qwen2.5:7b', base_url="),
        ("org/name-7B", "transformers(path='org/name-7B')"),
        ("openai('gpt-4o')", "openai(model='gpt-4o')"),
        ("smolm2", "Did you mean 'smollm2'?"),
    ],
)
def test_a_models_own_name_gets_the_text_that_means_it(name: str, hint: str) -> None:
    with pytest.raises(PartError) as caught:
        plan(study(name))
    assert str(caught.value).startswith("cross.models[0]: ")
    assert hint in str(caught.value)


def test_what_the_hints_say_can_be_built() -> None:
    for name in ("gpt-4o", "gpt-5-mini", "claude-sonnet-4-5", "gemini-2.0-flash", "org/name"):
        with pytest.raises(PartError) as caught:
            catalog.build("model", name)
        told = str(caught.value)
        start = told.index("openai(")
        text = told[start : told.index(")", start) + 1]
        part = catalog.build("model", text)
        assert isinstance(part, Openai) and part.model == name
