"""The rule for which sentences change, and what holds for every perturbation."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shaketable.catalog import build, known
from shaketable.datasets.hotpotqa import load_hotpotqa
from shaketable.datasets.reading.rows import make_question, passage
from shaketable.datasets.reading.select import select
from shaketable.perturbations.altered import choose_last_half, choose_targets, replay
from shaketable.retrievers.distractor import Distractor
from shaketable.retrievers.full_gold import FullGold
from shaketable.retrievers.gold import Gold
from shaketable.types import Edit, Hit, Query

STRATIFIED = Path(__file__).parents[3] / "shared" / "data" / "hotpotqa_stratified.jsonl.gz"
PARTS = ["unchanged", "sentence_removal", "sentence_replacement", "sentence_replacement(seed=5)", "entity_masking"]
RETRIEVERS = {"gold": Gold(), "full_gold": FullGold(), "distractor": Distractor()}


def search(retriever, questions):
    return retriever.search([Query(text="?", question=question) for question in questions], 5)


def sentences(hits):
    return [sentence for hit in hits for sentence in hit.passage.sentences]


def target_ids(question, hits):
    targets, flags = choose_targets(question, hits)
    return [target.sentence.id for target in targets], flags


# --- the rule -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "altered", "flags"),
    [
        (4, ["Beta#0", "Beta#1"], []),
        (3, ["Beta#0"], []),
        (2, ["Alpha#2"], []),
        (1, ["Alpha#0"], []),
    ],
)
def test_the_last_half_of_the_facts_is_altered(example, gold, n, altered, flags):
    assert target_ids(example(n), gold(example(n))) == (altered, flags)


def test_facts_count_in_the_order_of_the_dataset_wherever_they_stand(example):
    question = example(facts=[("Beta", 1), ("Alpha", 2)])
    (hits,) = search(Distractor(), [question])
    assert target_ids(question, hits) == (["Alpha#2"], [])


def test_only_facts_among_the_hits_count(example, gold):
    question = example()
    assert target_ids(question, gold(question)[1:]) == (["Beta#1"], [])


@pytest.fixture
def found():
    """What a real retriever brings, in which nothing is marked."""
    passages = passage("Delta", ["It is red.", "A d.", "Blue."]), passage("Eta", ["The logo is it.", "So what?"])
    return [Hit(passage=each, rank=rank, score=1.0, source="bm25") for rank, each in enumerate(passages, 1)]


def test_sentences_with_the_answer_are_altered_where_none_is_marked(example, found):
    question = replace(example(), answers=("red", "so what"))
    assert target_ids(question, found) == (["Delta#0", "Eta#1"], [])


def test_the_half_most_like_the_question_is_altered_where_no_answer_occurs(example, found):
    question = replace(example(), text="What is the logo?", answers=("green",))
    assert target_ids(question, found) == (["Delta#0", "Eta#0", "Eta#1"], ["sentences_like_the_question"])
    assert target_ids(question, []) == ([], ["too_few_sentences"])


def test_marks_on_every_sentence_tell_nothing_apart(example, gold):
    """Tables count every sentence of a passage as supporting."""
    question = example(facts=[("Alpha", 0), ("Alpha", 1), ("Beta", 0)], alpha=["A red one.", "b"], beta=["c"])
    question = replace(question, answers=("red",))
    assert target_ids(question, gold(question)) == (["Alpha#0"], [])


def test_the_published_half_stays(example, gold, found):
    targets, flags = choose_last_half(example(), found)
    assert ([target.sentence.id for target in targets], flags) == (["Eta#0", "Eta#1"], ["no_supporting_sentence"])
    assert choose_last_half(example(1), gold(example(1))) == ([], ["too_few_sentences"])
    assert choose_last_half(example(4), gold(example(4))) == choose_targets(example(4), gold(example(4)))


def test_an_edit_that_cannot_be_replayed_is_refused(example, gold):
    edit = Edit(kind="move", sentence_id="Alpha#0", before=None, after=None)
    with pytest.raises(ValueError, match="cannot replay 'move' of the sentence 'Alpha#0'"):
        replay(gold(example()), [edit])


# --- what holds for every perturbation ----------------------------------------------------------

words = st.sampled_from(["Beta", "Jane Roe", "in", "1985", "ran", "Berlin", "the", "Ω", "Émile", "it"])
lines = st.lists(words, min_size=0, max_size=5).map(" ".join)
titles = st.lists(st.sampled_from(["Beta", "Jane Roe (poet)", "It", "Ω", "A: b#1"]), unique=True, min_size=1)


@st.composite
def questions(draw):
    documents = [passage(title, draw(st.lists(lines, max_size=5))) for title in draw(titles)]
    stands = [(document.title, int(s.id.rpartition("#")[2])) for document in documents for s in document.sentences]
    facts = draw(st.lists(st.sampled_from(stands), unique=True, max_size=6)) if stands else []
    return make_question(
        id=draw(st.text(max_size=3)), text="?", answers=["a"], dataset="d", documents=documents, facts=facts, tags={}
    )


def test_all_perturbations_are_tried():
    assert {part.partition("(")[0] for part in PARTS} <= set(known("perturbation"))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("retriever", RETRIEVERS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(batch=st.lists(questions(), max_size=3), data=st.data())
def test_edits_replay_and_the_rest_stays(known_entities, part, retriever, batch, data):
    shaken = build("perturbation", part)
    hits = search(RETRIEVERS[retriever], batch)
    # A real retriever may miss some of it.
    hits = [found[: data.draw(st.integers(0, len(found)))] for found in hits]
    together = shaken.perturb(batch, hits)
    assert together == [shaken.perturb([question], [found])[0] for question, found in zip(batch, hits, strict=True)]
    for question, found, evidence in zip(batch, hits, together, strict=True):
        check(part, question, found, evidence)


def check(part, question, hits, evidence):
    """The invariants of the specification, with the log replayed by other code than the part's."""
    altered, _ = target_ids(question, hits)
    before, after = sentences(hits), sentences(evidence.hits)
    assert [hit.rank for hit in evidence.hits] == list(range(1, len(evidence.hits) + 1))
    assert replay(hits, evidence.edits) == evidence.hits
    assert after == replayed_by_hand(before, evidence.edits)
    assert {edit.sentence_id for edit in evidence.edits} <= set(altered)
    kept = [sentence for sentence in before if sentence.id not in altered]
    if part == "unchanged":
        assert evidence.hits == tuple(hits)
    elif part == "sentence_removal":
        assert after == kept
    elif part == "entity_masking":
        assert [sentence.id for sentence in after] == [sentence.id for sentence in before]
        assert [sentence for sentence in after if sentence.id not in altered] == kept
        unmasked = {"nothing_to_mask", "too_few_sentences"} & set(evidence.flags)
        assert any("[MASK]" in sentence.text for sentence in after) == (not unmasked)
        # Masking leaves the words around the masks as they were.
        for edit in evidence.edits:
            rest = edit.before
            for piece in edit.after.split("[MASK]"):
                assert piece in rest
                rest = rest.partition(piece)[2] if piece else rest
    else:
        assert len(after) == len(before)
        place = {n for n, sentence in enumerate(before) if sentence.id in altered}
        assert [s for n, s in enumerate(after) if n not in place] == kept
        if "fallback_unchanged" not in evidence.flags:
            facts = {question.sentence(id).text for id in altered}
            assert not facts & {after[n].text for n in place}
        donors = [after[n].id for n in place if after[n].id not in altered]
        assert len(donors) == len(set(donors))
        assert not set(donors) & set(question.supporting)


