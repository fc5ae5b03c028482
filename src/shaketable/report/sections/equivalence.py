"""Where disturbed evidence is as good as the original: a matrix of verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable.analyses.evidence.equivalence import Equivalence, EquivalenceTest, Verdict
from shaketable.factors import word_for
from shaketable.report.grouping import group_lines
from shaketable.report.margins import describe_margin
from shaketable.report.matrices import Line, make_matrices
from shaketable.report.section import Headline, Look, MatrixCell, Page, Section
from shaketable.report.words import (
    MISSING,
    count_questions,
    format_difference,
    format_lines,
    format_margin,
    join_temperatures,
    name_part,
    name_resamples,
    sentence_case,
)

LOOKS: dict[Verdict, tuple[Look, str]] = {
    "equivalent": ("good", "≈ equivalent"),
    "different": ("bad", "≠ different"),
    "undecided": ("quiet", "? undecided"),
}


def section(result: Equivalence, page: Page) -> Section:
    lines = group_lines(result.tests)
    pooled = [[test for test in line if test.verdict] for line in lines if line[0].cell.group is None]
    margins = sorted({(margin.value, margin.unit) for margin in result.margins})
    within = ", ".join(format_margin(*margin) for margin in margins)
    return Section(
        chapter="evidence",
        title="Where is disturbed evidence as good as the original?",
        question="At which temperatures are answers from disturbed evidence as good as from the original?",
        headlines=tuple(_headline(line, page) for line in pooled if line),
        matrices=make_matrices([_matrix_line(line) for line in lines], page),
        notes=(f"Cells hold original minus disturbed with its interval; the margin is {within}.",),
        caveats=_caveats(result, page),
    )


def _headline(line: Sequence[EquivalenceTest], page: Page) -> Headline:
    """One for each system and disturbance, with the difference at the coolest temperature."""
    coolest = line[0]
    system = page.name(coolest.cell)
    return page.headline(
        "equivalence",
        coolest.cell,
        f"{sentence_case(name_part(coolest.cell.perturbation or ''))}, {system}: {_verdicts(line)}.",
        f"At {coolest.cell.temperature:g} the difference is {format_difference(coolest.difference)} "
        f"({count_questions(coolest.difference.n)}).",
    )


def _verdicts(line: Sequence[EquivalenceTest]) -> str:
    within = format_margin(line[0].delta, line[0].difference.unit)
    of = " of" if line[0].difference.unit == "share" else ""
    words: dict[Verdict, str] = {
        "equivalent": f"equivalent to the original within {within}{of} {word_for(line[0].metric)}",
        "different": "different",
        "undecided": "undecided",
    }
    tried = [test.cell.temperature or 0.0 for test in line]
    at = {verdict: [test.cell.temperature or 0.0 for test in line if test.verdict == verdict] for verdict in words}
    return "; ".join(f"{words[verdict]} {join_temperatures(some, tried)}" for verdict, some in at.items() if some)


def _matrix_line(line: Sequence[EquivalenceTest]) -> Line:
    return Line(
        cell=line[0].cell,
        metric=line[0].metric,
        cells={test.cell.temperature: _matrix_cell(test) for test in line},
    )


def _matrix_cell(test: EquivalenceTest) -> MatrixCell:
    if test.verdict is None:
        return MatrixCell(look="quiet", mark="–", lines=(test.difference.reason,) if test.difference.reason else ())
    look, mark = LOOKS[test.verdict]
    return MatrixCell(look=look, mark=mark, lines=format_lines(test.difference))


def _caveats(result: Equivalence, page: Page) -> tuple[str, ...]:
    caveats = [
        *(describe_margin(margin) for margin in result.margins),
        f"Equivalence is two one-sided paired t tests at {result.alpha:g}, difference a two-sided one, each adjusted "
        "by Holm over temperatures; equivalent means too near to matter by the margin, not equal. Where heat has "
        "ruined the answers anyway, it means equally bad.",
        f"Intervals hold {name_resamples(page.bootstrap)}; the verdict is the tests', which correspond to an interval "
        f"of {100 * (1 - 2 * result.alpha):g} % before adjustment.",
    ]
    if any(test.n_missing for test in result.tests):
        caveats.append(MISSING)
    return tuple(caveats)
