"""What has changed since the records of a run were made, so that the same study plans other ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from shaketable import catalog
from shaketable.protocols import FileReadingPart, Part
from shaketable.stages.plan import Condition, Plan
from shaketable.store import RecordStore
from shaketable.store.used_parts import AskedItem, asked_items, spelled_parts

SPELLED = re.compile(r"(?P<call>.*)@(?P<version>\d+)(?:#(?P<source>\w+))?(?P<prompts>(?:\+[^+@]+)*)", re.DOTALL)
"""A part as keys have it: its settings, the version of its behavior, the digest of its code, its prompts."""
DIGEST = re.compile(r"[0-9a-f]{8}(?=[0-9a-f]{24})")
"""The first letters of one."""
UNKNOWN = "the data, a prompt or the version of a component changed since"
LONGEST = 60
"""Letters of a setting that is told whole."""


def describe_changes(plan: Plan, store: RecordStore) -> str:
    """The parts and questions that are not as they were, each by its name; what cannot be told apart in general."""
    conditions = {condition.identity: condition for _, condition in plan.trials()}
    now: dict[tuple[str, str], dict[str, Part]] = {}
    for condition in conditions.values():
        for kind, part in _parts(condition):
            now.setdefault((kind, str(condition.labels[kind])), {})[catalog.spelled(part)] = part
    changes = [
        change
        for kind, label, before in spelled_parts(store)
        if before not in (own := now.get((kind, label), {before: None}))
        for change in _of_part(label, before, *next(iter(own.items())))
    ]
    changes += _of_questions(asked_items(store), plan)
    return "; ".join(dict.fromkeys(changes)) or UNKNOWN


def _parts(condition: Condition) -> Iterator[tuple[str, Part]]:
    parts: Mapping[str, Part | None] = {
        "model": condition.model,
        "method": condition.method,
        "retriever": condition.retriever,
        "perturbation": condition.perturbation,
    }
    return ((kind, part) for kind, part in parts.items() if part is not None)


def _of_part(label: str, before: str, after: str, part: Part | None) -> Iterator[str]:
    old, new = SPELLED.fullmatch(before), SPELLED.fullmatch(after)
    if old is None or new is None or part is None:
        return
    if old["version"] != new["version"]:
        yield f"{label} was version {old['version']}, and is {new['version']}"
    if old["source"] != new["source"]:
        yield f"the code of {label} has changed since (digest {old['source']!s:.8} → {new['source']!s:.8})"
    if old["prompts"] != new["prompts"]:
        other = set(new["prompts"].split("+")) ^ set(old["prompts"].split("+"))
        names = sorted({name.split(":")[0] for name in other if name})
        yield f"prompts of {label} have changed since: {', '.join(names)}"
    yield from _of_settings(label, _settings(old["call"]), _settings(new["call"]), part)


def _of_settings(label: str, old: Mapping[str, Any], new: Mapping[str, Any], part: Part) -> Iterator[str]:
    held = part.contents() if isinstance(part, FileReadingPart) else {}
    own = catalog.settings_of(part)
    for name in (name for name in {**old, **new} if old.get(name) != new.get(name)):
        if name not in held:
            yield f"{name} of {label} was {old.get(name)!r}, and is {new.get(name)!r}"
            continue
        written = own.get(name)
        what = written if isinstance(written, str) and len(written) <= LONGEST else f"{name} of {label}"
        digests = [DIGEST.search(str(settings.get(name))) for settings in (old, new)]
        told = " → ".join(digest[0] for digest in digests if digest is not None)
        yield f"{what} has changed since{f' (digest {told})' if told else ''}"


def _settings(call: str) -> Mapping[str, Any]:
    return catalog.parse(call)[1]


def _of_questions(before: Mapping[str, AskedItem], plan: Plan) -> Iterator[str]:
    now = {question.id: AskedItem(text=question.text, item=plan.items[question.id]) for question in plan.questions}
    for what, names in (
        ("were asked and are not there any more", [name for name in before if name not in now]),
        (
            "have another text or other passages",
            [name for name in before if now.get(name, before[name]) != before[name]],
        ),
    ):
        if names:
            yield f"{len(names):,} of the questions {what}, such as {names[0]}"
