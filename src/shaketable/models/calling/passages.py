"""Passages in whatever shape a pipeline has them ↔ plain values: texts, mappings, documents, nodes with scores."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

from shaketable.models.endpoint.hiding import shorten
from shaketable.types import Json

TEXTS = ("text", "page_content", "content", "body")
"""Where a passage keeps its text, in the words of common libraries."""
TITLES = ("title", "source", "file_name")
LARGEST_SCORE = 1e15
"""What is larger, infinite or no number is none."""
IDS = ("id", "id_", "node_id", "doc_id")


class NotUnderstood(Exception):  # noqa: N818 (it says what is the matter)
    """What was given cannot be read; says what was found and what was expected."""


def read_passages(value: object, where: str) -> list[dict[str, Json]]:
    """Text, title, id and score of each."""
    if value is None:
        return []
    if isinstance(value, str):
        return [{"text": value}]
    if isinstance(value, Mapping) or not isinstance(value, Sequence):
        value = [value]
    return [_read(one, f"{where}[{i}]") for i, one in enumerate(value)]


def in_list(passages: object) -> list[object]:
    """What a pipeline handed over, as a list: one passage alone counts as one."""
    return [passages] if isinstance(passages, str) or not isinstance(passages, Sequence) else list(passages)


def in_shape(passages: object, left: Sequence[tuple[int | None, str]]) -> object:
    """What is left of the passages, in the shape in which they were handed over: place among them, and text. A passage
    that was brought has no place; it takes the shape of the first."""
    listed = in_list(passages)
    if isinstance(passages, str):
        return "\n\n".join(text for _, text in left)
    made = [with_text(listed[place or 0], text) if listed else text for place, text in left]
    return made if isinstance(passages, Sequence) else made[0] if made else passages


def with_text(passage: object, text: str) -> object:
    """The same passage with another text."""
    if isinstance(passage, str):
        return text
    if isinstance(passage, Mapping):
        return {**passage, _text_name(passage): text}
    node = getattr(passage, "node", None)
    changed = copy.deepcopy(passage)
    if node is not None:
        changed.node.set_content(text)  # type: ignore[attr-defined]
        return changed
    name = next(name for name in TEXTS if isinstance(getattr(passage, name, None), str))
    setattr(changed, name, text)
    return changed


def _read(value: object, where: str) -> dict[str, Json]:
    if isinstance(value, str):
        return {"text": value}
    node = getattr(value, "node", value)
    text = _text(node)
    if text is None:
        raise NotUnderstood(
            f"{where} is {type(value).__name__} {shorten(value)}; expected a text, or something with one under "
            f"{', '.join(TEXTS)}"
        )
    metadata = _get(node, "metadata")
    title = _first(node, TITLES) or _first(metadata, TITLES)
    passage: dict[str, Json] = {"text": text, "title": title or ""}
    if id := _first(node, IDS) or _first(metadata, IDS):
        passage["id"] = id
    score = _get(value, "score")
    if isinstance(score, int | float) and not isinstance(score, bool) and abs(score) <= LARGEST_SCORE:
        passage["score"] = float(score)
    return passage


def _text(value: object) -> str | None:
    found = _first(value, TEXTS)
    get_content = getattr(value, "get_content", None)
    return str(get_content()) if found is None and callable(get_content) else found


def _text_name(passage: Mapping[str, object]) -> str:
    return next(name for name in TEXTS if isinstance(passage.get(name), str))


def _first(value: object, names: Sequence[str]) -> str | None:
    return next((found for name in names if isinstance(found := _get(value, name), str)), None)


def _get(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
