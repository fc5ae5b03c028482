import pytest

from shaketable.perturbations.source_reordering import SourceReordering
from shaketable.retrievers.distractor import Distractor
from shaketable.types import Query


@pytest.fixture
def reordered(example, shake):
    """Titles after reordering Alpha, Beta (gold) and C, D, E."""

    def run(mode, seed=0, facts=(("Alpha", 0), ("Beta", 0)), others=("C", "D", "E")):
        question = example(facts=list(facts), others=[(title, [f"{title}."]) for title in others])
        (hits,) = Distractor().search([Query(text="?", question=question)], 0)
        order = [hits[i] for i in (2, 0, 3, 1, 4)] if len(hits) == 5 else hits
        evidence = shake(SourceReordering(mode=mode, seed=seed), question, order)
        return "".join(hit.passage.title[0] for hit in evidence.hits), evidence.flags

    return run


@pytest.mark.parametrize(
    ("mode", "order"),
    [
        # From C, Alpha, D, Beta, E.
        ("reverse", "EBDAC"),
        ("gold_first", "ABCDE"),
        ("gold_last", "CDEAB"),
        ("gold_middle", "CABDE"),
        ("gold_at_edges", "ACDEB"),
    ],
)
def test_passages_take_the_places_that_the_mode_says(reordered, mode, order):
    assert reordered(mode) == (order, ())


def test_more_gold_passages_alternate_between_the_edges(reordered):
    # Gold in order: C, A, D, B.
    facts = [("Alpha", 0), ("Beta", 0), ("C", 0), ("D", 0)]
    assert reordered("gold_at_edges", facts=facts) == ("CDEBA", ())


def test_random_orders_follow_the_seed(reordered):
    orders = {reordered("random", seed) for seed in range(40)}
    assert len(orders) > 20
    assert reordered("random", 3) == reordered("random", 3)


def test_what_cannot_be_reordered_is_said(reordered, example, shake, gold):
    assert reordered("gold_first", facts=()) == ("CADBE", ("no_gold_passage",))
    assert reordered("reverse", others=())[0] == "BA"
    assert reordered("gold_first", others=()) == ("AB", ("order_unchanged",))
    assert shake(SourceReordering(), example(1)).flags == ("too_few_passages",)


def test_the_log_names_each_passage_that_moved(example, shake, gold):
    question = example(3)
    evidence = shake(SourceReordering(), question)
    assert [(edit.kind, edit.sentence_id, edit.rank) for edit in evidence.edits] == [
        ("move", "Alpha#0", 3),
        ("move", "Beta#0", 1),
    ]
