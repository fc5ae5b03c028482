"""The body of a request with named slots, and paths into the reply: how an HTTP pipeline is spoken to."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from shaketable.errors import did_you_mean
from shaketable.types import Json

SLOTS = ("question", "context", "contexts", "history", "temperature", "seed")
SLOT = re.compile(r"\{\{|\}\}|\{(\w+)\}")
BARE = re.compile(r'(?<!["\w{])\{(\w+)\}')
"""A slot that stands without quotes, where JSON wants a value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Template:
    """JSON whose texts have slots. A text that is one slot alone becomes its value: a number, or a list."""

    body: Json

    @property
    def slots(self) -> frozenset[str]:
        return frozenset(_slots(self.body))

    def fill(self, values: Mapping[str, Json]) -> Json:
        return _filled(self.body, values)


def parse_template(text: str) -> Template:
    """Raises ValueError, in words."""
    try:
        body: Json = json.loads(text)
    except json.JSONDecodeError as error:
        bare = BARE.search(text)
        hint = (
            f' Write "{{{bare[1]}}}" in quotes; alone in them, it is sent as the value it is.'
            if bare and bare[1] in SLOTS
            else ""
        )
        raise ValueError(f"template is not JSON: {error.msg} at character {error.pos}.{hint}") from error
    template = Template(body=body)
    for slot in sorted(template.slots):
        if slot not in SLOTS:
            raise ValueError(
                f"template has the slot {{{slot}}}, which nothing fills.{did_you_mean(slot, SLOTS)} Slots: "
                f"{', '.join(SLOTS)}. Braces that are text are written twice."
            )
    if "question" not in template.slots:
        raise ValueError('template has no {question}, so nothing would be asked; such as {"question": "{question}"}')
    return template


def _slots(body: Json) -> list[str]:
    if isinstance(body, str):
        return [slot[1] for slot in SLOT.finditer(body) if slot[1]]
    inner = list(body.values()) if isinstance(body, dict) else body if isinstance(body, list) else []
    return [slot for one in inner for slot in _slots(one)]


def _filled(body: Json, values: Mapping[str, Json]) -> Json:
    if isinstance(body, dict):
        return {key: _filled(one, values) for key, one in body.items()}
    if isinstance(body, list):
        return [_filled(one, values) for one in body]
    if not isinstance(body, str):
        return body
    alone = SLOT.fullmatch(body)
    if alone and alone[1]:
        return values[alone[1]]
    return SLOT.sub(lambda slot: _text(values[slot[1]]) if slot[1] else slot[0][0], body)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# --- paths ----------------------------------------------------------------------------------------

STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]|\['([^']+)'\]")


def parse_path(path: str, setting: str) -> tuple[str, ...]:
    """`$.choices[0].message.content` or `choices.0.message.content` → its steps. Raises ValueError, in words."""
    rest = path.strip().removeprefix("$")
    if not path.strip():
        raise ValueError(f"{setting} is empty; expected a path such as $.answer, or $ for the whole reply")
    steps: list[str] = []
    while rest:
        step = STEP.match(rest)
        if step is None or any(mark in step[0] for mark in "*?@"):
            raise ValueError(
                f"{setting} is '{path}'; expected a path of names and numbers, such as $.answer or choices[0].text"
            )
        steps.append(next(part for part in step.groups() if part is not None))
        rest = rest[step.end() :]
    return tuple(steps)


def follow(path: tuple[str, ...], reply: Json) -> Json:
    """What stands there; raises LookupError with how far it went and what is there."""
    value = reply
    for i, step in enumerate(path):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            raise LookupError(f"{'.'.join(path[: i + 1])} is not in the reply; there {_there(value)}")
    return value


def _there(value: Json) -> str:
    if isinstance(value, dict):
        return f"are {', '.join(sorted(value))}" if value else "is nothing"
    if isinstance(value, list):
        return f"is a list of {len(value)}"
    return f"is {value!r:.60}"
