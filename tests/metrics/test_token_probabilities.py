"""Certainty, margin and length of an answer, from what the model says of its tokens."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from made_completions import only_score, spoken

from shaketable.metrics.answer_tokens import AnswerTokens
from shaketable.metrics.certainty import Certainty
from shaketable.metrics.margin import Margin
from shaketable.types import Answer


def test_certainty_is_the_mean_probability_of_the_answer_tokens():
    # The specification's section 7.1: .9, .7, .8 → .8; the end mark does not count.
    one = spoken("a", "b", "c", "<end>", probabilities=(0.2, 0.2, 0.2, 0.2), processed=(0.9, 0.7, 0.8, 0.1))
    assert only_score(Certainty(), one).value == pytest.approx(0.8)
    assert only_score(Certainty(scaled=False), one).value == pytest.approx(0.2)


def test_certainty_without_log_probabilities_is_missing():
    score = only_score(Certainty(), spoken("a", "<end>", probabilities=(0.5, 0.5)))
    assert (score.value, score.reason) == (
        None,
        "the endpoint lists too few tokens to tell the distribution that was sampled from (top_logprobs); "
        "scaled=False takes the model's own",
    )
    assert only_score(Certainty(), spoken("<end>", processed=(0.5,))).reason == "the answer has no tokens"


def test_the_margin_is_taken_at_the_first_token_alone():
    one = spoken("a", "b", "<end>", tops=((0.2, 0.6, 0.1), (0.5, 0.5), (0.5, 0.5)))
    assert only_score(Margin(), one).value == pytest.approx(math.log(0.6 / 0.2))
    assert only_score(Margin(), spoken("a", "<end>", tops=((0.9,), (0.9,)))).reason == (
        "the first position has 1 top_logprobs, margin asks for 2"
    )


@pytest.mark.parametrize(
    ("one", "n"),
    [
        (spoken("a", "b", "<end>"), 2),
        (spoken("a", "b", finish_reason="length"), 2),
        (spoken("a", ".\n", finish_reason="stop", text="a.\n"), 2),
        (spoken("a", "\n", finish_reason="stop", text="a\n"), 1),
        (spoken("a", "b", text="ab"), 2),
        (spoken("<end>"), 0),
        (spoken("\n", "a", "<end>"), 2),
    ],
)
def test_the_length_of_an_answer_leaves_out_its_end_mark(one, n):
    assert only_score(AnswerTokens(), one).value == n


def test_an_answer_whose_tokens_were_not_kept_has_no_length():
    assert only_score(AnswerTokens(), spoken(text="Paris")).reason.startswith("the model gave no tokens")


def test_a_method_that_cuts_the_reply_keeps_only_the_tokens_of_its_answer():
    one = spoken(" Par", "is", "\nQ", ":", "<end>", processed=(0.9, 0.7, 0.1, 0.1, 0.1))
    cut = replace(one, answer=Answer(text="Paris"))
    assert only_score(AnswerTokens(), cut).value == 2
    assert only_score(Certainty(), cut).value == pytest.approx(0.8)


def test_an_answer_that_was_reworded_counts_all_tokens_but_the_end_mark():
    assert only_score(AnswerTokens(), replace(spoken("a", "b", "<end>"), answer=Answer(text="AB!"))).value == 2
