"""Whether the temperature at which a fact breaks can be foretold from one greedy answer."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable.analyses.facts.predict_breaking import Fit, PredictedBreaking
from shaketable.report.known_facts import make_headline, name_system
from shaketable.report.section import Headline, Page, Section, Table
from shaketable.report.words import count_questions, format_level, holds_zero, name_resamples
from shaketable.types import Estimate


def section(result: PredictedBreaking, page: Page) -> Section:
    systems: dict[str, list[Fit]] = {}
    for fit in result.fits:
        systems.setdefault(name_system(fit.cell, page), []).append(fit)
    return Section(
        chapter="facts",
        title="Foretelling the break",
        question="Can the temperature at which a fact breaks be foretold from one greedy answer?",
        headlines=tuple(
            _headline(system, fits, page)
            for system, fits in systems.items()
            if fits[0].r_squared.value is not None and fits[0].r_squared.low is not None
        ),
        tables=_tables(systems),
        caveats=_caveats(page) if result.fits else (),
    )


def _headline(system: str, fits: Sequence[Fit], page: Page) -> Headline:
    """On entropy alone, and on the largest gain over it."""
    alone = fits[0].r_squared
    gains = [(fit, fit.gain) for fit in fits if fit.gain is not None and _is_shown(fit.gain)]
    best = max(gains, key=lambda pair: pair[1].value or 0.0, default=None)
    more = "nothing else was shown to add to it"
    if best is not None:
        more = f"{' + '.join(best[0].predictors[1:])} add {format_level(best[1])}"
    foretells = "foretells" if _is_shown(alone) else "was not shown to foretell"
    return make_headline(
        "foretold",
        fits[0].cell,
        f"Entropy alone {foretells} when {system} loses a fact: R² is {format_level(alone)}; {more}.",
        f"R² is the share of variance foretold in unseen facts ({count_questions(alone.n)}).",
        page,
    )


def _is_shown(estimate: Estimate) -> bool:
    return estimate.value is not None and estimate.value > 0 and not holds_zero(estimate)


def _tables(systems: dict[str, list[Fit]]) -> tuple[Table, ...]:
    rows = [
        (system, " + ".join(fit.predictors), what, format_level(estimate), estimate.n)
        for system, fits in systems.items()
        for what, estimates in (
            ("R²", [(fit, fit.r_squared) for fit in fits]),
            ("more than entropy alone", [(fit, fit.gain) for fit in fits]),
        )
        for fit, estimate in estimates
        if estimate is not None
    ]
    columns = ("System", "Foretold by", "", "Estimate", "Facts")
    title = "Cross-validated regression of log(1 + breaking temperature)"
    return (Table(title=title, columns=columns, rows=tuple(rows)),) if rows else ()


def _caveats(page: Page) -> tuple[str, ...]:
    return (
        f"Intervals hold {name_resamples(page.bootstrap, of='such out-of-fold errors')}; the folds stay as they are.",
        "Facts that do not break within the scan or the curve have no breaking temperature and are left out.",
        "A negative R² means that the mean of all facts would have foretold better.",
    )
