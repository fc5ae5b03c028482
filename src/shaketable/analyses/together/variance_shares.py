"""What explains the variation in correctness: the settings, the questions, or the dice?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shaketable.analyses.conditions import CONDITION, by_question, names_in
from shaketable.analyses.grids import Row, even
from shaketable.factors import main_metric
from shaketable.report.old_words import level, measured, named, questions, said, sentence_case
from shaketable.statistics.intervals import ROUNDING, Numbers, Statistic, estimated, known
from shaketable.types import OldFinding

NAME = "variance_shares"
QUESTION = "What explains the variation in correctness?"
FACTORS = {
    "temperature": "temperature",
    "evidence": "perturbation",
    "wording": "variation",
    "method": "method",
    "retriever": "retriever",
    "model": "model",
}
"""What a study can cross, and the column that tells it."""
INTERACTIONS, HIGHER = "interactions", "three or more together"
BY_QUESTION, SAMPLING = "by question", "sampling"
FEW = 20
"""In a simulated study, intervals of 95 % held the true share in 94 % of samples of 100 questions, in 93 % of 25, in
91 % of 12 and in 86 % of 6, on average over the components."""
DUST = 1e-9
"""A variance below this is none."""
NOTHING_VARIED = "no setting has two values or more"
NOT_CROSSED = "the settings are not fully crossed"
TOO_FEW = "fewer than two questions have a score in every setting"
NOTHING_VARIES = "nothing varies"
ONE_RUN = "some settings have one run alone, which cannot tell dice from the rest"


def variance_shares(
    table: pl.DataFrame, *, metric: str | None = None, confidence: float = 0.95, n_resamples: int = 2000
) -> OldFinding:
    """The law of total variance over a crossed study: whose share of the variance of single answers is how large?

    Rows without `part_of` add up to 1: each setting that varies (`temperature`, `evidence`, `wording`, `method`,
    `retriever`, `model`), their `interactions`, the `question`, `by question` (what settings do to one question and
    not to another), and `sampling`, the mean of p(1 − p) between runs of one setting. Rows with it are pieces of
    `interactions` and `by question`. The variances are estimated without bias, so small shares may come out below 0.
    The questions are taken as drawn from many alike, and are what the bootstrap draws again. Methods that do not
    search have no evidence to cross and are left out beside some that do. A question needs two runs in every setting.
    """
    rows: list[Row] = []
    main = main_metric(names_in(table), metric)
    scored = table.filter(metric=main or "")
    for (dataset,), part in sorted(scored.partition_by("dataset", as_dict=True).items(), key=lambda one: one[0]):
        rows += _rows(part, {"metric": main, "dataset": dataset}, confidence, n_resamples)
    _add_sentences(rows)
    return OldFinding(
        analysis=NAME,
        question=QUESTION,
        rows=even(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=_caveats(rows, confidence, n_resamples),
        settings={"metric": main, "confidence": confidence, "n_resamples": n_resamples},
    )


# --- the cross ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Cross:
    """The answers of a fully crossed study."""

    factors: tuple[str, ...]
    """Those with several levels."""
    question_ids: tuple[str, ...]
    means: Numbers
    """Over runs, questions × a dimension for each factor."""
    variances: Numbers | None
    """Between runs, in the same places; None: some setting has one run alone."""
    errors: Numbers
    """Sampling variances of the means, in the same places; 0 where they are not known."""


def _crossed(cells: pl.DataFrame) -> Cross | str:
    """The questions that have a score in every setting, or why there is no cross."""
    levels = {name: sorted(cells[column].unique(), key=str) for name, column in FACTORS.items()}
    factors = tuple(name for name, values in levels.items() if len(values) > 1)
    if not factors:
        return NOTHING_VARIED
    columns = [FACTORS[name] for name in factors]
    shape = tuple(len(levels[name]) for name in factors)
    if cells.select(columns).n_unique() < math.prod(shape):
        return NOT_CROSSED
    ids = sorted(cells["question_id"].unique())
    where = tuple(
        np.array([places[value] for value in cells[column]], dtype=np.intp)
        for column, values in (("question_id", ids), *((FACTORS[name], levels[name]) for name in factors))
        for places in [{value: i for i, value in enumerate(values)}]
    )
    means, variances, n_runs = (np.full((len(ids), *shape), np.nan) for _ in range(3))
    means[where] = cells["mean"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    variances[where] = (cells["sd"].cast(pl.Float64) ** 2).fill_null(float("nan")).to_numpy()
    n_runs[where] = cells["n_runs"].to_numpy()
    repeated, scored = (~np.isnan(values).any(axis=tuple(range(1, values.ndim))) for values in (variances, means))
    whole = np.flatnonzero(repeated if repeated.any() else scored)
    if len(whole) < 2:
        return TOO_FEW
    kept = variances[whole] if repeated.any() else None
    return Cross(
        factors=factors,
        question_ids=tuple(ids[i] for i in whole),
        means=means[whole],
        variances=kept,
        errors=np.zeros_like(means[whole]) if kept is None else kept / n_runs[whole],
    )


# --- the split ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What some of the settings together do to each question, beyond what fewer of them do."""

    factors: tuple[str, ...]
    """None of them: the question's own mean."""
    values: Numbers
    """Questions × combinations of levels."""
    degrees: int
    """Its degrees of freedom."""


