"""The tables of guidelines: ceilings of systems, and of each kind of evidence and type of question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shaketable.analyses.evidence.guidelines import Guidelines
from shaketable.analyses.evidence.heat_ceilings import Ceiling, PairCeiling
from shaketable.analyses.evidence.onsets import Onset
from shaketable.factors import Cell
from shaketable.report.section import Page, Table
from shaketable.report.sections.guidelines_words import name_worst
from shaketable.report.tables import TableLine, make_tables
from shaketable.report.words import format_difference, format_level, format_margin, name_part


def is_of_system(cell: Cell) -> bool:
    return cell.group is None and cell.is_undisturbed


def guideline_tables(result: Guidelines, page: Page) -> tuple[Table, ...]:
    onsets = {(onset.metric, onset.cell): onset for onset in result.onsets}
    allowed = sorted({format_margin(margin.value, margin.unit) for margin in result.margins})
    return (
        *make_tables(
            f"Ceilings for a loss of at most {' or '.join(allowed)}",
            ("Keep at or below", "Decided by", "Loss one step above", "Begins to fall at"),
            [_system_line(ceiling, result.onsets) for ceiling in result.ceilings],
            page,
        ),
        *make_tables(
            "By evidence and type of question",
            ("Evidence", "Ceiling", "Change per unit beyond the onset", "Begins to fall at"),
            [_pair_line(ceiling, onsets.get((ceiling.metric, ceiling.cell))) for ceiling in result.pair_ceilings],
            page,
            is_folded=True,
        ),
    )


def _system_line(ceiling: Ceiling, onsets: Sequence[Onset]) -> TableLine:
    original = next(
        (
            onset
            for onset in onsets
            if onset.metric == ceiling.metric and is_of_system(onset.cell)
            if replace(onset.cell, perturbation=None) == ceiling.cell
        ),
        None,
    )
    beyond = ceiling.next_loss
    return TableLine(
        cell=ceiling.cell,
        metric=ceiling.metric,
        entries=(
            format_level(ceiling.ceiling),
            ", ".join(name_worst(ceiling)),
            None if beyond is None else f"{format_difference(beyond)} at {ceiling.next_temperature:g}",
            None if original is None else format_level(original.onset),
        ),
        n=ceiling.ceiling.n,
    )


def _pair_line(ceiling: PairCeiling, onset: Onset | None) -> TableLine:
    has_slope = onset is not None and onset.slope.value is not None
    return TableLine(
        cell=ceiling.cell,
        metric=ceiling.metric,
        entries=(
            name_part(ceiling.cell.perturbation or "no evidence"),
            format_level(ceiling.ceiling),
            format_level(replace(onset.slope, unit="score")) if onset is not None and has_slope else None,
            None if onset is None else format_level(onset.onset),
        ),
        n=ceiling.ceiling.n,
    )
