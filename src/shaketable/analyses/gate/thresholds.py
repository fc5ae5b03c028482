"""The numbers behind thresholds on answers: accuracy, worst-case drop, flip rate, failures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from shaketable.analyses.claims import reason_of_floor
from shaketable.analyses.evidence.undone import describe_undone
from shaketable.analyses.floors import find_nothing_to_lose, nothing_to_lose_at
from shaketable.analyses.gate.quantities import Quantity, Threshold
from shaketable.analyses.gate.shaken import Shaken, shaken_systems
from shaketable.analyses.tables import Tables
from shaketable.errors import StudyError
from shaketable.factors import SYSTEM, Cell, System, measure_of
from shaketable.statistics.intervals import ROUNDING, Numbers
from shaketable.types import Findings

CLEAN = (
    "the condition in which nothing is shaken. Add 'original' to cross.variations and 'unchanged' to "
    "cross.perturbations"
)


def accuracies(tables: Tables) -> list[Quantity]:
    """The main metric where nothing is shaken."""
    return [
        Quantity(
            threshold="min_accuracy",
            metric=shaken.metric,
            unit=shaken.unit,
            cells=shaken.cells[:1],
            question_ids=shaken.question_ids,
            values=shaken.means[:1],
            filled=tuple(shaken.of_uncertain(own)[:1] for own in (shaken.least, shaken.greatest)),
        )
        for shaken in _clean_first(tables, _main_metric(tables, "min_accuracy"), "min_accuracy")
    ]


def drops(tables: Tables) -> list[Quantity]:
    """What each condition loses of it, paired by question."""
    metric = _main_metric(tables, "max_drop")
    floors = Findings(nothing_to_lose=find_nothing_to_lose(tables))
    every = _clean_first(tables, metric, "max_drop")
    if not any(len(shaken.cells) > 1 for shaken in every):
        raise StudyError(
            "gate.max_drop: nothing is shaken in this run, so there is no drop. Add perturbations, variations or "
            "temperatures to [cross], such as perturbations = ['unchanged', 'sentence_removal']."
        )
    return [_drop(shaken, floors, tables) for shaken in every if len(shaken.cells) > 1]


def _without_verdict(cells: Sequence[Cell], tables: Tables) -> tuple[str | None, ...]:
    """Why there is none, of perturbations that were not done."""
    reasons: dict[tuple[str | None, System | None, str | None], str] = {
        (own.dataset, System(model=own.model, method=own.method, retriever=own.retriever), own.perturbation):
            describe_undone(own)
        for own in tables.undone
    }  # fmt: skip
    return tuple(reasons.get((cell.dataset, cell.system, cell.perturbation)) for cell in cells)


def _drop(shaken: Shaken, floors: Findings, tables: Tables) -> Quantity:
    def lost(means: Numbers) -> Numbers:
        return np.round(means[:1] - means[1:], ROUNDING)

    floor = nothing_to_lose_at(shaken.cells[0], floors, shaken.metric, is_of_evidence=False)
    return Quantity(
        threshold="max_drop",
        metric=shaken.metric,
        unit=shaken.unit,
        is_difference=True,
        cells=shaken.cells[1:],
        question_ids=shaken.question_ids,
        values=lost(shaken.means),
        filled=tuple(
            np.where(np.isnan(shaken.of_uncertain(own)[1:]), np.nan, lost(np.vstack([own[:1], other[1:]])))
            for own, other in ((shaken.least, shaken.greatest), (shaken.greatest, shaken.least))
        ),
        reason=None if floor is None else reason_of_floor(floor),
        missing=_without_verdict(shaken.cells[1:], tables),
    )


def flip_rates(tables: Tables) -> list[Quantity]:
    """The chance that an answer in a condition is judged otherwise than one where nothing is shaken: p(1−p′)+p′(1−p).

    Where nothing is shaken it is that of two runs, without the bias of comparing a run with itself.
    """
    metric = tables.judging_metric()
    if metric is None:
        raise StudyError(
            "gate.max_flip_rate: no metric of this run tells right answers from wrong ones. Add one to score.metrics, "
            "such as contains."
        )
    every = [_flips(shaken, tables) for shaken in _clean_first(tables, metric, "max_flip_rate")]
    quantities = [quantity for quantity in every if quantity.cells]
    if not quantities:
        raise StudyError(
            "gate.max_flip_rate: each question has one answer in one condition, so none can flip. Add repeats = 3, "
            "perturbations, variations or temperatures to [cross]."
        )
    return quantities


def _flips(shaken: Shaken, tables: Tables) -> Quantity:
    n_asked = shaken.n_runs + shaken.n_failed
    # Where nothing is shaken, runs are compared with one another: that takes two.
    kept = [i for i, asked in enumerate(n_asked) if asked.max() > (i == 0)]
    own = np.vstack(
        [_flips_of_runs(shaken.means[:1], shaken.n_runs[:1]), _flips_to(shaken.means[:1], shaken.means[1:])]
    )
    return Quantity(
        threshold="max_flip_rate",
        metric=shaken.metric,
        unit="share",
        cells=tuple(shaken.cells[i] for i in kept),
        question_ids=shaken.question_ids,
        values=np.round(own[kept], ROUNDING),
        filled=tuple(shaken.of_uncertain(np.round(end, ROUNDING))[kept] for end in _fewest_and_most(shaken, n_asked)),
        missing=_without_verdict([shaken.cells[i] for i in kept], tables),
    )


def _fewest_and_most(shaken: Shaken, n_asked: Numbers) -> tuple[Numbers, Numbers]:
    """Flips, whatever the answers that failed would have been: each side's all wrong or all right, whichever goes with
    the other's. Runs of one condition disagree most where half of them are right."""
    ends, runs = (shaken.least, shaken.greatest), n_asked[:1]
    halves = np.clip(runs // 2 / np.maximum(runs, 1), shaken.least[:1], shaken.greatest[:1])
    clean = [_flips_of_runs(own, runs) for own in (shaken.least[:1], shaken.greatest[:1], halves)]
    others = [_flips_to(one[:1], other[1:]) for one in ends for other in ends]
    fewest, most = (np.vstack([end(clean, axis=0), end(others, axis=0)]) for end in (np.min, np.max))
    return fewest, most


def _flips_to(clean: Numbers, shaken: Numbers) -> Numbers:
    """The chance that one answer is right and the other wrong, from the shares of right ones."""
    return clean * (1 - shaken) + shaken * (1 - clean)


def _flips_of_runs(right: Numbers, n_runs: Numbers) -> Numbers:
    """The same of two different runs of one condition; NaN: there is one."""
    return _flips_to(right, right) * np.divide(n_runs, n_runs - 1, out=np.full_like(n_runs, np.nan), where=n_runs > 1)


def failures(tables: Tables) -> list[Quantity]:
    """The share of a system's trials in this run that have no answer."""
    failed = tables.records.with_columns(value=pl.col("failure").is_not_null().cast(pl.Float64))
    return [
        Quantity(
            threshold="max_failures",
            metric="failures",
            unit="share",
            cells=(cell,),
            question_ids=tuple(part["question_id"]),
            values=part["value"].to_numpy()[None],
        )
        for cell, part in _by_system(failed)
    ]


def costs(priced: pl.DataFrame) -> list[Quantity]:
    """The mean `value` over the trials of each question, for each system and dataset."""
    quantities = []
    for cell, part in _by_system(priced):
        of_question = part.sort("question_id").group_by("question_id", maintain_order=True).agg(pl.col("value").mean())
        quantities.append(
            Quantity(
                threshold="max_cost",
                metric="cost",
                unit="count",
                cells=(cell,),
                question_ids=tuple(of_question["question_id"]),
                values=of_question["value"].to_numpy()[None],
            )
        )
    return quantities


def _by_system(records: pl.DataFrame) -> Iterator[tuple[Cell, pl.DataFrame]]:
    for part in records.partition_by("dataset", *SYSTEM):
        dataset, model, method, retriever = part.select("dataset", *SYSTEM).row(0)
        yield Cell(dataset=dataset, system=System(model=model, method=method, retriever=retriever)), part


def _main_metric(tables: Tables, threshold: Threshold) -> str:
    metric = tables.metric()
    if metric is None:
        raise StudyError(f"gate.{threshold}: nothing is scored in this run. Name a metric in score.metrics.")
    if measure_of(metric).higher_is_better is False:
        raise StudyError(
            f"gate.{threshold}: the run speaks of {metric}, of which less is better. Name a number of which more is "
            "better in analyze.metric, such as contains."
        )
    return metric


def _clean_first(tables: Tables, metric: str, threshold: Threshold) -> list[Shaken]:
    every = list(shaken_systems(tables, metric))
    if not every:
        raise StudyError(f"gate.{threshold}: this run has no answer with a score.")
    for shaken in every:
        if not shaken.has_clean:
            system = shaken.cells[0].system
            name = "" if system is None else f"{system.model} with {system.method} "
            raise StudyError(f"gate.{threshold}: {name}was not asked in {CLEAN}.")
    return every