def _effects(cross: Cross) -> Iterator[Effect]:
    """Of no factor, of each factor, of each pair and so on: they are orthogonal and sum to the means."""
    axes = range(1, cross.means.ndim)
    for n in range(len(axes) + 1):
        for chosen in itertools.combinations(axes, n):
            values = cross.means.mean(axis=tuple(axis for axis in axes if axis not in chosen), keepdims=True)
            for axis in chosen:
                values = values - values.mean(axis=axis, keepdims=True)
            yield Effect(
                factors=tuple(cross.factors[axis - 1] for axis in chosen),
                values=np.round(values.reshape(len(values), -1), ROUNDING),
                degrees=math.prod(cross.means.shape[axis] - 1 for axis in chosen),
            )


def components(cross: Cross) -> tuple[dict[str, str | None], Statistic]:
    """Names with what each is part of, and their variances for resampled questions.

    With u the effect on one question, |E u|² is what settings do to all, and E |u − E u|² what they do to one and not
    to another. Both come from pairs of different questions, so that the draw of the questions adds to neither, nor do
    the dice to the first; from the second the dice are taken out.
    """
    effects = list(_effects(cross))
    n_settings = math.prod(cross.means.shape[1:])
    errors = _mean_over_settings(cross.errors)
    dice = np.zeros_like(errors) if cross.variances is None else _mean_over_settings(cross.variances)
    names = _names(cross.factors)

    def variances(drawn: Numbers) -> Numbers:
        weights, n_pairs = _pair_weights(drawn)
        n = drawn.sum(axis=-1)
        found = {name: np.zeros(len(drawn)) for name in names} | {SAMPLING: weights @ dice}
        for effect in effects:
            squares = (effect.values**2).mean(axis=1)
            squared_sums = ((drawn @ effect.values) ** 2).mean(axis=1)
            between = np.divide(
                n * (drawn @ squares) - squared_sums, n_pairs, out=np.zeros_like(n_pairs), where=n_pairs > 0
            )
            to_all, to_one = _homes(effect.factors)
            for name in to_all:
                found[name] += weights @ squares - between
            for name in to_one:
                found[name] += between - effect.degrees / n_settings * (weights @ errors)
        if cross.variances is None:
            found[SAMPLING] = np.full(len(drawn), np.nan)
        return np.stack(list(found.values()))

    return names, variances


def shares_of(variances: Statistic, names: Mapping[str, str | None]) -> Statistic:
    """Variances over the sum of those that are part of nothing."""
    is_whole = np.array([part_of is None for part_of in names.values()])

    def shares(drawn: Numbers) -> Numbers:
        found = variances(drawn)
        total = np.nansum(found[is_whole], axis=0)
        divided: Numbers = found / np.where(total > DUST, total, np.nan)
        return divided

    return shares


def _mean_over_settings(values: Numbers) -> Numbers:
    averaged: Numbers = values.reshape(len(values), -1).mean(axis=1)
    return averaged


def _pair_weights(drawn: Numbers) -> tuple[Numbers, Numbers]:
    """How often each question stands in a pair with another one, as a share; and the number of pairs.

    A draw of one question alone has no pair; it has all the weight.
    """
    n = drawn.sum(axis=-1, keepdims=True)
    n_pairs = n**2 - (drawn**2).sum(axis=-1, keepdims=True)
    weights = np.divide(drawn * (n - drawn), n_pairs, out=drawn / n, where=n_pairs > 0)
    return weights, n_pairs[..., 0]


