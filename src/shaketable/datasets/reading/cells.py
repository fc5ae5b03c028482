"""A value in a column of somebody's table, whatever its type → accepted answers, passages, a tag."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from shaketable.datasets.reading.rows import RowError, passage, split_sentences
from shaketable.datasets.reading.table_layout import texts_of
from shaketable.types import Json, Passage

BODIES = ("text", "sentences", "content", "page_content", "contents", "passage", "paragraph_text", "body")
"""What tables call the text of a document, beside its `title`."""
ANSWER_KEYS = ("text", "value", "aliases", "answer", "answers")
"""Where an object that stands for an answer holds the texts, as in SQuAD and TriviaQA."""
YES, NO = ("yes", "true"), ("no", "false")


def value_of(row: Mapping[str, Any], column: str) -> Any:
    """What stands in a column; `answers.text` is the member of an object. None: nothing."""
    if column in row:
        value = row[column]
    else:
        value, *steps = (row.get(column.partition(".")[0]), *column.split(".")[1:])
        for step in steps:
            value = _member(value, step)
    return None if isinstance(value, float) and math.isnan(value) else value


def _member(value: Any, key: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(key)
    return [_member(inner, key) for inner in value] if isinstance(value, list) else None


def plain_text(value: Any) -> str:
    """A text or a number, without white space around it; empty: nothing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return YES[1] if value else NO[1]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))  # A column of whole numbers with a gap comes as one of fractions.
    return str(value).strip()


def answers_of(value: Any) -> list[str]:
    """Accepted answers: a text (`Paris | City of Light`, or a printed list), a number, yes or no, a list of them, or an
    object that holds them."""
    if value is None:
        return []
    if isinstance(value, bool):
        return list(YES if value else NO)
    if isinstance(value, str):
        return texts_of(value.strip(), r"\|")
    if isinstance(value, Mapping):
        held = [value[key] for key in ANSWER_KEYS if key in value]
        if not held:
            listed = ", ".join(map(str, value)) or "none"
            raise RowError(
                f"the answer is an object with the keys {listed}. Name the one that holds it, such as "
                "columns = { answer = 'answer.text' }."
            )
        return answers_of(held)
    if isinstance(value, Sequence):
        return [answer for inner in value for answer in answers_of(inner)]
    return [text] if (text := plain_text(value)) else []


def passages_of(value: Any, id: str) -> list[Passage]:
    """Documents: a text with empty lines between passages, a list of texts, or objects with a title and a text."""
    pairs = _titled(value)
    return [
        passage(title or f"Context {n}", sentences, id=f"{id}/{n}")
        for n, (title, sentences) in enumerate(pairs, 1)
        if any(sentence.strip() for sentence in sentences)
    ]


def _titled(value: Any) -> list[tuple[str, list[str]]]:
    """Title, and sentences."""
    if value is None:
        return []
    if isinstance(value, str):
        return [("", split_sentences(text)) for text in texts_of(value.strip(), r"\n\s*\n")]
    if isinstance(value, Mapping):
        return _of_object(value)
    if isinstance(value, Sequence):
        if _is_pair(value):
            return [(value[0], [plain_text(sentence) for sentence in value[1]])]
        return [pair for inner in value for pair in _whole(inner)]
    raise RowError(f"the context is {str(value)[:40]!r}, expected a text, a list of texts, or objects with a 'text'.")


def _whole(value: Any) -> list[tuple[str, list[str]]]:
    """A member of a list is one passage, whatever lines it has."""
    return [("", split_sentences(value))] if isinstance(value, str) else _titled(value)


def _of_object(value: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    key = next((key for key in BODIES if key in value), None)
    if key is None:
        listed = ", ".join(map(str, value)) or "none"
        raise RowError(f"the context is an object with the keys {listed}, expected 'text' or 'sentences'.")
    title, body = value.get("title"), value[key]
    if isinstance(title, list) and isinstance(body, list):  # The data hub stores a list of pairs as two columns.
        return [(plain_text(one), _sentences(text)) for one, text in zip(title, body, strict=False)]
    if isinstance(body, list) and key != "sentences" and title is None:
        return [pair for inner in body for pair in _whole(inner)]
    return [(plain_text(title), _sentences(body))]


def _sentences(body: Any) -> list[str]:
    return [plain_text(sentence) for sentence in body] if isinstance(body, list) else split_sentences(plain_text(body))


def _is_pair(value: Sequence[Any]) -> bool:
    """`[title, [sentence, …]]`, as in the files of HotpotQA."""
    return len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], list)


def tag_of(value: Any) -> Json:
    """A value to group by; None: there is none, or it is a list or an object."""
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return None if value is None or isinstance(value, list | Mapping) else plain_text(value) or None
