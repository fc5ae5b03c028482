"""What readers of rows share, until every result has a type of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shaketable.types import OldFinding

Row = Mapping[str, Any]
CONDITIONS = ("correctness", "variability")
"""The analyses whose rows are all conditions of the run."""
NOT_APPLIED = "Temperature was not applied by "
"""How the caveat of a model begins that ignores its temperature."""


def rows_of(finding: OldFinding) -> Sequence[Row]:
    """The rows of a finding, as values of the types its analysis promises."""
    return finding.rows


def not_applied(findings: Sequence[OldFinding]) -> dict[str, str]:
    """System (`model · method`) → the caveat that temperature was not applied by it."""
    caveats = {caveat for finding in findings for caveat in finding.caveats if caveat.startswith(NOT_APPLIED)}
    systems = sorted({flat_name(row) for finding in findings for row in finding.rows})
    return {name: caveat for name in systems for caveat in caveats if caveat.startswith(f"{NOT_APPLIED}{name}:")}


def flat_name(row: Row) -> str:
    """How a caveat on temperature names the system of a row."""
    return f"{row.get('model')} · {row.get('method')}"


def extreme_systems(findings: Sequence[OldFinding]) -> list[str]:
    """The systems that heat moves most and least, the most first: those that single questions are shown of."""
    finding = next((one for one in findings if one.analysis == "correctness"), None)
    if finding is None:
        return []
    moved = {
        str(row["system"]): abs(float(str(row["value"])))
        for row in finding.rows
        if str(row["contrast"]).startswith("temperature") and row["type"] is None and row["value"] is not None
        if row["metric"] == finding.settings.get("main_metric") and row["perturbation"] in ("unchanged", None)
    }
    ordered = sorted(moved, key=lambda system: (-moved[system], system))
    ordered = ordered or sorted({str(row["system"]) for row in finding.rows})
    return ordered if len(ordered) < 3 else [ordered[0], ordered[-1]]


def named_evidence(perturbation: str | None) -> str:
    return (perturbation or "no_evidence").replace("_", " ")