def replayed_by_hand(before, edits):
    after = list(before)
    for edit in edits:
        place = next(n for n, sentence in enumerate(after) if sentence.id == edit.sentence_id)
        assert after[place].text == edit.before
        if edit.kind == "remove":
            del after[place]
        else:
            id = edit.note.split(": ", 1)[1] if ": " in edit.note else edit.sentence_id
            after[place] = type(after[place])(id=id, text=edit.after)
    return after


@pytest.fixture(scope="module")
def real_questions():
    if not STRATIFIED.is_file():
        pytest.skip("the folder of real data is not there")
    loaded = load_hotpotqa(str(STRATIFIED))
    return select(loaded.questions, by=["type", "n_facts"], limit=100, seed=7).questions


@pytest.mark.weights
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("retriever", ["gold", "distractor"])
def test_the_invariants_hold_on_real_questions(real_questions, part, retriever):
    hits = search(RETRIEVERS[retriever], real_questions)
    for question, found, evidence in zip(
        real_questions, hits, build("perturbation", part).perturb(real_questions, hits), strict=True
    ):
        assert len(target_ids(question, found)[0]) == question.tags["n_facts"] // 2
        check(part, question, found, evidence)
        if part == "sentence_removal":
            assert len(sentences(found)) - len(sentences(evidence.hits)) == question.tags["n_facts"] // 2
