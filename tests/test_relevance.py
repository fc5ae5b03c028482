from dataclasses import replace

import pytest

from shaketable.datasets.rows import passage
from shaketable.relevance import Relevance, pseudo_relevance
from shaketable.types import Hit, Sentence


def hit(title, *texts, rank=1):
    return Hit(passage=passage(title, texts), rank=rank, score=None, source="test")


def with_text(given, text):
    changed = tuple(Sentence(id=sentence.id, text=text) for sentence in given.passage.sentences)
    return replace(given, passage=replace(given.passage, sentences=changed))


BEFORE = [
    hit("Shelley", "Mary Shelley is buried in the town of Bournemouth on the south coast of England."),
    hit("Iron", "The metal iron melts at about 1,538 degrees Celsius.", rank=2),
]


def test_a_passage_that_was_not_there_is_not_relevant():
    assert pseudo_relevance(BEFORE, [hit("Rice", "Rice is a cereal.")]) == [
        Relevance(similarity=None, is_relevant=False)
    ]
    assert pseudo_relevance(BEFORE, []) == []


@pytest.mark.weights
def test_the_same_words_are_relevant_and_other_words_are_not():
    after = [with_text(BEFORE[1], "Rice is grown in flooded fields."), BEFORE[0]]
    other, same = pseudo_relevance(BEFORE, after)
    assert same.is_relevant
    assert same.similarity == pytest.approx(1.0, abs=1e-5)
    assert not other.is_relevant
    assert other.similarity < 0.5


@pytest.mark.weights
def test_the_threshold_decides():
    after = [
        with_text(BEFORE[0], "Mary Shelley is buried in the town of Bournemouth on the south seashore of England.")
    ]
    (label,) = pseudo_relevance(BEFORE, after)
    assert 0.8 < label.similarity < 1
    assert label.is_relevant
    assert not pseudo_relevance(BEFORE, after, threshold=0.9999)[0].is_relevant
