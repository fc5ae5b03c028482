"""Which parts, questions and machines a run was made with, and what its systems took."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from shaketable.identity import canonical
from shaketable.store.codec import decode
from shaketable.store.dimensions import UsedPart
from shaketable.store.records import RecordStore
from shaketable.types import Json


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemEffort:
    """What the answered trials of a model and method took in all."""

    model: str
    method: str
    n_trials: int
    n_generations: int
    n_prompt_tokens: int
    n_tokens: int


def used_parts(store: RecordStore) -> tuple[UsedPart, ...]:
    """Each once, as its first condition has it."""
    rows = store.rows("SELECT parts FROM conditions ORDER BY id")
    # Two may have one name: a method that is settled for each dataset.
    used = {canonical(part): part for (parts,) in rows for part in json.loads(parts)}
    return tuple(decode(UsedPart, part) for part in used.values())


def spelled_parts(store: RecordStore) -> Iterator[tuple[str, str, str]]:
    """Kind, label and what keys have of each part that something was asked with."""
    kinds = ("model", "method", "retriever", "perturbation")
    rows = store.rows("SELECT model, method, retriever, perturbation, identity FROM conditions ORDER BY id")
    for *labels, identity in rows:
        for kind, label, spelled in zip(kinds, labels, json.loads(identity)[: len(kinds)], strict=True):
            if label is not None and spelled is not None:
                yield kind, label, spelled


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedItem:
    """What a system may have seen of a question."""

    text: str
    item: str
    """The digest of its passages."""


def asked_items(store: RecordStore) -> dict[str, AskedItem]:
    """By the ids of the questions."""
    return {
        id: AskedItem(text=text, item=item) for id, text, item in store.rows("SELECT id, text, item FROM questions")
    }


def environments(store: RecordStore) -> tuple[Mapping[str, Json], ...]:
    """What each engine said of itself, as records have it."""
    return tuple(json.loads(body) for (body,) in store.rows("SELECT body FROM environments ORDER BY id"))


def effort_by_system(store: RecordStore) -> tuple[SystemEffort, ...]:
    rows = store.rows(
        """SELECT c.model, c.method, COUNT(*), SUM(n_generations), SUM(n_prompt_tokens), SUM(n_tokens)
           FROM records r JOIN conditions c ON c.id = r.condition
           WHERE r.failure IS NULL GROUP BY 1, 2 ORDER BY 1, 2"""
    )
    return tuple(
        SystemEffort(
            model=model,
            method=method,
            n_trials=n,
            n_generations=n_generations,
            n_prompt_tokens=n_prompt_tokens,
            n_tokens=n_tokens,
        )
        for model, method, n, n_generations, n_prompt_tokens, n_tokens in rows
    )
