"""Which disturbance hurts most, and whether temperature changes it: a matrix of ranks, and pairs."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable.analyses.evidence.rank_agreements import Agreement
from shaketable.analyses.evidence.ranking import Drop, Ranking
from shaketable.report.claim_words import FAMILY, UNADJUSTED
from shaketable.report.grouping import group_lines
from shaketable.report.matrices import Line, make_matrices
from shaketable.report.section import NOTHING, MatrixCell, Page, Section, Table
from shaketable.report.sections.ranking_words import Pair, find_pair, group_systems, tell_pairs
from shaketable.report.tables import TableLine, make_tables
from shaketable.report.words import describe_bootstrap, format_level, format_lines, format_p


def section(result: Ranking, page: Page) -> Section:
    pairs = [find_pair(interaction, result, page) for interaction in result.interactions]
    return Section(
        chapter="evidence",
        question="Does temperature change which disturbance of the evidence hurts most?",
        headlines=tuple(headline for system in group_systems(pairs) for headline in tell_pairs(system, page)),
        matrices=make_matrices(_matrix_lines(result.drops), page),
        tables=(*_pair_tables(pairs, page), *_agreement_tables(result.agreements, page)),
        notes=("Cells hold the rank, 1 for the largest drop, and the drop with its interval.",),
        caveats=_caveats(result, page),
    )


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
    columns = ("Drop of", "With temperature", "Interaction", "p", "Least", "Most")
    return make_tables("Pairs of disturbances", columns, [_pair_line(pair) for pair in pairs if pair.contrasts], page)


def _pair_line(pair: Pair) -> TableLine:
    ends = [
        f"{' '.join(format_lines(end.difference))} at {end.cell.temperature:g}"
        for end in (chosen(pair.contrasts, key=lambda own: own.difference.value or 0.0) for chosen in (min, max))
    ]
    interaction = pair.interaction
    return TableLine(
        cell=interaction.cell,
        metric=interaction.metric,
        entries=(
            " − ".join(pair.names),
            _change(pair),
            format_level(interaction.strength),
            format_p(interaction.p),
            *ends,
        ),
        n=interaction.strength.n,
    )


def _change(pair: Pair) -> str | None:
    """None: types of question and other metrics are explored, and get no verdict."""
    if pair.changes is None:
        return None
    if pair.more and pair.less:
        return "reversal"
    return "changes" if pair.is_changing else "no change shown"


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
    title = "Kendall's tau of the ranking with that at the lowest temperature"
    return make_tables(title, ("Temperatures", "Tau"), lines, page, is_folded=True)


def _caveats(result: Ranking, page: Page) -> tuple[str, ...]:
    caveats = [
        f"{describe_bootstrap(page.bootstrap)} The interaction is partial epsilon squared of temperature, of the "
        "difference of two drops; it and single differences are tested by flipping the signs of whole questions.",
        FAMILY,
        UNADJUSTED,
    ]
    if result.agreements:
        caveats.append("Kendall's tau of so few disturbances takes few values; one swap moves it far.")
    if any(contrast.n_left_out for contrast in result.contrasts):
        caveats.append("Contrasts take the questions that have a score in every cell; the others are counted.")
    return tuple(caveats)
