"""The citation file and the data card say what is so."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import yaml

from shaketable.datasets.builtin import load_builtin

ROOT = Path(__file__).parents[1]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
CARD = (ROOT / "docs" / "data_card.md").read_text("utf-8")


def test_the_citation_file_has_what_its_schema_asks_for():
    """Citation File Format 1.2.0: these four, and a type and licences of its lists."""
    assert {"cff-version", "message", "title", "authors"} <= CITATION.keys()
    known = {"cff-version", "message", "type", "title", "abstract", "authors", "version", "license", "keywords"}
    assert CITATION.keys() <= known
    assert CITATION["cff-version"] == "1.2.0" and CITATION["type"] == "software"
    assert all(author.keys() == {"name"} for author in CITATION["authors"])
    assert all(isinstance(keyword, str) for keyword in CITATION["keywords"])


def test_the_citation_file_names_this_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert CITATION["title"].casefold() == project["name"]
    assert (CITATION["version"], CITATION["license"]) == (project["version"], project["license"])


def test_the_data_card_counts_what_there_is():
    multihop, facts = load_builtin(), load_builtin(part="facts")
    types = Counter(question.tags["type"] for question in multihop.questions)
    told = re.search(r"\| (\d+): (\d+) `bridge` and (\d+) `comparison`", CARD)
    assert told and [int(n) for n in told.groups()] == [len(multihop.questions), types["bridge"], types["comparison"]]
    assert f"| passages | {len(multihop.corpus)} short" in CARD
    assert f"| facts | {len(facts.questions)} closed-book questions: 75 each" in CARD
    assert set(Counter(question.tags["type"] for question in facts.questions).values()) == {75}
    assert {question.tags["n_facts"] for question in multihop.questions} == {2, 3, 4}
    assert len({passage.title for passage in multihop.corpus}) == len(multihop.corpus)
