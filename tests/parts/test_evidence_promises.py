"""What variations, retrievers and perturbations promise: lists in, lists of the same length and order out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from promises import ODD_TEXTS, built, hits_of, odd_question, odd_questions, questions

from shaketable import catalog
from shaketable.identity import canonical
from shaketable.perturbations.altered import replay
from shaketable.protocols import Perturbation, RecordRetriever, Retriever, Variation
from shaketable.types import Evidence, Query

READ_DOCUMENTS = {"term_augmentation"}
"""Variations whose published rule takes words from a supporting document; all others see the question alone."""
KEEP_MAKERS = {"frozen"}
"""Variations whose wordings were made by others, and are named after those."""
RETRIEVERS = sorted(name for name in catalog.known("retriever") if name not in ("dense", "milvus"))
"""Hits of the two left out look like those of bm25, and take longer."""
each_variation = pytest.mark.parametrize("part", built("variation"))
each_retriever = pytest.mark.parametrize("part", built("retriever"))
each_perturbation = pytest.mark.parametrize("part", built("perturbation"))
each_evidence = pytest.mark.parametrize("evidence", RETRIEVERS)


def without_gold(question):
    return replace(question, answers=("Zebra",), reference="It is a zebra.", tags={})


# --- variations -----------------------------------------------------------------------------------


@each_variation
def test_a_variation_gives_wordings_for_each_question_in_order(part):
    asked = questions()
    before = canonical(asked)
    made = part.vary(asked)
    assert isinstance(part, Variation)
    assert [[variant.question_id for variant in wordings] for wordings in made] == [
        [question.id] * len(wordings) for question, wordings in zip(asked, made, strict=True)
    ]
    makers = {catalog.parse(variant.variation)[0] for wordings in made for variant in wordings}
    assert makers <= {catalog.name_of(part)} or catalog.name_of(part) in KEEP_MAKERS
    assert canonical(asked) == before


@each_variation
def test_a_wording_depends_on_its_question_alone(part):
    asked = questions()
    made = part.vary(asked)
    assert part.vary(asked) == made
    assert part.vary(asked[::-1]) == made[::-1]
    assert [part.vary([question])[0] for question in asked] == made
    assert part.vary(tuple(asked)) == made


@each_variation
def test_a_variation_never_looks_at_answers(part):
    assert part.vary([without_gold(question) for question in questions()]) == part.vary(questions())


@pytest.mark.parametrize("part", built("variation", without=READ_DOCUMENTS))
def test_a_variation_never_looks_at_documents(part):
    bare = [replace(without_gold(q), documents=(), supporting=(), gold_titles=()) for q in questions()]
    assert part.vary(bare) == part.vary(questions())


@each_variation
def test_a_variation_of_nothing_is_nothing(part):
    assert part.vary([]) == []


@each_variation
@pytest.mark.parametrize("name", ODD_TEXTS)
def test_a_variation_takes_any_text(part, name):
    (wordings,) = part.vary([odd_question(ODD_TEXTS[name], name)])
    assert all(isinstance(variant.text, str) for variant in wordings)


# --- retrievers -----------------------------------------------------------------------------------


def queries_for(asked):
    return [Query(text=question.text, question=question) for question in asked]


@each_retriever
def test_a_retriever_gives_hits_for_each_query_best_first(part):
    queries = queries_for(questions())
    before = canonical(queries)
    for k in (1, 3, 100):
        found = part.search(queries, k)
        assert len(found) == len(queries)
        for hits in found:
            assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
            assert {hit.source for hit in hits} <= {catalog.name_of(part)}
            scores = [hit.score for hit in hits if hit.score is not None]
            assert scores == sorted(scores, reverse=True)
            assert len(scores) in (0, len(hits))
            # Evidence that comes with the question is not ranked, so it is not cut.
            assert len(hits) <= k or isinstance(part, RecordRetriever)
    assert isinstance(part, Retriever)
    assert canonical(queries) == before


@each_retriever
def test_hits_depend_on_their_query_alone(part):
    queries = queries_for(questions())
    found = part.search(queries, 5)
    assert part.search(queries, 5) == found
    assert part.search(queries[::-1], 5) == found[::-1]
    assert [part.search([query], 5)[0] for query in queries] == found


@each_retriever
def test_a_retriever_never_looks_at_answers(part):
    bare = [without_gold(question) for question in questions()]
    assert part.search(queries_for(bare), 5) == part.search(queries_for(questions()), 5)


@each_retriever
def test_no_query_has_no_hits(part):
    assert part.search([], 5) == []


@each_retriever
@pytest.mark.parametrize("name", ODD_TEXTS)
def test_a_retriever_takes_any_text(part, name):
    odd, plain = odd_question(ODD_TEXTS[name], name), questions()[0]
    found = part.search([Query(text=odd.text, question=odd), Query(text=odd.text, question=plain)], 5)
    assert len(found) == 2


# --- perturbations --------------------------------------------------------------------------------


@each_perturbation
@each_evidence
def test_a_perturbation_gives_evidence_for_each_question_in_order(part, evidence):
    asked = questions()
    hits = hits_of(evidence, asked)
    before = canonical([asked, hits])
    made = part.perturb(asked, hits)
    assert isinstance(part, Perturbation)
    assert len(made) == len(asked)
    assert all(isinstance(one, Evidence) and isinstance(one.hits, tuple) for one in made)
    assert canonical([asked, hits]) == before


@each_perturbation
@each_evidence
def test_disturbed_evidence_depends_on_its_question_and_hits_alone(part, evidence):
    asked = questions()
    hits = hits_of(evidence, asked)
    made = part.perturb(asked, hits)
    assert part.perturb(asked, hits) == made
    assert part.perturb(asked[::-1], hits[::-1]) == made[::-1]
    assert [part.perturb([q], [found])[0] for q, found in zip(asked, hits, strict=True)] == made
    assert part.perturb(tuple(asked), tuple(tuple(found) for found in hits)) == made


@each_perturbation
@each_evidence
def test_the_edit_log_is_the_whole_change(part, evidence):
    """Replaying the edits on what went in gives what came out."""
    asked = [*questions(), *odd_questions()]
    hits = hits_of(evidence, asked)
    for found, disturbed in zip(hits, part.perturb(asked, hits), strict=True):
        texts = {sentence.id: sentence.text for hit in found for sentence in hit.passage.sentences}
        for edit in disturbed.edits:
            assert edit.kind == "insert" or edit.before == texts[edit.sentence_id]
            assert (edit.after is None) == (edit.kind == "remove")
        assert replay(found, disturbed.edits) == disturbed.hits


@each_perturbation
@each_evidence
def test_ranks_stay_gapless_and_sources_true(part, evidence):
    asked = questions()
    hits = hits_of(evidence, asked)
    for found, disturbed in zip(hits, part.perturb(asked, hits), strict=True):
        assert [hit.rank for hit in disturbed.hits] == list(range(1, len(disturbed.hits) + 1))
        given = {hit.passage.id for hit in found}
        added = {hit.source for hit in disturbed.hits if hit.passage.id not in given}
        assert added <= {catalog.name_of(part)}


@each_perturbation
def test_a_perturbation_of_nothing_is_nothing(part):
    assert part.perturb([], []) == []
    asked = questions()
    made = part.perturb(asked, [[] for _ in asked])
    assert [one.edits for one in made if not one.hits] == [()] * len([one for one in made if not one.hits])


@each_perturbation
@each_evidence
@pytest.mark.parametrize("name", ODD_TEXTS)
def test_a_perturbation_takes_any_text(part, evidence, name):
    asked = [odd_question(ODD_TEXTS[name], name)]
    (made,) = part.perturb(asked, hits_of(evidence, asked))
    assert all(isinstance(sentence.text, str) for hit in made.hits for sentence in hit.passage.sentences)
