import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys import TOY, brute_force, by_hand, random_model, toy

from shaketable.facts.curves.automaton import FirstLine, Substring, contains
from shaketable.facts.curves.top_bounds import bounds_from_top_logprobs, tail_bounds


# By hand: .02 in 40 tokens of .0005, or spread over 99,980 tokens.
@pytest.mark.parametrize(
    ("temperature", "low", "high", "relative"),
    [
        (0.5, 4.0e-9, 1e-5, 1e-3),
        (0.8, 0.000423, 0.002991, 1e-3),
        (1.0, 0.02, 0.02, 1e-9),
        (1.2, 0.071, 0.262, 5e-3),
        (1.5, 0.252, 3.42, 5e-3),
        (2.0, 0.894, 44.7, 1e-3),
    ],
)
def test_the_tail_lies_between_its_extremes(temperature, low, high, relative):
    assert tail_bounds(0.02, 0.0005, 99_980, temperature) == pytest.approx((low, high), rel=relative)


@given(st.lists(st.floats(1e-6, 1.0), min_size=4, max_size=30), st.sampled_from([0.3, 0.7, 1.0, 1.4, 2.0]))
def test_no_tail_lies_outside(weights, temperature):
    tail = np.array(weights) / sum(weights) * 0.3
    low, high = tail_bounds(float(tail.sum()), float(tail.max()), len(tail), temperature)
    assert low * (1 - 1e-9) <= (tail ** (1 / temperature)).sum() <= high * (1 + 1e-9)


def greedy(model, vocabulary, n_tokens, n_top):
    """What an endpoint tells of its greedy answer."""
    suffix, tops, chosen = (), [], []
    texts = [vocabulary.text([token]) if token not in vocabulary.end_ids else "<end>" for token in range(vocabulary.n)]
    while len(suffix) < n_tokens:
        logs = model(suffix)
        best = np.argsort(-logs)[:n_top]
        tops.append([(texts[token], float(logs[token])) for token in best])
        chosen.append(texts[best[0]])
        if best[0] in vocabulary.end_ids:
            break
        suffix = (*suffix, int(best[0]))
    return tops, chosen


@given(st.integers(0, 500), st.integers(2, 6), st.sampled_from([0.3, 0.7, 1.0, 1.6]))
def test_bounds_hold_brute_force(seed, n_top, temperature):
    model = random_model(seed, 6) if seed else toy
    tops, chosen = greedy(model, TOY, 3, n_top)
    bounds = bounds_from_top_logprobs(
        tops,
        chosen,
        rule=Substring(["ab"]),
        temperatures=[temperature],
        n_vocabulary=TOY.n,
        max_tokens=3,
        end_texts={"<end>"},
    )
    truth = brute_force(model, TOY, lambda text: "ab" in text, 3, temperature)
    assert bounds.low[0] - 1e-9 <= truth <= bounds.high[0] + 1e-9


def test_all_tokens_listed_give_the_bounds_of_the_root():
    """The example by hand, after its root: the chosen P is correct at once, the end mark wrong."""
    tops = [[("P", np.log(0.6)), ("Q", np.log(0.3)), ("<end>", np.log(0.1))]]
    bounds = bounds_from_top_logprobs(
        tops,
        ["P"],
        rule=Substring(["P"]),
        temperatures=[0.5, 1.0, 2.0],
        n_vocabulary=3,
        max_tokens=2,
        end_texts={"<end>"},
    )
    assert by_hand(())[0] == pytest.approx(np.log(0.6))
    assert bounds.low == pytest.approx([0.782609, 0.6, 0.472734], abs=1e-6)
    assert bounds.high == pytest.approx([0.978261, 0.9, 0.807007], abs=1e-6)


def test_a_wrong_answer_bounds_from_above():
    tops = [[("no", np.log(0.8)), ("<end>", np.log(0.1))], [("<end>", np.log(0.9)), ("x", np.log(0.05))]]
    bounds = bounds_from_top_logprobs(
        tops,
        ["no", "<end>"],
        rule=contains(["yes"]),
        temperatures=[1.0],
        n_vocabulary=100,
        max_tokens=5,
        end_texts={"<end>"},
    )
    assert bounds.low == (0.0,)
    assert bounds.high[0] == pytest.approx(1 - 0.1 - 0.8 * 0.9)


def test_a_gold_no_is_not_said_before_its_word_ends():
    """`No` may become `Noah`; of its .9 only what ends the word counts: a full stop (.1) and the end (.05)."""
    tops = [
        [("No", np.log(0.9)), ("Yes", np.log(0.05))],
        [("ah", np.log(0.8)), (".", np.log(0.1)), ("</s>", np.log(0.05))],
    ]
    bounds = bounds_from_top_logprobs(
        tops, ["No", "ah"], rule=FirstLine(contains(["no"])), temperatures=[1.0], n_vocabulary=1000, max_tokens=5
    )
    assert bounds.low[0] == pytest.approx(0.9 * 0.15)


def test_a_piece_of_a_character_decides_nothing():
    tops = [[("Caf", np.log(0.9)), ("x", np.log(0.1))], [("\ufffd", np.log(0.6)), ("e", np.log(0.4))]]
    bounds = bounds_from_top_logprobs(
        tops, ["Caf", "\ufffd"], rule=Substring(["Café"]), temperatures=[1.0], n_vocabulary=1000, max_tokens=2
    )
    assert bounds.low == (0.0,)
    assert bounds.high[0] == pytest.approx(1 - 0.9 * 0.4)
