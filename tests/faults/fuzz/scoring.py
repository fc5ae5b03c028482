"""Metrics and normalizations on arbitrary answers and accepted answers."""

from __future__ import annotations

import functools
import math
from random import Random
from typing import Any

import promises
from faults.fuzz.target import Target
from faults.fuzz.texts import pick, question, short, text

from shaketable import catalog
from shaketable.datasets.reading.rows import passage
from shaketable.factors import measure_of
from shaketable.text.normalization import contains_words, occurs, words
from shaketable.text.plain import NORMALIZATIONS, fold, occurs_whole, pieces, plain
from shaketable.text.thoughts import split_thoughts
from shaketable.types import Question

WITH_MODELS = {"bertscore", "query_loss", "question_type", "judge"}
"""Their time goes into a model, which is given any text by tests of its own."""
PLAIN = tuple(name for name in catalog.known("metric") if name not in WITH_MODELS)
SETTINGS = (
    "exact_match(normalization='squad')",
    "exact_match(normalization='raw')",
    "exact_match(normalization='casefold_strip')",
    "token_f1(strict_yes_no=True)",
    "token_f1(normalization='squad')",
    "contains(match='substring')",
    "contains(match='token')",
    "contains(match='startswith')",
    "contains(scored='full_output')",
    "correct(choices='mentioned')",
    "correct(yes_no='mentioned', negation=False)",
    "rouge(stemming=True)",
)
EQUAL = ("exact_match", "exact_match(normalization='squad')", "exact_match(normalization='raw')", "token_f1", "rouge")
"""Where an answer that is the accepted one, word for word, has the full score."""
EMPTY_IS_WRONG = ("correct", "contains", "exact_match", "token_f1", "rouge")


@functools.cache
def metric(text: str) -> Any:
    return catalog.build("metric", promises.NEEDED.get(text, text))


TEXTS = [*PLAIN, *SETTINGS]


def answered(rng: Random) -> tuple[Question, str | None, str]:
    """A question with accepted answers, what was answered, and a metric."""
    accepted = [gold for _ in range(rng.randint(1, 3)) if (gold := pick(rng, short, short, text)).strip()] or ["A"]
    documents = [passage(short(rng) or "Alpha", [short(rng), "Paris is old."]), passage("Beta", [short(rng)])]
    asked = Question(
        id="q",
        text=question(rng),
        answers=tuple(accepted),
        documents=tuple(documents),
        supporting=tuple(sentence.id for document in documents for sentence in document.sentences),
        gold_titles=tuple(document.title for document in documents),
        reference=None if rng.randrange(3) else short(rng),
        tags={"type": rng.choice(("comparison", "bridge"))},
    )
    answer = (text(rng), text(rng), rng.choice(accepted), f"{short(rng)} {accepted[0]}", "", None)[rng.randrange(6)]
    return asked, answer, rng.choice(TEXTS)


def scores(given: tuple[Question, str | None, str]) -> None:
    asked, answer, name_of_metric = given
    (found,) = metric(name_of_metric).score([promises.record(answer, asked, "k")], {asked.id: asked})
    name = name_of_metric.partition("(")[0]
    for score in found:
        measure = measure_of(score.metric)
        if score.value is None:
            assert score.reason, score
            continue
        assert math.isfinite(score.value) and score.reason is None
        assert measure.unit != "share" or score.value in (0.0, 1.0), score
        assert measure.minimum is None or score.value >= measure.minimum, score
        assert measure.maximum is None or score.value <= measure.maximum + 1e-12, score
        if answer is not None and not answer.strip() and name in EMPTY_IS_WRONG and not asked.reference:
            assert score.value == 0.0, "an empty answer counts as right"
    if name_of_metric in EQUAL and answer == asked.answers[0] and not asked.reference:
        _check_equal(name_of_metric, answer, found[0].value)


def _check_equal(name: str, answer: str, value: float | None) -> None:
    if name.startswith("rouge"):
        assert value == 1.0 or not any(
            c.isascii() and c.isalnum() for c in answer
        )  # Other scripts have no words there.
    elif "squad" in name or name == "token_f1":
        assert value == 1.0 or not (NORMALIZATIONS["squad"](answer).strip() if "squad" in name else pieces(answer))
    else:
        assert value == 1.0


def normalizes(given: tuple[str, str]) -> None:
    own, other = given
    for name, normalize in NORMALIZATIONS.items():
        once = normalize(own)
        assert isinstance(once, str)
        if name == "raw":
            assert once == own
    assert plain(plain(own)) == plain(own)
    assert fold(fold(own)) == fold(own)
    assert occurs_whole(own, own) or not plain(own)
    assert occurs(own, own) or not own.strip()
    read = words(own)
    assert contains_words(read, read) == bool(read)
    if occurs(own, other):
        assert own.strip().casefold() in other.strip().casefold()
    thoughts, answer = split_thoughts(own, finished=True)
    assert len(thoughts) + len(answer) <= len(own)


TARGETS = (
    Target(name="metrics", make=answered, holds=scores, warm=lambda: _warm()),
    Target(name="normalization", make=lambda rng: (text(rng), text(rng)), holds=normalizes),
)


def _warm() -> None:
    asked = Question(id="q", text="Who?", answers=("Ann",))
    for name in TEXTS:
        scores((asked, "Bob", name))
