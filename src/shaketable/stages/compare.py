"""Two runs, or two systems of one run → what may be said of their differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from shaketable.analyses.compared import Compared, Comparisons, Contender, Power
from shaketable.analyses.comparing import Comparison, compare_scores, judge_comparisons
from shaketable.analyses.conditions import number_texts
from shaketable.analyses.efforts import compare_efforts
from shaketable.analyses.floors import find_nothing_to_lose
from shaketable.analyses.moves import QUESTION, SHEET_COLUMNS, Sheet, find_moves
from shaketable.analyses.pairs import CONDITION, PAIRED, Unpaired, Why, is_of
from shaketable.analyses.score_reading import conditions_in
from shaketable.analyses.tables import Tables
from shaketable.errors import UsageError, did_you_mean
from shaketable.factors import System, judging_metric
from shaketable.stages import score
from shaketable.stages.analyze import tables_of
from shaketable.stages.contenders import Entrant, pair_up
from shaketable.stages.heat_check import at_one_temperature
from shaketable.statistics.family import n_to_see, standard_error
from shaketable.statistics.intervals import Bootstrap
from shaketable.store import Run
from shaketable.types import NothingToLose

N_MOVED = 50
"""Questions that moved most, told with their answers."""


def compare(
    first: Run,
    second: Run | None = None,
    *,
    systems: tuple[str, str] | None = None,
    metric: str | None = None,
    margin: float | str | None = None,
    progress: Callable[[str], None] = lambda words: None,
) -> Comparisons:
    """Systems that two runs share, or two systems by their names, paired by question and condition.

    `metric` and `margin` of None: those of the runs, which must agree.
    """
    runs = [first] if second is None else [first, second]
    for run in runs:
        score.make_current(run, lambda name: progress(f"scoring {name}"))
    tables = [tables_of(run) for run in runs]
    rules = _agree(runs, tables, metric, margin)
    held = [_read(run, own, rules) for run, own in zip(runs, tables, strict=True)]
    pairings = pair_up(held[0].entrant, held[1].entrant if second is not None else None, systems)
    compared = [
        _compare(one, other, _sheet(held[0], one.system), _sheet(held[-1], other.system), rules)
        for one, other in pairings
    ]
    floors = [entry for own in held for entry in own.floors]
    claims = judge_comparisons(
        [own.comparison for own in compared], confidence=rules.bootstrap.confidence, nothing_to_lose=floors
    )
    alpha = (1 - rules.bootstrap.confidence) / sum(1 + (len(own.comparison.spoken_of) > 1) for own in compared)
    return Comparisons(
        compared=tuple(replace(own, power=_power(own.comparison, alpha)) for own in compared),
        claims=claims,
        confidence=rules.bootstrap.confidence,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """By what two runs are compared."""

    metric: str
    judging: str | None
    margin: float | str | None
    bootstrap: Bootstrap


def _agree(runs: Sequence[Run], tables: Sequence[Tables], metric: str | None, margin: float | str | None) -> Rules:
    """Runs that speak of different numbers, or of different margins, are not compared by one of them unasked."""
    both = [name for name in tables[0].metrics if all(name in own.metrics for own in tables)]
    if not both:
        scored = "; ".join(
            f"{run.folder}: {', '.join(own.metrics) or 'none'}" for run, own in zip(runs, tables, strict=True)
        )
        raise UsageError(
            f"The runs have no number in common ({scored}). Score one as the other: shaketable score RUN --metrics …"
        )
    if metric is not None and metric not in both:
        raise UsageError(f"--metric is '{metric}'.{did_you_mean(metric, both)} Numbers of all runs: {', '.join(both)}.")
    spoken_of = [own.metric() for own in tables]
    if metric is None and len(set(spoken_of)) > 1:
        told = ", ".join(f"{run.folder} speaks of {name}" for run, name in zip(runs, spoken_of, strict=True))
        raise UsageError(f"{told}. Say which number to compare: --metric, one of {', '.join(both)}.")
    margins = [own.margin for own in tables]
    if margin is None and len(set(margins)) > 1:
        told = ", ".join(f"{run.folder} has {own or 'none'}" for run, own in zip(runs, margins, strict=True))
        raise UsageError(f"The studies differ in their margin: {told}. Say which to take: --margin, such as 0.05.")
    chosen = metric or spoken_of[0] or both[0]
    return Rules(
        metric=chosen,
        judging=judging_metric(both, chosen),
        margin=margins[0] if margin is None and chosen == spoken_of[0] else margin,
        bootstrap=max((own.bootstrap for own in tables), key=lambda own: own.confidence),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldRun:
    """What is held of a run while it is compared: half of what its scores take with the texts of all factors."""

    entrant: Entrant
    tables: Tables
    scores: pl.DataFrame
    """Of the numbers that are compared, and of no others."""
    floors: tuple[NothingToLose, ...]


def _read(run: Run, tables: Tables, rules: Rules) -> HeldRun:
    """All that needs the factors of a run, after which the other run can be read in their place."""
    metrics = [name for name in tables.metrics if name in (rules.metric, rules.judging)]
    held = HeldRun(
        entrant=Entrant(run=run, scores=conditions_in(tables.score_reader)),
        tables=tables,
        scores=pl.concat(number_texts(tables.of_metric(name).select("key", *PAIRED)) for name in metrics),
        floors=find_nothing_to_lose(tables),
    )
    run.score_tables().forget_factors()
    return held


def _sheet(held: HeldRun, system: System) -> Sheet:
    return Sheet(
        scores=held.scores.filter(is_of(system)),
        records=_records(held, system),
        read_answers=lambda keys: held.tables.records_of(keys, "key", "wording", "answer"),
    )


def _records(held: HeldRun, system: System) -> pl.DataFrame:
    """Taken out of slices, so that those of other systems are never all in memory; only the coolest temperature of a
    system that ignores it is known after all slices."""
    slices = (number_texts(rows.select(SHEET_COLUMNS)) for rows in held.entrant.run.record_slices())
    if flat := {(own.model, own.method) for own in held.tables.not_applied}:
        return at_one_temperature(pl.concat(slices), flat).filter(is_of(system))
    return pl.concat(rows.filter(is_of(system)) for rows in slices)


def _compare(one: Contender, other: Contender, first: Sheet, second: Sheet, rules: Rules) -> Compared:
    first, second, unlike = _asked_alike(first, second)
    if first.scores.is_empty() or second.scores.is_empty():
        raise UsageError(_nothing_in_common(one, other, unlike))
    comparison = compare_scores(
        first.scores,
        second.scores,
        metric=rules.metric,
        judging=rules.judging,
        margin=rules.margin,
        bootstrap=rules.bootstrap,
    )
    comparison = replace(comparison, unpaired=(*comparison.unpaired, *unlike))
    if not comparison.n_pairs:
        raise UsageError(_nothing_in_common(one, other, comparison.unpaired))
    least = 0.0 if comparison.overall.difference.unit == "share" else comparison.margin.value
    return Compared(
        first=one,
        second=other,
        comparison=comparison,
        efforts=compare_efforts(first.records, second.records, system=other.system, bootstrap=rules.bootstrap),
        moves=find_moves(first, second, rules.metric, least=least, n_most=N_MOVED),
        power=None,
    )


def _asked_alike(first: Sheet, second: Sheet) -> tuple[Sheet, Sheet, tuple[Unpaired, ...]]:
    """Without questions that have one id on both sides, but not one text and the same accepted answers."""
    questions = [sheet.records.select(QUESTION).unique() for sheet in (first, second)]
    both = questions[0].join(questions[1], on=QUESTION[:2], suffix="_second")
    is_alike = pl.col("question").eq_missing(pl.col("question_second")) & pl.col("gold").eq_missing(
        pl.col("gold_second")
    )
    others = both.filter(~is_alike)
    if others.is_empty():
        return first, second, ()
    n = second.records.join(others, on=QUESTION[:2], how="semi").select("question_id", *CONDITION).n_unique()
    alike = [
        replace(
            sheet,
            scores=sheet.scores.join(others, on=QUESTION[:2], how="anti", maintain_order="left"),
            records=sheet.records.join(others, on=QUESTION[:2], how="anti", maintain_order="left"),
        )
        for sheet in (first, second)
    ]
    return alike[0], alike[1], (Unpaired(why="text", side="second", n=n, n_questions=others.height),)


WHY: dict[Why, str] = {
    "question": "of questions that the other was not asked",
    "condition": "under conditions that the other was not asked under",
    "not asked": "not asked yet",
    "no score": "without a score",
    "text": "of questions with the same id but another text or other accepted answers",
}


def _nothing_in_common(one: Contender, other: Contender, unpaired: Sequence[Unpaired]) -> str:
    names = {"first": one.name, "second": other.name}
    why = "; ".join(f"{names[own.side]}: {own.n:,} {WHY[own.why]}" for own in unpaired)
    return (
        f"{one.name} ({one.run}) and {other.name} ({other.run}) have no question under the same condition with a score "
        f"on both sides. {why}. Compare runs of the same questions, wordings, evidence and temperatures."
    )


def _power(comparison: Comparison, alpha: float) -> Power | None:
    """By the spread of the differences, or by that which their interval allows where it is wider: a few questions that
    agree do not say that others do."""
    overall, effect = comparison.overall, comparison.margin.value
    estimate = overall.difference
    if overall.sd is None or estimate.low is None or estimate.high is None or not effect:
        return None
    sd = max(overall.sd, standard_error(estimate.low, estimate.high, estimate.level) * estimate.n**0.5)
    needed = n_to_see(sd, effect, alpha)
    return Power(sd=sd, effect=effect, alpha=alpha, n=estimate.n, n_needed=needed)
