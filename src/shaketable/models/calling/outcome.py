"""What a pipeline returned → text, contexts, calls, tokens and cost as plain values, or what is wrong with it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence

from shaketable.models.calling.passages import NotUnderstood, read_passages
from shaketable.models.endpoint.fields import LONGEST_TEXT
from shaketable.models.endpoint.hiding import shorten
from shaketable.types import Json

ANSWERS = ("text", "answer", "response", "result", "output", "content")
"""Where a reply keeps its text, in the words of common libraries."""
CONTEXTS = ("contexts", "context", "source_documents", "source_nodes", "documents", "passages")
COUNTS = {
    "calls": ("calls", "n_calls"),
    "prompt_tokens": ("prompt_tokens", "n_prompt_tokens", "input_tokens"),
    "tokens": ("tokens", "n_tokens", "completion_tokens", "output_tokens"),
    "cost": ("cost", "dollars"),
}
LARGEST_COUNT = 1e15
EXPECTED = (
    "expected the answer as text, or a mapping or object with text and, if it likes, contexts, calls, tokens, cost"
)


def read_outcome(value: object) -> dict[str, Json]:
    """Raises NotUnderstood where there is no answer in it."""
    if isinstance(value, str):
        return {"text": _answer(value)}
    if value is None or isinstance(value, bool | int | float | bytes | list | tuple | set) or _is_unfinished(value):
        raise NotUnderstood(f"it returned {_described(value)}; {EXPECTED}")
    name = next((name for name in ANSWERS if _get(value, name) is not None), None)
    if name is None:
        raise NotUnderstood(f"it returned {_described(value)}, which has none of {', '.join(ANSWERS)}; {EXPECTED}")
    inner = _get(value, name)
    outcome: dict[str, Json] = {}
    if not isinstance(inner, str) and _get(inner, "content") is not None:  # A chain's answer may be a chat message.
        outcome, inner = _counts(inner), _get(inner, "content")
    if not isinstance(inner, str):
        raise NotUnderstood(f"its '{name}' is {_described(inner)}; expected the answer as text")
    contexts = next((found for name in CONTEXTS if (found := _get(value, name)) is not None), None)
    outcome |= {"text": _answer(inner), **_counts(value)}
    if contexts is not None:
        outcome["contexts"] = list[Json](read_passages(contexts, "its contexts"))
    return outcome


def _answer(text: str) -> str:
    if not text.strip():
        raise NotUnderstood(f"it returned an empty text; {EXPECTED}")
    refuse_length(text, "it returned a text")
    return text


def refuse_length(text: str, what: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise NotUnderstood(f"{what} of {len(text):,} characters; expected at most {LONGEST_TEXT:,}")


def _counts(value: object) -> dict[str, Json]:
    """Also from where LangChain's messages have them."""
    counts: dict[str, Json] = {}
    usage = _get(value, "usage_metadata")
    for name, names in COUNTS.items():
        found = next((one for n in names for one in (_get(value, n), _get(usage, n)) if one is not None), None)
        if found is None or callable(found):
            continue
        if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= LARGEST_COUNT:
            raise NotUnderstood(f"its '{name}' is {_described(found)}; expected a number from 0 to {LARGEST_COUNT:g}")
        counts[name] = found
    return counts


def _get(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _is_unfinished(value: object) -> bool:
    return inspect.isawaitable(value) or inspect.isgenerator(value) or inspect.isasyncgen(value)


def _described(value: object) -> str:
    if value is None:
        return "None"
    if inspect.iscoroutine(value):
        value.close()
        return "a coroutine that nobody awaited"
    if inspect.isgenerator(value) or inspect.isasyncgen(value):
        return "a generator: join what it streams"
    if isinstance(value, Mapping):
        return f"a mapping with {', '.join(map(str, value)) or 'nothing in it'}"
    kind = "text" if isinstance(value, str) else type(value).__name__
    size = f" of {len(value)}" if isinstance(value, Sequence) else ""
    return f"{kind}{size}: {shorten(value)}"
