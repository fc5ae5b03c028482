"""Where disturbed evidence is as good as the original: a matrix of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from shaketable.analyses.claims import Claim
from shaketable.analyses.evidence.equivalence import Equivalence, EquivalenceTest
from shaketable.analyses.floors import has_nothing_to_lose
from shaketable.factors import word_for
from shaketable.report.claim_words import FAMILY, UNADJUSTED, describe_unshown
from shaketable.report.grouping import group_lines
from shaketable.report.margins import describe_margin
from shaketable.report.matrices import Line, make_matrices
from shaketable.report.section import Headline, Look, MatrixCell, Page, Section
from shaketable.report.words import (
    MISSING,
    count_questions,
    format_loss,
    format_lost_lines,
    format_margin,
    format_p,
    join_temperatures,
    name_part,
    sentence_case,
)

Verdict = Literal["equivalent", "different", "undecided", "worthless"]
"""`worthless`: the original's answers are no better than chance there, so that as good as they means nothing."""
LOOKS: dict[Verdict, tuple[Look, str]] = {
    "equivalent": ("good", "≈ equivalent"),
    "different": ("bad", "≠ different"),
    "undecided": ("quiet", "? undecided"),
    "worthless": ("quiet", "– not above chance"),
}


def section(result: Equivalence, page: Page) -> Section:
    lines = group_lines(result.tests)
    pooled = [line for line in lines if line[0].cell.group is None and line[0].metric == result.metric]
    known = [[test for test in line if test.difference.value is not None] for line in pooled]
    margins = sorted({(margin.value, margin.unit) for margin in result.margins})
    within = ", ".join(format_margin(*margin) for margin in margins)
    return Section(
        chapter="evidence",
        title="Where is disturbed evidence as good as the original?",
        question="At which temperatures are answers from disturbed evidence as good as from the original?",
        headlines=tuple(_headline(line, page) for line in known if line),
        matrices=make_matrices([_matrix_line(line, page) for line in lines], page),
        notes=(
            "Cells hold original minus disturbed with its interval, and the p of the test that it lies within the "
            f"margin of {within}.",
        ),
        caveats=_caveats(result),
    )


def _claims(test: EquivalenceTest, page: Page) -> tuple[Claim | None, Claim | None]:
    """That it is equivalent, and that it differs; None: types and other metrics are explored, and get no verdict."""
    cell, metric = test.cell, test.metric
    return page.claim("evidence", cell, metric, says="equivalent"), page.claim("evidence", cell, metric)


def _verdict(test: EquivalenceTest, page: Page) -> Verdict | None:
    """Also of a difference that is not 0 it may be shown that it is too small to matter."""
    equivalent, differs = _claims(test, page)
    if equivalent is None:
        return None
    if equivalent.is_shown:
        return "equivalent"
    if differs is not None and differs.is_shown:
        return "different"
    return "worthless" if has_nothing_to_lose(test.cell, page.findings, test.metric) else "undecided"


def _headline(line: Sequence[EquivalenceTest], page: Page) -> Headline:
    """One for each system and disturbance, with the difference at the coolest temperature."""
    coolest = line[0]
    at = f"At {coolest.cell.temperature:g} the difference is {format_loss(coolest.difference, coolest.metric)}"
    sample = count_questions(coolest.difference.n)
    is_open = _verdict(coolest, page) in ("undecided", "worthless")
    behind = f"; {_describe_undecided(coolest, page)}" if is_open else ""
    headline = page.headline(
        "equivalence",
        coolest.cell,
        f"{sentence_case(name_part(coolest.cell.perturbation or ''))}, {page.name(coolest.cell)}: "
        f"{_verdicts(line, page)}.",
        f"{at} ({sample}){behind}.",
    )
    return headline.with_claims(*(claim for test in line for claim in _claims(test, page)))


def _describe_undecided(test: EquivalenceTest, page: Page) -> str:
    """Why nothing may be said of it, else what could have been seen."""
    equivalent, differs = _claims(test, page)
    return describe_unshown(equivalent if equivalent is not None and equivalent.reason else differs)


def _verdicts(line: Sequence[EquivalenceTest], page: Page) -> str:
    within = format_margin(line[0].delta, line[0].difference.unit)
    of = " of" if line[0].difference.unit == "share" else ""
    words: dict[Verdict, str] = {
        "equivalent": f"equivalent to the original within {within}{of} {word_for(line[0].metric)}",
        "different": "different",
        "undecided": "undecided",
        "worthless": "baseline not above chance level",
    }
    tried = [test.cell.temperature or 0.0 for test in line]
    at: dict[Verdict, list[float]] = {verdict: [] for verdict in words}
    for test in line:
        at[_verdict(test, page) or "undecided"].append(test.cell.temperature or 0.0)
    return "; ".join(f"{words[verdict]} {join_temperatures(some, tried)}" for verdict, some in at.items() if some)


def _matrix_line(line: Sequence[EquivalenceTest], page: Page) -> Line:
    return Line(
        cell=line[0].cell,
        metric=line[0].metric,
        cells={test.cell.temperature: _matrix_cell(test, page) for test in line},
    )


def _matrix_cell(test: EquivalenceTest, page: Page) -> MatrixCell:
    if test.p is None:
        return MatrixCell(look="quiet", mark="–", lines=(test.difference.reason,) if test.difference.reason else ())
    lines, verdict = (*format_lost_lines(test.difference, test.metric), format_p(test.p)), _verdict(test, page)
    if verdict is None:
        return MatrixCell(look="quiet", mark="", lines=lines)
    look, mark = LOOKS[verdict]
    return MatrixCell(look=look, mark=mark, lines=lines)


def _caveats(result: Equivalence) -> tuple[str, ...]:
    caveats = [
        *(describe_margin(margin) for margin in result.margins),
        "A difference is equivalent where its interval of 90 %, before adjustment, lies within the margin: too small "
        "to matter by the margin, not 0. Where answers are no better than chance, nothing is called equivalent.",
        FAMILY,
        UNADJUSTED,
    ]
    if any(test.n_missing for test in result.tests):
        caveats.append(MISSING)
    return tuple(caveats)
