"""The weakest facts: where and at which token they break, with their curves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from shaketable.analyses.facts.weakest_facts import CurvePoint, WeakestFacts, WeakFact
from shaketable.report.charts.fragility import TITLES, fragility
from shaketable.report.charts.marks import Mark
from shaketable.report.known_facts import make_headline, name_system, read_answers
from shaketable.report.section import Figure, Headline, Page, Section, Table
from shaketable.report.words import format_number


def section(result: WeakestFacts, page: Page) -> Section:
    return Section(
        chapter="facts",
        title="The weakest facts",
        question="Which of the facts that a model knows does it lose first, and at which token?",
        headlines=_headlines(result, page),
        figures=_figures(result, page),
        tables=_tables(result, page),
        caveats=_caveats(result),
    )


def _headlines(result: WeakestFacts, page: Page) -> tuple[Headline, ...]:
    """One for each system: the fact that it loses first."""
    return tuple(
        _headline(fact, fact.breaking, page) for fact in result.facts if fact.rank == 1 and fact.breaking is not None
    )


def _headline(fact: WeakFact, breaking: float, page: Page) -> Headline:
    system = name_system(fact.cell, page)
    token = "" if fact.position is None else f", at token {fact.position + 1} of its answer"
    wrong = "" if fact.wrong is None else f" Its likeliest wrong answer there is “{fact.wrong}”."
    return make_headline(
        "weakest",
        fact.cell,
        f"The weakest fact that {system} knows is question {fact.question_id}: it breaks at temperature "
        f"{format_number(breaking, 'score')}{token}.",
        f"It has the lowest robustness score of {fact.n_known:,} known facts.{wrong}",
        page,
    )


def _figures(result: WeakestFacts, page: Page) -> tuple[Figure, ...]:
    if not result.points:
        return ()
    marks = tuple(
        Mark(
            x=point.cell.temperature,
            value=point.probability.value,
            low=point.probability.low,
            high=point.probability.high,
            at_least=point.certain_low,
            at_most=point.certain_high,
            unit="share",
            panel=_name_fact(point, page),
        )
        for point in result.points
    )
    breaks = {_name_fact(point, page): point.breaking for point in result.points if point.breaking is not None}
    figure = Figure(
        name="fragility_curves",
        title="The weakest facts, as curves",
        note="Probability of a correct answer with its interval, inside certified bounds (grey); the broken line marks "
        "the breaking temperature.",
        marks=marks,
        titles=TITLES,
        draw=partial(fragility, marks, breaks),
    )
    return (figure,)


def _name_fact(point: CurvePoint, page: Page) -> str:
    return f"{name_system(point.cell, page)} · {point.question_id}"


def _tables(result: WeakestFacts, page: Page) -> tuple[Table, ...]:
    rows = [
        (
            name_system(fact.cell, page),
            greedy.question,
            greedy.answer,
            None if fact.breaking is None else f"{fact.breaking:.3g}",
            _token(greedy.tokens, fact.position),
            fact.wrong,
            f"{fact.score:.3f}",
        )
        for fact, greedy in zip(result.facts, read_answers(result.facts, page), strict=True)
    ]
    columns = (
        *("System", "Question", "Answer at 0", "Breaks at"),
        *("Token that breaks first", "Likeliest wrong answer", "Score"),
    )
    return (Table(columns=columns, rows=tuple(rows)),) if rows else ()


def _token(tokens: Sequence[str], position: int | None) -> str | None:
    if position is None:
        return None
    return f"{position + 1}: “{tokens[position].strip()}”" if position < len(tokens) else f"{position + 1}"


def _caveats(result: WeakestFacts) -> tuple[str, ...]:
    if not result.facts:
        return ()
    caveats = ["These are extremes, picked for being so: they show where to look, not how often it happens."]
    if all(fact.position is None for fact in result.facts):
        caveats.append("Without curves the token that breaks first is not known.")
    return tuple(caveats)
