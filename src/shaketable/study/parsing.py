"""The tables of a study file → a Study. Foreign input stops here: unknown keys and wrong values are named."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from shaketable import catalog
from shaketable.errors import StudyError, did_you_mean
from shaketable.study.mistakes import explain
from shaketable.study.naming import RUN_IS_THERE
from shaketable.study.prompt_files import reference_prompt, with_prompts
from shaketable.study.schema import StudyFile
from shaketable.study.tables.cross import Range, RepeatsTable
from shaketable.study.tables.gate import GateTable
from shaketable.types import DatasetChoice, Gate, Json, Limits, Precision, Scan, Shake, Study

MOST_TEMPERATURES = 10_000


def parse_study(tables: Mapping[str, Any], where: str, *, run_is_there: bool = False) -> Study:
    """`run_is_there`: it is the study of a run."""
    try:
        file = StudyFile.model_validate(tables, context={RUN_IS_THERE: run_is_there})
    except ValidationError as error:
        raise StudyError("\n".join(explain(problem, where) for problem in error.errors())) from error
    datasets = file.dataset if isinstance(file.dataset, list) else [file.dataset]
    cross = file.cross
    for kind, origins in file.in_process.items():
        for name, origin in origins.items():
            catalog.tell_elsewhere(kind, name, origin)
    return Study(
        name=file.name,
        seed=file.seed,
        datasets=tuple(
            DatasetChoice(
                name=table.name,
                settings=dict(sorted((table.model_extra or {}).items())),
                where={tag: tuple(values) for tag, values in table.where.items()},
                with_rewrites=table.with_rewrites,
                balance_by=tuple(table.balance.by) if table.balance else (),
                per_cell=table.balance.per_cell if table.balance else None,
                limit=table.limit,
                shard=_parse_shard(table.shard),
            )
            for table in datasets
        ),
        models=_unique(cross.models, "cross.models", where),
        methods=with_prompts(_unique(cross.methods, "cross.methods", where), where),
        retrievers=_unique(cross.retrievers, "cross.retrievers", where),
        perturbations=_unique(cross.perturbations, "cross.perturbations", where),
        variations=_unique(cross.variations, "cross.variations", where),
        temperatures=_temperatures(cross.temperatures, where),
        repeats=cross.repeats.max if isinstance(cross.repeats, RepeatsTable) else cross.repeats,
        precision=_precision(file, where),
        generation=file.generation.model_dump(exclude={"models"}),
        generation_of=_generation_of(file, where),
        metrics=_unique(file.score.metrics, "score.metrics", where),
        reference=file.score.reference,
        reference_prompt=reference_prompt(file.score, where),
        reference_temperature=file.score.reference_temperature,
        reference_max_tokens=file.score.reference_max_tokens,
        analyses=_unique(file.analyze.analyses, "analyze.analyses", where),
        main_metric=file.analyze.metric,
        margin=file.analyze.margin,
        confidence=file.analyze.confidence,
        n_resamples=file.analyze.n_resamples,
        without_flags=tuple(file.analyze.without_flags),
        gate=Gate(**file.gate.model_dump()),
        scan=None if file.scan is None else Scan(**file.scan.model_dump() | {"known": file.scan.known or None}),
        limits=Limits(**file.limits.model_dump()),
        shake=None if file.shake is None else Shake(**file.shake.model_dump()),
        in_process=file.in_process,
    )


def _parse_shard(given: str | None) -> tuple[int, int] | None:
    """`2/8`, the second of eight parts."""
    if given is None:
        return None
    number, _, of = given.partition("/")
    return int(number), int(of)


def _temperatures(given: Range | list[float], where: str) -> tuple[float, ...]:
    if isinstance(given, list):
        values = [value + 0.0 for value in given]  # Not -0.0: it is the same temperature, and would be another key.
    else:
        if given.to < given.start:
            raise StudyError(f"{where}, cross.temperatures: 'to' ({given.to}) lies below 'from' ({given.start}).")
        if (given.to - given.start) / given.step > MOST_TEMPERATURES:
            raise StudyError(
                f"{where}, cross.temperatures: from {given.start} to {given.to} by {given.step} are more than "
                f"{MOST_TEMPERATURES:,} temperatures. Give a larger step."
            )
        n_steps = int((given.to - given.start) / given.step + 1e-9)
        values = [round(given.start + i * given.step, 9) for i in range(n_steps + 1)]
    if not values:
        raise StudyError(f"{where}, cross.temperatures: the list is empty. Give at least one, such as [0.0].")
    if len(set(values)) < len(values):
        doubled = next(value for value in values if values.count(value) > 1)
        raise StudyError(f"{where}, cross.temperatures: {doubled} is listed twice. Give each temperature once.")
    return tuple(values)


def _precision(file: StudyFile, where: str) -> Precision | None:
    repeats = file.cross.repeats
    if not isinstance(repeats, RepeatsTable):
        return None
    for table, own in (("scan", file.scan), ("shake", file.shake)):
        if own is not None:
            raise StudyError(
                f"{where}, cross.repeats: found 'until' beside the table [{table}], which itself decides by the "
                f"answers what is asked next. Give a number of repeats, such as repeats = {min(repeats.max, 10)}, or "
                f"leave [{table}] out."
            )
    return Precision(until=repeats.until, least=repeats.min)


def _generation_of(file: StudyFile, where: str) -> dict[str, dict[str, Any]]:
    for name in file.generation.models:
        if name not in file.cross.models:
            raise StudyError(
                f"{where}, generation.models: '{name}' is none of cross.models.{did_you_mean(name, file.cross.models)} "
                f"Write it as there: {', '.join(file.cross.models)}."
            )
    return {name: own.model_dump(exclude_unset=True) for name, own in file.generation.models.items()}


def _unique(texts: list[str], key: str, where: str) -> tuple[str, ...]:
    doubled = [text for text in dict.fromkeys(texts) if texts.count(text) > 1]
    if doubled:
        raise StudyError(f"{where}, {key}: '{doubled[0]}' is listed twice. Name each component once.")
    return tuple(texts)


def change_gate(gate: Gate, changes: Mapping[str, Json], where: str) -> Gate:
    """The same with some of its keys, which come from options or a marker, and are checked as those of a study are."""
    try:
        return Gate(**GateTable.model_validate(dataclasses.asdict(gate) | dict(changes)).model_dump())
    except ValidationError as error:
        problems = ({**problem, "loc": ("gate", *problem["loc"])} for problem in error.errors())
        raise StudyError("\n".join(explain(problem, where) for problem in problems)) from error
