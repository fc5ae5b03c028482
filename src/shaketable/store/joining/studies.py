"""Studies whose runs are joined → the one study that asks all that they ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, TypeVar

from shaketable.errors import RunError
from shaketable.store.extension import PARTS, compare_studies, part_identity
from shaketable.types import DatasetChoice, Json, Limits, Precision, Study

Amount = TypeVar("Amount", int, float)
SCORED_ALIKE = ("metrics", "reference", "reference_prompt", "main_metric")
"""What the runs must share, though it could be done again: the numbers that are spoken of."""


def unite_studies(named: Mapping[str, Study]) -> Study:
    """The study with all that these ask. Refuses where one of the runs could not have grown into it."""
    (first_name, first), *_ = named.items()
    united = reduce(_unite, named.values())
    for name, study in named.items():
        own = replace(study, name=united.name, datasets=_at_one_path(study.datasets, united.datasets))
        refused = [str(change) for change in compare_studies(own, united) if change.problem is not None]
        refused += [
            f"{key} is {getattr(study, key)!r}, and {getattr(first, key)!r} in {first_name}"
            for key in SCORED_ALIKE
            if getattr(study, key) != getattr(first, key)
        ]
        refused += [] if study.shake is None else ["a shaken run asks by its own answers, and stands alone"]
        refused += ["its answers were imported"] if _is_imported(study) else []
        refused += _refuse_unlike_repeats(study, first, first_name)
        if refused:
            raise RunError(
                f"{name} cannot be joined with the others, for one study could not have asked both: "
                f"{'; '.join(refused)}. Nothing was written. Leave it out, and compare the runs instead: "
                "shaketable compare."
            )
    return united


def _refuse_unlike_repeats(study: Study, first: Study, first_name: str) -> list[str]:
    """Fewer repeats than the others may take at most, and no word of when they end: all of them would be missing."""
    fixed, adaptive = (study, first) if study.precision is None else (first, study)
    if fixed.precision is not None or adaptive.precision is None or fixed.repeats >= adaptive.repeats:
        return []
    return [f"repeats are {_describe_repeats(study)}, and {_describe_repeats(first)} in {first_name}"]


def _describe_repeats(study: Study) -> str:
    if study.precision is None:
        return f"{study.repeats:,}"
    return f"as many as an interval of ±{study.precision.until:g} takes, {study.repeats:,} at most"


def _is_imported(study: Study) -> bool:
    return any(choice.name == "imported" for choice in study.datasets)


def _unite(first: Study, other: Study) -> Study:
    """What differs and cannot be had together is the first's; it shows when the studies are compared."""
    lists: dict[str, Any] = {key: _more_parts(key, getattr(first, key), getattr(other, key)) for key in PARTS}
    names = dict(zip(lists["models"], map(_model, lists["models"]), strict=True))
    settings = {_model(text): own for study in (other, first) for text, own in study.generation_of.items()}
    return replace(
        first,
        **lists,
        datasets=_unite_datasets(first.datasets, other.datasets),
        temperatures=_more_temperatures(first.temperatures, other.temperatures),
        repeats=max(first.repeats, other.repeats),
        precision=_narrower(first.precision, other.precision),
        generation_of={text: settings[name] for text, name in names.items() if name in settings},
        limits=_sum_limits(first.limits, other.limits),
        in_process=_more_origins(first.in_process, other.in_process),
    )


def _narrower(first: Precision | None, other: Precision | None) -> Precision | None:
    """None: one of them asks all repeats."""
    if first is None or other is None:
        return None
    return Precision(until=min(first.until, other.until), least=max(first.least, other.least))


def _model(text: str) -> str:
    return part_identity("model", text)


def _more_parts(key: str, first: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    known = {part_identity(PARTS[key], text) for text in first}
    return (*first, *(text for text in other if part_identity(PARTS[key], text) not in known))


def _more_temperatures(first: Sequence[float], other: Sequence[float]) -> tuple[float, ...]:
    """In order, where both are."""
    both = (*first, *(value for value in other if value not in first))
    in_order = all(list(values) == sorted(values) for values in (first, other))
    return tuple(sorted(both)) if in_order else both


def _unite_datasets(first: Sequence[DatasetChoice], other: Sequence[DatasetChoice]) -> tuple[DatasetChoice, ...]:
    """More of the same questions; of different parts the whole."""
    if len(first) != len(other):
        return tuple(first)
    return tuple(
        replace(
            own,
            limit=_most(own.limit, its.limit),
            per_cell=_most(own.per_cell, its.per_cell),
            shard=own.shard if own.shard == its.shard else None,
        )
        for own, its in zip(first, other, strict=True)
    )


def _most(first: int | None, other: int | None) -> int | None:
    return None if first is None or other is None else max(first, other)


def _at_one_path(own: Sequence[DatasetChoice], united: Sequence[DatasetChoice]) -> tuple[DatasetChoice, ...]:
    """A file may lie elsewhere on another machine; whether it holds the same questions shows in the keys."""
    if len(own) != len(united):
        return tuple(own)
    return tuple(
        replace(choice, settings={**choice.settings, **_path(whole)}) if _path(choice) else choice
        for choice, whole in zip(own, united, strict=True)
    )


def _path(choice: DatasetChoice) -> dict[str, Json]:
    return {name: value for name, value in choice.settings.items() if name == "path"}


def _sum_limits(first: Limits, other: Limits) -> Limits:
    """What both might spend; without a limit where one of them had none."""
    return Limits(
        max_cost=_sum(first.max_cost, other.max_cost),
        max_calls=_sum(first.max_calls, other.max_calls),
        max_minutes=_sum(first.max_minutes, other.max_minutes),
    )


def _sum(first: Amount | None, other: Amount | None) -> Amount | None:
    return None if first is None or other is None else first + other


def _more_origins(
    first: Mapping[str, Mapping[str, str]], other: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    kinds = dict.fromkeys((*first, *other))
    return {kind: {**other.get(kind, {}), **first.get(kind, {})} for kind in kinds}
