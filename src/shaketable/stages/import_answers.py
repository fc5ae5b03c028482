"""Answers made elsewhere → a run that can be scored and analyzed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shaketable.datasets.reading.rows import read_rows
from shaketable.errors import DataError, RunError, did_you_mean
from shaketable.facts.score import GIVEN_ENTROPY
from shaketable.identity import canonical, digest, seed_from, trial_key
from shaketable.store import Run
from shaketable.store.dimensions import UsedPart
from shaketable.store.tables import GOLD_HIT
from shaketable.study import Generation
from shaketable.types import (
    Answer,
    Completion,
    Cost,
    DatasetChoice,
    Event,
    Evidence,
    Failure,
    Generate,
    Hit,
    Message,
    Note,
    Passage,
    Question,
    Record,
    Search,
    Study,
    Trial,
    Variant,
)

BATCH = 1000
_NOT_ANSWERED = Failure(kind="not_answered", message="The file says null here.", step="import", may_retry=False)


class HitRow(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: str
    title: str = ""
    """Empty: the id is the title."""


class SearchRow(BaseModel):
    model_config = ConfigDict(extra="forbid")
    query: str
    hits: list[HitRow | str] = []
    """What the search brought, the best first; a text is both id and title."""
    gold_hit: bool | None = None
    """Whether a supporting document is among them; None: told by gold_titles, or not known."""


class AnswerRow(BaseModel):
    """One line of the file."""

    model_config = ConfigDict(extra="forbid")
    question_id: str = Field(min_length=1)
    question: str
    """The text that was asked, or where `wording` is given, the question that it rewords."""
    gold: str | list[str]
    answer: str | None
    wording: str | None = None
    """The text that was asked; None: the question."""
    gold_titles: list[str] = []
    """Titles of the supporting documents."""
    dataset: str = "imported"
    type: str | None = None
    n_facts: int | None = None
    model: str = "imported"
    method: str = "imported"
    retriever: str | None = None
    variation: str = "original"
    perturbation: str | None = None
    temperature: float = Field(0.0, ge=0, allow_inf_nan=False)
    repeat: int = Field(0, ge=0)
    n_searches: int | None = Field(None, ge=0)
    n_generations: int | None = Field(None, ge=0)
    n_tokens: int | None = Field(None, ge=0)
    searches: list[SearchRow] = []
    reference: str | None = None
    """A sentence that answers the question, for metrics that compare sentences; None: they take the gold answers."""
    entropy: float | None = Field(None, ge=0, le=1)
    """Of the answer, made elsewhere: base 10, of the ten likeliest tokens, averaged over its positions."""
    top_logprobs: list[list[float | tuple[str, float]]] | None = None
    """Instead of the entropy, for each token of the answer: the log-probabilities (natural, at temperature 1) of the
    likeliest tokens, ten or more, alone or with their texts."""
    tokens: list[str] | None = None
    """The texts of these tokens, where an end mark or more than the answer is among them."""


@dataclass(frozen=True, kw_only=True)
class ImportedCondition:
    """The labels a file gives; what stands behind them is not known here."""

    labels: Mapping[str, str | None]

    @property
    def identity(self) -> str:
        return canonical(["imported", *self.labels.values()])

    @property
    def parts(self) -> list[UsedPart]:
        return [
            UsedPart(kind=kind, label=label, name=label, version=None, settings={})
            for kind, label in self.labels.items()
            if label is not None
        ]


def import_answers(path: Path, out: Path) -> Run:
    rows = _read(path)
    questions = _questions(rows)
    study = Study(
        name=path.stem,
        seed=0,
        datasets=(DatasetChoice(name="imported", settings={"path": str(path.absolute())}),),
        models=_seen(rows, "model"),
        methods=_seen(rows, "method"),
        retrievers=_seen(rows, "retriever") or ("gold",),
        perturbations=_seen(rows, "perturbation") or ("unchanged",),
        variations=_seen(rows, "variation"),
        temperatures=tuple(sorted({row.temperature for _, row in rows})),
        repeats=max(row.repeat for _, row in rows) + 1,
        generation=Generation(max_tokens=1).model_dump(exclude={"models"}),  # type: ignore[call-arg]
        metrics=(
            "correct",
            "contains",
            "token_f1",
            "rouge",
            *(("exact_match", "entropy") if _has_entropy(rows) else ()),
        ),
        analyses=("correctness", "variability", *_about_wording(rows), *_about_facts(rows)),
    )
    records = [_record(row) for _, row in rows]
    keys: dict[str, str] = {}
    for (where, _), (record, _) in zip(rows, records, strict=True):
        first = keys.setdefault(record.trial.key, where)
        if first != where:
            raise DataError(
                f"{where}: the same question, condition, temperature and repeat as {first}. "
                "Number repeated answers with 'repeat': 0, 1, 2 …"
            )
    fingerprint = digest([row.model_dump() for _, row in rows])
    run = Run.prepare(out, study)
    with run.writing() as store:
        if store.meta().get("fingerprint", fingerprint) != fingerprint:
            raise RunError(
                f"{out} holds answers of an earlier {path.name}. Nothing was changed. Give a new folder with --out."
            )
        store.set_meta(n_trials=len(records), fingerprint=fingerprint)
        store.add_questions([(question, digest(question.id)) for question in questions.values()])
        for start in range(0, len(records), BATCH):
            store.append(records[start : start + BATCH], {"engine": "imported"})
    return run


def _about_wording(rows: list[tuple[str, AnswerRow]]) -> tuple[str, ...]:
    """The analyses of rewording, as far as the file has something to say to them."""
    if len(_seen(rows, "variation")) < 2:
        return ()
    asked = ["wording_accuracy", "consistency", "cost_stability", "query_difficulty"]
    if any(row.repeat for _, row in rows):
        asked.append("run_deviation")
    if any(row.searches or row.n_searches for _, row in rows):
        asked += ["search_decisions", "outcomes", "trajectories", "trajectory_cases", "drift_chain"]
    return tuple(asked)


def _has_entropy(rows: list[tuple[str, AnswerRow]]) -> bool:
    return any(row.entropy is not None or row.top_logprobs for _, row in rows)


def _about_facts(rows: list[tuple[str, AnswerRow]]) -> tuple[str, ...]:
    """The analyses of factual robustness, where entropy is known at temperature 0 and answers above it."""
    is_scanned = any(row.temperature > 0 for _, row in rows)
    return ("factual_robustness", "fact_accuracy", "breaking") if is_scanned and _has_entropy(rows) else ()


def _read(path: Path) -> list[tuple[str, AnswerRow]]:
    """Every row with its place."""
    if not path.is_file():
        raise DataError(
            f"No file {path}. Give a JSON-lines file with question_id, question, gold and answer in each line."
        )
    rows = []
    for row in read_rows(path):
        try:
            rows.append((row.where, AnswerRow.model_validate(row.value)))
        except ValidationError as error:
            raise DataError(f"{row.where}: {_explain(error)}") from error
        _check_logprobs(*rows[-1])
    if not rows:
        raise DataError(f"{path} holds no answers. Give one JSON object per line.")
    return rows


def _check_logprobs(where: str, row: AnswerRow) -> None:
    if row.top_logprobs is None:
        if row.tokens is not None:
            raise DataError(f"{where}: 'tokens' without 'top_logprobs'. Give both, or neither.")
        return
    if row.entropy is not None:
        raise DataError(f"{where}: both 'entropy' and 'top_logprobs'. Give one: entropy is computed of the other.")
    if row.tokens is not None and len(row.tokens) != len(row.top_logprobs):
        n_tokens, n_lists = len(row.tokens), len(row.top_logprobs)
        raise DataError(f"{where}: {n_tokens} 'tokens', but 'top_logprobs' of {n_lists}. Give one list for each token.")
    for place, position in enumerate(row.top_logprobs):
        total = math.fsum(math.exp(logprob) for _, logprob in map(_pair, position))
        # Endpoints round; probabilities given by mistake are all above 0 and sum up to far more.
        if total > 1.01:
            raise DataError(
                f"{where}: top_logprobs[{place}] has probabilities that sum to {total:.3g}, expected at most 1. Give "
                "natural logarithms of different tokens' probabilities."
            )


def _pair(listed: float | tuple[str, float]) -> tuple[str, float]:
    return listed if isinstance(listed, tuple) else ("", listed)


def _explain(error: ValidationError) -> str:
    problem = error.errors()[0]
    name = ".".join(str(step) for step in problem["loc"])
    known = list(AnswerRow.model_fields)
    if problem["type"] == "extra_forbidden":
        return f"unknown key '{name}'.{did_you_mean(name, known)} Known keys: {', '.join(known)}."
    if problem["type"] == "missing":
        return f"'{name}' is missing. Needed: question_id, question, gold, answer."
    if not name:
        return f"found {problem['input']!r}; give a JSON object with question_id, question, gold and answer."
    return f"'{name}' is {problem['input']!r}; {problem['msg'][0].lower()}{problem['msg'][1:]}."


def _questions(rows: list[tuple[str, AnswerRow]]) -> dict[str, Question]:
    """One question per id: its text is that of the original wording where the file has it."""
    questions: dict[str, Question] = {}
    for where, row in sorted(rows, key=lambda numbered: numbered[1].variation != "original"):
        titles = tuple(row.gold_titles)
        gold = (row.gold,) if isinstance(row.gold, str) else tuple(row.gold)
        if not any(answer.strip() for answer in gold):
            raise DataError(f"{where}: 'gold' is empty. Give an accepted answer.")
        known = questions.get(row.question_id)
        if known is not None and known.answers != gold:
            raise DataError(
                f"{where}: question '{row.question_id}' has the gold answers {list(gold)}, but "
                f"{list(known.answers)} in another line. One question has one list of accepted answers."
            )
        if known is not None and titles and known.gold_titles != titles:
            raise DataError(
                f"{where}: question '{row.question_id}' has the gold titles {list(titles)}, but "
                f"{list(known.gold_titles)} in another line. Give the same in each line of a question, or in its first."
            )
        if known is not None and row.reference is not None and known.reference != row.reference:
            raise DataError(
                f"{where}: question '{row.question_id}' has the reference {row.reference!r}, but {known.reference!r} "
                "in another line. Give the same in each line of a question, or in its first."
            )
        tags = {name: value for name, value in (("type", row.type), ("n_facts", row.n_facts)) if value is not None}
        questions.setdefault(
            row.question_id,
            Question(
                id=row.question_id,
                text=row.question,
                answers=gold,
                dataset=row.dataset,
                gold_titles=titles,
                tags=tags,
                reference=row.reference,
            ),
        )
    return questions


def _record(row: AnswerRow) -> tuple[Record, ImportedCondition]:
    labels = {name: getattr(row, name) for name in ("model", "method", "retriever", "perturbation")}
    condition = ImportedCondition(labels=labels)
    item = digest(row.question_id)
    wording = row.question if row.wording is None else row.wording
    key = trial_key(condition.identity, item, row.variation, wording, row.temperature, row.repeat)
    variant = Variant(question_id=row.question_id, text=wording, variation=row.variation)
    trial = Trial(
        key=key, question_id=row.question_id, variant=variant, temperature=row.temperature, repeat=row.repeat,
        seed=seed_from(key), **labels,
    )  # fmt: skip
    n_searches = len(row.searches) if row.n_searches is None else row.n_searches
    record = Record(
        trial=trial,
        answer=None if row.answer is None else Answer(text=row.answer),
        failure=None if row.answer is not None else _NOT_ANSWERED,
        trace=(*(event for search in row.searches for event in _events(search)), *_doubt(row, wording)),
        cost=Cost(n_searches=n_searches, n_generations=row.n_generations or 0, n_tokens=row.n_tokens or 0),
    )
    return record, condition


def _events(search: SearchRow) -> list[Event]:
    hits = tuple(
        Hit(passage=_passage(hit), rank=rank, score=None, source="imported") for rank, hit in enumerate(search.hits, 1)
    )
    events = [Event(step=Search(query=search.query, k=len(hits)), reply=Evidence(hits=hits))]
    if search.gold_hit is not None:
        events.append(Event(step=Note(name=GOLD_HIT, values={"value": search.gold_hit}), reply=None))
    return events


def _doubt(row: AnswerRow, wording: str) -> list[Event]:
    """How sure the model was: its entropy, or the reply that the metric `entropy` reads it from."""
    if row.entropy is not None:
        return [Event(step=Note(name=GIVEN_ENTROPY, values={"value": row.entropy}), reply=None)]
    if not row.top_logprobs or row.answer is None:
        return []
    n = len(row.top_logprobs)
    completion = Completion(
        text=row.answer,
        finish_reason="end",
        n_prompt_tokens=0,
        n_tokens=n,
        seconds=0.0,
        # Where their texts are not told, all tokens are the answer's, which is said when the last one is.
        tokens=("",) * (n - 1) + (row.answer,) if row.tokens is None else tuple(row.tokens),
        extras={"top_logprobs": [[list(_pair(listed)) for listed in position] for position in row.top_logprobs]},
        decoding={"temperature": row.temperature},
    )
    return [Event(step=Generate(messages=(Message(role="user", content=wording),)), reply=completion)]


def _passage(hit: HitRow | str) -> Passage:
    if isinstance(hit, str):
        return Passage(id=hit, title=hit, sentences=())
    return Passage(id=hit.id, title=hit.title or hit.id, sentences=())


def _seen(rows: list[tuple[str, AnswerRow]], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for _, row in rows if (value := getattr(row, name)) is not None))
