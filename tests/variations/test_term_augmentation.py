import pytest

from shaketable.datasets.builtin import load_builtin
from shaketable.datasets.reading.rows import make_question, passage
from shaketable.text.ranking import Documents
from shaketable.types import Question
from shaketable.variations.term_augmentation import TermAugmentation


def question(gold, *others, text="Which town has a red bridge?"):
    documents = [passage(f"D{i}", [sentence]) for i, sentence in enumerate((*others, gold))]
    facts = [(documents[-1].title, 0)]
    return make_question(id="q", text=text, answers=["a"], dataset="d", documents=documents, facts=facts, tags={})


def augmented(asked, **settings):
    ((variant,),) = TermAugmentation(**settings).vary([asked])
    return variant


def test_the_fewest_terms_that_lift_the_gold_document_are_added():
    variant = augmented(question("Granite quarry.", "A red bridge.", "The town."))
    # All words are as rare as one another. D0 has three of the question (a, red, bridge) and is longer, so that
    # three words of D2 are enough, and two are not.
    assert variant.text == "Which town has a red bridge? D2 Granite quarry"
    assert variant.provenance == {
        "document": "D2",
        "terms": ["d2", "granite", "quarry"],
        "rank_before": 3,
        "rank_after": 1,
    }


def test_a_document_that_ranks_well_needs_no_term():
    variant = augmented(question("The red bridge of the town.", "A lake."))
    assert variant.text == "Which town has a red bridge?"
    assert (variant.provenance["terms"], variant.rejected) == ([], None)


def test_a_lower_rank_may_be_enough():
    asked = question("Granite quarry.", "A red bridge.", "The town.")
    assert augmented(asked, k=2).provenance["terms"] == ["d2", "granite"]
    assert augmented(asked, k=3).provenance["terms"] == []


def test_no_terms_change_nothing():
    variant = augmented(question("Granite.", "A red bridge."), max_terms=0)
    assert (variant.text, variant.provenance, variant.rejected) == ("Which town has a red bridge?", {}, None)


def test_what_cannot_be_lifted_is_kept_and_not_asked():
    asked = question("Granite quarry.", "A red bridge.", "The town.")
    assert augmented(asked, max_terms=1).rejected == "no set of 1 terms or fewer lifts 'D2' from rank 3 to 1"
    bare = Question(id="q", text="Who?", answers=("a",))
    assert augmented(bare).rejected == "nothing to add: the question has no gold document"


def test_words_that_nobody_searches_for_are_not_added():
    variant = augmented(question("He was there with them granite", "A red bridge.", "The town."), max_terms=9)
    assert variant.rejected or not {"he", "was", "there"} & set(variant.provenance["terms"])


@pytest.mark.parametrize("k", [1, 2])
def test_no_smaller_set_would_do_on_the_questions_that_ship(k):
    part = TermAugmentation(k=k)
    asked = load_builtin().questions[::6]
    for one, (variant,) in zip(asked, part.vary(asked), strict=True):
        documents = Documents.of([f"{document.title} {document.text}" for document in one.documents])
        if variant.rejected:
            continue
        place = [document.title for document in one.documents].index(variant.provenance["document"])
        assert documents.rank(variant.text, place) == variant.provenance["rank_after"] <= k
        smaller = TermAugmentation(k=k, max_terms=max(0, len(variant.provenance["terms"]) - 1))
        ((less,),) = smaller.vary([one])
        assert less.rejected or not variant.provenance["terms"] or smaller.max_terms == 0
