"""A small study that crosses everything, and what is left of it at its edges."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Mapping
from dataclasses import replace

import polars as pl

from shaketable.analyses.tables import Tables
from shaketable.statistics.intervals import Bootstrap
from shaketable.store.tables import RECORD_SCHEMA, SEARCH_SCHEMA
from shaketable.types import STRENGTH, Variant

SCORED = {
    "correct": 1, "contains": 1, "exact_match": 1, "judge": 1, "gibberish": 1, "token_f1": 10, "entropy": 10,
    "certainty": 10, "recall@5": 4, "margin": 10, "answer_tokens": 10, "query_loss": 10, "question_type": 1,
}  # fmt: skip
"""Metrics, and how many steps their values have from 0 to 1."""
SYSTEMS = (("rag", "web"), ("closed_book", None))
EVIDENCE: Mapping[str | None, tuple[str | None, ...]] = {"web": ("unchanged", "noise", "cuts"), None: (None,)}
TYPES = ("person", "place")


@functools.cache
def whole() -> Tables:
    """Ten questions of two types, two systems, three kinds of evidence, three wordings, three temperatures, twice."""
    dice = random.Random(3)
    records, scores, searches = [], [], []
    crossed = itertools.product(range(10), SYSTEMS, ("original", "typos", "human"), (0.0, 0.7, 1.5), range(2))
    for question, (method, retriever), variation, temperature, repeat in crossed:
        for perturbation in EVIDENCE[retriever]:
            factors = {
                "dataset": "squad", "question_id": f"q{question}", "type": TYPES[question % 2], "n_facts": 2,
                "model": "m", "method": method, "retriever": retriever, "perturbation": perturbation,
                "variation": variation, "temperature": temperature, "repeat": repeat,
            }  # fmt: skip
            key = "/".join(map(str, factors.values()))
            right = dice.random() < 0.95 - 0.3 * temperature - 0.2 * (perturbation == "noise")
            n_searches = 0 if retriever is None else dice.choice((0, 1, 2))
            records.append(
                factors
                | {"key": key, "question": "Who?", "gold": "Ann", "wording": f"Who {variation} {question}?", "seed": 1}
                | {"answer": "Ann" if right else dice.choice(("Bob", "")), "failure": None, "seconds": 0.1}
                | {"n_searches": n_searches, "n_generations": 1 + n_searches, "n_prompt_tokens": 9, "n_tokens": 5}
            )
            for metric, n_steps in SCORED.items():
                value = float(right) if n_steps == 1 else dice.randint(0, n_steps) / n_steps
                scored = {"value": value, "reason": None}
                if metric == "recall@5" and not n_searches:
                    scored = {"value": None, "reason": "no search"}
                scores.append(factors | {"key": key, "metric": metric, "flags": None} | scored)
            for hop in range(n_searches):
                found = [dice.choice("abc") for _ in range(2)]
                searches.append((key, hop + 1, f"{question},{hop + 1}", found, found, "a" in found, found.count("a")))
    return _tables(
        pl.DataFrame(scores, schema_overrides={"reason": pl.String, "flags": pl.String}, infer_schema_length=None),
        pl.DataFrame(records, schema=RECORD_SCHEMA),
        pl.DataFrame(searches, schema=SEARCH_SCHEMA, orient="row"),
    )


def _tables(scores: pl.DataFrame, records: pl.DataFrame, searches: pl.DataFrame) -> Tables:
    return Tables(
        scores=scores,
        read_records=lambda: records,
        read_searches=lambda: searches,
        read_wordings=lambda: _wordings(records),
        repeats=2,
        bootstrap=Bootstrap(n_resamples=49),
    )


def _wordings(records: pl.DataFrame) -> dict[str, list[Variant]]:
    """Typos have a strength, wordings by people none; one is refused."""
    wordings: dict[str, list[Variant]] = {}
    asked = records.select("dataset", "question_id", "variation", "wording").unique(maintain_order=True)
    for place, (dataset, question_id, variation, text) in enumerate(asked.iter_rows()):
        strength = {"terms_kept": place % 3 / 2, "edit_distance": 0.5, "loss": place % 5 - 1.0, "reason": "no encoder"}
        variant = Variant(
            question_id=question_id,
            text=text,
            variation=variation,
            provenance={STRENGTH: strength} if variation == "typos" else {},
            rejected="empty" if variation == "typos" and question_id == "q9" else None,
        )
        wordings.setdefault(dataset, []).append(variant)
    return wordings


def _only(*chosen: pl.Expr) -> Callable[[], Tables]:
    def cut() -> Tables:
        tables = whole()
        records = tables.records.filter(*chosen)
        return _tables(
            tables.scores.filter(*chosen),
            records,
            tables.searches.filter(pl.col("key").is_in(records["key"].to_list())),
        )

    return cut


def _valued(value: float | None, answer: str | None) -> Callable[[], Tables]:
    """Every score and every answer the same; None: every trial failed."""

    def made() -> Tables:
        tables, reason = whole(), None if answer is not None else "failed: timeout"
        texts = {"answer": answer, "failure": None if answer is not None else "timeout"}
        is_scored = pl.col("value").is_not_null()
        return _tables(
            tables.scores.with_columns(
                value=pl.when(is_scored).then(pl.lit(value, dtype=pl.Float64)),
                reason=pl.when(is_scored).then(pl.lit(reason, dtype=pl.String)).otherwise("reason"),
            ),
            tables.records.with_columns(pl.lit(text, dtype=pl.String).alias(name) for name, text in texts.items()),
            tables.searches if answer is not None else tables.searches.clear(),
        )

    return made


def _unscored() -> Tables:
    tables = whole()
    return replace(tables, scores=tables.scores.clear())


def _nothing() -> Tables:
    tables = whole()
    return _tables(tables.scores.clear(), tables.records.clear(), tables.searches.clear())


question, kind = pl.col("question_id"), pl.col("type")
EDGES: dict[str, Callable[[], Tables]] = {
    "everything": whole,
    "one question": _only(question == "q0"),
    "two questions": _only(question.is_in(["q0", "q1"])),
    "a type with one question": _only((kind == "person") | (question == "q1")),
    "one temperature": _only(pl.col("temperature") == 0),
    "one hot temperature": _only(pl.col("temperature") == 1.5),
    "one run": _only(pl.col("repeat") == 0),
    "one system": _only(pl.col("method") == "rag"),
    "one closed-book system": _only(pl.col("method") == "closed_book"),
    "one rewording": _only(pl.col("variation") != "human"),
    "no rewording": _only(pl.col("variation") == "original"),
    "no original wording": _only(pl.col("variation") != "original"),
    "one disturbance": _only(pl.col("perturbation").fill_null("unchanged") != "cuts"),
    "no disturbance": _only(pl.col("perturbation").fill_null("unchanged") == "unchanged"),
    "no undisturbed evidence": _only(pl.col("perturbation").is_in(["noise", "cuts"])),
    "one question, asked once": _only(
        *(question == "q0", pl.col("method") == "rag", pl.col("repeat") == 0),
        *(pl.col("temperature") == 0, pl.col("variation") == "original", pl.col("perturbation") == "unchanged"),
    ),
    "all right": _valued(1.0, "Ann"),
    "all wrong": _valued(0.0, "Bob"),
    "all failed": _valued(None, None),
    "no scores": _unscored,
    "nothing": _nothing,
}  # fmt: skip
"""What is left → the tables of it."""
