"""How far disturbed evidence throws a system back to its closed-book answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from shaketable.analyses.claims import Claim
from shaketable.analyses.together.context_reliance import CLIP, LEAST_GAIN, ContextReliance, Reliance
from shaketable.factors import Cell, word_for
from shaketable.report.charts.guides import Guide
from shaketable.report.charts.layout import Axis
from shaketable.report.charts.lines import lines
from shaketable.report.charts.looks import evidence_looks
from shaketable.report.charts.marks import Mark, Point, Titles
from shaketable.report.claim_words import UNADJUSTED, describe_not_shown, describe_unshown
from shaketable.report.evidence_marks import make_spark
from shaketable.report.grouping import group_by_cell
from shaketable.report.notes import describe_intervals
from shaketable.report.section import Figure, Headline, Page, Section, Table
from shaketable.report.words import (
    Entry,
    count_questions,
    describe_bootstrap,
    format_amount,
    format_interval,
    format_level,
    format_number,
    name_evidence,
    name_part,
    sentence_case,
)

TITLES = Titles(series="Evidence", value="Context reliance")
COLUMNS = (
    *("System", "Evidence", "Temperature", "Reliance", "Original", "Disturbed", "Closed book"),
    *("Questions", "Records missing"),
)


def section(result: ContextReliance, page: Page) -> Section:
    is_known = any(own.reliance.value is not None for own in result.reliances)
    return Section(
        chapter="together",
        title="Reliance on evidence",
        question="Does the system lean on its evidence, or on what it knows?",
        headlines=tuple(_headline(line, result, page) for line in _systems(result.reliances)),
        figures=_figures(result, page),
        tables=(Table(columns=COLUMNS, rows=tuple(_row(own, page) for own in result.reliances)),) if is_known else (),
        caveats=_caveats(result, page) if is_known else (),
    )


def _systems(reliances: Sequence[Reliance]) -> list[list[Reliance]]:
    """What has an interval, of each system that has one at its coolest."""
    known = [own for own in reliances if own.reliance.low is not None]
    systems = group_by_cell(known, "perturbation", "temperature").values()
    return [system for system in systems if any(own.loss is not None for own in system)]


def _name(cell: Cell, page: Page) -> str:
    return page.labels.name(cell, "dataset")


# --- words ----------------------------------------------------------------------------------------


def _headline(system: Sequence[Reliance], result: ContextReliance, page: Page) -> Headline:
    """On the coolest temperature: first what is shown to be taken, the most of it before the rest."""
    coolest = [own for own in system if own.loss is not None]
    order = sorted(coolest, key=lambda own: (not _takes(own, page), -(own.reliance.value or 0.0)))
    worst, gain = order[0], page.claim_of(order[0].gain_subject)
    is_taken = _takes(worst, page) and _is_shown(gain)
    headline = Headline(
        kind="context_reliance",
        cell=worst.cell,
        system=_name(worst.cell, page),
        sentence=_sentence(order, page),
        detail=_detail(worst),
        number=format_amount(worst.reliance),
        interval=format_interval(worst.reliance),
        is_clear=is_taken and page.is_applied(worst.cell),
        links=("reliance_by_temperature",),
        spark_title="Reliance by temperature",
        spark=_spark(worst.cell, result.reliances),
    )
    claims = (page.claim_of(subject) for own in order for subject in (own.loss_subject, own.shortfall_subject))
    return headline.with_claims(gain, *claims)


def _takes(own: Reliance, page: Page) -> bool:
    """Whether it is shown that the disturbance takes something."""
    return _is_shown(page.claim_of(own.loss_subject))


def _is_shown(claim: Claim | None) -> bool:
    """As something above 0."""
    return claim is not None and claim.is_shown and (claim.estimate.value or 0.0) > 0


def _spark(cell: Cell, reliances: Sequence[Reliance]) -> tuple[Point, ...]:
    line = (own for own in reliances if replace(own.cell, temperature=cell.temperature) == cell)
    return make_spark((own.cell, own.reliance) for own in line)


def _sentence(order: Sequence[Reliance], page: Page) -> str:
    worst, gain = order[0], page.claim_of(order[0].gain_subject)
    system, where = _name(worst.cell, page), f"at temperature {worst.cell.temperature:g}"
    if not _is_shown(gain):
        behind = describe_not_shown(gain)
        return f"Evidence is not confirmed to help {system} {where} ({behind}), so none of its help can be lost."
    taking = [own for own in order if _takes(own, page)]
    if not taking:
        behind = describe_unshown(page.claim_of(worst.loss_subject))
        return f"No disturbance is shown to take from {system} what evidence brings it {where} ({behind})."
    if _is_shown(page.claim_of(worst.shortfall_subject)):
        return f"{_disturbance(worst)} misleads {system} {where}: it answers worse than without any evidence."
    first, *others = (
        f"{_disturbance(own)} takes {format_level(replace(own.reliance, unit='share'))}" for own in taking
    )
    more = "".join(f"; {text[0].lower()}{text[1:]}" for text in others)
    rest = "; of the others nothing is shown" if len(taking) < len(order) else ""
    return f"{first} of what evidence brings {system} {where}{more}{rest}."


def _disturbance(own: Reliance) -> str:
    return sentence_case(name_part(own.cell.perturbation or ""))


def _detail(own: Reliance) -> str:
    original, disturbed, closed = _means(own)
    return (
        f"{sentence_case(word_for(own.metric))}: with original evidence {original}, with disturbed evidence "
        f"{disturbed}, closed book {closed} ({count_questions(own.reliance.n)})."
    )


def _means(own: Reliance) -> list[str | None]:
    """The three as people read them."""
    percent = " %" if own.unit == "share" else ""
    return [
        None if mean is None else format_number(mean, own.unit) + percent
        for mean in (own.original, own.disturbed, own.closed_book)
    ]


# --- what is shown --------------------------------------------------------------------------------


def _figures(result: ContextReliance, page: Page) -> tuple[Figure, ...]:
    """Where evidence brings so little that the ratio says nothing, nothing is drawn."""
    drawn = [own for own in result.reliances if own.reliance.value is not None and not own.is_floored]
    marks = tuple(
        Mark.of(
            own.reliance,
            x=own.cell.temperature,
            series=name_evidence(own.cell.perturbation),
            panel=_name(own.cell, page),
        )
        for own in drawn
    )
    if not marks:
        return ()
    lowest = min([0.0, *(mark.low for mark in marks if mark.low is not None)])
    highest = max([1.0, *(mark.high for mark in marks if mark.high is not None)])
    return (
        Figure(
            name="reliance_by_temperature",
            title="Does it lean on its evidence?",
            note="What a disturbance takes, as a multiple of what evidence brings over closed book: at 0 it is "
            "ignored, at 1 the system answers as without evidence, above 1 it is misled. Temperatures at which "
            f"evidence brings less than 5 points are not drawn. {describe_intervals(marks, page)}",
            marks=marks,
            titles=TITLES,
            draw=partial(
                lines,
                marks,
                TITLES,
                looks=evidence_looks(mark.series for mark in marks),
                axis=Axis(domain=(lowest - 0.1, highest + 0.1)),
                guides=(Guide(kind="level", at=0, words="ignored"), Guide(kind="level", at=1, words="as closed book")),
            ),
        ),
    )


def _row(own: Reliance, page: Page) -> tuple[Entry, ...]:
    return (
        _name(own.cell, page),
        name_part(own.cell.perturbation or ""),
        f"{own.cell.temperature:g}",
        format_level(own.reliance),
        *_means(own),
        own.reliance.n,
        own.n_missing,
    )


def _caveats(result: ContextReliance, page: Page) -> tuple[str, ...]:
    caveats = [
        describe_bootstrap(page.bootstrap),
        "That evidence brings something, and that a disturbance takes some of it, is tested at the lowest temperature.",
        UNADJUSTED,
        f"Closed book is {result.closed_book} of the same model, asked with the same wordings at the same temperature.",
        f"Ratios are clipped to {CLIP[0]:g} and {CLIP[1]:g}, and evidence counts as bringing {LEAST_GAIN:g} at least.",
    ]
    if any(own.is_floored for own in result.reliances):
        caveats.append("Where evidence brings less than that, the ratio says little about reliance.")
    return tuple(caveats)
