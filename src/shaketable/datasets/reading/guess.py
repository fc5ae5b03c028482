"""The columns of somebody's table → which of them hold questions, answers, passages and ids, each with the reason."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shaketable.datasets.reading.cells import BODIES, NO, YES, plain_text, value_of

ROLES = ("question", "answer", "context", "id")
TYPE = "type"
LEAST_OF_TYPE = 60
"""Questions of each type: fewer could not show a highest safe temperature for each of them."""
NAMES = {
    "question": (
        "question",
        "questions",
        "query",
        "userinput",
        "userquery",
        "questiontext",
        "prompt",
        "input",
        "problem",
    ),
    "answer": (
        *("answer", "answers", "groundtruth", "reference", "references", "referenceanswer", "expectedanswer"),
        *("expectedoutput", "expected", "goldanswer", "correctanswer", "shortanswer", "ideal", "target", "output"),
        *("response", "solution", "completion", "label", "gold", "goldlabel", "goldtruth", "truth", "ans", "correct"),
    ),
    "context": (
        *("context", "contexts", "passages", "passage", "documents", "document", "evidence", "paragraphs", "paragraph"),
        *("retrievedcontexts", "referencecontexts", "sources", "article", "background", "story", "ctxs", "ctx"),
    ),
    "id": ("id", "qid", "questionid", "uid", "uuid", "key", "idx", "index"),
}
"""What columns are called, without spaces and underscores, the surer name first."""
WORDS = {
    "question": {"question", "query", "frage", "pregunta"},
    "answer": {"answer", "reference", "truth", "antwort", "réponse", "reponse", "respuesta"},
    "context": {"context", "ctx", "passage", "document", "evidence", "kontext", "contexte", "contexto"},
}
"""A word inside a longer name, such as `customer_question`."""
OF_TEXTS = {"answer": {"ans", "gold", "expected", "correct", "label", "target", "solution", "ideal"}}
"""The same, where the values are texts: `expected_length` and `is_correct` are no answers."""
LOOKED_AT = 200
"""Rows whose values are looked at."""
ASKING = 0.5
"""The least share of texts with a question mark at the end, in a column that holds questions by its content."""
SHORT_WORDS, LONG_WORDS = 12.0, 25.0
"""Words on average: of answers at most, of passages at least."""
MOST_KINDS = 20
"""Different values of a column that questions are grouped by."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Guess:
    role: str
    """question, answer, context, id, type (the column that reports group by) or tag."""
    column: str
    reason: str
    is_by_content: bool = False
    """Whether nothing but what stands in the column speaks for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Column:
    name: str
    values: tuple[Any, ...]
    """Those that are not empty."""
    n_rows: int

    @property
    def plain(self) -> str:
        return re.sub(r"[\W_]+", "", self.name.casefold())

    @property
    def words(self) -> set[str]:
        """Those of its name, of one and of many."""
        words = {word.casefold() for word in re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", self.name)}
        return words | {word.removesuffix("s") for word in words}

    @property
    def texts(self) -> list[str]:
        return [value for value in self.values if isinstance(value, str)]

    @property
    def is_text(self) -> bool:
        return bool(self.values) and len(self.texts) == len(self.values)

    @property
    def mean_words(self) -> float:
        return sum(len(text.split()) for text in self.texts) / max(1, len(self.texts))

    @property
    def n_different(self) -> int:
        return len({plain_text(value) for value in self.values})

    @property
    def is_yes_no(self) -> bool:
        return all(plain_text(value).casefold() in (*YES, *NO, "0", "1") for value in self.values)

    @property
    def starts_at(self) -> int | None:
        """The first of whole numbers that count up by one, as those of rows do; None: these do not."""
        texts = [plain_text(value) for value in self.values]
        if len(texts) < 2 or not all(re.fullmatch(r"[0-9]{1,9}", text) for text in texts):
            return None
        first = int(texts[0])
        return first if [int(text) for text in texts] == list(range(first, first + len(texts))) else None

    @property
    def is_plain(self) -> bool:
        return not any(isinstance(value, list | Mapping) for value in self.values)


def guess_columns(rows: Sequence[Mapping[str, Any]]) -> tuple[Guess, ...]:
    """What each column seems to be, questions first. A role that no column seems to have is left out."""
    columns = _columns(rows[:LOOKED_AT])
    taken: dict[str, Guess] = {}
    for role in ROLES:
        free = [column for column in columns if column.name not in {guess.column for guess in taken.values()}]
        if guess := _by_name(role, free):
            taken[role] = guess
    by_contents = (("question", _asks), ("context", _holds_passages), ("context", _is_long), ("id", _counts))
    for role, by_content in (*by_contents, ("answer", _is_short)):
        if role in taken or (role != "question" and "question" not in taken):
            continue
        free = [column for column in columns if column.name not in {guess.column for guess in taken.values()}]
        if guess := by_content(free):
            taken[role] = guess
    used = {guess.column for guess in taken.values()}
    tags = [guess for column in columns if column.name not in used and (guess := _groups(column))]
    return (*(taken[role] for role in ROLES if role in taken), *_with_type(tags, rows))


def _with_type(tags: Sequence[Guess], rows: Sequence[Mapping[str, Any]]) -> list[Guess]:
    """Make the first tag with enough questions of each value the type of question, by which reports group."""
    counts = {tag.column: collections.Counter(plain_text(value_of(row, tag.column)) for row in rows) for tag in tags}
    first = next((tag for tag in tags if min(counts[tag.column].values()) >= LEAST_OF_TYPE), None)
    if first is None:
        return list(tags)
    chosen = replace(first, role=TYPE, reason=f"{first.reason}; the report groups by it")
    return [chosen, *(tag for tag in tags if tag is not first)]


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[_Column]:
    names = dict.fromkeys(str(name) for row in rows for name in row if str(name).strip())
    return [
        _Column(
            name=name,
            values=tuple(value for row in rows if not _is_empty(value := value_of(row, name))),
            n_rows=len(rows),
        )
        for name in names
    ]


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", [], {}) or (isinstance(value, str) and not value.strip())


def _by_name(role: str, columns: Sequence[_Column]) -> Guess | None:
    for known in NAMES[role]:
        for column in columns:
            if column.plain == known and _may_be(role, column):
                return Guess(role=role, column=column.name, reason="by its name")
    for known_words, is_of_texts in ((WORDS.get(role, set()), False), (OF_TEXTS.get(role, set()), True)):
        for column in columns:
            is_known = bool(column.words & known_words) and (column.is_text or not is_of_texts)
            if is_known and _may_be(role, column):
                return Guess(role=role, column=column.name, reason="by a word in its name")
    return None


def _may_be(role: str, column: _Column) -> bool:
    """Whether the values allow what the name says."""
    if not column.values:
        return False
    if role == "question":
        return column.is_text
    if role == "id":
        return column.is_plain and column.n_different == column.n_rows
    if role == "answer":
        # Numbers of rows are no answers, whatever a word in their name says, nor is being right.
        is_counted = column.starts_at is not None and column.plain not in ("answer", "answers")
        return not is_counted and not ("correct" in column.words and "answer" not in column.words and column.is_yes_no)
    return True


def _asks(columns: Iterable[_Column]) -> Guess | None:
    asking = [(sum(text.rstrip().endswith("?") for text in c.texts) / len(c.texts), c) for c in columns if c.is_text]
    share, best = max(asking, key=lambda found: found[0], default=(0.0, None))
    if best is None or share < ASKING:
        return None
    reason = f"{share:.0%} of its texts end in a question mark"
    return Guess(role="question", column=best.name, reason=reason, is_by_content=True)


def _holds_passages(columns: Iterable[_Column]) -> Guess | None:
    """Objects with a title and a text, or lists of objects with a text."""
    for column in columns:
        if column.values and all(map(_is_passages, column.values)):
            return Guess(role="context", column=column.name, reason="objects with a text", is_by_content=True)
    return None


def _is_passages(value: Any) -> bool:
    if isinstance(value, Mapping):
        return "title" in value and any(body in value for body in BODIES)
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(inner, Mapping) and any(body in inner for body in BODIES) for inner in value)


def _counts(columns: Iterable[_Column]) -> Guess | None:
    for column in columns:
        if column.starts_at in (0, 1) and len(column.values) == column.n_rows:
            return Guess(role="id", column=column.name, reason="it numbers the rows", is_by_content=True)
    return None


def _is_long(columns: Iterable[_Column]) -> Guess | None:
    best = max((c for c in columns if c.is_text), key=lambda column: column.mean_words, default=None)
    if best is None or best.mean_words < LONG_WORDS:
        return None
    reason = f"its texts are long: {best.mean_words:.0f} words on average"
    return Guess(role="context", column=best.name, reason=reason, is_by_content=True)


def _is_short(columns: Iterable[_Column]) -> Guess | None:
    """The first whose values are short and mostly differ: one of few values is a tag rather."""
    for column in columns:
        differ = column.n_different > len(column.values) / 2 and column.n_different > 1
        is_short = column.values and column.is_plain and differ and column.mean_words <= SHORT_WORDS
        if is_short and column.starts_at is None:
            reason = "its values are short, and most of them differ"
            return Guess(role="answer", column=column.name, reason=reason, is_by_content=True)
    return None


def _groups(column: _Column) -> Guess | None:
    is_whole = len(column.values) == column.n_rows
    if not is_whole or not column.is_plain or not 2 <= column.n_different <= min(MOST_KINDS, column.n_rows / 2):
        return None
    if column.name in ("n_facts", "unanswerable") or column.mean_words > 4:
        return None
    return Guess(role="tag", column=column.name, reason=f"{column.n_different} different values")
