"""What models promise: a completion or a failure for each prompt, whatever its neighbours."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from promises import ODD_TEXTS

from shaketable import catalog
from shaketable.identity import canonical
from shaketable.protocols import Model
from shaketable.types import Completion, Failure, Message, Prompt, Sampling

REPLIES = "scripted(replies=('Paris.', 'It is Paris in France.', 'Lyon?', 'I do not know.', 'ERROR'))"
HALF = "half_a_character"
WORDINGS = ("What is the capital of France?", "Name a river.")

each_model = pytest.mark.parametrize(
    "part",
    [
        pytest.param(catalog.build("model", REPLIES), id="scripted"),
        pytest.param(catalog.build("model", "smollm2"), id="smollm2", marks=pytest.mark.weights),
    ],
)


def prompt(text, temperature=0.0, seed=0, **sampling):
    return Prompt(
        messages=(Message(role="user", content=text),),
        sampling=Sampling(temperature=temperature, **({"max_tokens": 4} | sampling)),
        seed=seed,
    )


def sweep():
    """Each wording cold and hot, with several seeds."""
    return [
        prompt(text, temperature, seed)
        for text in WORDINGS
        for temperature in (0.0, 2.0)
        for seed in ((1, 2**31) if temperature else (0,))
    ]


def timeless(replies):
    """The replies without their times, which no promise covers."""
    return [replace(reply, seconds=0.0) if isinstance(reply, Completion) else reply for reply in replies]


def generated(part, prompts):
    return timeless(part.generate(prompts))


def test_every_model_is_tried_here_or_has_a_server_of_its_own():
    tried = {"scripted", "smollm2", "transformers"}
    asked_in_their_own_tests = {"openai", "pipeline"}
    assert catalog.known("model").keys() == tried | asked_in_their_own_tests


@each_model
def test_a_model_gives_a_reply_for_each_prompt(part):
    prompts = sweep()
    before = canonical(prompts)
    replies = part.generate(prompts)
    assert isinstance(part, Model)
    assert len(replies) == len(prompts)
    for reply in replies:
        assert isinstance(reply, Completion | Failure)
        if isinstance(reply, Completion):
            assert 0 <= reply.n_tokens <= 4
            assert reply.n_prompt_tokens > 0
            assert reply.seconds >= 0
            assert reply.finish_reason != "length" or reply.n_tokens == 4
    assert canonical(prompts) == before


@each_model
def test_a_reply_depends_on_its_prompt_alone(part):
    prompts = sweep()
    replies = generated(part, tuple(prompts))
    assert generated(part, prompts[::-1]) == replies[::-1]
    assert [generated(part, [one])[0] for one in prompts] == replies


@each_model
def test_twins_get_the_same_reply(part):
    one = prompt(WORDINGS[0], temperature=1.0, seed=5)
    first, second = generated(part, [one, one])
    assert first == second


@each_model
def test_seeds_matter_with_heat_and_not_without(part):
    cold = generated(part, [prompt(WORDINGS[0], 0.0, seed) for seed in range(4)])
    hot = generated(part, [prompt(WORDINGS[0], 2.0, seed) for seed in range(4)])
    assert len({canonical(replace(reply, decoding={})) for reply in cold}) == 1
    assert len({canonical(reply) for reply in hot}) > 1


@each_model
def test_no_prompt_has_no_reply(part):
    assert part.generate([]) == []


@each_model
def test_a_model_takes_any_text(part):
    texts = [text[:400] for name, text in ODD_TEXTS.items() if name != HALF]
    replies = part.generate([prompt(text, max_tokens=1) for text in texts])
    assert len(replies) == len(texts)


@pytest.mark.weights
def test_half_a_character_spoils_one_prompt_at_most():
    part = catalog.build("model", "smollm2")
    odd, plain = part.generate([prompt(ODD_TEXTS[HALF], max_tokens=1), prompt(WORDINGS[0], max_tokens=1)])
    assert isinstance(odd, Completion | Failure)
    assert isinstance(plain, Completion)


@each_model
def test_the_environment_names_the_engine_as_plain_values(part):
    found = json.loads(json.dumps(dict(part.environment())))
    assert found["engine"]


def test_a_scripted_error_fails_its_trial_alone():
    part = catalog.build("model", "scripted(replies=('fine', 'ERROR'))")
    fine, failed = part.generate([prompt("?", 1.0, seed=0), prompt("?", 1.0, seed=1)])
    assert isinstance(fine, Completion)
    assert isinstance(failed, Failure)
    assert not failed.may_retry


def test_a_scripted_reply_is_cut_at_max_tokens():
    (reply,) = catalog.build("model", "scripted(replies=('one two three',))").generate([prompt("?", max_tokens=2)])
    assert (reply.text, reply.finish_reason, reply.n_tokens) == ("one two", "length", 2)


@pytest.mark.weights
def test_the_embedded_model_is_the_same_by_name_and_by_path():
    by_name, by_path = (catalog.build("model", text) for text in ("smollm2", "transformers(path='smollm2')"))
    assert generated(by_name, sweep()) == generated(by_path, sweep())
