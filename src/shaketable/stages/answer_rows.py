"""A file of answers made elsewhere → its rows, checked one by one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from shaketable.datasets.reading.rows import Row, read_rows
from shaketable.errors import DataError, did_you_mean
from shaketable.text.unseen import clean_name

Count = Annotated[int, Field(ge=0, le=10**9)]
"""Those of a billion rows can be added up."""
Name = Annotated[str, AfterValidator(clean_name)]
Tag = Name | bool | Annotated[int, Field(ge=-(2**53), le=2**53)] | Annotated[float, Field(allow_inf_nan=False)]
MOST_REPEATS = 1_000_000
LISTS = ("gold", "gold_titles", "searches", "top_logprobs", "tokens", "scores", "prompt", "tags")
"""What a cell of a CSV holds as a JSON text."""


class HitRow(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: str
    title: str = ""
    """Empty: the id is the title."""


class SearchRow(BaseModel):
    model_config = ConfigDict(extra="forbid")
    query: str
    hits: list[HitRow | str] = Field(default_factory=list)
    """What the search brought, the best first; a text is both id and title."""
    gold_hit: bool | None = None
    """Whether a supporting document is among them; None: told by gold_titles, or not known."""


class MessageRow(BaseModel):
    model_config = ConfigDict(extra="forbid")
    role: Literal["system", "user", "assistant"]
    content: str


class AnswerRow(BaseModel):
    """One line of the file."""

    model_config = ConfigDict(extra="forbid")
    question_id: Name = Field(min_length=1)
    question: str
    """The text that was asked, or where `wording` is given, the question that it rewords."""
    gold: str | list[str]
    answer: str | None
    wording: str | None = None
    """The text that was asked; None: the question."""
    gold_titles: list[str] = Field(default_factory=list)
    """Titles of the supporting documents."""
    dataset: Name = "imported"
    type: Name | None = None
    n_facts: Count | None = None
    tags: dict[Name, Tag] = Field(default_factory=dict)
    """What else is known of the question, to balance and filter by."""
    model: Name = "imported"
    method: Name = "imported"
    retriever: Name | None = None
    variation: Name = "original"
    perturbation: Name | None = None
    temperature: Annotated[float, AfterValidator(abs)] = Field(0.0, ge=0, allow_inf_nan=False)
    """-0.0 is the same temperature as 0.0, and would be another key."""
    repeat: Annotated[int, Field(ge=0, le=MOST_REPEATS)] = 0
    n_searches: Count | None = None
    n_generations: Count | None = None
    n_tokens: Count | None = None
    searches: list[SearchRow] = Field(default_factory=list)
    reference: str | None = None
    """A sentence that answers the question, for metrics that compare sentences; None: they take the gold answers."""
    entropy: float | None = Field(None, ge=0, le=1)
    """Of the answer, made elsewhere: base 10, of the ten likeliest tokens, averaged over its positions."""
    top_logprobs: list[list[float | tuple[str, float]]] | None = None
    """Instead of the entropy, for each token of the answer: the log-probabilities (natural, at temperature 1) of the
    likeliest tokens, ten or more, alone or with their texts."""
    tokens: list[str] | None = None
    """The texts of these tokens, where an end mark or more than the answer is among them."""
    n_prompt_tokens: Count | None = None
    seconds: float = Field(0.0, ge=0, allow_inf_nan=False)
    """How long the answer took."""
    working: str = ""
    """All that was written on the way to the answer; empty: the answer is all."""
    prompt: list[MessageRow] = Field(default_factory=list)
    """What the model was asked last, message by message; empty: not known."""
    failure: Name | None = None
    """Why there is no answer, in one word, such as `timeout`; None: there is one, or nobody says."""
    failure_message: str = ""
    scores: dict[Name, Annotated[float, Field(allow_inf_nan=False)]] = Field(default_factory=dict)
    """Numbers that the answer was given elsewhere, more is better: scored here as `given@NAME`."""


PlacedRow = tuple[str, AnswerRow]
"""A row with its place: `answers.jsonl line 3`."""


def read_answer_rows(path: Path) -> list[PlacedRow]:
    if not path.is_file():
        raise DataError(
            f"No file {path}. Give a JSON-lines file with question_id, question, gold and answer in each line, or a "
            "CSV with these columns."
        )
    rows = []
    for row in read_rows(path, tables=True):
        try:
            rows.append((row.where, AnswerRow.model_validate(_named(row))))
        except ValidationError as error:
            raise DataError(f"{row.where}: {_explain(error)}") from error
        _check_logprobs(*rows[-1])
        _check_failure(*rows[-1])
    if not rows:
        raise DataError(f"{path} holds no answers. Give one JSON object per line, or a CSV with a header.")
    return rows


def _named(row: Row) -> object:
    """What a row names. In a table an empty cell names nothing, and a list is a JSON text."""
    if not row.has_cells:
        return row.value
    given = {name: cell for name, cell in row.value.items() if cell is not None and cell != ""}
    listed = {name: _list_in(row.where, name, cell) for name, cell in given.items() if name in LISTS}
    failed = {"answer": None} if "answer" in row.value else {}
    return failed | given | listed


def _list_in(where: str, name: str, cell: object) -> object:
    """Of a cell that holds a list; gold answers may be one plain text."""
    if not isinstance(cell, str) or (name == "gold" and not cell.startswith("[")):
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError) as error:
        if name == "gold":  # an answer may begin with a bracket
            return cell
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be read"
        raise DataError(f"{where}: '{name}' is no JSON: {reason}. Write it as a JSON list, [\"…\"].") from error


def _check_failure(where: str, row: AnswerRow) -> None:
    if row.failure is not None and row.answer is not None:
        raise DataError(f"{where}: both an 'answer' and a 'failure'. What failed has no answer: give null for it.")


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
        logprobs = [logprob for _, logprob in map(logprob_pair, position)]
        if not all(map(math.isfinite, logprobs)):
            raise DataError(f"{where}: top_logprobs[{place}] has a value that is not finite. Leave that token out.")
        # Endpoints round; probabilities given by mistake are all above 0 and sum up to far more.
        total = math.fsum(math.exp(min(logprob, 1.0)) for logprob in logprobs)
        if total > 1.01:
            raise DataError(
                f"{where}: top_logprobs[{place}] has probabilities that sum to {total:.3g}, expected at most 1. Give "
                "natural logarithms of different tokens' probabilities."
            )


def logprob_pair(listed: float | tuple[str, float]) -> tuple[str, float]:
    """The text of a token, empty where it is not told, and its log-probability."""
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
