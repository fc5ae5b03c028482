"""Tokens → words → sentences."""

import pytest
from by_hand import completion
from hypothesis import given
from hypothesis import strategies as st

from shaketable.methods.words import Word, assign, merge, named, spoken, tokens_of_each


def texts(words):
    return [word.text for word in words]


def test_a_word_starts_at_the_first_token_at_a_space_and_at_a_line_break():
    words = merge(["Marie", " Cur", "ie", " was", "\n", "She"])
    assert texts(words) == ["Marie", "Curie", "was", "She"]
    assert [list(word.tokens) for word in words] == [[0], [1, 2], [3], [4, 5]]
    assert merge([]) == []


def test_the_worked_example_of_the_specification():
    """`_Marie _Cur ie _was`: attention is summed, entropy averaged over a word's tokens."""
    attention, entropy = [1, 0.3, 0.2, 0.1], [0.2, 1, 0.4, 0.1]
    words = merge([" Marie", " Cur", "ie", " was"])
    assert [sum(attention[i] for i in word.tokens) for word in words] == pytest.approx([1, 0.5, 0.1])
    means = [sum(entropy[i] for i in word.tokens) / len(word.tokens) for word in words]
    assert means == pytest.approx([0.2, 0.7, 0.1])


def test_the_line_break_of_llama_2_splits_the_texts_of_other_models():
    tokens, ids = ["A", " big", ".", " dog"], [5, 6, 13, 7]
    assert texts(merge(tokens, ids, newline="id_13")) == ["A", "big", ".", "dog"]
    assert texts(merge(tokens, ids)) == ["A", "big.", "dog"]


def test_words_are_spelled_as_in_the_text():
    words = merge(["Caf", "\ufffd", "\ufffd", " Zo", "\ufffd"])
    assert texts(named(words, "Café Zoë")) == ["Café", "Zoë"]
    assert texts(named(words, "one two three")) == texts(words)


def test_a_sentence_takes_the_words_it_needs_and_the_last_one_the_rest():
    words = ["Ann", "Lee", "sings.", "She", "dances.", "Bo"]
    assert assign(words, ["Ann Lee sings.", "She dances.", "Bo"]) == [range(3), range(3, 5), range(5, 6)]
    assert assign(words, ["Ann Lee sings."]) == [range(6)]
    assert assign(words, []) == []


def test_a_sentence_that_never_occurs_gets_no_words():
    words = ["Ann", "sings.", "She", "dances."]
    assert assign(words, ["Nobody.", "Ann sings.", "She dances."]) == [range(0), range(2), range(2, 4)]


def test_line_breaks_and_double_spaces_do_not_hide_a_sentence():
    words = ["Ann", "", "sings.", "She", "dances."]
    assert assign(words, ["Ann\n\nsings.", "She  dances."]) == [range(3), range(3, 5)]


def test_tokens_belong_to_the_sentence_they_begin_in():
    tokens = ["Ann", " sings", ".", " She", " ", "2", "."]
    assert tokens_of_each(tokens, ["Ann sings.", "She 2."]) == [[0, 1, 2], [3, 4, 5, 6]]
    assert tokens_of_each(tokens, ["Nobody.", "She 2."]) == [[], [3, 4, 5, 6]]


def test_thoughts_and_the_end_mark_are_not_spoken():
    assert spoken(completion("Ann sings.")) == range(2)
    assert spoken(completion("Ann sings.", end_mark=False)) == range(2)
    assert spoken(completion("Ann sings.", finish="length")) == range(2)
    thinking = completion("Hm. No. Ann sings.")
    answered = type(thinking)(
        **{name: getattr(thinking, name) for name in thinking.__slots__} | {"text": "Ann sings.", "thoughts": "Hm. No."}
    )
    assert [thinking.tokens[i] for i in spoken(answered)] == [" Ann", " sings."]


@given(st.lists(st.text(max_size=4), max_size=12))
def test_every_token_is_in_one_word(tokens):
    words = merge(tokens)
    assert [place for word in words for place in word.tokens] == list(range(len(tokens)))
    assert all(isinstance(word, Word) for word in named(words, "".join(tokens)))


@given(
    st.lists(st.sampled_from(["Ann", "sings.", "", "Bo", "2."]), max_size=8), st.lists(st.text(max_size=6), max_size=4)
)
def test_sentences_take_words_in_order_without_overlap(words, sentences):
    ranges = assign(words, sentences)
    places = [place for own in ranges for place in own]
    assert len(ranges) == len(sentences)
    assert places == list(range(len(places)))
    assert not sentences or len(places) == len(words)
