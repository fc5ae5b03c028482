from __future__ import annotations

import math
from dataclasses import replace

import pytest
from made_records import record

from shaketable.datasets.rows import passage
from shaketable.metrics.retrieval import Retrieval
from shaketable.types import Event, Evidence, Hit, Question, Search

QUESTION = Question(id="q", text="?", answers=("a",), gold_titles=("Alpha", "Beta"))


def searched(*titles):
    hits = tuple(
        Hit(passage=passage(title, ["x"]), rank=rank, score=None, source="bm25") for rank, title in enumerate(titles, 1)
    )
    return Event(step=Search(query="?", k=5), reply=Evidence(hits=hits))


def numbers(*events, question=QUESTION, **settings):
    made = replace(record("a", question), trace=events)
    (found,) = Retrieval(**settings).score([made], {"q": question})
    return {score.metric: score.value if score.value is not None else score.reason for score in found}


def test_numbers_worked_by_hand():
    # Gold at ranks 2 and 4 of 4. nDCG: (1/log2 3 + 1/log2 5) / (1/log2 2 + 1/log2 3).
    gain, best = 1 / math.log2(3) + 1 / math.log2(5), 1 + 1 / math.log2(3)
    assert numbers(searched("X", "Beta", "Y", "alpha "), k=5) == {
        "recall@5": 1.0,
        "precision@5": pytest.approx(2 / 5),
        "ndcg@5": pytest.approx(gain / best),
        "mrr@5": pytest.approx(1 / 2),
    }
    assert numbers(searched("X", "Beta", "Y", "Alpha"), k=3) == {
        "recall@3": 0.5,
        "precision@3": pytest.approx(1 / 3),
        "ndcg@3": pytest.approx((1 / math.log2(3)) / best),
        "mrr@3": pytest.approx(1 / 2),
    }


def test_passages_of_one_document_count_once():
    assert numbers(searched("X", "X", "X", "Alpha"), k=2)["recall@2"] == 0.5


def test_a_search_that_found_nothing_scores_zero():
    assert set(numbers(searched()).values()) == {0.0}
    assert set(numbers(searched("X")).values()) == {0.0}


def test_the_first_search_or_all_of_them():
    events = (searched("X", "Alpha"), searched("Beta", "X"))
    assert numbers(*events)["recall@5"] == 0.5
    assert numbers(*events, searches="all")["recall@5"] == 1.0


def test_what_cannot_be_judged_says_why():
    assert set(numbers().values()) == {"no search"}
    assert set(numbers(searched("X"), question=replace(QUESTION, gold_titles=())).values()) == {"no supporting titles"}


def test_k_is_at_least_one():
    with pytest.raises(ValueError, match="k is 0"):
        Retrieval(k=0)
