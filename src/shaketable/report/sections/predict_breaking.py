"""Whether the temperature at which a fact breaks can be foretold from one greedy answer."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable.analyses.facts.predict_breaking import Fit, PredictedBreaking
from shaketable.report.claim_words import UNADJUSTED, describe_unshown
from shaketable.report.known_facts import make_headline, name_system
from shaketable.report.section import Headline, Page, Section, Table
from shaketable.report.words import count_questions, format_level, name_resamples


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
    """On entropy alone, and on the largest gain over it that is shown."""
    alone, *more = fits
    claim = page.claim_of(alone.subject)
    gains = [(fit, fit.gain) for fit in more if fit.gain is not None and _is_shown(fit, page)]
    best = max(gains, key=lambda pair: pair[1].value or 0.0, default=None)
    added = "that anything else adds to it is not shown" if more else "nothing else was measured"
    if best is not None:
        added = f"{' + '.join(best[0].predictors[1:])} add {format_level(best[1])}"
    level = format_level(alone.r_squared)
    if _is_shown(alone, page):
        foretold = f"Entropy alone foretells when {system} loses a fact: R² is {level}"
    else:
        foretold = f"That entropy alone foretells when {system} loses a fact is not shown: R² is {level}"
        foretold += f" ({describe_unshown(claim)})"
    headline = make_headline(
        "foretold",
        alone.cell,
        f"{foretold}; {added}.",
        f"R² is the share of variance foretold in unseen facts ({count_questions(alone.r_squared.n)}).",
        page,
    )
    return headline.with_claims(*(page.claim_of(fit.subject) for fit in fits))


def _is_shown(fit: Fit, page: Page) -> bool:
    claim = page.claim_of(fit.subject)
    return claim is not None and claim.is_shown


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
        "Predictions are tested by flipping the signs of the squared errors that they save.",
        UNADJUSTED,
        "A negative R² means that the mean of all facts would have foretold better.",
    )
