from dataclasses import replace

import pytest

from shaketable import catalog
from shaketable.datasets.builtin import load_builtin
from shaketable.datasets.reading.rows import passage
from shaketable.metrics.relevance import Relevance, pseudo_relevance, undone
from shaketable.types import Edit, Evidence, Hit, Query, Sentence

WORD_LEVEL = ["antonym", "entity_masking", "entity_replacement", "random_noise", "random_noise(around=True)", "synonym",
              "word_reordering"]  # fmt: skip
UNIT_LEVEL = ["sentence_replacement", "unit_replacement", "unit_replacement(pool='same_record')", "source_reordering"]


ASKED = load_builtin().questions[::7]


def found_by(retriever):
    queries = [Query(text=question.text, question=question) for question in ASKED]
    return catalog.build("retriever", retriever).search(queries, 5)


def hit(title, *texts, rank=1):
    return Hit(passage=passage(title, texts), rank=rank, score=None, source="test")


def with_text(given, text):
    """Evidence of one hit with another text, and the edit that made it."""
    [sentence] = given.passage.sentences
    changed = replace(given, passage=replace(given.passage, sentences=(Sentence(id=sentence.id, text=text),)))
    edit = Edit(kind="replace", sentence_id=sentence.id, before=sentence.text, after=text)
    return Evidence(hits=(changed,), edits=(edit,))


SHELLEY = hit("Shelley", "Mary Shelley is buried in the town of Bournemouth on the south coast of England.")
IRON = hit("Iron", "The metal iron melts at about 1,538 degrees Celsius.")


@pytest.mark.weights
@pytest.mark.parametrize("retriever", ["gold", "full_gold", "bm25"])
@pytest.mark.parametrize("perturbation", [*WORD_LEVEL, *UNIT_LEVEL])
def test_undoing_the_edits_of_a_real_perturbation_gives_back_what_was_found(perturbation, retriever):
    found = found_by(retriever)
    disturbed = catalog.build("perturbation", perturbation).perturb(ASKED, found)
    assert any(one.edits for one in disturbed)
    for before, after in zip(found, disturbed, strict=True):
        texts = sorted(hit.passage.text for hit in before)
        assert sorted(passage.text for passage in undone(after)) == texts


def test_a_sentence_that_was_removed_is_not_missed_and_a_new_passage_was_not_there():
    found = found_by("full_gold")
    for one in catalog.build("perturbation", "sentence_removal").perturb(ASKED, found):
        assert [passage.text for passage in undone(one)] == [hit.passage.text for hit in one.hits]
    part = catalog.build("perturbation", "unit_replacement(unit='passage', pool='same_record')")
    for one in part.perturb(ASKED, found):
        brought = {edit.sentence_id for edit in one.edits if edit.kind == "insert"}
        new = [hit.passage.sentences[0].id in brought for hit in one.hits]
        assert any(new)
        assert [passage is None for passage in undone(one)] == new
        assert [label for label, is_new in zip(pseudo_relevance([one])[0], new, strict=True) if is_new] == [
            Relevance(similarity=None, is_relevant=False)
        ] * sum(new)


def test_what_was_left_alone_is_relevant_and_needs_no_weights():
    assert pseudo_relevance([Evidence(hits=(SHELLEY, IRON)), Evidence(hits=())]) == [
        [Relevance(similarity=1.0, is_relevant=True)] * 2,
        [],
    ]


@pytest.mark.weights
def test_other_words_are_not_relevant_and_the_threshold_decides():
    other = with_text(IRON, "Rice is grown in flooded fields.")
    near = with_text(SHELLEY, "Mary Shelley is buried in the town of Bournemouth on the south seashore of England.")
    [[far], [close]] = pseudo_relevance([other, near])
    assert far.similarity < 0.5 and not far.is_relevant
    assert 0.8 < close.similarity < 1 and close.is_relevant
    assert not pseudo_relevance([near], threshold=0.9999)[0][0].is_relevant
