import pytest

from shaketable.perturbations.sentence_removal import SentenceRemoval
from shaketable.retrievers.full_gold import FullGold
from shaketable.types import Query


@pytest.mark.parametrize(
    ("n", "left"),
    [
        (4, ["Alpha#0", "Alpha#2"]),
        (3, ["Alpha#0", "Alpha#2"]),
        (2, ["Alpha#0"]),
    ],
)
def test_the_later_half_of_the_facts_goes(example, shake, n, left):
    evidence = shake(SentenceRemoval(), example(n))
    assert [hit.passage.sentences[0].id for hit in evidence.hits] == left
    assert [hit.rank for hit in evidence.hits] == list(range(1, len(left) + 1))
    assert evidence.flags == ()


def test_each_removal_is_an_edit(example, shake):
    (edit,) = shake(SentenceRemoval(), example(3)).edits
    assert (edit.kind, edit.sentence_id, edit.after) == ("remove", "Beta#0", None)
    assert edit.before == "Beta is a weekly founded in 1985 in Berlin."


def test_only_the_sentence_leaves_a_whole_document(example, shake):
    question = example(3)
    (hits,) = FullGold().search([Query(text="?", question=question)], 0)
    evidence = shake(SentenceRemoval(), question, hits)
    assert evidence.hits[0] == hits[0]
    assert [sentence.id for sentence in evidence.hits[1].passage.sentences] == ["Beta#1", "Beta#2", "Beta#3"]


def test_one_fact_is_too_few(example, shake, gold):
    evidence = shake(SentenceRemoval(), example(1))
    assert evidence.hits == tuple(gold(example(1)))
    assert evidence.flags == ("too_few_sentences",)