def _homes(factors: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The components that an effect on all questions belongs to, and those of what it is to single ones."""
    match factors:
        case ():
            return [], ["question"]
        case (name,):
            return [name], [BY_QUESTION, f"{name} × question"]
        case _:
            name = " × ".join(factors) if len(factors) == 2 else HIGHER
            return [INTERACTIONS, name], [BY_QUESTION, f"{INTERACTIONS} × question"]


def _names(factors: tuple[str, ...]) -> dict[str, str | None]:
    """Every component with what it is part of; those that are part of nothing come first."""
    sets = [one for n in range(len(factors) + 1) for one in itertools.combinations(factors, n)]
    homes = [home for side in zip(*map(_homes, sets), strict=True) for home in side if home]
    whole: dict[str, str | None] = dict.fromkeys([*(home[0] for home in homes), SAMPLING])
    return whole | {home[1]: home[0] for home in homes if len(home) > 1}


# --- rows and words -------------------------------------------------------------------------------


def _rows(table: pl.DataFrame, place: Row, confidence: float, n_resamples: int) -> list[Row]:
    searches = table["perturbation"].is_not_null()
    crossing = table.filter(searches) if searches.any() else table
    place = place | {
        "system": ", ".join(sorted(crossing["model"].unique())),
        "n_missing": crossing["value"].null_count(),
        "unsearching": sorted(set(table["method"]) - set(crossing["method"])),
        "n_wordings": crossing.group_by(*CONDITION, "question_id", "repeat").len()["len"].max(),
    }
    cells = by_question(crossing)
    cross = _crossed(cells)
    if isinstance(cross, str):
        return [_row(place, reason=cross)]
    names, variances = components(cross)
    estimates = estimated(
        shares_of(variances, names), cross.question_ids, len(names), confidence=confidence, n_resamples=n_resamples
    )
    return [
        _row(
            place,
            effect=name,
            part_of=part_of,
            **known(estimate),
            n=len(cross.question_ids),
            n_left_out=cells["question_id"].n_unique() - len(cross.question_ids),
            n_settings=math.prod(cross.means.shape[1:]),
            reason=_reason(name, estimate),
        )
        for (name, part_of), estimate in zip(names.items(), estimates, strict=True)
    ]


def _reason(name: str, estimate: Numbers) -> str | None:
    if not np.isnan(estimate[0]):
        return "nothing varies in some resamples" if np.isnan(estimate[1]) else None
    return ONE_RUN if name == SAMPLING else NOTHING_VARIES


def _row(place: Row, **more: Any) -> Row:
    columns = ("analysis", "system", "metric", "dataset", "model", "method", "retriever", "perturbation", "variation")
    nothing: Row = dict.fromkeys((*columns, "temperature", "type", "effect", "part_of", "value", "low", "high"))
    counts = {"n": 0, "n_missing": 0, "n_left_out": 0, "n_settings": 0}
    told = {"unit": "share", "headline": None, "sentence": None, "detail": None}
    return nothing | counts | told | {"analysis": NAME, "unsearching": [], "n_wordings": None} | place | more


def _add_sentences(rows: Sequence[Row]) -> None:
    """One for each dataset, on the row of the factor that explains most."""
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    for dataset in datasets:
        whole = {
            row["effect"]: row
            for row in rows
            if row["dataset"] == dataset and row["part_of"] is None and row["value"] is not None
        }
        factors = sorted((whole[name] for name in FACTORS if name in whole), key=lambda row: -row["value"])
        if factors and factors[0]["low"] is not None:
            on = f" on {dataset}" if len(datasets) > 1 else ""
            factors[0].update(headline=NAME, sentence=_sentence(factors, on), detail=_detail(factors[0], whole))


def _sentence(factors: Sequence[Row], on: str) -> str:
    shown = [row for row in factors if row["low"] > 0]
    hidden = [row["effect"] for row in factors if row["low"] <= 0]
    metric = measured(factors[0]["metric"]) + on
    if not shown:
        return f"No setting is shown to explain any of the variation in {metric}: {_listed(hidden)}."
    first, *others = shown
    text = f"{sentence_case(first['effect'])} explains {level(first)} of the variation in {metric}"
    text += "".join(f", {row['effect']} {level(row)}" for row in others)
    return text + (f"; of {_listed(hidden)} no share is shown." if hidden else ".")


def _detail(row: Row, whole: Mapping[str, Row]) -> str:
    words = {
        INTERACTIONS: "settings together",
        "question": "which question is asked",
        BY_QUESTION: "settings acting otherwise on one question",
        SAMPLING: "dice at one setting",
    }
    told = [f"{text} {level(whole[name])}" for name, text in words.items() if name in whole]
    left_out = f"; {', '.join(map(named, row['unsearching']))} not in it" if row["unsearching"] else ""
    return f"The rest: {'; '.join(told)} ({questions(row['n'])}, {row['n_settings']} settings{left_out})."


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _caveats(rows: Sequence[Row], confidence: float, n_resamples: int) -> tuple[str, ...]:
    if not any(row["value"] is not None for row in rows):
        return ()
    caveats = [
        f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the questions.",
        "Shares depend on the values that were tried: a hotter temperature or a harsher disturbance explains more.",
        "Variances are estimated without bias, so the share of something without effect may fall below 0.",
    ]
    if any(0 < row["n"] < FEW for row in rows):
        caveats.append(f"With fewer than {FEW} questions these intervals are too narrow.")
    if any(row["unsearching"] for row in rows):
        caveats.append("Methods that do not search have no evidence to cross, and are left out of the split.")
    if any(row["reason"] == ONE_RUN for row in rows):
        caveats.append(f"Sampling is not split off: {ONE_RUN}.")
    if any((row["n_wordings"] or 0) > 1 for row in rows):
        caveats.append("Several wordings of one variation count as runs of it, so their differences are in sampling.")
    if any(row["n_left_out"] for row in rows):
        caveats.append("Questions without enough scores in every setting are left out of the split and counted.")
    return tuple(caveats)
