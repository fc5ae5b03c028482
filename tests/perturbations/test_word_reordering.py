import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.perturbations.altered import share_of, split_end
from shaketable.perturbations.word_reordering import WordReordering


def changed(example, shake, text, **settings):
    question = example(facts=[("Alpha", 0), ("Beta", 0)], beta=[text])
    evidence = shake(WordReordering(**settings), question)
    return evidence.hits[1].passage.text, evidence.flags


def test_all_neighbors_change_places_when_the_words_are_even(example, shake):
    assert changed(example, shake, "One two three four.") == ("two One four three.", ())


def test_one_word_of_an_odd_number_stays(example, shake):
    outputs = {changed(example, shake, "a b c", seed=seed)[0] for seed in range(20)}
    assert outputs == {"b a c", "a c b"}


# Distinct words, so that each swap shows.
@given(n=st.integers(2, 30), p=st.floats(0.01, 1), seed=st.integers(0, 99))
def test_the_number_of_swaps_is_as_asked(n, p, seed):
    import random

    words = [f"w{i}" for i in range(n)]
    after = WordReordering(p=p)._swapped(words, random.Random(seed))
    moved = [i for i in range(n) if after[i] != words[i]]
    n_swaps = min(math.ceil(p * n / 2 - 1e-9), n // 2)
    assert len(moved) == 2 * n_swaps
    for left, right in zip(moved[::2], moved[1::2], strict=True):
        assert right == left + 1
        assert (after[left], after[right]) == (words[right], words[left])


def test_shuffling_deals_a_share_of_the_words(example, shake):
    text = " ".join(f"w{i}" for i in range(20)) + "?"
    after, flags = changed(example, shake, text, mode="shuffle", p=0.2)
    moved = [a for a, b in zip(after[:-1].split(), text[:-1].split(), strict=True) if a != b]
    assert 2 <= len(moved) <= 4
    assert after.endswith("?")
    assert flags == ()


@pytest.mark.parametrize("mode", ["swap", "shuffle"])
@pytest.mark.parametrize("text", ["Alone.", "same same same", "..."])
def test_what_has_no_other_order_is_said(example, shake, text, mode):
    assert changed(example, shake, text, mode=mode) == (text, ("nothing_to_reorder",))


def test_spaces_and_final_punctuation_stay(example, shake):
    assert changed(example, shake, "One  two\tthree four …!") == ("two  One\tfour three …!", ())


@pytest.mark.parametrize(
    ("text", "body", "end"),
    [
        ("It ended.", "It ended", "."),
        ('He said "no."', 'He said "no', '."'),
        ("No end", "No end", ""),
        ("?!", "", "?!"),
    ],
)
def test_the_end_of_a_sentence(text, body, end):
    assert split_end(text) == (body, end)


def test_shares_are_rounded_up_but_not_by_an_error_of_rounding():
    assert [share_of(p, 100) for p in (0.0, 0.001, 0.07, 0.29, 1.0)] == [0, 1, 7, 29, 100]
