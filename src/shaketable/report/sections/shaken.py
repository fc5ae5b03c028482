"""Where a shaken system breaks: the worst way to ask, examples of it, and all that was tried."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from shaketable.analyses.shakes import Breaking, Shaken
from shaketable.factors import ORIGINAL, Cell, title_of, word_for
from shaketable.report.charts.forest import ForestStyle, forest
from shaketable.report.charts.layout import Axis
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.section import Figure, Headline, Page, Section, Table
from shaketable.report.wording_words import name_rewording
from shaketable.report.words import (
    count_questions,
    format_amount,
    format_apart,
    format_difference,
    format_interval,
    format_level,
    format_loss,
    name_part,
    sentence_case,
)
from shaketable.types import Answer

N_DRAWN = 15
NOTHING_LEFT = "The baseline is not above chance level, so none could be found."
TITLES = Titles(panel="", x="Asked", value="Points lost")
WORDINGS = {
    "spelling": "spelling errors",
    "keywords": "keywords alone",
    "disfluency": "disfluency (a hesitant speaker)",
    "grammar": "errors of grammar",
    "prefix_injection": "prefix injection (words before the question)",
}
"""What people call a rewording that a shake tries without being told to."""
CAVEATS = (
    "Which ways to ask were continued depended on what was seen; which questions they got did not: they come in one "
    "random order. Intervals and verdicts are confidence sequences and e-values (bets that no fair game lets anyone "
    "win), so they hold at whatever moment the budget ended.",
    "All ways to ask share one error of 5 %, half of it among those that change one thing alone: the chance that "
    "anything is called a weakness where nothing is lost, or that any of these intervals misses, is at most that.",
    "The worst of many estimates is too large: trust its lower end, and confirm it with questions that were not asked "
    "here.",
    "Answers that failed are left out and counted; where they could decide, nothing is called a weakness.",
)


def section(result: Shaken, page: Page) -> Section:
    headlines = (_headline(result, page), *_others(result, page)) if result.system is not None else ()
    return Section(
        chapter="together",
        title="Where it breaks",
        question="Where does the system break, as far as the budget could tell?",
        headlines=headlines,
        figures=_figures(result),
        tables=(*_example_tables(result, page), _table(result)) if result.arms else (),
        notes=(
            "Each question is asked twice in its own words; a loss is what the answers to it lose when it is asked "
            f"another way. {_describe_needed(result)}",
        ),
        caveats=CAVEATS,
    )


def describe_way(cell: Cell) -> str:
    """`with spelling errors`, `with entity masking in the evidence, at temperature 1.2`."""
    ways = [
        *([f"with {WORDINGS.get(cell.variation) or name_rewording(cell.variation)}"] if cell.variation else []),
        *([f"with {name_part(cell.perturbation)} in the evidence"] if cell.perturbation is not None else []),
        *([f"at temperature {cell.temperature:g}"] if cell.temperature is not None else []),
    ]
    return ", ".join(ways)


# --- words ----------------------------------------------------------------------------------------


def _headline(result: Shaken, page: Page) -> Headline:
    system, worst = page.labels.system(result.system), result.worst
    cell = Cell(system=result.system)
    if worst is None:
        sentence = f"No weakness of {system} is shown."
        detail = NOTHING_LEFT if _has_nothing_to_lose(result, page) else _detail_of_none(result)
        headline = page.headline("shaken", cell, sentence, detail)
        return replace(headline, is_clear=False, number="none found", links=("losses_by_way",))
    clean, disturbed, _ = _levels(worst)
    levels = f"from {clean} to {disturbed}"
    headline = Headline(
        kind="shaken",
        cell=replace(worst.cell, system=result.system),
        system=system,
        sentence=f"{system} breaks {describe_way(worst.cell)}: it loses {_cost(worst)}.",
        detail=f"It falls {levels} ({count_questions(worst.loss.n)}); {_noise(result)}. {describe_evidence(worst)}",
        links=("losses_by_way",),
    )
    return replace(headline.with_amount(worst.loss), number=_levels(worst)[2])


def describe_evidence(arm: Breaking) -> str:
    """The e-value in plain words."""
    return (
        f"Were nothing lost, evidence as strong as this (an e-value of {format_odds(arm.e_value)}) would come up in at "
        f"most 1 of {format_odds(arm.e_value)} runs, whenever one looks; 1 of {format_odds(arm.e_needed)} is asked for."
    )


def _describe_needed(result: Shaken) -> str:
    alone = [arm.e_needed for arm in result.arms if not arm.arm.parts]
    together = [arm.e_needed for arm in result.arms if arm.arm.parts]
    needed = [
        *([f"from {format_odds(alone[0])} on"] if alone else []),
        *([f"from {format_odds(together[0])} on where two things are changed at once"] if together else []),
    ]
    weak = f"; a way is weak {', '.join(needed)}" if needed else ""
    return f"The e-value is what a bettor against 'nothing is lost' made of 1{weak}."


def format_odds(value: float) -> str:
    """`1,520`, `2.3 million`, `more than a billion`."""
    if value >= 1e9:
        return "more than a billion"
    if value >= 1e6:
        return f"{value / 1e6:.1f} million"
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _noise(result: Shaken) -> str:
    again = "unknown" if result.noise is None else format_level(result.noise)
    return f"asked in the same words again, {again} of the questions change"


def _has_nothing_to_lose(result: Shaken, page: Page) -> bool:
    """Whether the system is at the bottom where nothing is shaken; a run that shakes has one system."""
    return any(
        entry.metric == result.metric and entry.temperature is None and entry.group is None
        for entry in page.findings.nothing_to_lose
        if entry.variation == ORIGINAL and entry.against != "closed book"
    )


def _detail_of_none(result: Shaken) -> str:
    """What was seen, and what would have been."""
    most = max(result.arms, key=lambda arm: arm.loss.value or 0.0, default=None)
    if most is None or most.loss.value is None:
        return "Nothing could be compared."
    ways = "the one other way" if len(result.arms) == 1 else f"{len(result.arms)} other ways"
    seen = f"Of {ways} to ask, most was lost {describe_way(most.cell)}"
    if most.loss.value <= 0:
        seen = f"Of {ways} to ask, none lost anything on these questions; {describe_way(most.cell)} it was"
    behind = f"{format_loss(most.loss, most.metric)}, {count_questions(most.loss.n)}"
    if most.detectable is None:
        return f"{seen}: {behind}. With so few questions and such noise not even a large loss would be shown there."
    least = format_amount(replace(most.loss, value=most.detectable))
    return f"{seen}: {behind}. A loss of {least} or more would likely have been named there; {_noise(result)}."


def _others(result: Shaken, page: Page) -> tuple[Headline, ...]:
    """What else is shown to lose something."""
    system = page.labels.system(result.system)
    return tuple(
        page.headline(
            "shaken_too",
            replace(arm.cell, system=result.system),
            f"{system} also loses {_cost(arm)} {describe_way(arm.cell)}.",
            f"{sentence_case(count_questions(arm.loss.n))}.",
        )
        for arm in result.arms
        if arm.is_shown and arm is not result.worst
    )


def _levels(arm: Breaking) -> tuple[str, str, str]:
    """Plainly, so, and how far apart, in numbers that add up."""
    clean, disturbed, apart = format_apart(arm.clean, arm.disturbed, arm.loss.unit)
    level, between = (" %", " points") if arm.loss.unit == "share" else ("", "")
    return f"{clean}{level}", f"{disturbed}{level}", f"{apart}{between}"


def _cost(arm: Breaking) -> str:
    return f"{_loss(arm)} of {word_for(arm.metric)}"


def _loss(arm: Breaking) -> str:
    """The loss with its interval; a gain is below 0."""
    value = arm.loss.value
    if value is None:
        return format_difference(arm.loss)
    return " ".join(filter(None, (f"{'−' if value < 0 else ''}{_levels(arm)[2]}", format_interval(arm.loss))))


# --- tables and picture ---------------------------------------------------------------------------


def _figures(result: Shaken) -> tuple[Figure, ...]:
    shown = sorted(result.arms, key=lambda arm: -(arm.loss.value or 0.0))[:N_DRAWN]
    marks = tuple(Mark.of(arm.loss, x=sentence_case(describe_way(arm.cell))) for arm in shown)
    if not marks:
        return ()
    few = f" The {len(marks)} with the largest loss of {len(result.arms)}." if len(marks) < len(result.arms) else ""
    return (
        Figure(
            name="losses_by_way",
            title=f"{title_of(result.metric)}: what each way to ask costs",
            note=f"Intervals hold for all ways together, at whatever moment the run ended.{few}",
            caption="Points lost in each way to ask, against the same questions asked plainly.",
            marks=marks,
            titles=TITLES,
            draw=partial(forest, marks, TITLES, axis=Axis(numbers="points"), style=ForestStyle(has_zero_line=True)),
        ),
    )


def _table(result: Shaken) -> Table:
    return Table(
        title="All that was tried",
        columns=(
            "Asked",
            "Questions",
            "Plain",
            "Shaken",
            "Points lost",
            "e-value",
            "Verdict",
            "Would have been named",
            "Failed",
        ),
        rows=tuple(_row(arm) for arm in result.arms),
        is_folded=len(result.arms) > N_DRAWN,
    )


def _row(arm: Breaking) -> tuple[str | int | None, ...]:
    least = None if arm.detectable is None else f"from {format_amount(replace(arm.loss, value=arm.detectable))}"
    return (
        *(sentence_case(describe_way(arm.cell)), arm.loss.n, *_levels(arm)[:2]),
        *(_loss(arm), format_odds(arm.e_value)),
        *("weak" if arm.is_shown else "not shown", least, arm.n_failed),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A question as it was asked, and what came back."""

    way: str
    question: str
    answer: str
    accepted: str | None
    """None: it has no accepted answers."""


