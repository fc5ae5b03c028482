"""`openai` against a real server: llama.cpp serving the embedded weights on this machine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import llama_server
import pytest

from shaketable.models.openai import Openai
from shaketable.types import Completion, Failure, Message, Prompt, Sampling

pytestmark = pytest.mark.weights
pytest.importorskip("xllamacpp")

QUESTION = (Message(role="user", content="What is the capital of France?"),)
OPENING = (Message(role="user", content="The capital of France is"),)


@pytest.fixture(scope="module")
def model() -> Iterator[Openai]:
    with llama_server.serve() as url:
        yield Openai(model="smollm2", base_url=url, extended=True)


def prompt(messages: tuple[Message, ...] = QUESTION, **settings: Any) -> Prompt:
    fields = {name: settings.pop(name) for name in ("seed", "layout", "wants") if name in settings}
    sampling = Sampling(**{"temperature": 0.0, "max_tokens": 8, **settings})
    return Prompt(messages=messages, sampling=sampling, **{"seed": 1, **fields})


def complete(model: Openai, *prompts: Prompt) -> list[Completion]:
    replies = model.generate(prompts)
    assert all(isinstance(reply, Completion) for reply in replies), replies
    return [reply for reply in replies if isinstance(reply, Completion)]


def test_a_chat_reply_comes_with_its_counts_and_its_end(model: Openai) -> None:
    [reply] = complete(model, prompt())
    assert reply.text and reply.finish_reason == "length"
    assert reply.n_tokens == 8 and reply.n_prompt_tokens == 37  # 37 with the chat template, by the model's tokenizer
    assert reply.notes == ()
    environment = model.environment()
    assert environment["reported_model"] == "smollm2" and environment["reported_fingerprint"]


def test_a_plain_reply_continues_the_text(model: Openai) -> None:
    [reply] = complete(model, prompt(OPENING, layout="plain"))
    assert reply.text.startswith(" Paris")
    assert reply.n_prompt_tokens == 5  # no chat template around it


def test_a_last_assistant_message_is_continued_without_being_repeated(model: Openai) -> None:
    given = Message(role="assistant", content="The capital of France is")
    [reply] = complete(model, prompt((*QUESTION, given)))
    assert (reply.text, reply.finish_reason) == (" Paris.", "end")


@pytest.mark.parametrize("layout", ["chat", "plain"])
def test_logprobs_line_up_with_the_tokens(model: Openai, layout: str) -> None:
    [reply] = complete(model, prompt(layout=layout, wants=("logprobs", "top_logprobs")))
    assert reply.notes == ()
    assert "".join(reply.tokens) == reply.text
    logprobs, tops = reply.extras["logprobs"], reply.extras["top_logprobs"]
    assert len(logprobs) == len(tops) == len(reply.tokens) == reply.n_tokens
    for token, logprob, top in zip(reply.tokens, logprobs, tops, strict=True):
        assert len(top) == 20
        assert [token, logprob] == top[0]  # greedy: the token drawn is the likeliest
        assert sum(math.exp(value) for _, value in top) <= 1.0 + 1e-4


def test_greedy_replies_repeat_whatever_the_seed(model: Openai) -> None:
    [first], [second] = complete(model, prompt(seed=1)), complete(model, prompt(seed=2))
    assert first.text == second.text


def test_a_seed_repeats_its_text_and_another_gives_another(model: Openai) -> None:
    texts = [complete(model, prompt(temperature=1.0, seed=seed))[0].text for seed in (3, 3, 4)]
    assert texts[0] == texts[1] != texts[2]


def test_a_stop_string_that_llama_cpp_removed_is_noted(model: Openai) -> None:
    [reply] = complete(model, prompt(OPENING, layout="plain", stop=(".",)))
    assert (reply.text, reply.finish_reason, reply.notes) == (" Paris", "end", ("stop_unknown",))


def test_stopping_at_the_client_keeps_the_stop_string(model: Openai) -> None:
    exact = Openai(model=model.model, base_url=model.base_url, stop_at="client")
    [reply] = complete(exact, prompt(OPENING, layout="plain", stop=(".",)))
    assert (reply.text, reply.finish_reason, reply.notes) == (" Paris.", "stop", ())


def test_a_prompt_beyond_the_context_is_too_long(model: Openai) -> None:
    [reply] = model.generate([prompt((Message(role="user", content="word " * 3000),))])
    assert isinstance(reply, Failure)
    assert (reply.kind, reply.may_retry) == ("too_long", False)


def test_submitted_prompts_all_come_back(model: Openai) -> None:
    for ticket in range(6):
        model.submit(ticket, prompt(temperature=1.0, seed=ticket, max_tokens=2 + ticket))
    replies: dict[int, Completion | Failure] = {}
    while batch := model.collect():
        replies.update(batch)
    assert sorted(replies) == list(range(6))
    assert all(isinstance(reply, Completion) and reply.n_tokens <= 2 + ticket for ticket, reply in replies.items())


def test_the_check_finds_what_llama_cpp_honors(model: Openai) -> None:
    checks = model.check()
    assert {name: fact.value for name, fact in checks.items()} == {
        "n_honored": True,
        "logprobs_given": True,
        "seed_honored": True,
        "temperature_applied": True,
        "unlikely_drawn": True,
    }, checks


def test_truncation_of_its_own_is_noticed(model: Openai) -> None:
    """By default llama.cpp has top_k 40 and min_p .05."""
    plain = Openai(model="smollm2", base_url=model.base_url)
    truncated = Openai(model="smollm2", base_url=model.base_url, extended=False)
    assert [part.check()["unlikely_drawn"].value for part in (plain, truncated)] == [True, False]
