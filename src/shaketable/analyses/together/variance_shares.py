"""What explains the variation in correctness: the settings, the questions, or the dice?"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from shaketable.analyses.claims import Claim, Subject
from shaketable.analyses.conditions import CONDITION, by_question
from shaketable.analyses.rows import Measured, Scored
from shaketable.analyses.tables import Tables
from shaketable.factors import Cell
from shaketable.statistics.intervals import Bootstrap
from shaketable.statistics.sign_flips import sign_flip_vectors
from shaketable.statistics.variance_split import Component, Cross, Kind, setting_effects, shares
from shaketable.types import Estimate

SETTINGS = {
    "temperature": "temperature",
    "evidence": "perturbation",
    "wording": "variation",
    "method": "method",
    "retriever": "retriever",
    "model": "model",
}
"""What a study can cross, and the column that tells it."""
NOTHING_VARIED = "no setting has two values or more"
NOT_CROSSED = "the settings are not fully crossed"
TOO_FEW = "fewer than two questions have a score in every setting"
NOTHING_VARIES = "nothing varies"
ONE_RUN = "some settings have one run alone, which cannot tell dice from the rest"


@dataclass(frozen=True, kw_only=True, slots=True)
class Share(Measured):
    """Of the variance of single answers to the questions of one dataset."""

    kind: Kind
    settings: tuple[str, ...]
    """Of a setting, its own; of a piece, those that it is of, none where it is of all the other combinations."""
    is_piece: bool
    """A part of the whole of its kind. Shares that are none add up to 1."""
    share: Estimate
    """Estimated without bias, so that a small one may come out below 0."""
    p: float | None = None
    """That a setting acts on the mean over questions, by signs of all its effects on a question flipped; None: it is no
    setting, or nothing varies."""

    @property
    def subject(self) -> Subject:
        return Subject(kind="variance_shares", cell=self.cell, metric=self.metric, other=" × ".join(self.settings))


@dataclass(frozen=True, kw_only=True, slots=True)
class Split(Scored):
    """What the shares of one dataset are of."""

    models: tuple[str, ...]
    n_wordings: int
    """Of one variation of a question, at most; several count as runs."""
    unsearching: tuple[str, ...]
    """Methods that do not search, left out beside some that do: they have no evidence to cross."""
    n: int = 0
    """Questions."""
    n_left_out: int = 0
    """Questions without enough scores in every setting."""
    n_settings: int = 0
    """Combinations of settings."""
    has_sampling: bool = False
    """Whether runs are told apart from the rest: every setting has two."""
    reason: str | None = None
    """Why there is no split."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VarianceShares:
    """What explains the variation in correctness?"""

    splits: tuple[Split, ...]
    shares: tuple[Share, ...]

    tells_of_evidence: ClassVar[bool] = True

    def claims(self) -> Iterable[Claim]:
        """That a setting explains something."""
        for own in self.shares:
            if own.kind == "setting":
                yield Claim(subject=own.subject, estimate=own.share, p=own.p)


def variance_shares(tables: Tables, *, metric: str | None = None) -> VarianceShares:
    """The law of total variance over a crossed study: whose share of the variance of single answers is how large?

    Each setting that varies (temperature, evidence, wording, method, retriever, model), their interactions, the
    question, what settings do to one question and not to another, and sampling, the mean of p(1 − p) between runs of
    one setting. The questions are taken as drawn from many alike, and are what the bootstrap draws again. A question
    needs two runs in every setting.
    """
    main = tables.metric(metric) or ""
    parts = tables.scores.filter(metric=main).partition_by("dataset", as_dict=True)
    made = [_split(part, Cell(dataset=dataset), main, tables.bootstrap) for (dataset,), part in sorted(parts.items())]
    return VarianceShares(
        splits=tuple(split for split, _ in made), shares=tuple(share for _, shares in made for share in shares)
    )


def _split(table: pl.DataFrame, cell: Cell, metric: str, bootstrap: Bootstrap) -> tuple[Split, list[Share]]:
    searches = table["perturbation"].is_not_null()
    crossing = table.filter(searches) if searches.any() else table
    questions = by_question(crossing)
    cross = _crossed(questions)
    split = Split(
        cell=cell,
        metric=metric,
        models=tuple(sorted(crossing["model"].unique())),
        n_missing=crossing["value"].null_count(),
        n_wordings=_n_wordings(crossing),
        unsearching=tuple(sorted(set(table["method"]) - set(crossing["method"]))),
    )
    if isinstance(cross, str):
        return replace(split, reason=cross), []
    n = len(cross.question_ids)
    split = replace(
        split,
        n=n,
        n_left_out=questions["question_id"].n_unique() - n,
        n_settings=cross.n_settings,
        has_sampling=cross.variances is not None,
    )
    return split, _shares(cross, cell, metric, bootstrap)


def _n_wordings(table: pl.DataFrame) -> int:
    counted = table.group_by(*CONDITION, "question_id", "repeat").len()["len"]
    return int(counted.to_numpy().max(initial=0))


def _shares(cross: Cross, cell: Cell, metric: str, bootstrap: Bootstrap) -> list[Share]:
    components, statistic = shares(cross)
    estimates = bootstrap.statistics(statistic, cross.question_ids, len(components), unit="share", method="percentile")
    p_values = {
        name: sign_flip_vectors(effects, cross.question_ids) for name, effects in setting_effects(cross).items()
    }
    return [
        Share(
            cell=cell,
            metric=metric,
            kind=component.kind,
            settings=component.factors,
            is_piece=component.is_piece,
            share=replace(estimate, reason=_reason(component, estimate)),
            p=p_values[component.factors[0]] if component.kind == "setting" and estimate.value is not None else None,
        )
        for component, estimate in zip(components, estimates, strict=True)
    ]


def _reason(component: Component, estimate: Estimate) -> str | None:
    if estimate.value is not None:
        return "nothing varies in some resamples" if estimate.low is None else None
    return ONE_RUN if component.kind == "sampling" else NOTHING_VARIES


def _crossed(questions: pl.DataFrame) -> Cross | str:
    """The questions that have a score in every setting, or why there is no cross."""
    levels = {name: sorted(questions[column].unique(), key=str) for name, column in SETTINGS.items()}
    factors = tuple(name for name, values in levels.items() if len(values) > 1)
    if not factors:
        return NOTHING_VARIED
    columns = [SETTINGS[name] for name in factors]
    shape = tuple(len(levels[name]) for name in factors)
    if questions.select(columns).n_unique() < math.prod(shape):
        return NOT_CROSSED
    ids = sorted(questions["question_id"].unique())
    where = tuple(
        np.array([places[value] for value in questions[column]], dtype=np.intp)
        for column, values in (("question_id", ids), *((SETTINGS[name], levels[name]) for name in factors))
        for places in [{value: i for i, value in enumerate(values)}]
    )
    means, variances, n_runs = (np.full((len(ids), *shape), np.nan) for _ in range(3))
    means[where] = questions["mean"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    variances[where] = (questions["sd"].cast(pl.Float64) ** 2).fill_null(float("nan")).to_numpy()
    n_runs[where] = questions["n_runs"].to_numpy()
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
