import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys import judged

from shaketable.facts.curves.predicate import ACCEPT, REJECT, UNDECIDED, Predicate
from shaketable.facts.curves.vocabulary import Vocabulary

TEXTS = [
    "a",
    "b",
    "ab",
    "c",
    " ",
    "Paris",
    " Par",
    "is",
    "ian",
    ".",
    " the",
    "P",
    "ar",
    "\n",
    "ſ",
    "É",
    "é",
    "≠",
    "no",
    " No",
    "w",
    "'",
]
PIECES = [b"\xc3", b"\x89", b"\xa9", b"\xe2", b"\x80", b"\x99", b"\x99 paris", b"\xf0\x9f", b"\x8e\x89", b""]
VOCABULARY = Vocabulary(["", *TEXTS, *PIECES], {0})
GOLDS = (["Paris"], ["ab"], ["no"], ["no", "Paris ab"], ["É"], ["the Paris is"], ["Paris Paris", "is"], ["C."], ["a"])
MATCHES = ("substring", "token", "startswith", "exact")


PREDICATES = {
    (number, match, cut): Predicate(GOLDS[number], VOCABULARY, match, cut)
    for number, match, cut in itertools.product(range(len(GOLDS)), MATCHES, (False, True))
}


@given(
    st.integers(0, len(GOLDS) - 1),
    st.sampled_from(MATCHES),
    st.booleans(),
    st.lists(st.integers(1, VOCABULARY.n - 1), min_size=1, max_size=4),
)
def test_every_verdict_holds_for_the_finished_text(number, match, cut, tokens):
    predicate, n_tokens = PREDICATES[number, match, cut], 4
    correct = judged(GOLDS[number], match, VOCABULARY.text(tokens), cut)
    prefix = predicate.start
    for place, token in enumerate(tokens):
        verdicts = predicate.judge(prefix, n_tokens - place - 1)
        prefix = predicate.after(prefix, token)
        assert verdicts[token] == predicate.verdict(prefix, n_tokens - place - 1)
        assert verdicts[token] != (REJECT if correct else ACCEPT)
    if len(tokens) == n_tokens:
        assert verdicts[token] != UNDECIDED
    else:
        ended = predicate.judge(prefix, n_tokens - len(tokens) - 1)[0]
        assert ended == (ACCEPT if correct else REJECT)


@pytest.mark.parametrize("match", MATCHES)
def test_a_rejected_prefix_has_no_correct_continuation(match):
    """Exhaustive over all texts of three tokens: the distance to an answer is exact without broken characters."""
    vocabulary = Vocabulary(["", "p", "ar", " par", "is", "paris", " ", "x", "\n"], {0})
    predicate = Predicate(["paris"], vocabulary, match, True)
    inner = range(1, vocabulary.n)
    for token in inner:
        prefix = predicate.after(predicate.start, token)
        longer = [(token, *rest) for n in range(3) for rest in itertools.product(inner, repeat=n)]
        outcomes = {judged(["paris"], match, vocabulary.text(one), True) for one in longer}
        expected = {(True,): ACCEPT, (False,): REJECT}.get(tuple(outcomes), UNDECIDED)
        assert predicate.verdict(prefix, 2) == expected


def test_the_least_number_of_tokens_is_counted():
    vocabulary = Vocabulary(["", "Pa", "ri", "s", " x", "is"], {0})
    predicate = Predicate(["Paris"], vocabulary)
    assert predicate.least_tokens[predicate.start[0]] == 3  # Pa ri s
    begun = predicate.after(predicate.start, 1)
    assert predicate.least_tokens[begun[0]] == 2
    elsewhere = predicate.after(begun, 4)
    assert elsewhere == predicate.start
    assert predicate.verdict(predicate.start, 2) == REJECT
    # With one token to follow, only what continues the answer stays open.
    assert predicate.judge(begun, 1).tolist() == [REJECT, REJECT, UNDECIDED, REJECT, REJECT, REJECT]


def test_a_word_at_the_end_may_still_grow():
    vocabulary = Vocabulary(["", " Paris", "ian", "."], {0})
    predicate = Predicate(["Paris"], vocabulary, "token")
    begun = predicate.after(predicate.start, 1)
    assert predicate.verdict(begun, 3) == UNDECIDED
    assert predicate.judge(begun, 2).tolist() == [ACCEPT, ACCEPT, UNDECIDED, ACCEPT]
    grown = predicate.after(begun, 2)  # " Parisian": only another Paris can help.
    assert predicate.judge(grown, 0).tolist() == [REJECT, ACCEPT, REJECT, REJECT]
    plain = Predicate(["Paris"], vocabulary)
    assert plain.verdict(plain.after(plain.start, 1), 3) == ACCEPT


def test_a_character_in_pieces_counts_once_it_is_whole():
    vocabulary = Vocabulary([b"", b"caf", b"\xc3", b"\xa9", b"x"], {0})
    predicate = Predicate(["Café"], vocabulary)
    begun = predicate.after(predicate.after(predicate.start, 1), 2)
    assert vocabulary.pendings[begun[1]] == b"\xc3"
    assert predicate.judge(begun, 0).tolist() == [REJECT, REJECT, REJECT, ACCEPT, REJECT]
    assert predicate.least_tokens[predicate.start[0]] == 2  # A lower bound: the last piece is not counted.


def test_after_a_line_break_nothing_becomes_correct():
    vocabulary = Vocabulary(["", "Paris", "\n", "\nParis", "Paris\n"], {0})
    cut = Predicate(["Paris"], vocabulary, cut_at_newline=True)
    assert cut.judge(cut.start, 3).tolist() == [REJECT, ACCEPT, REJECT, REJECT, ACCEPT]
    whole = Predicate(["Paris"], vocabulary)
    assert whole.judge(whole.start, 3).tolist() == [REJECT, ACCEPT, UNDECIDED, ACCEPT, ACCEPT]


def test_a_gold_no_is_a_word_of_its_own():
    vocabulary = Vocabulary(["", "No", "rth", " know", " no", "."], {0})
    predicate = Predicate(["no"], vocabulary)
    assert predicate.judge(predicate.start, 0).tolist() == [REJECT, ACCEPT, REJECT, REJECT, ACCEPT, REJECT]
    assert predicate.verdict(predicate.after(predicate.start, 1), 1) == UNDECIDED


def test_golds_without_text_are_never_met():
    predicate = Predicate([" "], VOCABULARY)
    assert predicate.verdict(predicate.start, 100) == REJECT


def test_an_unknown_match_is_named():
    with pytest.raises(ValueError, match="match is 'words', expected one of substring, token"):
        Predicate(["a"], VOCABULARY, "words")


def test_end_marks_must_be_tokens():
    with pytest.raises(ValueError, match=r"end_ids are \[3\], expected ids from 0 to 1"):
        Vocabulary(["a", "b"], {3})


def test_all_tokens_of_a_large_vocabulary_are_judged_alike_one_by_one():
    rng = np.random.default_rng(5)
    strings = ["", *("".join(rng.choice(list("pari s"), size=rng.integers(1, 7))) for _ in range(500))]
    vocabulary = Vocabulary(strings, {0})
    for match in MATCHES:
        predicate = Predicate(["paris", "a sip"], vocabulary, match)
        for opening in ((), (5,), (77, 123)):
            prefix = predicate.start
            for token in opening:
                prefix = predicate.after(prefix, token)
            verdicts = predicate.judge(prefix, 2)
            one_by_one = [predicate.verdict(predicate.after(prefix, token), 2) for token in range(1, vocabulary.n)]
            assert verdicts[1:].tolist() == one_by_one
