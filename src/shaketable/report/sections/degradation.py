"""What disturbed evidence costs at each temperature: a matrix of tests."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable.analyses.evidence.degradation import Degradation, Loss
from shaketable.factors import title_of, word_for
from shaketable.report.evidence_marks import make_spark
from shaketable.report.grouping import group_lines
from shaketable.report.matrices import Line, make_matrices
from shaketable.report.section import NOTHING, Headline, Look, MatrixCell, Page, Section
from shaketable.report.words import (
    MISSING,
    count_questions,
    format_amount,
    format_difference,
    format_interval,
    format_lines,
    format_p,
    name_part,
    name_resamples,
    sentence_case,
)


def section(result: Degradation, page: Page) -> Section:
    lines = group_lines(result.losses)
    pooled = [line for line in lines if line[0].cell.group is None]
    return Section(
        chapter="evidence",
        question="Does disturbed evidence make answers worse at all temperatures?",
        headlines=tuple(_headline(known, page) for line in pooled if (known := _known(line))),
        matrices=make_matrices([_matrix_line(line) for line in lines], page, last="At all of them?"),
        notes=("Cells hold the shift with its interval, and p adjusted over temperatures.",),
        caveats=_caveats(result, page),
    )


def _known(line: Sequence[Loss]) -> list[Loss]:
    return [loss for loss in line if loss.shift.value is not None]


def _matrix_line(line: Sequence[Loss]) -> Line:
    tested = [loss for loss in line if loss.is_shown is not None]
    n_shown = sum(loss.is_shown is True for loss in tested)
    look, mark = _look(n_shown == len(tested), "yes")
    everywhere = MatrixCell(look=look, mark=mark, lines=(f"{n_shown} of {len(tested)}",)) if tested else NOTHING
    return Line(
        cell=line[0].cell,
        metric=line[0].metric,
        cells={loss.cell.temperature: _matrix_cell(loss) for loss in line},
        last=everywhere,
    )


def _matrix_cell(loss: Loss) -> MatrixCell:
    if loss.is_shown is None:
        return NOTHING
    look, mark = _look(loss.is_shown, "worse")
    return MatrixCell(look=look, mark=mark, lines=(*format_lines(loss.shift), format_p(loss.p_adjusted)))


def _headline(line: Sequence[Loss], page: Page) -> Headline:
    """On the largest shift of a line."""
    largest = max(line, key=lambda loss: loss.shift.value or 0.0)
    n_shown = sum(loss.is_shown is True for loss in line)
    return Headline(
        kind="degradation",
        cell=largest.cell,
        system=page.name(largest.cell),
        sentence=_sentence(largest, n_shown, sum(loss.is_shown is not None for loss in line), page),
        detail=_detail(largest, len(line)),
        number=format_amount(largest.shift),
        interval=format_interval(largest.shift),
        is_clear=n_shown > 0 and page.is_applied(largest.cell),
        spark_title=f"Shift of {title_of(largest.metric)} by temperature",
        spark=make_spark(((loss.cell, loss.shift) for loss in line), is_difference=True),
    )


def _sentence(loss: Loss, n_shown: int, n_tested: int, page: Page) -> str:
    cause, metric = sentence_case(name_part(loss.cell.perturbation or "")), word_for(loss.metric)
    system, temperature = page.name(loss.cell), f"{loss.cell.temperature:g}"
    if n_shown == n_tested == 1:
        return f"{cause} lowers the {metric} of {system} at temperature {temperature}."
    if n_shown == n_tested:
        return f"{cause} lowers the {metric} of {system} at every temperature tried ({n_tested})."
    if n_shown:
        where = f"at {n_shown} of {n_tested} temperatures"
        return f"{cause} lowers the {metric} of {system} {where}; at the others no loss was shown."
    where = f"at temperature {temperature}" if n_tested == 1 else "at any temperature"
    return f"{cause}: no loss of {metric} was shown for {system} {where}."


def _detail(loss: Loss, n_temperatures: int) -> str:
    shift = format_difference(loss.shift)
    if n_temperatures > 1:
        return f"The largest shift is {shift}, at temperature {loss.cell.temperature:g} ({_sample(loss)})."
    return f"Shift {shift} ({_sample(loss)})."


def _sample(loss: Loss) -> str:
    return count_questions(loss.shift.n)


def _look(is_shown: bool, word: str) -> tuple[Look, str]:
    return ("bad", f"▼ {word}") if is_shown else ("quiet", "○ not shown")


def _caveats(result: Degradation, page: Page) -> tuple[str, ...]:
    caveats = [
        f"Tests are one-sided Wilcoxon signed-rank tests, adjusted by Holm over temperatures, at {result.alpha:g}; "
        "lines of different models, types and disturbances are not adjusted for one another.",
        f"Shifts are Hodges–Lehmann estimates; intervals hold {name_resamples(page.bootstrap)}.",
        "A loss that was not shown may still be there: see the equivalence tests.",
    ]
    if any(loss.n_missing for loss in result.losses):
        caveats.append(MISSING)
    return tuple(caveats)
