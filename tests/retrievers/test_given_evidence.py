"""Gold, full_gold and distractor differ in how much of the record they show, so one example serves all."""

import pytest

from shaketable.datasets.reading.rows import make_question, passage
from shaketable.retrievers.distractor import Distractor
from shaketable.retrievers.full_gold import FullGold
from shaketable.retrievers.gold import Gold
from shaketable.types import Query

QUESTION = make_question(
    id="q",
    text="?",
    answers=["a"],
    dataset="d",
    documents=[
        passage("Gamma", ["G0."]),
        passage("Alpha", ["A0.", "", "A2."]),
        passage("Beta", ["B0.", "B1."]),
    ],
    facts=[("Beta", 1), ("Alpha", 2), ("Beta", 0)],
    tags={},
)
CLOSED_BOOK = make_question(id="c", text="?", answers=["a"], dataset="d", documents=[], facts=[], tags={})


def shown(retriever, k=5):
    (hits,) = retriever.search([Query(text="?", question=QUESTION)], k)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert all(hit.score is None for hit in hits)
    return [(hit.source, hit.passage.id, hit.passage.title, hit.passage.text) for hit in hits]


def test_gold_shows_one_sentence_for_each_fact_in_fact_order():
    assert shown(Gold()) == [
        ("gold", "Beta", "Beta", "B1."),
        ("gold", "Alpha", "Alpha", "A2."),
        ("gold", "Beta", "Beta", "B0."),
    ]


def test_full_gold_shows_whole_documents_in_order_of_their_first_fact():
    assert shown(FullGold()) == [
        ("full_gold", "Beta", "Beta", "B0. B1."),
        ("full_gold", "Alpha", "Alpha", "A0. A2."),
    ]


def test_distractor_shows_the_record_as_it_is():
    assert [text for *_, text in shown(Distractor())] == ["G0.", "A0. A2.", "B0. B1."]


@pytest.mark.parametrize("retriever", [Gold(), FullGold(), Distractor()])
def test_k_does_not_cut_given_evidence(retriever):
    assert shown(retriever, k=1) == shown(retriever, k=9)


@pytest.mark.parametrize("retriever", [Gold(), FullGold(), Distractor()])
def test_a_question_without_evidence_gets_none(retriever):
    assert retriever.search([Query(text="?", question=CLOSED_BOOK)], 5) == [[]]
    assert retriever.search([], 5) == []
