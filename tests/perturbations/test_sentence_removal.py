from dataclasses import replace

import pytest

from shaketable.perturbations.sentence_removal import SentenceRemoval
from shaketable.retrievers.distractor import Distractor
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


def test_a_single_fact_is_removed(example, shake):
    evidence = shake(SentenceRemoval(), example(1))
    assert (evidence.hits, evidence.flags) == ((), ())


def test_one_fact_is_too_few_for_the_published_half(example, shake, gold):
    evidence = shake(SentenceRemoval(mode="last_half"), example(1))
    assert evidence.hits == tuple(gold(example(1)))
    assert evidence.flags == ("too_few_sentences",)


def ids(evidence):
    return [sentence.id for hit in evidence.hits for sentence in hit.passage.sentences]


def test_given_positions_go(example, shake):
    evidence = shake(SentenceRemoval(mode="indexes", indexes=(3, 0, 0)), example())
    assert ids(evidence) == ["Alpha#2", "Beta#0"]
    assert evidence.flags == ()
    assert shake(SentenceRemoval(mode="indexes", indexes=(1, 9)), example()).flags == ("no_such_sentence",)


def test_every_sentence_with_an_accepted_answer_goes(example, shake):
    shown = example(alpha=["The logo is RED.", "It is old.", "Red as blood."], beta=["A redder thing.", "b", "c"])
    for answers, left in {
        ("red",): ["Beta#0", "Beta#1"],  # A short answer must be a word of its own.
        ("crimson", "as BLOOD"): ["Alpha#0", "Beta#0", "Beta#1"],
    }.items():
        evidence = shake(SentenceRemoval(mode="answer"), replace(shown, answers=answers))
        assert (ids(evidence), evidence.flags) == (left, ())
    absent = shake(SentenceRemoval(mode="answer"), replace(shown, answers=("blue",)))
    assert (absent.edits, absent.flags) == ((), ("no_sentence_with_answer",))
    assert not shake(SentenceRemoval(mode="answer"), replace(shown, answers=())).edits


def test_leaving_one_out_goes_by_place_and_not_by_text(example, shake):
    question = example(alpha=["Same.", "x", "Same.", "y"])
    outputs = [ids(shake(SentenceRemoval(mode="leave_one_out", index=index), question)) for index in range(4)]
    assert outputs == [
        ["Alpha#2", "Beta#0", "Beta#1"],
        ["Alpha#0", "Beta#0", "Beta#1"],
        ["Alpha#0", "Alpha#2", "Beta#1"],
        ["Alpha#0", "Alpha#2", "Beta#0"],
    ]
    assert shake(SentenceRemoval(mode="leave_one_out", index=4), question).flags == ("no_such_sentence",)


@pytest.fixture
def counterfactual(example, shake):
    """The question asks for a red logo; Alpha and Beta are gold, Gamma is not."""

    def run(alpha, gamma=("A red thing.", "x."), beta=("B.",), **settings):
        question = replace(
            example(facts=[("Alpha", 0), ("Beta", 0)], alpha=alpha, beta=beta, others=[("Gamma", gamma)]),
            text="Which logo is red?",
        )
        (hits,) = Distractor().search([Query(text="?", question=question)], 0)
        return shake(SentenceRemoval(mode="counterfactual", **settings), question, hits)

    return run


def removed(evidence):
    return [edit.sentence_id for edit in evidence.edits]


def test_the_smallest_set_that_costs_the_rank_goes(counterfactual):
    assert removed(counterfactual(["Blue.", "The logo is red."])) == ["Alpha#1"]
    # Without either sentence alone Alpha still ranks before Gamma.
    both = counterfactual(["The red logo.", "A pause.", "Its logo: red."])
    assert removed(both) == ["Alpha#0", "Alpha#2"]
    assert both.flags == ()


def test_of_equal_sizes_the_first_positions_go(counterfactual):
    evidence = counterfactual(["The logo.", "The logo.", "The logo."], gamma=["Logo logo."], k=1, max_size=2)
    assert removed(evidence) == sorted(removed(evidence))
    assert len(removed(evidence)) <= 2


def test_no_counterfactual_is_said(counterfactual):
    sentences = ["The red logo.", "Red logo.", "A red logo."]
    assert counterfactual(sentences, max_size=2).flags == ("no_counterfactual",)
    assert len(removed(counterfactual(sentences, max_size=3))) == 3
    assert counterfactual(["Nothing."]).flags == ("already_below_rank",)


def test_evidence_without_gold_has_no_document_to_lower(example, shake):
    assert shake(SentenceRemoval(mode="counterfactual"), example(), []).flags == ("no_gold_document",)
