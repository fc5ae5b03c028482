"""What holds for the eleven methods of TempPerturb-Eval's Table 1 that act on evidence, whatever their settings."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shaketable.catalog import build, known
from shaketable.datasets.reading.rows import make_question, passage
from shaketable.perturbations.altered import bring, insert, move, replay, split_end
from shaketable.retrievers.distractor import Distractor
from shaketable.retrievers.full_gold import FullGold
from shaketable.retrievers.gold import Gold
from shaketable.types import Hit, Query, Sentence

RETRIEVERS = {"gold": Gold(), "full_gold": FullGold(), "distractor": Distractor()}
PARTS = [
    "sentence_removal(mode='indexes', indexes=(0, 2, 40))",
    "sentence_removal(mode='leave_one_out', index=1)",
    "sentence_removal(mode='counterfactual')",
    "combination(m=2, index=1, budget=3)",
    "combination(unit='passage')",
    *(
        f"source_reordering(mode='{mode}')"
        for mode in ("reverse", "random", "gold_first", "gold_last", "gold_middle", "gold_at_edges")
    ),
    "word_reordering",
    "word_reordering(mode='shuffle', p=0.4, sentences='all')",
    *(
        f"unit_replacement(unit='{unit}', pool='{pool}'{index})"
        for unit in ("sentence", "passage")
        for pool in ("same_title", "same_record", "corpus", "higher_ranked")
        for index in ("", ", index=1")
    ),
    *(
        f"entity_replacement(mode='{mode}', pool='{pool}', sentences='all')"
        for mode in ("ner", "pos")
        for pool in ("lexicon", "same_type", "mask")
    ),
    "antonym(sentences='all')",
    "synonym(m=2)",
    "synonym(important_only=True, sentences='all')",
    "random_noise",
    "random_noise(r=1, around=True, sentences='all')",
]
NO_DOSE = {
    "word_reordering": "p=0.0",
    "entity_replacement": "p=0.0",
    "antonym": "m=0",
    "synonym": "m=0",
    "random_noise": "r=0, around=True",
    "sentence_removal": "mode='indexes'",
}
"""The setting of each part with a dose that asks for no change."""
WITHOUT_DOSE = {
    "combination",
    "entity_masking",
    "sentence_replacement",
    "source_reordering",
    "unchanged",
    "unit_replacement",
}

words = st.sampled_from(["Beta", "large", "old", "founded", "in", "1985", "began", "Berlin", "the", "Ω", "is", "it's"])
lines = st.lists(words, min_size=0, max_size=6).map(lambda chosen: " ".join(chosen) + "." * bool(chosen))
titles = st.lists(st.sampled_from(["Beta", "Jane Roe (poet)", "It", "Ω", "A: b#1"]), unique=True, min_size=1)


@st.composite
def questions(draw):
    documents = [passage(title, draw(st.lists(lines, max_size=4))) for title in draw(titles)]
    stands = [(document.title, int(s.id.rpartition("#")[2])) for document in documents for s in document.sentences]
    facts = draw(st.lists(st.sampled_from(stands), unique=True, max_size=5)) if stands else []
    text = draw(lines)
    return make_question(
        id=draw(st.text(max_size=3)), text=text, answers=["a"], dataset="d", documents=documents, facts=facts, tags={}
    )


@st.composite
def cases(draw):
    """A question and what a retriever found for it, which may be part of it or hold a passage twice."""
    question = draw(questions())
    retriever = RETRIEVERS[draw(st.sampled_from(sorted(RETRIEVERS)))]
    (found,) = retriever.search([Query(text="?", question=question)], 5)
    found = found[: draw(st.integers(0, len(found)))]
    if found and draw(st.booleans()):
        found = [*found, found[0]]
    return question, [replace(hit, rank=rank) for rank, hit in enumerate(found, 1)]


def sentences(hits):
    return [sentence for hit in hits for sentence in hit.passage.sentences]


def test_every_perturbation_is_tried_or_has_no_dose():
    assert known("perturbation").keys() == NO_DOSE.keys() | WITHOUT_DOSE


@pytest.mark.parametrize("part", PARTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
@given(batch=st.lists(cases(), max_size=2))
def test_a_part_is_pure_its_log_replays_and_no_failure_is_silent(known_entities, known_tags, part, batch):
    shaken = build("perturbation", part)
    asked, hits = [question for question, _ in batch], [found for _, found in batch]
    together = shaken.perturb(asked, hits)
    random.seed(1)  # The state of the world outside means nothing.
    assert together == build("perturbation", part).perturb(asked, hits)
    assert together == [shaken.perturb([question], [found])[0] for question, found in batch]
    for (_, found), evidence in zip(batch, together, strict=True):
        assert replay(found, evidence.edits) == evidence.hits
        assert [hit.rank for hit in evidence.hits] == list(range(1, len(evidence.hits) + 1))
        assert evidence.edits or evidence.flags
        assert evidence.hits != tuple(found) or evidence.flags
        by_id = {sentence.id: sentence.text for sentence in sentences(found)}
        for edit in evidence.edits:
            assert edit.kind == "insert" or edit.before == by_id[edit.sentence_id]


@pytest.mark.parametrize(("name", "setting"), NO_DOSE.items())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
@given(case=cases())
def test_no_dose_changes_nothing(known_entities, known_tags, name, setting, case):
    question, found = case
    (evidence,) = build("perturbation", f"{name}({setting})").perturb([question], [found])
    assert (evidence.hits, evidence.edits, evidence.flags) == (tuple(found), (), ())


@pytest.mark.parametrize("part", [part for part in PARTS if part.startswith("source_reordering")])
@settings(deadline=None, max_examples=40)
@given(case=cases())
def test_reordering_passages_keeps_every_passage(part, case):
    question, found = case
    (evidence,) = build("perturbation", part).perturb([question], [found])
    assert Counter(hit.passage for hit in evidence.hits) == Counter(hit.passage for hit in found)
    assert Counter(replace(hit, rank=0) for hit in evidence.hits) == Counter(replace(hit, rank=0) for hit in found)


@pytest.mark.parametrize("mode", ["swap", "shuffle"])
@settings(deadline=None, max_examples=60)
@given(case=cases(), p=st.floats(0.01, 1), seed=st.integers(0, 9))
def test_reordering_words_keeps_every_word(mode, case, p, seed):
    question, found = case
    part = build("perturbation", f"word_reordering(mode={mode!r}, p={p!r}, seed={seed}, sentences='all')")
    (evidence,) = part.perturb([question], [found])
    for edit in evidence.edits:
        (before, end), (after, same_end) = split_end(edit.before), split_end(edit.after)
        assert end == same_end
        assert Counter(before.split()) == Counter(after.split())


# --- the log ----------------------------------------------------------------------------------------


def made_hits(*titles):
    return [
        Hit(passage=passage(title, [f"{title} one.", f"{title} two."]), rank=rank, score=1.0, source="bm25")
        for rank, title in enumerate(titles, 1)
    ]


def titles_of(hits):
    return [hit.passage.title for hit in hits]


def test_moved_passages_stand_where_the_log_says():
    hits = made_hits("A", "B", "C", "D")
    after = replay(hits, [move(hits[3], 1), move(hits[0], 3)])
    assert titles_of(after) == ["D", "B", "A", "C"]
    assert [hit.rank for hit in after] == [1, 2, 3, 4]
    assert after[0].passage == hits[3].passage


def test_a_new_passage_names_who_brought_it():
    hits = made_hits("A", "B")
    after = replay(hits, bring(passage("New: things", ["One.", "", "Three."]), 2, "unit_replacement", "corpus"))
    assert titles_of(after) == ["A", "New: things", "B"]
    assert after[1] == Hit(
        passage=passage("New: things", ["One.", "", "Three."]), rank=2, score=None, source="unit_replacement"
    )


def test_inserted_sentences_stand_before_and_after_their_anchor():
    (hit,) = made_hits("A")
    first, last = hit.passage.sentences
    (after,) = replay([hit], [insert("x", "before", first), insert("y", "after", last)])
    assert after.passage.sentences == (
        Sentence(id="A#0/before", text="x"),
        first,
        last,
        Sentence(id="A#1/after", text="y"),
    )


def test_a_rank_that_is_not_there_is_refused():
    hits = made_hits("A", "B")
    with pytest.raises(ValueError, match=r"cannot place passages at the ranks \[3\] of 2"):
        replay(hits, [move(hits[0], 3)])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("word_reordering(p=1.5)", "p is 1.5, expected a share from 0 to 1"),
        ("word_reordering(sentences='some')", "sentences"),
        ("antonym(m=-1)", "m is -1, expected 0 or more"),
        ("combination(m=0)", "m is 0, expected 1 or more"),
        ("combination(index=5, budget=5)", "index is 5, expected less than the budget of 5"),
        ("sentence_removal(indexes=(0, -1))", "a position in indexes is -1, expected 0 or more"),
        ("unit_replacement(index=-2)", "index is -2, expected 0 or more"),
        ("random_noise(r=-1)", "r is -1, expected 0 or more"),
    ],
)
def test_settings_that_make_no_sense_are_refused(text, problem):
    from shaketable.errors import PartError

    with pytest.raises(PartError, match=problem.replace("(", r"\(")):
        build("perturbation", text)
