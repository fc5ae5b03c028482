"""When facts break, and whether the entropy of an answer foretells it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from shaketable.analyses.facts.breaking import BreakingTemperatures, EntropyAtBreak, EntropyCorrelation
from shaketable.analyses.facts.early_breaks import TooEarly
from shaketable.analyses.facts.facts import over_all_datasets
from shaketable.report.charts.layout import Axis
from shaketable.report.charts.lines import LineStyle, lines
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.claim_words import describe_unshown
from shaketable.report.known_facts import (
    Line,
    in_panels,
    make_headline,
    name_dataset,
    name_system,
    table_of_lines,
)
from shaketable.report.section import Figure, Headline, Page, Section
from shaketable.report.words import (
    caveats_of_agreement,
    count,
    count_questions,
    describe_bootstrap,
    format_level,
)


def section(result: BreakingTemperatures, page: Page) -> Section:
    return Section(
        chapter="facts",
        title="When facts break",
        question="At which temperature do facts break, and does entropy foretell it?",
        headlines=_headlines(result, page),
        figures=_figures(in_panels(result.entropies, page), page),
        tables=table_of_lines("Entropy and breaking temperature", _lines(result), page),
        caveats=_caveats(result, page),
    )


def _headlines(result: BreakingTemperatures, page: Page) -> tuple[Headline, ...]:
    early = {early.cell: early for early in result.too_early}
    headlines = []
    for correlation in over_all_datasets(result.correlations):
        if correlation.tau.value is not None:
            headlines.append(_foretold(correlation, page))
        if correlation.cell in early:
            headlines.append(_too_early(early[correlation.cell], page))
    return tuple(headlines)


def _foretold(correlation: EntropyCorrelation, page: Page) -> Headline:
    system, tau, claim = name_system(correlation.cell, page), correlation.tau, page.claim("breaking", correlation.cell)
    subject = f"the temperature at which {system} loses it"
    if claim is not None and claim.is_shown:
        direction = "earlier" if (tau.value or 0.0) < 0 else "later"
        sentence = f"The entropy of an answer foretells {subject}: undecided facts break {direction} "
        sentence += f"(Kendall's τ = {format_level(tau)})."
    else:
        sentence = f"That the entropy of an answer foretells {subject} is not shown "
        sentence += f"(Kendall's τ = {format_level(tau)}; {describe_unshown(claim)})."
    detail = f"Over all known facts, those that do not break above all others ({count_questions(tau.n)})"
    if correlation.pearson.value is not None:
        of = f"{count(correlation.pearson.n, 'broken fact')} alone" if correlation.n_unbroken else "the same facts"
        detail += f"; as published, Pearson's r of {of} is {format_level(correlation.pearson)}"
    return make_headline("breaking", correlation.cell, sentence, f"{detail}.", page).with_claims(claim)


def _too_early(early: TooEarly, page: Page) -> Headline:
    system = name_system(early.cell, page)
    chance = "" if early.expected is None else f"; chance alone explains {format_level(early.expected)}"
    return make_headline(
        "breaking",
        early.cell,
        f"A sampled scan declares {format_level(early.share)} of the facts of {system} broken too early.",
        f"Compared with the curve of the model's own probabilities{chance} ({count_questions(early.share.n)}).",
        page,
    )


def _lines(result: BreakingTemperatures) -> list[Line]:
    early = {early.cell: early for early in result.too_early}
    rows = []
    for correlation in result.correlations:
        cell = correlation.cell
        rows.append(Line(cell=cell, what="τ of entropy and breaking temperature", estimate=correlation.tau))
        rows.append(Line(cell=cell, what="Pearson's r, as published", estimate=correlation.pearson))
        if cell in early:
            rows.append(Line(cell=cell, what="broken too early by samples", estimate=early[cell].share))
            if (expected := early[cell].expected) is not None:
                rows.append(Line(cell=cell, what="the same, expected by chance", estimate=expected))
    return rows


def _figures(entropies: Sequence[EntropyAtBreak], page: Page) -> tuple[Figure, ...]:
    marks = tuple(
        Mark.of(at.entropy, x=at.cell.temperature, series=name_system(at.cell, page), panel=name_dataset(at.cell))
        for at in entropies
    )
    if not marks:
        return ()
    titles = Titles(panel="Dataset", series="System", x="Breaking temperature")
    axis = Axis(title="Mean entropy at temperature 0")
    figure = Figure(
        name="entropy_by_breaking",
        title="Entropy against breaking temperature",
        note="Mean entropy of the facts that break at each temperature; bands are confidence intervals.",
        marks=marks,
        titles=titles,
        draw=partial(lines, marks, titles, axis=axis, style=LineStyle(height=220)),
    )
    return (figure,)


def _caveats(result: BreakingTemperatures, page: Page) -> tuple[str, ...]:
    if not result.correlations:
        return ()
    others = "left out of it" if result.unbroken is None else f"counted as breaking at {result.unbroken:g}"
    n_missing = sum(correlation.n_missing for correlation in over_all_datasets(result.correlations))
    left_out = f"Left out, without an entropy or a known break: {count(n_missing, 'known fact')}."
    shares = [*(broken.share for broken in result.shares), *(early.share for early in result.too_early)]
    return (
        describe_bootstrap(page.bootstrap),
        *caveats_of_agreement(shares),
        "Kendall's τ compares all pairs of facts; those that do not break are tied above all others. In simulations it "
        "stays within 0.02 of what a scan without an end would give, unless more than half of the facts hold and the "
        "relation is strong; then it is too small.",
        f"Pearson's r is the published number; facts that do not break are {others}, so the end of the scan moves it.",
        *([left_out] if n_missing else []),
        "A scan of few answers at each temperature is a noisy test: by chance alone it finds breaks too early.",
    )
