"""A run, its thresholds and perhaps a base → what is shown to hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from shaketable import catalog
from shaketable.analyses.conditions import number_texts
from shaketable.analyses.gate import held_facts, thresholds
from shaketable.analyses.gate.broken import BrokenQuestion, broken_questions
from shaketable.analyses.gate.broken_pairs import BrokenPairs
from shaketable.analyses.gate.quantities import Quantity, Threshold, limits_against_base, limits_of
from shaketable.analyses.gate.regressions import broken_pairs, regressions
from shaketable.analyses.gate.verdicts import Checked, judge
from shaketable.analyses.pairs import PAIRED, Unpaired
from shaketable.analyses.tables import Tables
from shaketable.errors import PartError, RunError, StudyError, UsageError
from shaketable.factors import System, word_for
from shaketable.stages import score
from shaketable.stages.analyze import tables_of
from shaketable.stages.meter import Prices, asked_in_batches, prices_of
from shaketable.store import Run
from shaketable.types import Gate


def check_run(
    run: Run, gate: Gate, base: Run | None = None, progress: Callable[[str], None] = lambda words: None
) -> Checked:
    """Hold a run against its thresholds, and against a base where there is one."""
    wanted = limits_of(gate)
    if not wanted and base is None:
        raise UsageError(
            f"{run.folder}: there is nothing to check. Give a base with --against, or a threshold such as "
            "--max-drop 0.1, here or in the study's [gate]."
        )
    for own in filter(None, (run, base)):
        _refuse_unfinished(own)
        score.make_current(own, lambda name: progress(f"scoring {name}"))
    tables = tables_of(run)
    quantities = [quantity for threshold in wanted for quantity in _measure(threshold, tables, run)]
    against = Against(quantities=[], unpaired={}, broken=[]) if base is None else _against(run, base, tables, gate)
    quantities += against.quantities
    _refuse_percents(quantities, wanted | limits_against_base(gate))
    return judge(
        quantities,
        gate,
        n_resamples=tables.bootstrap.n_resamples,
        unpaired=against.unpaired,
        broken=against.broken,
    )


def broken_by(run: Run, checked: Checked, base: Run | None, n: int) -> tuple[BrokenQuestion, ...]:
    """Questions that show what failed, and all that are counted by a limit on their number."""
    if checked.passes and not any(check.is_counted for check in checked.checks):
        return ()
    return broken_questions(checked, tables_of(run), None if base is None else tables_of(base), n)


def _measure(threshold: Threshold, tables: Tables, run: Run) -> Sequence[Quantity]:
    has_scan = run.study.scan is not None
    match threshold:
        case "min_accuracy":
            return thresholds.accuracies(tables)
        case "max_drop":
            return thresholds.drops(tables)
        case "max_flip_rate":
            return thresholds.flip_rates(tables)
        case "min_breaking_temperature":
            return held_facts.breaking_temperatures(tables, has_scan=has_scan)
        case "min_frs":
            return held_facts.robustness_scores(tables, has_scan=has_scan)
        case "max_cost":
            return thresholds.costs(_priced(tables.records, run.study.models))
        case _:
            return thresholds.failures(tables)


@dataclass(frozen=True, kw_only=True, slots=True)
class Against:
    """What a base says of a run."""

    quantities: list[Quantity]
    unpaired: Mapping[System, tuple[Unpaired, ...]]
    broken: list[BrokenPairs]


def _against(run: Run, base: Run, tables: Tables, gate: Gate) -> Against:
    metric, judging = tables.metric(), tables.judging_metric()
    scores = _paired_scores(run, tables, (metric, judging))
    others = tables_of(base)
    if metric is None or metric not in others.metrics:
        raise StudyError(
            f"gate.max_regression: {run.folder} speaks of {metric}, and {base.folder} has scores of "
            f"{', '.join(others.metrics) or 'nothing'}. Score both by the same metric: shaketable score {base.folder} "
            f"--metric {metric}."
        )
    if judging not in others.metrics:
        judging = None
    if judging is None and gate.max_broken is not None:
        raise StudyError(
            "gate.max_broken: no metric of both runs tells right answers from wrong ones. Add one to score.metrics, "
            "such as contains."
        )
    before = _paired_scores(base, others, (metric, judging))
    quantities, unpaired = regressions(before, scores, metric)
    broken = [] if judging is None else broken_pairs(before, scores, judging)
    if gate.max_broken is not None:
        quantities += [own.quantity() for own in broken]
    return Against(quantities=quantities, unpaired=unpaired, broken=broken)


def _paired_scores(run: Run, tables: Tables, metrics: Iterable[str | None]) -> pl.DataFrame:
    """Held without the factors of the whole run, so that those of the other can be read in their place."""
    names = dict.fromkeys(filter(None, metrics))
    scores = pl.concat(number_texts(tables.of_metric(name).select("key", *PAIRED)) for name in names)
    run.score_tables().forget_factors()
    return scores


def _refuse_percents(quantities: Sequence[Quantity], limits: Mapping[Threshold, float]) -> None:
    for quantity in quantities:
        limit = limits[quantity.threshold]
        if quantity.unit == "share" and limit > 1:
            raise StudyError(
                f"gate.{quantity.threshold} is {limit:g}, and {word_for(quantity.metric)} is a share, from 0 to 1. "
                f"For {limit:g} % write {limit / 100:g}."
            )


def _refuse_unfinished(run: Run) -> None:
    summary = run.summary()
    if summary.done + summary.failed == 0:
        raise RunError(f"{run.folder} has no answer yet. Run it first: shaketable run {run.folder}.")
    if summary.missing:
        raise RunError(
            f"{run.folder}: {summary.missing:,} of {summary.trials:,} trials are not answered, and a gate judges whole "
            f"runs. Finish it: shaketable run {run.folder}."
        )


def _priced(records: pl.DataFrame, models: Sequence[str]) -> pl.DataFrame:
    """What each answer cost in dollars, by the price settings of its model in the study."""
    prices = dict(_price(text) for text in models)
    known = {model: price for model, price in prices.items() if price is not None}
    for model in records["model"].unique().sort():
        if model not in known:
            raise StudyError(
                f"gate.max_cost: {model} has no price. Give it one in cross.models, in dollars for a million tokens: "
                "openai(model='…', price_in=0.5, price_out=1.5)."
            )
    per_token = pl.DataFrame(
        [(model, *price) for model, price in known.items()],
        schema={"model": pl.String, "price_in": pl.Float64, "price_out": pl.Float64},
        orient="row",
    )
    read, written = pl.col("n_prompt_tokens") * pl.col("price_in"), pl.col("n_tokens") * pl.col("price_out")
    return records.join(per_token, on="model", how="left", maintain_order="left").with_columns(
        value=(read + written) / 1e6
    )


def _price(text: str) -> tuple[str, Prices | None]:
    """A model's name in records, and what a million tokens cost, read and written; None: it does not say."""
    try:
        part = catalog.build("model", text)
    except PartError:  # Answers that were made elsewhere name their models as they like.
        return text, None
    return catalog.label(part), prices_of(part, in_batches=asked_in_batches(part))
