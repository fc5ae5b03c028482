"""How strong each rewording is beside what it costs, so that a mild one is not taken for a robust system."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.analyses.wording.strengths import MadeWordings, StrengthName
from shaketable.analyses.wording.wording_strength import StrengthRelation, WordingStrength
from shaketable.factors import Cell, word_for
from shaketable.report.charts.layout import Axis, Picture
from shaketable.report.charts.lines import LineStyle, lines
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.claim_words import FAMILY, UNADJUSTED
from shaketable.report.grouping import group_by_system
from shaketable.report.section import Headline, Page, Section, Table
from shaketable.report.wording_figures import Plan, make_figures
from shaketable.report.wording_words import (
    make_headline,
    name_dataset,
    name_rewording,
    name_system,
    name_system_and_heat,
    name_way,
    name_where,
    order_of_way,
)
from shaketable.report.words import (
    Entry,
    describe_bootstrap,
    format_difference,
    format_level,
    format_more,
    format_p,
    negate,
    sentence_case,
)

MILD, STRONG = 0.85, 0.7
"""Shares of search terms kept. Model-made rewrites of Out of Style (2025) keep 0.79 (informal) and 0.58 (harder to
read)."""
UNKNOWN = "not measured"
COLUMNS: dict[StrengthName, str] = {
    "terms_kept": "Search terms kept",
    "edit_distance": "Words changed",
    "loss": "Change of loss, nats a token",
    "reading_ease": "Change of reading ease",
    "meaning": "Cosine to the original",
}
RELATED: dict[StrengthName, str] = {"terms_kept": "search terms kept", "loss": "change of loss"}
CAVEATS = (
    "Strength is that of the wordings that were asked; refused ones are counted, not averaged.",
    "Search terms are those of BM25: small letters, without stop words, stemmed. To a system that does not search, the "
    "words changed and the loss tell more.",
    f"A rewording is called mild where it keeps {100 * MILD:.0f} % of the search terms or more, and strong where it "
    f"keeps less than {100 * STRONG:.0f} %. Published rewrites by models keep 79 % (informal) and 58 % (hard to read).",
    "Losses are those of evidence as it was found, at the lowest temperature.",
    FAMILY,
    UNADJUSTED,
)


def _draw(marks: Sequence[Mark], titles: Titles) -> Picture:
    axis = Axis(numbers="points") if any(mark.unit == "share" for mark in marks) else Axis()
    return lines(marks, titles, axis=axis, style=LineStyle(x="span", has_bars=True, row_names="top"))


FIGURE = Plan(
    name="loss_by_strength",
    title="What a rewording costs, by its strength",
    note="Each mark is a rewording: further right it keeps fewer search terms, higher up it costs more.",
    titles=Titles(
        panel="Dataset", row="System", series="Asked", x="Share of search terms lost", value="Original minus reworded"
    ),
    draw=_draw,
)


def section(result: WordingStrength, page: Page) -> Section:
    groups = group_by_system(number for number in result.spoken_losses if number.estimate.value is not None)
    relations = _relation_table(result.relations, page)
    return Section(
        chapter="wording",
        title="How strong the rewordings are",
        question="Is a rewording without effect, or is it mild?",
        headlines=tuple(_headline(group, result, page) for group in groups) if result.reason is None else (),
        figures=make_figures(FIGURE, _marks(result, page), page),
        tables=tuple(table for table in (_table(result, page), relations) if table is not None),
        notes=(f"Strength was not measured: {result.reason}.",) if result.reason else (),
        caveats=(describe_bootstrap(page.bootstrap), *CAVEATS) if result.made else (),
    )


def describe_strength(kept: float) -> str:
    """In a word, by the share of search terms that is kept."""
    return "mild" if kept >= MILD else "strong" if kept < STRONG else "moderate"


def _headline(group: Sequence[WordingNumber], result: WordingStrength, page: Page) -> Headline:
    """Which rewordings are not shown to do anything, and whether they are mild or strong."""
    cell = group[0].cell
    claims = [page.claim("wording", number.cell, number.metric) for number in group]
    shown = [number for number, claim in zip(group, claims, strict=True) if claim is not None and claim.is_shown]
    rest = sorted((number for number in group if number not in shown), key=lambda number: -_kept(number.cell, result))
    what = f"the {word_for(group[0].metric)} of {name_where(cell, page)}"
    changes = "; ".join(f"{format_more(negate(own.estimate))} by {_describe(own.cell, result)}" for own in shown)
    if not rest:
        sentence, details = f"Every rewording is shown to change {what}.", [f"{sentence_case(changes)}."]
    else:
        sentence = f"Not shown to change {what}: {'; '.join(_describe(number.cell, result) for number in rest)}."
        details = ["A mild wording tests little, so that answers stand firm says little."] * any(
            _kept(number.cell, result) >= MILD for number in rest
        ) + [f"Shown: {changes}."] * bool(shown)
    return make_headline("strength", cell, sentence, " ".join(details), page).with_claims(*claims)


def _kept(cell: Cell, result: WordingStrength) -> float:
    """Below 0: not known."""
    estimate = result.mean(cell, "terms_kept")
    return -1.0 if estimate is None or estimate.value is None else estimate.value


def _describe(cell: Cell, result: WordingStrength) -> str:
    """`grammar, which is mild (keeps 95 % [93, 97] of the search terms)`."""
    estimate, name = result.mean(cell, "terms_kept"), name_rewording(cell.variation)
    if estimate is None or estimate.value is None:
        return f"{name}, whose strength is not known"
    return f"{name}, which is {describe_strength(estimate.value)} (keeps {format_level(estimate)} of the search terms)"


def _marks(result: WordingStrength, page: Page) -> list[Mark]:
    marks = [
        Mark.of(
            loss.estimate,
            x=round(1 - kept, 4),
            series=name_way(loss.cell.variation),
            panel=name_dataset(loss.cell),
            row=name_system(loss.cell, page),
        )
        for loss in sorted(result.losses, key=lambda loss: order_of_way(loss.cell.variation))
        if (kept := _kept(loss.cell, result)) >= 0 and loss.estimate.value is not None
    ]
    return sorted(marks, key=lambda mark: (mark.panel, mark.row))


def _table(result: WordingStrength, page: Page) -> Table | None:
    """A line per dataset, rewording and system; a rewording that was refused everywhere has no system."""
    rows: list[tuple[Entry, ...]] = []
    for made in sorted(result.made, key=lambda made: (name_dataset(made.cell), order_of_way(made.cell.variation))):
        where = made.cell
        losses = [loss for loss in result.losses if result.where(loss.cell) == where]
        strengths = (_format(result, where, name) for name in COLUMNS)
        counts = made.n_wordings, _describe_refused(made)
        about: tuple[Entry, ...] = (name_dataset(where), name_way(where.variation), *counts, *strengths)
        rows += [(name_system_and_heat(loss.cell, page), *about, *_effect(loss, page)) for loss in losses]
        rows += [("–", *about, "–", "–")] * (not losses)
    columns = ("System", "Dataset", "Asked", "Wordings", "Refused", *COLUMNS.values())
    change = f"Change of {word_for(result.metric)}" if result.metric else "Change"
    return Table(columns=(*columns, change, "Verdict"), rows=tuple(rows)) if rows else None


def _format(result: WordingStrength, where: Cell, name: StrengthName) -> str:
    estimate = result.mean(where, name)
    return UNKNOWN if estimate is None or estimate.value is None else format_level(estimate)


def _effect(loss: WordingNumber, page: Page) -> tuple[Entry, Entry]:
    claim = page.claim("wording", loss.cell, loss.metric)
    verdict = "–" if claim is None else "shown" if claim.is_shown else "not shown"
    return format_difference(negate(loss.estimate)), verdict


def _describe_refused(made: MadeWordings) -> str:
    """`3: names lost (2), empty (1)`."""
    kinds = ", ".join(f"{own.kind.replace('_', ' ')} ({own.n})" for own in made.refusals)
    return f"{made.n_refused}: {kinds}" if kinds else "0"


def _relation_table(relations: Sequence[StrengthRelation], page: Page) -> Table | None:
    rows = tuple(
        (
            name_system_and_heat(own.cell, page),
            name_dataset(own.cell),
            name_way(own.cell.variation),
            RELATED[own.number],
            format_level(own.rho),
            format_p(own.p),
            own.rho.n,
        )
        for own in relations
    )
    columns = ("System", "Dataset", "Asked", "Strength", "Spearman's rho with the loss", "Not adjusted", "Questions")
    title = "Do stronger wordings of one kind lose more?"
    return Table(title=title, columns=columns, rows=rows, is_folded=True) if rows else None
