"""The numbers of a comparison as tables: quality and effort, conditions, and what would decide them."""

from __future__ import annotations

from dataclasses import replace

from shaketable.analyses.changes import Change
from shaketable.analyses.compared import Compared, Comparisons
from shaketable.factors import word_for
from shaketable.report.claim_words import N_MOST, rounded
from shaketable.report.comparison.figures import name_change
from shaketable.report.comparison_words import (
    EFFORTS,
    format_adjusted,
    format_change,
    format_effort,
    name_condition,
    show,
    verdict_of,
)
from shaketable.report.section import Table
from shaketable.report.words import Entry, format_amount, format_interval, format_p


def tabulate_differences(compared: Compared, told: Comparisons) -> Table:
    return Table(
        columns=(
            "Where",
            compared.first.name,
            compared.second.name,
            "Difference",
            "p, adjusted",
            "Verdict",
            "Questions",
        ),
        rows=tuple(
            (
                name_change(change),
                *show(change)[:2],
                format_change(change),
                format_adjusted(change, compared, told),
                verdict_of(change, compared, told) or "–",
                change.difference.n,
            )
            for change in compared.comparison.spoken_of
        ),
    )


def tabulate_conditions(compared: Compared) -> Table:
    comparison = compared.comparison
    columns = ("Condition", compared.first.name, compared.second.name, "Difference", "p", "As one of all", "Questions")
    rows = (
        (
            name_condition(change.cell, comparison),
            *_levels(change),
            format_change(change),
            format_p(change.p),
            format_change(replace(change, difference=change.among)) if change.among else "–",
            change.difference.n,
        )
        for change in comparison.conditions
    )
    return Table(columns=columns, rows=tuple(rows), title="Every condition, not adjusted", is_folded=True)


def tabulate_efforts(compared: Compared, told: Comparisons) -> Table:
    """Quality first, then what an answer takes."""
    overall = compared.comparison.overall
    quality = (
        word_for(compared.comparison.metric),
        *_levels(overall),
        format_change(overall),
        overall.difference.n,
    )
    efforts = (
        (
            EFFORTS[effort.measured],
            *_levels(effort.change),
            format_effort(effort),
            effort.change.difference.n,
        )
        for effort in compared.efforts
    )
    columns = ("Of an answer", compared.first.name, compared.second.name, "Difference", "Questions")
    return Table(columns=columns, rows=(quality, *efforts))


def tabulate_power(compared: Compared, told: Comparisons) -> Table | None:
    """Of each line that is not shown; None: all are."""
    rows: list[tuple[Entry, ...]] = []
    for change in compared.comparison.spoken_of:
        claim = told.claim(compared, change)
        if claim is None or claim.is_shown:
            continue
        least = "–" if claim.detectable is None else format_amount(replace(claim.estimate, value=claim.detectable))
        rows.append(
            (
                name_change(change),
                format_change(change),
                least,
                change.difference.n,
                _count(claim.n_needed),
                claim.reason or "",
            )
        )
    columns = ("Where", "Difference", "Would likely have been seen", "Questions", "To settle one as large", "Why not")
    return Table(columns=columns, rows=tuple(rows)) if rows else None


def _levels(change: Change) -> tuple[str, str]:
    """Both sides with their intervals."""
    first, second, _ = show(change)
    return (
        " ".join(filter(None, (first, format_interval(change.first)))),
        " ".join(filter(None, (second, format_interval(change.second)))),
    )


def _count(n: int | None) -> str:
    if n is None:
        return "–"
    return f"more than {N_MOST:,}" if n > N_MOST else f"about {rounded(n):,}"
