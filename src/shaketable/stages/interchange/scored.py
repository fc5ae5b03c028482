"""The records of one condition with their questions and scores, one after the other, and their means."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from shaketable.identity import digest_text
from shaketable.store import Run
from shaketable.store.cells import AskedCell, keys_in, records_in
from shaketable.types import Evidence, Generate, Json, Message, Question, Record, Search

SCORED_AT_ONCE = 20_000
"""Records whose scores are read together."""
NAMED = ("type", "n_facts")
"""Tags that rows have a key of their own for."""
UNSAFE = re.compile(r"[^A-Za-z0-9._\-]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    record: Record
    question: Question
    values: Mapping[str, float]
    """Number → value."""
    reasons: Mapping[str, str]
    """Number → why there is none."""


def scored_records(run: Run, cell: AskedCell) -> Iterator[Scored]:
    """By question, wording and repeat."""
    keys = keys_in(run.store, cell)
    scores: dict[str, list[tuple[str, float | None, str | None]]] = {}
    question: Question | None = None
    for place, record in enumerate(records_in(run.store, cell)):
        if place % SCORED_AT_ONCE == 0:
            scores = _scores(run, keys[place : place + SCORED_AT_ONCE])
        if question is None or question.id != record.trial.question_id:
            (question,) = run.store.questions_of([record.trial.question_id])
        own = scores.get(record.trial.key, [])
        yield Scored(
            record=record,
            question=question,
            values={name: value for name, value, _ in own if value is not None},
            reasons={name: reason or "not scored" for name, value, reason in own if value is None},
        )


def _scores(run: Run, keys: list[str]) -> dict[str, list[tuple[str, float | None, str | None]]]:
    table = run.score_tables().of_records(keys).select("key", "metric", "value", "reason")
    scores: dict[str, list[tuple[str, float | None, str | None]]] = {}
    for key, *score in table.iter_rows():
        scores.setdefault(key, []).append((score[0], score[1], score[2]))
    return scores


@dataclass(frozen=True, slots=True)
class Means:
    """Means of numbers over questions, each of which counts once however often it was asked."""

    by_number: dict[str, dict[str, tuple[float, int]]] = field(default_factory=dict)
    """Number → question → sum of its values, and how many there are."""

    def add(self, scored: Scored) -> None:
        for name, value in scored.values.items():
            own = self.by_number.setdefault(name, {})
            total, n = own.get(scored.question.id, (0.0, 0))
            own[scored.question.id] = total + value, n + 1

    def of_questions(self, number: str) -> dict[str, float]:
        return {id: total / n for id, (total, n) in self.by_number[number].items()}

    def mean(self, number: str) -> tuple[float, float | None]:
        """Mean and standard error over questions; one question has none."""
        values = list(self.of_questions(number).values())
        mean = math.fsum(values) / len(values)
        if len(values) < 2:
            return mean, None
        spread = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
        return mean, math.sqrt(spread / len(values))


# --- what both formats say of a record ------------------------------------------------------------


def own_fields(scored: Scored) -> dict[str, Any]:
    """What an import needs to make the same row of it, beside what the formats have places for."""
    record, question = scored.record, scored.question
    searches = [
        {
            "query": event.step.query,
            "hits": [{"id": hit.passage.id, "title": hit.passage.title} for hit in event.reply.hits],
        }
        for event in record.trace
        if isinstance(event.step, Search) and isinstance(event.reply, Evidence)
    ]
    values: dict[str, Any] = {
        "question_id": question.id,
        "question": question.text,
        "wording": record.trial.variant.text,
        "gold": list(question.answers),
        "gold_titles": list(question.gold_titles),
        "type": question.tags.get("type"),
        "n_facts": question.tags.get("n_facts"),
        "tags": _other_tags(question) or None,
        "reference": question.reference,
        "searches": searches,
        "n_searches": record.cost.n_searches,
        "n_generations": record.cost.n_generations,
    }
    return {name: value for name, value in values.items() if value is not None}


def _other_tags(question: Question) -> dict[str, Json]:
    """Texts and numbers; of lists an import knows nothing."""
    return {
        name: tag
        for name, tag in question.tags.items()
        if name not in NAMED
        if isinstance(tag, str) or (isinstance(tag, int | float) and abs(tag) <= 2**53)
    }


def passages_of(record: Record) -> list[dict[str, str]]:
    """What was shown to the system, after the perturbation."""
    return [
        {"title": hit.passage.title, "text": hit.passage.text}
        for event in record.trace
        if isinstance(event.reply, Evidence)
        for hit in event.reply.hits
    ]


def last_prompt(record: Record) -> tuple[Message, ...]:
    """What the model was asked last; the wording alone where it was asked otherwise."""
    asked = [
        event.step.messages for event in record.trace if isinstance(event.step, Generate) and not event.step.purpose
    ]
    return asked[-1] if asked else (Message(role="user", content=record.trial.variant.text),)


def sample_id(scored: Scored, turn: int) -> str:
    """A question's id; of a variation that words a question several ways, with the number of the wording."""
    return scored.question.id if turn == 0 else f"{scored.question.id} #{turn + 1}"


def safe_name(text: str) -> str:
    """As part of a file's name; what was cut or replaced is told apart by a digest."""
    plain = UNSAFE.sub("-", text).strip("-")[:60]
    return plain if plain == text else f"{plain or 'x'}-{digest_text(text)[:6]}"
