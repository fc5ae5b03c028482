"""The worked examples, whose numbers follow by hand or by summing out their rule, and bounds against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import BY_HAND, TOY, brute_force, by_hand, judged, random_model, toy

from shaketable.facts.curves.predicate import Predicate
from shaketable.facts.curves.spectrum import Truncation
from shaketable.facts.curves.tree import Tree
from shaketable.facts.curves.vocabulary import Vocabulary

GRID = tuple(np.round(np.arange(0.2, 2.01, 0.2), 1))


def grown(model, vocabulary, golds, n_tokens, targets, n=10_000, match="substring", truncation=None):
    tree = Tree(Predicate(golds, vocabulary, match), n_tokens=n_tokens, targets=targets, truncation=truncation)
    while len(tree.nodes) < n and (best := tree.best_open(1)):
        tree.add(best[0], model(best[0]))
    return tree


# By hand: p_t is proportional to p^(1/t), so at t = .5 the root is (.36, .09, .01) / .46, and so on.
@pytest.mark.parametrize(
    ("temperature", "low", "high", "exact"),
    [
        (0.5, 0.782609, 0.978261, 0.803204),
        (1.0, 0.6, 0.9, 0.66),
        (2.0, 0.472734, 0.807007, 0.560565),
        (1e9, 1 / 3, 2 / 3, 4 / 9),
    ],
)
def test_the_example_by_hand(temperature, low, high, exact):
    root = grown(by_hand, BY_HAND, ["Paris"], 2, [temperature], n=1)
    assert [float(bound[0]) for bound in root.bounds()] == pytest.approx([low, high], abs=1e-6)
    both = grown(by_hand, BY_HAND, ["Paris"], 2, [temperature])
    assert [float(bound[0]) for bound in both.bounds()] == pytest.approx([exact, exact], abs=1e-6)


def test_the_deterministic_toy():
    expected = {
        0.2: 0.999999135, 0.5: 0.994957391, 0.8: 0.952974589, 1.0: 0.901023497, 1.2: 0.839718964, 1.4: 0.777913471,
        1.6: 0.721351032, 1.8: 0.672600307, 2.0: 0.632074674, 3.0: 0.520013544, 5.0: 0.464504937,
    }  # fmt: skip
    tree = grown(toy, TOY, ["alfabeta"], 4, [1.0])
    assert len(tree.nodes) == 76
    masses = tree.masses(np.array(list(expected)))
    assert masses.low == pytest.approx(list(expected.values()), abs=5e-10)
    assert masses.high == pytest.approx(masses.low, abs=1e-15)
    assert tree.masses(np.array([1e9])).low[0] == pytest.approx(0.448302, abs=5e-7)
    slope = np.diff(tree.masses(np.array([1.5 - 1e-5, 1.5 + 1e-5])).low)[0] / 2e-5
    assert slope == pytest.approx(-0.2833197, abs=1e-6)
    assert tree.masses(np.array([1.5])).low[0] == pytest.approx(0.7487521, abs=5e-8)


def test_two_expansions_of_the_toy():
    tree = grown(toy, TOY, ["alfabeta"], 4, GRID, n=2)
    assert list(tree.nodes) == [(), (1,)]
    low, high = tree.bounds()
    assert low == pytest.approx(
        [0.999999, 0.998827, 0.985980, 0.949821, 0.891288, 0.819439, 0.744298, 0.673057, 0.609461, 0.554688], abs=1e-6
    )
    assert high == pytest.approx(
        [0.999999, 0.999102, 0.990413, 0.968425, 0.936235, 0.900403, 0.866392, 0.837166, 0.813614, 0.795426], abs=1e-6
    )


@pytest.mark.parametrize(("temperature", "n"), [(0.5, 4), (1.0, 25), (2.0, 60)])
def test_how_many_expansions_the_toy_needs(temperature, n):
    def gap(n_nodes):
        low, high = grown(toy, TOY, ["alfabeta"], 4, [temperature], n=n_nodes).bounds()
        return high[0] - low[0]

    assert gap(n) <= 0.001 < gap(n - 1)


@pytest.mark.parametrize(
    ("truncation", "temperature", "expected"),
    [
        (Truncation(top_k=3), 1.0, 0.915729345),
        (Truncation(top_k=3), 2.0, 0.715971327),
        (Truncation(top_p=0.9), 1.0, 1.0),
        (Truncation(top_p=0.9), 2.0, 0.652755905),
        (Truncation(top_k=3, top_p=0.9), 2.0, 0.729675195),
    ],
)
def test_the_truncated_toy(truncation, temperature, expected):
    tree = grown(toy, TOY, ["alfabeta"], 4, [temperature], truncation=truncation)
    assert [float(bound[0]) for bound in tree.bounds()] == pytest.approx([expected, expected], abs=5e-10)
    assert tree.masses(np.array([temperature])).low[0] == pytest.approx(expected, abs=5e-10)


WORDS = Vocabulary(["", "a", "b", " ", "ab"], {0})


@settings(max_examples=40)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["substring", "token", "startswith", "exact"]),
    st.sampled_from([0.3, 1.0, 2.0]),
    st.integers(0, 30),
)
def test_bounds_hold_brute_force_after_any_expansions(seed, match, temperature, order_seed):
    model, n_tokens, golds = random_model(seed, 5), 3, ["ab", "b a"]
    truth = brute_force(model, WORDS, lambda text: judged(golds, match, text), n_tokens, temperature)
    tree = Tree(Predicate(golds, WORDS, match), n_tokens=n_tokens, targets=[temperature])
    rng = np.random.default_rng(order_seed)
    before_low, before_high = 0.0, 1.0
    while opens := tree.best_open(50):
        suffix = opens[rng.integers(len(opens))]  # Any order: the result is the same.
        tree.add(suffix, model(suffix))
        (low,), (high,) = tree.bounds()
        assert before_low - 1e-12 <= low <= truth + 1e-12
        assert truth - 1e-12 <= high <= before_high + 1e-12
        masses = tree.masses(np.array([0.1, temperature, 3.0]))
        total = masses.accepted.sum(axis=0) + masses.rejected.sum(axis=0) + masses.open.sum(axis=0)
        assert total == pytest.approx(1, abs=1e-9)
        before_low, before_high = low, high
    assert before_low == pytest.approx(truth, abs=1e-12) == before_high


def test_at_temperature_one_the_masses_are_the_plain_probabilities():
    tree = grown(toy, TOY, ["alfabeta"], 4, [1.0])
    masses = tree.masses(np.array([1.0]))
    for place, suffix in enumerate(tree.nodes):
        plain = np.prod([np.exp(toy(suffix[:n])[token]) for n, token in enumerate(suffix)])
        assert masses.nodes[place, 0] == pytest.approx(plain, rel=1e-12)


def test_sampled_answers_agree():
    """The mean of 100,000 sampled answers lies within 4 standard errors."""
    n, temperature = 100_000, 1.2
    rng = np.random.default_rng(3)
    counts = {(): n}
    n_correct = 0
    for _ in range(4):
        following = {}
        for suffix, count in counts.items():
            heights = np.exp(toy(suffix) / temperature)
            for token, drawn in enumerate(rng.multinomial(count, heights / heights.sum())):
                if drawn and token and "alfabeta" not in TOY.text((*suffix, token)):
                    following[(*suffix, token)] = int(drawn)
                elif drawn and token:
                    n_correct += int(drawn)
        counts = following
    expected = 0.839718964
    assert abs(n_correct / n - expected) <= 4 * np.sqrt(expected * (1 - expected) / n)


def test_another_aim_gives_the_same_numbers():
    tree = grown(toy, TOY, ["alfabeta"], 4, [2.0], n=9)
    tree.aim([0.7, 1.3])
    masses = tree.masses(np.array([0.7, 1.3]))
    low, high = tree.bounds()
    assert low == pytest.approx(masses.low, abs=1e-15)
    assert high == pytest.approx(masses.high, abs=1e-15)


def test_log_probabilities_of_another_vocabulary_are_refused():
    tree = Tree(Predicate(["alfabeta"], TOY), n_tokens=4, targets=[1.0])
    with pytest.raises(ValueError, match=r"have shape \(3,\), expected \(6,\)"):
        tree.add((), np.zeros(3))


def test_an_answer_out_of_reach_needs_no_model():
    tree = Tree(Predicate(["alfabetaceta" * 2], TOY), n_tokens=3, targets=[1.0])
    assert tree.best_open(1) == []
    assert [float(bound[0]) for bound in tree.bounds()] == [0.0, 0.0]
