"""`findings.json`: what the analyses of a run gave, each in the type that its analysis promises, and as tidy rows."""

from __future__ import annotations

import dataclasses
import functools
import json
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from shaketable import catalog
from shaketable.errors import RunError, ShaketableError
from shaketable.factors import Cell, System
from shaketable.store.sealing.files import refuse_altered, write_sealed
from shaketable.types import Estimate, Finding, Findings, Json

NAME = "findings.json"
SCHEMA = 4
"""1: rows with sentences, of version 0.1; 2: analyses that adjusted for themselves; 3: verdicts on perturbations that
were not done. Such files are made again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredFindings:
    schema: int
    made_from: str
    """The digest of what the analyses read."""
    asked: tuple[str, ...] | None
    """The analyses that were asked for; None: the study's."""
    findings: Findings | None
    """None: the file is of an older schema."""


def has_findings(folder: Path) -> bool:
    return (folder / NAME).is_file()


def write_findings(folder: Path, findings: Findings, made_from: str, asked: Sequence[str] | None) -> None:
    shared = TypeAdapter(Findings).dump_python(dataclasses.replace(findings, findings=()), mode="json")
    written = [
        {
            "analysis": finding.analysis,
            "is_as_asked": finding.is_as_asked,
            "failure": finding.failure,
            "result": None if finding.failure else _adapter(finding.analysis).dump_python(finding.result, mode="json"),
        }
        for finding in findings.findings
    ]
    content = {"schema": SCHEMA, "made_from": made_from, "asked": None if asked is None else list(asked)}
    text = json.dumps(content | shared | {"findings": written}, indent=1, ensure_ascii=False, allow_nan=False)
    write_sealed(folder / NAME, text)


def check_result(analysis: str, result: object) -> None:
    """Fails where a result could not be kept: it is of another type than its analysis promises, or has NaN in it."""
    json.dumps(_adapter(analysis).dump_python(result, mode="json", warnings="error"), allow_nan=False)


def load_findings(folder: Path) -> StoredFindings:
    if not has_findings(folder):
        raise RunError(f"{folder} has no findings yet. Run: shaketable analyze {folder}.")
    path = folder / NAME
    advice = f"Make it anew: shaketable analyze {path.parent}."
    refuse_altered(path, advice)
    try:
        return _parse(json.loads(path.read_text("utf-8")))
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError, ShaketableError) as error:
        raise RunError(f"{path} does not hold what its analyses promise: {_problem(error)}. {advice}") from error


def _parse(content: dict[str, Any]) -> StoredFindings:
    schema = content.pop("schema", 1) if isinstance(content, dict) else 0
    if schema != SCHEMA:
        return StoredFindings(schema=schema, made_from="", asked=_asked(content), findings=None)
    made_from, asked = content.pop("made_from"), _asked(content)
    content.pop("asked")
    findings = tuple(
        Finding(
            analysis=kept["analysis"],
            is_as_asked=kept["is_as_asked"],
            failure=kept["failure"],
            result=None if kept["failure"] else _adapter(kept["analysis"]).validate_python(kept["result"]),
        )
        for kept in content.pop("findings")
    )
    shared = TypeAdapter(Findings).validate_python(content | {"findings": ()})
    return StoredFindings(
        schema=schema, made_from=made_from, asked=asked, findings=dataclasses.replace(shared, findings=findings)
    )


def tidy_rows(findings: Findings) -> list[dict[str, Json]]:
    """One row for each value in each table of each result: the analysis, the table, and what the value has.

    A cell becomes the columns of its factors; those of a second cell begin with its name. The first estimate of a
    value becomes value, low, high, level, n, unit and reason; others have columns of their own name.
    """
    return [
        {"analysis": finding.analysis, "as_asked": finding.is_as_asked, "table": table, **_columns(value)}
        for finding in findings.findings
        if finding.result is not None
        for table, values in _tables(finding.result)
        for value in values
    ]


def _tables(result: object) -> Iterator[tuple[str, Sequence[object]]]:
    for field in dataclasses.fields(typing.cast(Any, result)):
        values = getattr(result, field.name)
        if isinstance(values, tuple) and values and dataclasses.is_dataclass(values[0]):
            yield field.name, values


def _columns(value: object) -> dict[str, Json]:
    columns: dict[str, Json] = {}
    for field in dataclasses.fields(typing.cast(Any, value)):
        own = getattr(value, field.name)
        if isinstance(own, Cell):
            beside = f"{field.name}_" if "dataset" in columns else ""
            columns |= {f"{beside}{name}": factor for name, factor in cell_columns(own).items()}
        elif isinstance(own, System):
            columns |= {f"{field.name}_{name}": part for name, part in dataclasses.asdict(own).items()}
        elif isinstance(own, Estimate):
            columns |= _numbers(own, "" if "value" not in columns else field.name)
        else:
            columns[field.name] = TypeAdapter(object).dump_python(own, mode="json")
    return columns


def cell_columns(cell: Cell) -> dict[str, Json]:
    """The factors of a cell, by the names that tables and exports share."""
    system = cell.system
    return {
        "dataset": cell.dataset,
        "model": None if system is None else system.model,
        "method": None if system is None else system.method,
        "retriever": None if system is None else system.retriever,
        "variation": cell.variation,
        "perturbation": cell.perturbation,
        "temperature": cell.temperature,
        "group": cell.group,
    }


def _numbers(estimate: Estimate, name: str) -> dict[str, Json]:
    if name:
        ends = {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
        return {**ends, f"{name}_reason": estimate.reason}
    return dataclasses.asdict(estimate)


def _problem(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return f"{type(error).__name__} {error}"
    first = error.errors()[0]
    return f"{error.title}.{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _asked(content: Mapping[str, Any]) -> tuple[str, ...] | None:
    asked = content.get("asked") if isinstance(content, dict) else None
    return None if asked is None else tuple(asked)


def _adapter(analysis: str) -> TypeAdapter[Any]:
    """Of the type that an analysis promises to return."""
    return _adapter_of(analysis, catalog.registrations())


@functools.cache
def _adapter_of(analysis: str, registrations: int) -> TypeAdapter[Any]:
    function = catalog.find("analysis", catalog.parse(analysis)[0], "findings.json")
    return TypeAdapter(typing.get_type_hints(function)["return"])
