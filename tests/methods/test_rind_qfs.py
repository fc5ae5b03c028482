"""DRAGIN's computations, on the worked examples of the specification and on hand-made attention."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.methods.rind_qfs import content_words, has_content, qfs, qfs_weights, rind, token_attention
from shaketable.methods.words import Word

ROWS = np.array([[[1.0, 0.0, 0.0], [0.7, 0.3, 0.0], [0.2, 0.5, 0.3]]], np.float32)


def one_token_words(texts):
    return [Word(text, range(i, i + 1)) for i, text in enumerate(texts)]


def test_attention_is_the_greatest_look_at_a_token_its_own_included():
    assert token_attention(ROWS).tolist() == pytest.approx([1.0, 0.5, 0.3])
    assert token_attention(ROWS, exclude_self=True).tolist() == pytest.approx([0.7, 0.5, 0.0])


def test_attention_is_the_mean_of_the_heads_maxima():
    """Heads with maxima (1, .5, .3) and (1, .1, .9): the mean is taken after the maximum."""
    other = np.array([[[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.05, 0.05, 0.9]]], np.float32)
    assert token_attention(np.concatenate([ROWS, other])).tolist() == pytest.approx([1.0, 0.3, 0.6])


def test_the_need_of_each_word_is_share_times_entropy_times_n():
    """Worked by hand: attention sums to 2, so the first is 1/2 * .2 * 5 = .5 and so on."""
    needs = rind([1, 0.4, 0.2, 0.3, 0.1], [0.2, 0.5, 1.8, 0.05, 2.5])
    assert needs == pytest.approx([0.5, 0.5, 0.9, 0.0375, 0.625])


def test_words_that_nobody_looks_at_need_nothing():
    assert rind([0.0], [3.0]) == [0.0]
    assert rind([], []) == []


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(0, 10)), min_size=1, max_size=20), st.floats(0.1, 10))
def test_needs_do_not_change_when_all_attention_is_scaled(pairs, factor):
    attention, entropy = [a for a, _ in pairs], [e for _, e in pairs]
    assert rind([a * factor for a in attention], entropy) == pytest.approx(rind(attention, entropy))


def test_the_query_keeps_the_words_looked_at_in_the_order_of_the_text():
    """Row (.4 .1 .2 .3) over w0..w3, of which w1 has no content; N = 2."""
    words = ["w0", "w1", "w2", "w3", "hit"]
    assert qfs(words, [0.4, 0.1, 0.2, 0.3, 0.0], {4}, {"w0", "w2", "w3"}, 2) == [0, 3]


def test_a_hit_looks_with_the_row_that_wrote_it_at_what_stands_before_its_word():
    """Four one-token words, then a hit of two tokens at 4 and 5: rows 3 and 4, columns 0 to 3, each scaled to 1."""
    attention = np.zeros((1, 6, 6), np.float32)
    attention[0, 3, :4] = [0.4, 0.1, 0.2, 0.3]
    attention[0, 4, :5] = [0.1, 0.1, 0.1, 0.2, 0.5]
    words = [*one_token_words(["w0", "w1", "w2", "w3"]), Word("hit", range(4, 6))]
    # ((.4 + .2) / 2, (.1 + .2) / 2, (.2 + .2) / 2, (.3 + .4) / 2, nothing)
    assert qfs_weights(attention, words, {4}) == pytest.approx([0.3, 0.15, 0.2, 0.35, 0.0])


def test_hits_are_averaged_and_tokens_summed_to_words():
    """Hits at 2 and 3 after one word of two tokens: rows 1 and 2."""
    attention = np.zeros((1, 4, 4), np.float32)
    attention[0, 1, :2] = [0.25, 0.75]
    attention[0, 2, :3] = [0.25, 0.25, 0.5]
    words = [Word("w0", range(2)), Word("w1", range(2, 3)), Word("w2", range(3, 4))]
    # w0: (1 + .5) / 2; w1: (0 + .5) / 2
    assert qfs_weights(attention, words, {1, 2}) == pytest.approx([0.75, 0.25, 0.0])


def test_the_beginning_mark_keeps_its_share_of_a_row():
    """Rows sum to 1 with the mark, which is not among the tokens. Hit 2 was written by row 1: mark .8, w0 .2; hit 3 by
    row 2: w0 .1, w1 .5, hit .4. The authors' code averages (.2, 0) and (.1, .5); without the mark w0 would win."""
    attention = np.zeros((1, 4, 4), np.float32)
    attention[0, 1, :2] = [0.2, 0.0]
    attention[0, 2, :3] = [0.1, 0.5, 0.4]
    assert qfs_weights(attention, one_token_words(["w0", "w1", "w2", "w3"]), {2, 3}) == pytest.approx(
        [0.15, 0.25, 0.2, 0.0]
    )


def test_without_a_hit_that_has_words_before_it_there_are_no_weights():
    assert qfs_weights(ROWS, one_token_words("abc"), {0}) is None
    assert qfs_weights(ROWS, one_token_words("abc"), set()) is None
    assert qfs(["w0", "w1", "w2"], None, set(), {"w"}, 2) == [0, 1]


@pytest.mark.weights
def test_content_words_are_nouns_names_verbs_adjectives_and_numbers():
    found = content_words("The old painter was born in Warsaw in 1867.")
    assert {"old", "painter", "born", "Warsaw", "1867"} <= found
    assert found.isdisjoint({"The", "was", "in", "."})
    assert has_content("Warsaw,", found)
    assert not has_content("the", found)
