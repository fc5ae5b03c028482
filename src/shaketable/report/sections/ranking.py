"""Which disturbance hurts most, and whether temperature changes it: a matrix of ranks, and pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shaketable.analyses.evidence.ranking import Agreement, Contrast, Drop, Ranking
from shaketable.factors import word_for
from shaketable.report.grouping import group_lines
from shaketable.report.matrices import Line, make_matrices
from shaketable.report.section import NOTHING, Headline, MatrixCell, Page, Section, Table
from shaketable.report.tables import TableLine, make_tables
from shaketable.report.words import (
    count_questions,
    format_difference,
    format_level,
    format_lines,
    format_p,
    name_part,
    name_resamples,
    sentence_case,
)

CHANGES = {"reversal": "reversal", "change": "changes", "not shown": "no change shown"}
Pair = list[Contrast]
"""The contrasts of two disturbances at all temperatures."""


def section(result: Ranking, page: Page) -> Section:
    pairs = _pairs(result.contrasts)
    return Section(
        chapter="evidence",
        question="Does temperature change which disturbance of the evidence hurts most?",
        headlines=tuple(headline for system in _systems(pairs) for headline in _headlines(system, page)),
        matrices=make_matrices(_matrix_lines(result.drops), page),
        tables=(*_pair_tables(pairs, page), *_agreement_tables(result.agreements, page)),
        notes=("Cells hold the rank, 1 for the largest drop, and the drop with its interval.",),
        caveats=_caveats(result, page),
    )


def _pairs(contrasts: Sequence[Contrast]) -> list[Pair]:
    pairs: dict[object, Pair] = {}
    for contrast in contrasts:
        key = (contrast.metric, replace(contrast.cell, temperature=None), contrast.other)
        pairs.setdefault(key, []).append(contrast)
    return list(pairs.values())


def _systems(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """The pairs that were tested on all questions of a system."""
    systems: dict[object, list[Pair]] = {}
    for pair in pairs:
        cell = pair[0].cell
        if cell.group is None and pair[0].change is not None:
            key = (pair[0].metric, replace(cell, temperature=None, perturbation=None))
            systems.setdefault(key, []).append(pair)
    return list(systems.values())


# --- headlines ------------------------------------------------------------------------------------


def _headlines(system: Sequence[Pair], page: Page) -> list[Headline]:
    """One for each reversal; without any, one that tells what changes, or that no change was shown."""
    reversals = [pair for pair in system if pair[0].change == "reversal"]
    if reversals:
        return [_reversal(pair, page) for pair in reversals]
    changing = [pair for pair in system if pair[0].change == "change"]
    first = (changing or system)[0][0]
    name = page.name(first.cell)
    sample = f"{format_p(first.p_adjusted)}, adjusted ({count_questions(first.difference.n)})"
    against = f"{name_part(first.cell.perturbation or '')} against {name_part(first.other)}"
    return [_headline(first, _no_reversal(name, changing), f"Interaction test of {against}: {sample}.", page)]


def _reversal(pair: Pair, page: Page) -> Headline:
    above = [contrast for contrast in pair if contrast.difference.low is not None and contrast.difference.low > 0]
    below = [contrast for contrast in pair if contrast.difference.high is not None and contrast.difference.high < 0]
    more, less = max(above, key=_value), min(below, key=_value)
    name = page.name(more.cell)
    cause, other = sentence_case(name_part(more.cell.perturbation or "")), name_part(more.other)
    return _headline(
        more,
        f"{cause} hurts {name} more than {other} at temperature {more.cell.temperature:g}, and less at "
        f"{less.cell.temperature:g}.",
        f"The difference in lost {word_for(more.metric)} is {format_difference(more.difference)} and "
        f"{format_difference(less.difference)} ({count_questions(more.difference.n)}).",
        page,
    )


def _headline(contrast: Contrast, sentence: str, detail: str, page: Page) -> Headline:
    is_clear = contrast.change != "not shown" and page.is_applied(contrast.cell)
    return page.headline("ranking", contrast.cell, sentence, detail).with_amount(contrast.difference, is_clear=is_clear)


def _no_reversal(system: str, changing: Sequence[Pair]) -> str:
    if not changing:
        return f"No change with temperature was shown in which disturbance hurts {system} more."
    pairs = ", ".join(
        f"{name_part(pair[0].cell.perturbation or '')} and {name_part(pair[0].other)}" for pair in changing
    )
    return f"How far disturbances of {system} lie apart changes with temperature ({pairs}); no reversal was found."


def _value(contrast: Contrast) -> float:
    return contrast.difference.value or 0.0


# --- matrices and tables --------------------------------------------------------------------------


def _matrix_lines(drops: Sequence[Drop]) -> list[Line]:
    return [
        Line(
            cell=line[0].cell,
            metric=line[0].metric,
            cells={drop.cell.temperature: _matrix_cell(drop) for drop in line},
        )
        for line in group_lines(drops)
    ]


def _matrix_cell(drop: Drop) -> MatrixCell:
    if drop.rank is None:
        return NOTHING
    return MatrixCell(look="even" if drop.rank > 1 else "bad", mark=f"rank {drop.rank}", lines=format_lines(drop.drop))


def _pair_tables(pairs: Sequence[Pair], page: Page) -> tuple[Table, ...]:
    known = [pair for pair in pairs if any(contrast.difference.value is not None for contrast in pair)]
    columns = ("Drop of", "With temperature", "Interaction test", "Least", "Most")
    return make_tables("Pairs of disturbances", columns, [_pair_line(pair) for pair in known], page)


def _pair_line(pair: Pair) -> TableLine:
    first, known = pair[0], [contrast for contrast in pair if contrast.difference.value is not None]
    ends = [
        f"{' '.join(format_lines(end.difference))} at {end.cell.temperature:g}"
        for end in (min(known, key=_value), max(known, key=_value))
    ]
    return TableLine(
        cell=first.cell,
        metric=first.metric,
        entries=(
            f"{name_part(first.cell.perturbation or '')} − {name_part(first.other)}",
            None if first.change is None else CHANGES[first.change],
            format_p(first.p_adjusted),
            *ends,
        ),
        n=first.difference.n,
    )


def _agreement_tables(agreements: Sequence[Agreement], page: Page) -> tuple[Table, ...]:
    coolest = min((agreement.cell.temperature or 0.0 for agreement in agreements), default=0.0)
    lines = [
        TableLine(
            cell=agreement.cell,
            metric=agreement.metric,
            entries=(f"{coolest:g} and {agreement.other_temperature:g}", format_level(agreement.tau)),
            n=agreement.tau.n,
        )
        for agreement in agreements
        if agreement.cell.temperature == coolest
    ]
    title = "Kendall's tau of the ranking with that at the coolest temperature"
    return make_tables(title, ("Temperatures", "Tau"), lines, page, is_folded=True)


def _caveats(result: Ranking, page: Page) -> tuple[str, ...]:
    caveats = [
        f"Intervals hold {name_resamples(page.bootstrap)} and are not widened for the many temperatures: with many of "
        "them a reversal may be chance, above all where the interaction test does not speak for it.",
        "The interaction test flips signs of whole questions, is adjusted by Holm over pairs of disturbances, and is "
        f"read at {result.alpha:g}.",
    ]
    if result.agreements:
        caveats.append("Kendall's tau of so few disturbances takes few values; one swap moves it far.")
    if any(contrast.n_left_out for contrast in result.contrasts):
        caveats.append("Contrasts take the questions that have a score in every cell; the others are counted.")
    return tuple(caveats)
