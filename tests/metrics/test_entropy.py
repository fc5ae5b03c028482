from __future__ import annotations

import math

import pytest
from made_completions import only_score, spoken
from made_records import record

from shaketable.facts.score import entropy_of_top
from shaketable.metrics.entropy import Entropy

# The specification's section 4.3 gives the entropy of these: 0.200276 raw, 0.199340 renormalized.
TOP = (0.90, 0.05, 0.02, 0.01, 0.005, 0.004, 0.003, 0.002, 0.001, 0.001)
SURE = (1.0, *[0.0] * 9)
EVEN = (0.1,) * 10


def value(metric, one):
    return only_score(metric, one).value


def test_one_position_has_the_entropy_of_its_top_tokens():
    one = spoken("Paris", "<end>", tops=(TOP, SURE))
    assert value(Entropy(), one) == pytest.approx(0.200276, abs=5e-7)
    assert value(Entropy(renormalize=True), one) == pytest.approx(0.199340, abs=5e-7)
    assert value(Entropy(base="e"), one) == pytest.approx(0.461153, abs=5e-7)
    assert value(Entropy(base="2"), one) == pytest.approx(0.665303, abs=5e-7)


def of_entropy(wanted):
    """Ten probabilities with this entropy, two of them not zero; found by halving."""
    low, high = 0.5, 1.0
    for _ in range(60):
        p = (low + high) / 2
        low, high = (p, high) if entropy_of_top((p, 1 - p)) > wanted else (low, p)
    return (p, 1 - p, *[0.0] * 8)


def test_the_worked_averages():
    # Section 4.4: .2 and .1 make 0.15; with an end mark of .01 it is 0.103333.
    one = spoken("Pa", "ris", "<end>", tops=[of_entropy(wanted) for wanted in (0.2, 0.1, 0.01)])
    assert value(Entropy(), one) == pytest.approx(0.15)
    assert value(Entropy(include_end=True), one) == pytest.approx(0.103333, abs=5e-7)


def test_an_answer_cut_off_has_no_end_mark_and_a_blank_stop_string_is_one():
    assert value(Entropy(), spoken("Pa", "ris", tops=(EVEN, SURE), finish_reason="length")) == pytest.approx(0.5)
    stopped = spoken("Pa", "ris", "\n", tops=(EVEN, EVEN, SURE), finish_reason="stop")
    assert value(Entropy(), stopped) == pytest.approx(1)


def test_an_endpoint_that_lists_no_end_mark_loses_no_token():
    assert value(Entropy(), spoken("Pa", "ris", tops=(EVEN, SURE), text="Paris")) == pytest.approx(0.5)


def test_a_blank_first_token_counts_unless_skipped():
    one = spoken(" ", "Paris", "<end>", tops=(SURE, EVEN, SURE))
    assert value(Entropy(), one) == pytest.approx(0.5)
    assert value(Entropy(skip_blank=True), one) == pytest.approx(1)


def test_more_tokens_than_asked_for_are_left_out_whatever_their_order():
    twenty = spoken("Paris", "<end>", tops=((*[0.001] * 10, *reversed(TOP)), (0.001,) * 20))
    # Of ten times 0.001 and TOP the ten largest are TOP, whose two last are 0.001 themselves.
    assert value(Entropy(), twenty) == pytest.approx(0.200276, abs=5e-7)


def test_the_distribution_that_was_sampled():
    # Section 3.2: (.6, .3, .1) at temperature 2 is (.472734, .334273, .192993).
    hot = (0.472734, 0.334273, 0.192993)
    one = spoken(
        "b",
        "<end>",
        tops=((0.6, 0.3, 0.1), (1.0, 0.0, 0.0)),
        probabilities=(0.3, 1.0),
        processed=(hot[1], 1.0),
        decoding={"temperature": 2.0},
    )
    expected = -sum(p * math.log10(p) for p in hot)
    assert value(Entropy(scaled=True, n_top=3), one) == pytest.approx(expected, abs=1e-5)


def test_a_greedy_answer_has_no_scaled_entropy_and_truncation_none_that_is_known():
    cold = {"probabilities": (0.6, 1.0), "processed": (1.0, 1.0), "tops": (TOP, TOP)}
    assert value(Entropy(scaled=True), spoken("a", "<end>", decoding={"temperature": 0.0}, **cold)) == 0
    cut = spoken("a", "<end>", decoding={"temperature": 1.0, "top_p": 0.9}, **cold)
    assert only_score(Entropy(scaled=True), cut).reason.startswith("truncated")


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (record(None), "failed: timeout"),
        (record("Paris"), "the trace has no completion"),
        (spoken("Paris", "<end>"), "the model gave no top_logprobs: the study or the method must want them"),
        (spoken("Paris", "<end>", tops=(TOP[:5], TOP[:5])), "a position has 5 top_logprobs, entropy asks for 10"),
        (spoken("<end>", tops=(TOP,)), "the answer has no tokens"),
        (
            spoken("Paris", "<end>", tops=(TOP, TOP), thoughts="Hm."),
            "the tokens of thoughts and answer are not told apart",
        ),
    ],
)
def test_what_cannot_be_scored_says_why(one, reason):
    score = only_score(Entropy(), one)
    assert (score.value, score.reason) == (None, reason)


def test_an_unknown_base_is_named():
    with pytest.raises(ValueError, match="base is '3', expected one of 10, e, 2"):
        Entropy(base="3")  # type: ignore[arg-type]
