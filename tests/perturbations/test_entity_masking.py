from dataclasses import replace

import pytest

from shaketable.catalog import build
from shaketable.errors import PartError
from shaketable.perturbations.entity_masking import EntityMasking


def texts(evidence):
    return [hit.passage.text for hit in evidence.hits]


@pytest.mark.parametrize(
    ("scope", "masked"),
    [
        ("all_plus_title", ["[MASK] is a weekly founded in [MASK] in [MASK].", "[MASK] closed in [MASK]."]),
        ("title_only", ["[MASK] is a weekly founded in 1985 in Berlin.", "[MASK] closed in 2001."]),
        ("all", ["Beta is a weekly founded in [MASK] in [MASK].", "Beta closed in [MASK]."]),
    ],
)
def test_the_worked_example(example, shake, known_entities, scope, masked):
    question = example()
    evidence = shake(EntityMasking(scope=scope), question)
    assert texts(evidence) == [
        "Alpha is a magazine founded in 1990 in Paris.",
        "Alpha was edited by Jane Roe.",
        *masked,
    ]
    assert [edit.sentence_id for edit in evidence.edits] == ["Beta#0", "Beta#1"]
    assert evidence.flags == ()


@pytest.fixture
def masked(example, shake, gold, known_entities):
    """The last of two facts, with a text and a title of one's own, after masking."""

    def run(text, title="Beta", **settings):
        question = example(facts=[("Alpha", 0), ("Title", 0)], others=[("Title", [text])])
        hits = [replace(hit, passage=replace(hit.passage, title=title)) for hit in gold(question)]
        evidence = shake(EntityMasking(**settings), question, hits)
        return texts(evidence)[1], evidence.flags

    return run


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("Ed Wood (film)", "The ED WOOD (film) and Ed Wood agree.", "The [MASK] and [MASK] agree."),
        # Whole words only.
        ("It (novel)", "Written with care, it sold well.", "Written with care, [MASK] sold well."),
        # The title and the entity inside it are one span.
        ("Miss Jane Roe Prize", "In Berlin the Miss Jane Roe Prize was given.", "In [MASK] the [MASK] was given."),
        ("C++ (language)", "It is called C++.", "It is called [MASK]."),
    ],
)
def test_the_title_is_masked_with_and_without_its_suffix(masked, title, text, expected):
    assert masked(text, title=title) == (expected, ())


def test_title_only_takes_entities_that_share_a_word_with_it(masked):
    text = "The prize of Jane Roe was given in Berlin."
    assert masked(text, title="The Roe Prize", scope="title_only") == ("The prize of [MASK] was given in Berlin.", ())


def test_a_shared_stop_word_is_no_kinship(masked):
    flags = masked("It opened in The Hague.", title="The Roe Prize", scope="title_only")[1]
    assert flags == ("capitalized_runs",)


def test_tokens_are_masked_one_by_one(masked):
    assert masked("He met Jane Roe in Bonn.", unit="token")[0] == "He met [MASK] [MASK] in [MASK]."


def test_capitalized_runs_are_masked_when_nothing_is_found(masked):
    text = "Later Ann-Marie O'Neil met Émile, and Bo Li."
    assert masked(text) == ("Later [MASK] met [MASK], and [MASK].", ("capitalized_runs",))


def test_nothing_to_mask_is_said(masked):
    assert masked("Nobody knows.") == ("Nobody knows.", ("nothing_to_mask",))


def test_one_of_two_sentences_without_a_mask_is_said(example, shake, known_entities):
    evidence = shake(EntityMasking(), example(beta=["Beta closed.", "Nobody knows.", "x", "y"]))
    assert texts(evidence)[2:] == ["[MASK] closed.", "Nobody knows."]
    assert evidence.flags == ("partly_masked",)


def test_unknown_settings_name_the_allowed_ones():
    with pytest.raises(ValueError, match="scope is 'title', expected one of all_plus_title, title_only, all"):
        EntityMasking(scope="title")
    with pytest.raises(PartError, match=r"unit is 'word', expected one of span, token"):
        build("perturbation", "entity_masking(unit='word')")


@pytest.mark.weights
def test_the_pipeline_finds_the_entities_of_the_example(example, shake):
    evidence = shake(EntityMasking(), example())
    # It takes "weekly" for a date as well.
    assert texts(evidence)[2:] == ["[MASK] is a [MASK] founded in [MASK] in [MASK].", "[MASK] closed in [MASK]."]
    together = EntityMasking().perturb([example(n) for n in (2, 3, 4)], [[], [], []])
    assert [found.flags for found in together] == [("too_few_sentences",)] * 3
