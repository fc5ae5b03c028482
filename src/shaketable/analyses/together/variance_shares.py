"""What explains the variation in correctness: the settings, the questions, or the dice?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import polars as pl

from shaketable.analyses.claims import Claim, Subject
from shaketable.analyses.conditions import CONDITION, ENDS, by_question, fill_scores, is_uncertain_anywhere
from shaketable.analyses.rows import Measured, Scored
from shaketable.analyses.tables import Tables
from shaketable.analyses.together.crossing import cross_settings
from shaketable.factors import Cell
from shaketable.statistics.intervals import Bootstrap, cut_interval
from shaketable.statistics.sign_flips import sign_flip_vectors
from shaketable.statistics.variance_split import Component, Cross, Kind, setting_effects, shares
from shaketable.types import Estimate

NOTHING_VARIES = "nothing varies"
ONE_RUN = "some settings have one run alone, which cannot tell sampling noise from the rest"


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
    parts = tables.of_metric(main).partition_by("dataset", as_dict=True)
    made = [_split(part, Cell(dataset=dataset), main, tables.bootstrap) for (dataset,), part in sorted(parts.items())]
    return VarianceShares(
        splits=tuple(split for split, _ in made), shares=tuple(share for _, shares in made for share in shares)
    )


def _split(table: pl.DataFrame, cell: Cell, metric: str, bootstrap: Bootstrap) -> tuple[Split, list[Share]]:
    searches = table["perturbation"].is_not_null()
    crossing = table.filter(searches) if searches.any() else table
    questions = by_question(crossing)
    cross = cross_settings(questions)
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
    filled = [fill_scores(crossing, end) for end in ENDS] if is_uncertain_anywhere(crossing) else []
    crosses = [own for part in filled if not isinstance(own := cross_settings(by_question(part)), str)]
    return split, _shares(cross, crosses, cell, metric, bootstrap)


def _n_wordings(table: pl.DataFrame) -> int:
    counted = table.group_by(*CONDITION, "question_id", "repeat").len()["len"]
    return int(counted.to_numpy().max(initial=0))


def _shares(cross: Cross, filled: Sequence[Cross], cell: Cell, metric: str, bootstrap: Bootstrap) -> list[Share]:
    components, statistic = shares(cross)
    estimates = bootstrap.statistics(statistic, cross.question_ids, len(components), unit="share", method="expanded")
    p_values = _p_values(cross, filled)
    return [
        Share(
            cell=cell,
            metric=metric,
            kind=component.kind,
            settings=component.factors,
            is_piece=component.is_piece,
            share=replace(cut_interval(estimate, 0, 1), reason=_reason(component, estimate)),
            p=p_values[component.factors[0]] if component.kind == "setting" and estimate.value is not None else None,
        )
        for component, estimate in zip(components, estimates, strict=True)
    ]


def _p_values(cross: Cross, filled: Sequence[Cross]) -> dict[str, float]:
    """The largest p of each setting, as it is and had all answers that failed been wrong, or right; 1 where that turns
    its effects round."""
    every = [(own.question_ids, setting_effects(own)) for own in (cross, *filled)]
    p_values = {}
    for name, effects in every[0][1].items():
        mean = effects.mean(axis=1)
        stands = all(float(mean @ others[name].mean(axis=1)) > 0 for _, others in every[1:])
        ps = [sign_flip_vectors(own[name], ids) for ids, own in every]
        p_values[name] = max(ps) if stands else 1.0
    return p_values


def _reason(component: Component, estimate: Estimate) -> str | None:
    if estimate.value is not None:
        return "nothing varies in some resamples" if estimate.low is None else None
    return ONE_RUN if component.kind == "sampling" else NOTHING_VARIES
