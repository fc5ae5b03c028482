"""What the three studies publish, beside their rules written again from the definitions in the papers."""

from __future__ import annotations

import re
import string
import tomllib
import unicodedata
from collections import Counter
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_records import value

from shaketable.metrics.contains import Contains
from shaketable.metrics.exact_match import ExactMatch
from shaketable.metrics.token_f1 import TokenF1

TEXTS = st.lists(
    st.sampled_from(
        [
            "the",
            "The",
            "a",
            "Beatles",
            "beatles!",
            "U.S.",
            "US",
            "café",
            "cafe",
            "1,200",
            "1200",
            "**x**",
            "Парис",
            "12.5",
            "12",
        ]
    ),
    max_size=6,
).map(" ".join) | st.text(string.printable, max_size=30)
PUBLISHED = Path(str(resources.files("shaketable"))) / "resources" / "studies" / "published"


def squad(text: str) -> list[str]:
    """SQuAD 1.1: lower case, no ASCII punctuation, no articles, single spaces."""
    text = "".join(character for character in text.lower() if character not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def squad_f1(answer: str, gold: str) -> float:
    left, right = squad(answer), squad(gold)
    same = sum((Counter(left) & Counter(right)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(left), same / len(right)
    return 2 * precision * recall / (precision + recall)


def in_accuracy(answer: str, gold: str) -> float:
    """AdaRAGUE: the words of the accepted answer in a row; decomposed, lower case, no punctuation, no articles."""

    def tokens(text: str) -> list[str]:
        text = unicodedata.normalize("NFD", text).lower()
        kept = "".join(" " if unicodedata.category(c)[0] in "PS" else c for c in text)
        return [token for token in kept.split() if token not in ("a", "an", "the")]

    sought, within = tokens(gold), tokens(answer)
    return float(bool(sought) and any(within[i : i + len(sought)] == sought for i in range(len(within))))


@given(TEXTS, TEXTS)
def test_f1_is_that_of_squad(answer: str, gold: str) -> None:
    assert value(TokenF1(normalization="squad"), answer, gold) == pytest.approx(squad_f1(answer, gold))


@given(TEXTS, TEXTS)
def test_exact_match_is_that_of_squad(answer: str, gold: str) -> None:
    expected = float(answer.strip() != "" and squad(answer) == squad(gold))
    assert value(ExactMatch(normalization="squad"), answer, gold) == expected


@given(TEXTS, TEXTS)
def test_in_accuracy_is_that_of_adarague(answer: str, gold: str) -> None:
    assert value(Contains(match="token"), answer, gold) == in_accuracy(answer, gold)


@given(TEXTS, TEXTS)
def test_known_facts_are_selected_as_published(answer: str, gold: str) -> None:
    def same(text: str) -> str:
        return text.strip().casefold().removesuffix(".")

    expected = float(answer.strip() != "" and same(answer) == same(gold))
    assert value(ExactMatch(normalization="casefold_strip"), answer, gold) == expected


@given(TEXTS, TEXTS.filter(lambda gold: len(gold.strip()) > 3))
def test_sampled_answers_of_facts_contain_as_published(answer: str, gold: str) -> None:
    expected = float(gold.strip().casefold() in answer.strip().casefold())
    assert value(Contains(match="substring"), answer, gold) == expected


@pytest.mark.parametrize(
    ("study", "rules"),
    [
        ("query_variation", {"contains(match='token')", "token_f1(normalization='squad')"}),
        ("query_variation_small", {"contains(match='token')", "token_f1(normalization='squad')"}),
        ("factual_robustness", {"contains(match='substring', aliases=False)"}),
        ("factual_robustness_small", {"contains(match='substring', aliases=False)"}),
    ],
)
def test_published_studies_name_their_rules(study: str, rules: set[str]) -> None:
    table = tomllib.loads((PUBLISHED / f"{study}.toml").read_text(encoding="utf-8"))
    assert rules <= set(table["score"]["metrics"])
    if "scan" in table:
        assert table["scan"]["correct"] in rules
        assert table["scan"]["known"] == "exact_match(normalization='casefold_strip', aliases=False)"
