"""Perturbations, variations and the gate that stands before a wording, on arbitrary evidence and questions."""

from __future__ import annotations

import functools
from random import Random
from typing import Any

import promises
from faults.fuzz.target import Target
from faults.fuzz.texts import is_one_in, question, short, text

from shaketable import catalog
from shaketable.datasets.reading.rows import make_question, passage
from shaketable.identity import canonical
from shaketable.perturbations.altered import replay
from shaketable.types import Hit, Question

BY_MODEL = {"frozen", "rewrites", "follow_up"}
"""Variations that read a file, or need a model to begin with."""


@functools.cache
def part(kind: str, name: str) -> Any:
    return catalog.build(kind, promises.text_of(name))


PERTURBATIONS = tuple(catalog.known("perturbation"))
VARIATIONS = tuple(name for name in catalog.known("variation") if name not in BY_MODEL)


def asked(rng: Random) -> Question:
    """A question with documents; all texts may be anything."""
    titles = [f"{short(rng)} {i}".strip() for i in range(rng.randint(1, 3))]
    documents = [passage(title, [text(rng) for _ in range(rng.randint(1, 4))]) for title in titles]
    facts = [(d.id, int(s.id.rpartition("#")[2])) for d in documents for s in d.sentences if is_one_in(rng, 2)]
    return make_question(
        id=short(rng) or "q",
        text=question(rng),
        answers=[short(rng) or "A"],
        dataset="odd",
        documents=documents,
        facts=facts,
        tags={"type": "bridge"},
    )


def perturbs(given: tuple[Question, str]) -> None:
    own, name = given
    found = [document for document in own.documents if document.sentences]
    hits = [Hit(passage=document, rank=rank, score=None, source="gold") for rank, document in enumerate(found, 1)]
    (evidence,) = part("perturbation", name).perturb([own], [hits])
    assert evidence == part("perturbation", name).perturb([own], [hits])[0]
    canonical(evidence)
    assert replay(hits, evidence.edits) == evidence.hits
    assert [hit.rank for hit in evidence.hits] == list(range(1, len(evidence.hits) + 1))


def varies(given: tuple[Question, str]) -> None:
    own, name = given
    (made,) = part("variation", name).vary([own])
    assert (made,) == tuple(part("variation", name).vary([own]))
    for variant in made:
        canonical(variant)
        assert variant.question_id == own.id
        assert variant.rejected or variant.text.strip() or not own.text.strip()


def warm(kind: str, names: tuple[str, ...]) -> None:
    some = promises.questions()[:1]
    for name in names:
        if kind == "perturbation":
            part(kind, name).perturb(some, promises.hits_of("gold", some))
        else:
            part(kind, name).vary(some)


TARGETS = (
    Target(
        name="perturbations",
        make=lambda rng: (asked(rng), rng.choice(PERTURBATIONS)),
        holds=perturbs,
        warm=functools.partial(warm, "perturbation", PERTURBATIONS),
        longest_seconds=20.0,  # Entities are found by a pipeline, which is asked twice here.
    ),
    Target(
        name="variations",
        make=lambda rng: (asked(rng), rng.choice(VARIATIONS)),
        holds=varies,
        warm=functools.partial(warm, "variation", VARIATIONS),
        longest_seconds=60.0,  # A wording is read by a language model: milliseconds a token.
    ),
)
