"""One question under every condition: wording × evidence × temperature, coloured by a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shaketable.errors import RunError
from shaketable.factors import short_names
from shaketable.report.words import format_entry, name_evidence
from shaketable.store.explore import Explorer
from shaketable.store.explored import QuestionCell
from shaketable.viewer.curve_picture import draw_curves

N_SHADES = 10


@dataclass(frozen=True, kw_only=True)
class Square:
    """What came of one wording with one evidence at one temperature."""

    key: str
    """The record of the first repeat."""
    shade: str
    """`m0` (all wrong) to `m10` (all right); `none` without a score, `failed` where every repeat failed."""
    mark: str
    """The same as a sign, so that no square is told by its colour alone."""
    words: str


@dataclass(frozen=True, kw_only=True)
class Grid:
    system: str
    temperatures: Sequence[float]
    lines: Sequence[tuple[str, str, str, Sequence[Square | None]]]
    """Variation, wording, evidence, and a square for each temperature; None: not run."""


def question_values(explorer: Explorer, question_id: str, metric: str | None) -> dict[str, Any]:
    question = explorer.question(question_id)
    if question is None:
        raise RunError(f"This run has no question '{question_id}'. See the list of questions.")
    cells = explorer.cells(question_id, metric)
    cool = [cell.key for cell in cells if cell.temperature == 0]
    curves = [curve for curve in explorer.curves(cool) if curve.reason is None]
    labels = {cell.key: f"{cell.model} · {cell.variation}" for cell in cells}
    return {
        "question": question,
        "metric": metric,
        "metrics": explorer.metrics,
        "grids": grids(cells),
        "variants": explorer.variants(question_id),
        "curve": draw_curves(curves, labels),
    }


def grids(cells: Sequence[QuestionCell]) -> list[Grid]:
    """One grid for each system, with the untouched evidence first."""
    systems: dict[str, list[QuestionCell]] = {}
    names = short_names(cell.model for cell in cells)
    for cell in cells:
        system = " · ".join(part for part in (names[cell.model], cell.method, cell.retriever) if part)
        systems.setdefault(system, []).append(cell)
    made = []
    for system, own in systems.items():
        temperatures = sorted({cell.temperature for cell in own})
        lines: dict[tuple[str, str, str], dict[float, Square]] = {}
        for cell in own:
            line = cell.variation, cell.wording, name_evidence(cell.perturbation)
            lines.setdefault(line, {})[cell.temperature] = _square(cell)
        ordered = sorted(lines, key=lambda line: (line[0] != "original", line[:2], line[2] != "unchanged", line[2]))
        made.append(
            Grid(
                system=system,
                temperatures=temperatures,
                lines=[(*line, [lines[line].get(temperature) for temperature in temperatures]) for line in ordered],
            )
        )
    return made


def _square(cell: QuestionCell) -> Square:
    value, n, n_failed = cell.value, cell.n, cell.n_failed
    repeats = f"{n} repeat{'' if n == 1 else 's'}"
    if n_failed == n:
        return Square(key=cell.key, shade="failed", mark="!", words=f"failed, {repeats}")
    if value is None:
        return Square(key=cell.key, shade="none", mark="?", words=f"no score, {repeats}")
    failed = f", {n_failed} failed" if n_failed else ""
    mark = "✓" if value >= 1 else "✗" if value <= 0 else format_entry(float(value))
    shade = f"m{round(N_SHADES * min(1.0, max(0.0, value)))}"
    return Square(key=cell.key, shade=shade, mark=mark, words=f"mean {value:.3g} of {repeats}{failed}")
