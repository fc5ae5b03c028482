import math

import pytest

from shaketable.text.ranking import Documents, terms

PAIR = Documents.of(["Alpha beta", "Beta gamma GAMMA"])


def test_words_are_compared_without_regard_to_case():
    assert terms("The Ωmega-3, déjà vu!") == ["the", "ωmega", "3", "déjà", "vu"]


def test_scores_are_bm25s():
    # By hand: idf = ln(1 + 1.5/1.5), average length 2.5, tf 2 in 3 words: 2·2.5 / (2 + 1.5·(0.25 + 0.75·3/2.5)).
    assert PAIR.scores("gamma") == pytest.approx([0.0, math.log(2) * 5 / 3.725])
    assert PAIR.scores("") == [0.0, 0.0]
    # A word that the query says twice counts once.
    assert PAIR.scores("gamma gamma") == PAIR.scores("gamma")


def test_rare_words_weigh_more():
    assert PAIR.idf("alpha") == pytest.approx(math.log(2))
    assert PAIR.idf("beta") == pytest.approx(math.log(1.2))
    assert PAIR.idf("nowhere") == pytest.approx(math.log(6))


def test_ranks_count_from_one_and_equal_documents_keep_their_order():
    assert [PAIR.rank("gamma", place) for place in (0, 1)] == [2, 1]
    assert [PAIR.rank("delta", place) for place in (0, 1)] == [1, 2]


def test_a_document_without_words_comes_last():
    assert Documents.of(["", "x"]).rank("nothing", 0) == 2
    assert PAIR.with_text(1, "").rank("delta", 1) == 2
    assert Documents.of(["", ""]).scores("x") == [0.0, 0.0]


def test_the_heaviest_terms_come_first():
    assert PAIR.by_weight(1) == ["gamma", "beta"]
    assert Documents.of(["b a c c", "c"]).by_weight(0) == ["a", "b", "c"]
