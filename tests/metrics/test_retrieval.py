from __future__ import annotations

import math
from dataclasses import replace

import pytest
from made_records import record

from shaketable import catalog
from shaketable.datasets.builtin import load_builtin
from shaketable.datasets.reading.rows import passage
from shaketable.factors import numbers_of
from shaketable.metrics.retrieval import Retrieval
from shaketable.text.encoder import encoder
from shaketable.types import Edit, Event, Evidence, Hit, Query, Question, Search

QUESTION = Question(id="q", text="?", answers=("a",), gold_titles=("Alpha", "Beta"))


def searched(*titles):
    hits = tuple(
        Hit(passage=passage(title, ["x"]), rank=rank, score=None, source="bm25") for rank, title in enumerate(titles, 1)
    )
    return Event(step=Search(query="?", k=5), reply=Evidence(hits=hits))


def numbers(*events, question=QUESTION, **settings):
    made = replace(record("a", question), trace=events)
    (found,) = Retrieval(**settings).score([made], {question.id: question})
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


WORD_LEVEL = ("synonym(sentences='all', m=3)", "word_reordering(sentences='all')", "random_noise(r=9, sentences='all')")


@pytest.mark.weights
def test_after_a_real_word_level_perturbation_only_passages_that_still_mean_the_same_count():
    asked = [question for question in load_builtin().questions if question.tags["n_facts"] == 2][:12]
    queries = [Query(text=question.text, question=question) for question in asked]
    found = catalog.build("retriever", "gold").search(queries, 5)
    embed = encoder("all-MiniLM-L6-v2").embed
    seen = set()
    for perturbation in WORD_LEVEL:
        disturbed = catalog.build("perturbation", perturbation).perturb(asked, found)
        for question, before, evidence in zip(asked, found, disturbed, strict=True):
            event = Event(step=Search(query="?", k=5), reply=evidence)
            # By hand: the texts before and after, compared by the encoder itself.
            pairs = [(one.passage, other.passage) for one, other in zip(before, evidence.hits, strict=True)]
            kept = {old.title for old, new in pairs if float(embed([old.text])[0] @ embed([new.text])[0]) >= 0.8}
            n_titles = len(question.gold_titles)
            assert numbers(event, question=question)["recall@5"] == 1.0, "Titles stay, whatever happens to words."
            scored = numbers(event, question=question, min_similarity=0.8)
            assert scored["recall@5~0.8"] == pytest.approx(len(kept) / n_titles)
            assert scored["precision@5~0.8"] == pytest.approx(len(kept) / 5)
            seen.add(len(kept) / n_titles)
    assert len(seen) > 1, "Some passages keep their meaning and some lose it."


def test_a_passage_that_lost_its_meaning_keeps_its_rank():
    changed = Evidence(
        hits=(Hit(passage=passage("Alpha", ["qqq"]), rank=1, score=None, source="x"), *searched("Beta").reply.hits),
        edits=(Edit(kind="insert", sentence_id="Alpha#0", before=None, after="qqq", rank=1, title="Alpha"),),
    )
    scored = numbers(Event(step=Search(query="?", k=5), reply=changed), min_similarity=0.8)
    assert (scored["recall@5~0.8"], scored["mrr@5~0.8"]) == (0.5, 0.5)


def test_the_names_of_its_numbers_are_known_before_anything_is_scored():
    both = numbers_of(["retrieval(k=3)", "retrieval(k=3, min_similarity=0.8)"])
    assert both[::4] == ("recall@3", "recall@3~0.8")


def test_a_similarity_lies_above_0_and_is_at_most_1():
    for wrong in (0.0, 1.5):
        with pytest.raises(ValueError, match="min_similarity is"):
            Retrieval(min_similarity=wrong)


def test_k_is_at_least_one():
    with pytest.raises(ValueError, match="k is 0"):
        Retrieval(k=0)
