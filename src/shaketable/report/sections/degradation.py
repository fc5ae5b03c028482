"""What disturbed evidence costs at each temperature: a matrix of verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable.analyses.claims import Claim
from shaketable.analyses.evidence.degradation import Degradation, Loss
from shaketable.factors import title_of, word_for
from shaketable.report.claim_words import FAMILY, UNADJUSTED, describe_failed, describe_unshown
from shaketable.report.evidence_marks import make_spark
from shaketable.report.grouping import group_lines
from shaketable.report.matrices import Line, make_matrices
from shaketable.report.section import NOTHING, Headline, MatrixCell, Page, Section
from shaketable.report.words import (
    MISSING,
    count_questions,
    format_difference,
    format_loss,
    format_lost_lines,
    format_p,
    join_temperatures,
    name_part,
    sentence_case,
)


def section(result: Degradation, page: Page) -> Section:
    lines = group_lines(result.losses)
    spoken_of = [line for line in lines if line[0].cell.group is None and line[0].metric == result.metric]
    return Section(
        chapter="evidence",
        question="Does disturbed evidence make answers worse at all temperatures?",
        headlines=tuple(_headline(known, page) for line in spoken_of if (known := _known(line))),
        matrices=make_matrices([_matrix_line(line, page) for line in lines], page, last="At all of them?"),
        notes=("Cells hold the mean difference with its interval, and its p; both are not adjusted, the verdict is.",),
        caveats=_caveats(result),
    )


def _known(line: Sequence[Loss]) -> list[Loss]:
    return [loss for loss in line if loss.drop.value is not None]


def _claim(loss: Loss, page: Page) -> Claim | None:
    return page.claim("evidence", loss.cell, loss.metric)


def _is_shown(loss: Loss, page: Page) -> bool:
    return page.is_shown("evidence", loss.cell, loss.metric)


# --- words ----------------------------------------------------------------------------------------


def _headline(line: Sequence[Loss], page: Page) -> Headline:
    """On the largest difference that is shown, else on the largest."""
    shown = [loss for loss in line if _is_shown(loss, page)]
    largest = max(shown or line, key=lambda loss: abs(loss.drop.value or 0.0))
    headline = Headline(
        kind="degradation",
        cell=largest.cell,
        system=page.name(largest.cell),
        sentence=_sentence(line, page),
        detail=_detail(largest, len(line), page),
        is_clear=page.is_applied(largest.cell),
        spark_title=f"Loss of {title_of(largest.metric)} by temperature",
        spark=make_spark(((loss.cell, loss.drop) for loss in line), is_difference=True),
    )
    headline = headline.with_loss(largest.drop, largest.metric, is_clear=headline.is_clear)
    return headline.with_claims(*(_claim(loss, page) for loss in line))


def _sentence(line: Sequence[Loss], page: Page) -> str:
    first = line[0]
    cause, what = sentence_case(name_part(first.cell.perturbation or "")), f"{word_for(first.metric)} of"
    system, tried = page.name(first.cell), [_temperature(loss) for loss in line]
    effects = [
        f"{verb} the {what} {system} {join_temperatures(some, tried)}"
        for verb, sign in (("lowers", 1), ("raises", -1))
        if (some := [_temperature(loss) for loss in line if _is_shown(loss, page) and sign * _value(loss) > 0])
    ]
    if not effects:
        where = join_temperatures(tried, tried) if len(tried) == 1 else "at any temperature"
        return f"{cause}: an effect on the {what} {system} is not shown {where}."
    n_shown = sum(_is_shown(loss, page) for loss in line)
    rest = "; elsewhere none is shown" if n_shown < len(line) else ""
    return f"{cause} {' and '.join(effects)}{rest}."


def _detail(loss: Loss, n_temperatures: int, page: Page) -> str:
    difference = format_loss(loss.drop, loss.metric) if loss.drop.value else format_difference(loss.drop)
    sample = count_questions(loss.drop.n)
    which = f"The largest difference is {difference}, at temperature {_temperature(loss):g}"
    if n_temperatures == 1:
        which = f"The difference is {difference}"
    behind = "" if _is_shown(loss, page) else f"; {describe_unshown(_claim(loss, page))}"
    return f"{which} ({sample}){behind}.{describe_failed(loss, loss.drop)}"


def _temperature(loss: Loss) -> float:
    return loss.cell.temperature or 0.0


def _value(loss: Loss) -> float:
    return loss.drop.value or 0.0


# --- matrices -------------------------------------------------------------------------------------


def _matrix_line(line: Sequence[Loss], page: Page) -> Line:
    tested = [loss for loss in line if loss.p is not None]
    n_worse = sum(_is_shown(loss, page) and _value(loss) > 0 for loss in tested)
    everywhere = MatrixCell(look="quiet", mark="○ not shown", lines=(f"{n_worse} of {len(tested)}",))
    if n_worse and n_worse == len(tested):
        everywhere = MatrixCell(look="bad", mark="▼ yes", lines=everywhere.lines)
    is_claimed = line[0].cell.group is None and bool(tested)
    return Line(
        cell=line[0].cell,
        metric=line[0].metric,
        cells={loss.cell.temperature: _matrix_cell(loss, page) for loss in line},
        last=everywhere if is_claimed else NOTHING,
    )


def _matrix_cell(loss: Loss, page: Page) -> MatrixCell:
    if loss.p is None:
        return NOTHING
    lines = (*format_lost_lines(loss.drop, loss.metric), format_p(loss.p))
    if _claim(loss, page) is None:  # Types of question and other metrics are explored, and get no verdict.
        return MatrixCell(look="quiet", mark="", lines=lines)
    if not _is_shown(loss, page):
        return MatrixCell(look="quiet", mark="○ not shown", lines=lines)
    if _value(loss) > 0:
        return MatrixCell(look="bad", mark="▼ worse", lines=lines)
    return MatrixCell(look="good", mark="▲ better", lines=lines)


def _caveats(result: Degradation) -> tuple[str, ...]:
    caveats = [
        "Differences are tested by flipping the signs of questions at random, which for single runs of right and wrong "
        "is McNemar's exact test; Wilcoxon's signed ranks and the Hodges–Lehmann shift are in the exported findings.",
        FAMILY,
        UNADJUSTED,
        "A loss that is not shown may still be there: see the equivalence tests.",
    ]
    if any(loss.n_missing for loss in result.losses):
        caveats.append(MISSING)
    return tuple(caveats)
