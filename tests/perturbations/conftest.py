"""The worked example of TempPerturb-Eval's rules: two titles, four facts."""

import re

import pytest

from shaketable.datasets.reading.rows import make_question, passage
from shaketable.retrievers.gold import Gold
from shaketable.text import language
from shaketable.text.language import Word
from shaketable.types import Query

ALPHA = [
    "Alpha is a magazine founded in 1990 in Paris.",
    "It has a yearly photo prize.",
    "Alpha was edited by Jane Roe.",
    "Its logo is red.",
]
BETA = [
    "Beta is a weekly founded in 1985 in Berlin.",
    "Beta closed in 2001.",
    "Its archive is kept in Bonn.",
    "Readers vote each year.",
]
FACTS = [("Alpha", 0), ("Alpha", 2), ("Beta", 0), ("Beta", 1)]


@pytest.fixture
def example():
    """A question with the first `n` facts of the example, or with facts and documents of one's own."""

    def make(n=4, facts=FACTS, alpha=ALPHA, beta=BETA, others=(), id="q1"):
        documents = [passage("Alpha", alpha), passage("Beta", beta), *(passage(title, text) for title, text in others)]
        return make_question(id=id, text="?", answers=["a"], dataset="d", documents=documents, facts=facts[:n], tags={})

    return make


@pytest.fixture
def shake():
    """One question's evidence after a perturbation, from gold evidence unless hits are given."""

    def run(part, question, hits=None):
        found = gold_hits(question) if hits is None else hits
        (evidence,) = part.perturb([question], [found])
        return evidence

    return run


@pytest.fixture
def gold():
    return gold_hits


def gold_hits(question):
    return Gold().search([Query(text="?", question=question)], 0)[0]


@pytest.fixture
def known_entities(monkeypatch):
    """A stand-in for the pipeline that finds years and a few names, as the worked example supposes."""

    def find(texts, name):
        pattern = r"\b(?:\d{4}|Berlin|Paris|Bonn|The Hague|Jane Roe|Roe)\b"
        return [[(*match.span(), "X") for match in re.finditer(pattern, text)] for text in texts]

    monkeypatch.setattr(language, "entities_of_each", find)


TAGS = {
    "large": ("JJ", "large"),
    "old": ("JJ", "old"),
    "magazine": ("NN", "magazine"),
    "magazines": ("NNS", "magazine"),
    "Beta": ("NNP", "Beta"),
    "Berlin": ("NNP", "Berlin"),
    "founded": ("VBN", "found"),
    "began": ("VBD", "begin"),
    "buys": ("VBZ", "buy"),
    "is": ("VBZ", "be"),
    "quickly": ("RB", "quickly"),
}


@pytest.fixture
def known_tags(monkeypatch):
    """A stand-in for the tagger that knows a few words."""

    def tag(texts, name):
        return [
            [Word(*found.span(), *TAGS.get(found.group(), TAGS.get(found.group().lower(), ("X", ""))))
             for found in re.finditer(r"\w+", text)]
            for text in texts
        ]  # fmt: skip

    monkeypatch.setattr(language, "words_of_each", tag)
