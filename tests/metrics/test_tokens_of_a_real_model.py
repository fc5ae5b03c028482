"""Metrics over tokens, on what the embedded model really says of its tokens."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_completions import STEP, only_score
from made_records import record

from shaketable.catalog import build
from shaketable.metrics.answer_tokens import AnswerTokens
from shaketable.metrics.certainty import Certainty
from shaketable.metrics.entropy import Entropy
from shaketable.metrics.margin import Margin
from shaketable.types import Event, Message, Prompt, Sampling

pytestmark = [pytest.mark.weights, pytest.mark.slow]
WANTS = ("logprobs", "top_logprobs", "processed_logprobs", "processed_entropy")


@pytest.fixture(scope="module")
def spoken_at():
    """Temperature → a record of the embedded model's answer."""
    model = build("model", "smollm2")
    message = Message(role="user", content="What is the capital of France? Answer with one word.")
    temperatures = (0.0, 0.7, 1.0, 2.0)
    prompts = [
        Prompt(messages=(message,), sampling=Sampling(temperature=t, max_tokens=8), seed=1, wants=WANTS)
        for t in temperatures
    ]
    return {
        t: replace(record(completion.text.strip()), trace=(Event(step=STEP, reply=completion),))
        for t, completion in zip(temperatures, model.generate(prompts), strict=True)
    }


def value(metric, one):
    score = only_score(metric, one)
    assert score.value is not None, score.reason
    return score.value


def test_a_greedy_answer_is_certain_as_sampled_and_less_so_by_itself(spoken_at):
    greedy = spoken_at[0.0]
    assert value(Certainty(), greedy) == pytest.approx(1)
    assert 0 < value(Certainty(scaled=False), greedy) < 1
    assert value(Entropy(scaled=True), greedy) == 0
    assert 0 < value(Entropy(), greedy) < 1
    assert value(Margin(), greedy) > 0


def test_the_end_mark_is_no_token_of_the_answer(spoken_at):
    completion = spoken_at[0.0].trace[0].reply
    assert completion.finish_reason == "end"
    assert value(AnswerTokens(), spoken_at[0.0]) == completion.n_tokens - 1


def test_the_scaled_distribution_is_rebuilt_from_what_was_kept(spoken_at):
    """At temperature 1 it is the model's own; elsewhere its top tokens have part of the entropy of all."""
    assert value(Entropy(scaled=True), spoken_at[1.0]) == pytest.approx(value(Entropy(), spoken_at[1.0]), abs=1e-4)
    for temperature in (0.7, 2.0):
        one = spoken_at[temperature]
        n = int(value(AnswerTokens(), one))
        whole = sum(one.trace[0].reply.extras["processed_entropy"][:n]) / n
        share = value(Entropy(scaled=True, base="e", n_top=20), one) / whole
        assert share <= 1 + 1e-4
        # Hot, 20 of 49,152 tokens hold little; cool, they hold nearly all.
        assert share < 0.5 if temperature == 2.0 else share > 0.5
