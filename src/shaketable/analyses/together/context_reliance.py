"""Does a system lean on its evidence? How much of what evidence brings is lost when it is disturbed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shaketable.analyses.conditions import ORIGINAL, by_question, names_in, units
from shaketable.analyses.grids import Row
from shaketable.analyses.together.reliance_words import SIDES, WORDS, told_mean
from shaketable.factors import main_metric
from shaketable.report.old_words import bounds, measured, named, number, questions, said, sentence_case
from shaketable.statistics.intervals import ROUNDING, Numbers, Statistic, mean_of, with_estimates
from shaketable.types import OldFinding

NAME = "context_reliance"
PLACE = ("dataset", "model", "method", "retriever")
LEAST_GAIN = 0.05
"""What evidence is taken to bring at least, so that a ratio to almost nothing does not run away."""
CLIP = (-1.0, 2.0)
NO_CLOSED_BOOK = "was not asked with this model at this temperature; add it to the methods"
NO_QUESTION = "no question has a score with original evidence, with disturbed evidence and closed book"


def context_reliance(
    table: pl.DataFrame,
    *,
    metric: str | None = None,
    closed_book: str = "closed_book",
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """(original − disturbed) / max(original − closed book, 0.05), clipped to −1 and 2, by disturbance and temperature.

    Near 0 the disturbance is ignored, at 1 the system falls back to its closed-book answers, above 1 it is misled.
    The three means over questions stand in `original`, `disturbed` and `closed_book`; a question counts with the
    wordings that were asked in all three ways. `closed_book` names a method (of several with this name, the mean), or
    a kind of evidence in answers made elsewhere. `is_floored`: evidence brings less than 0.05.
    """
    main = main_metric(names_in(table), metric) or ""
    cells = with_estimates(
        _cells(table.filter(metric=main), closed_book), _reliance, confidence=confidence, n_resamples=n_resamples
    )
    unit = dict(units(table).iter_rows()).get(main, "score")
    rows = [
        _row(cell, main, unit, closed_book) for cell in cells.sort(*PLACE, "perturbation", "temperature").to_dicts()
    ]
    _add_sentences(rows)
    return OldFinding(
        analysis=NAME,
        question="Does the system lean on its evidence, or on what it knows?",
        rows=tuple(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=_caveats(rows, closed_book, confidence, n_resamples),
        settings={
            "metric": main,
            "closed_book": closed_book,
            "confidence": confidence,
            "n_resamples": n_resamples,
        },
    )


def _cells(table: pl.DataFrame, closed_book: str) -> pl.DataFrame:
    """One row per system, disturbance and temperature: its questions, and the three means of each."""
    asked = by_question(table).select(
        *PLACE, "perturbation", "variation", "temperature", "question_id", "mean", "n_missing"
    )
    is_closed = _is(closed_book, "method") | _is(closed_book, "perturbation")
    alike = ("dataset", "model", "temperature", "variation", "question_id")
    closed = asked.filter(is_closed).group_by(alike).agg(pl.col("mean").mean(), pl.col("n_missing").sum())
    searched = asked.filter(~is_closed, pl.col("perturbation").is_not_null())
    varying = [name for name in ("dataset", "method", "retriever") if searched[name].drop_nulls().n_unique() > 1]
    original = searched.filter(perturbation=ORIGINAL).drop("perturbation")
    paired = (
        searched.filter(pl.col("perturbation") != ORIGINAL)
        .rename({"mean": "disturbed"})
        .join(original.rename({"mean": "original"}), on=[*PLACE, *alike[2:]], nulls_equal=True, suffix="_original")
        .join(closed.rename({"mean": "closed_book"}), on=alike, how="left", suffix="_closed")
        .with_columns(n_missing=pl.sum_horizontal("n_missing", "n_missing_original", "n_missing_closed"))
    )
    whole = pl.all_horizontal(pl.col(SIDES).is_not_null())
    return (
        paired.group_by(*PLACE, "perturbation", "temperature", "question_id")
        .agg(
            pl.col(SIDES).filter(whole).sort().mean(),  # sums of floats depend on their order
            pl.col("n_missing").sum(),
            is_asked=pl.col("n_missing_closed").is_not_null().any(),
        )
        .sort("question_id")
        .group_by(*PLACE, "perturbation", "temperature", maintain_order=True)
        .agg(
            pl.col("question_id", *SIDES).filter(pl.col("original").is_not_null()),
            pl.col("n_missing").sum().cast(pl.Int64),
            pl.col("is_asked").any(),
            n=pl.col("original").count().cast(pl.Int64),
        )
        .rename({"question_id": "question_ids"})
        .with_columns(system=pl.concat_str("model", *varying, separator=" · ", ignore_nulls=True))
    )


def _is(name: str, column: str) -> pl.Expr:
    """Whether a part has this name, whatever its settings; or this very label."""
    label = pl.col(column).fill_null("")
    return (label == name) | (label.str.replace(r"\(.*", "") == name)


def _reliance(cells: pl.DataFrame) -> Statistic:
    original, disturbed, closed = (np.array(cells[side].to_list(), dtype=np.float64) for side in SIDES)

    def ratio(drawn: Numbers) -> Numbers:
        lost, gained = (
            np.round(mean_of(original)(drawn) - mean_of(other)(drawn), ROUNDING) for other in (disturbed, closed)
        )
        clipped: Numbers = np.clip(lost / np.maximum(gained, LEAST_GAIN), *CLIP)
        return clipped

    return ratio


def _row(cell: Row, correct: str, unit: str, closed_book: str) -> Row:
    means = {side: sum(cell[side]) / cell["n"] for side in SIDES} if cell["n"] else {}
    return {
        "analysis": NAME,
        **{name: cell[name] for name in ("system", *PLACE, "perturbation", "temperature")},
        "metric": correct,
        "variation": None,
        "type": None,
        "contrast": None,
        "unit": "ratio",
        "score_unit": unit,
        **{name: cell[name] for name in ("value", "low", "high", "n", "n_missing")},
        **dict.fromkeys(SIDES),
        **means,
        "is_floored": bool(means) and means["original"] - means["closed_book"] < LEAST_GAIN,
        "reason": None if cell["n"] else NO_QUESTION if cell["is_asked"] else f"{closed_book} {NO_CLOSED_BOOK}",
        "headline": None,
        "sentence": None,
        "detail": None,
    }


def _add_sentences(rows: Sequence[Row]) -> None:
    """One for each system, about the coolest temperature that it has an estimate for."""
    places: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["low"] is not None:
            places.setdefault((row["dataset"], row["system"]), []).append(row)
    for every in places.values():
        coolest = min(row["temperature"] for row in every)
        worst = max((row for row in every if row["temperature"] == coolest), key=lambda row: row["value"])
        worst.update(headline=NAME, sentence=_sentence(worst), detail=_detail(worst))


def _sentence(row: Row) -> str:
    system, disturbance = row["system"], sentence_case(named(row["perturbation"]))
    at = f"at temperature {row['temperature']:g}"
    if row["is_floored"]:
        return f"Evidence brings {system} little {at}, so that there is little to lose."
    if row["low"] > 1:
        return f"{disturbance} misleads {system} {at}: it answers worse than without any evidence."
    if row["low"] > 0:
        share = {name: row[name] for name in ("value", "low", "high")} | {"unit": "share"}
        told = f"{number(row['value'], 'share')} %{bounds(share)}"
        return f"{disturbance} takes from {system} {told} of what evidence brings it {at}, the most of what was tried."
    return f"No disturbance is shown to take from {system} what evidence brings it {at}."


def _detail(row: Row) -> str:
    means = [f"{words} {told_mean(row, side)}" for side, words in zip(SIDES, WORDS, strict=True)]
    return f"{sentence_case(measured(row['metric']))}: {', '.join(means)} ({questions(row['n'])})."


def _caveats(rows: Sequence[Row], closed_book: str, confidence: float, n_resamples: int) -> tuple[str, ...]:
    if not any(row["value"] is not None for row in rows):
        return ()
    caveats = [
        f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the questions.",
        f"Closed book is {closed_book} of the same model, asked with the same wordings at the same temperature.",
        f"Ratios are clipped to {CLIP[0]:g} and {CLIP[1]:g}, and evidence counts as bringing {LEAST_GAIN:g} at least.",
    ]
    if any(row["is_floored"] for row in rows):
        caveats.append("Where evidence brings less than that, the ratio says little about reliance.")
    return tuple(caveats)
