"""Pairs of texts for comparing a metric with an independent implementation."""

from __future__ import annotations

import random

SUBJECTS = [
    "Ann Lee",
    "Bo Chen",
    "The Beatles",
    "Zoë Kravitz",
    "The river Elbe",
    "A young astronaut",
    "Mohandas Gandhi",
    "Łódź",
]
VERBS = [
    "was born in",
    "directed",
    "flew over",
    "is buried near",
    "wrote about",
    "shares a border with",
    "never visited",
]
OBJECTS = [
    "Paris",
    "the U.S.",
    "Frankenstein (1818)",
    "New York City",
    "an old lighthouse",
    "the Nobel Prize",
    "St. John's",
]
ENDS = (".", "!", ", said 'nobody'.", " in 1937.", " — twice.", "", "\n\nThat is all.")
ODD = (
    "東京は日本の首都です。",
    "Алиса жила в Москве много лет.",
    "القاهرة هي عاصمة مصر",
    "Η Αθήνα είναι πρωτεύουσα",
    "🎲🎲 ok?",
    "... !!! ,,,",
    "x",
    "yes",
    "1,234.56 km²",
    "def f(x): return x**2",
)


def sentence(rng: random.Random) -> str:
    return f"{rng.choice(SUBJECTS)} {rng.choice(VERBS)} {rng.choice(OBJECTS)}{rng.choice(ENDS)}"


def text(rng: random.Random) -> str:
    if rng.random() < 0.15:
        return rng.choice(ODD)
    return " ".join(sentence(rng) for _ in range(rng.choice((1, 1, 1, 2, 4))))


def pairs(n: int, n_long: int, seed: int = 0) -> list[tuple[str, str]]:
    """Pairs of sentences, some in other scripts; the last `n_long` candidates have far more than 512 words."""
    rng = random.Random(seed)
    found = [(text(rng), text(rng)) for _ in range(n - n_long)]
    return found + [(" ".join(sentence(rng) for _ in range(150)), text(rng)) for _ in range(n_long)]