def list_examples(result: Shaken, page: Page) -> list[tuple[Asked, Asked]]:
    """Questions that break in the worst way to ask: plainly, and so."""
    if result.worst is None:
        return []
    keys = [key for example in result.examples for key in (example.clean, example.broken)]
    records = {record.trial.key: record for record in page.read_records(keys)}
    questions = {
        question.id: question for question in page.read_questions({example.question_id for example in result.examples})
    }
    ways = ("plainly", describe_way(result.worst.cell))
    examples = []
    for example in result.examples:
        pair = [records.get(key) for key in (example.clean, example.broken)]
        question = questions.get(example.question_id)
        if question is None or None in pair:
            continue
        accepted = ", ".join(question.answers) or None
        plain, shaken = [
            Asked(way=way, question=record.trial.variant.text, answer=_answered(record.answer), accepted=accepted)
            for way, record in zip(ways, pair, strict=True)
            if record is not None
        ]
        examples.append((plain, shaken))
    return examples


def _example_tables(result: Shaken, page: Page) -> tuple[Table, ...]:
    rows = [(asked.way, asked.question, asked.answer, asked.accepted) for asked in chain(*list_examples(result, page))]
    columns = ("Asked", "Question", "Answer", "Accepted")
    return (Table(title="Smallest examples of the worst case", columns=columns, rows=tuple(rows)),) if rows else ()


def _answered(answer: Answer | None) -> str:
    return (answer.text if answer else "") or "nothing"
