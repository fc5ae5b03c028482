"""Is one system better than another? Paired by question and condition; the second minus the first, everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from shaketable.analyses.changes import Change, measure_changes
from shaketable.analyses.claims import Claim, Claims, Subject, claims_of, weigh
from shaketable.analyses.conditions import units
from shaketable.analyses.evidence.margins import Margin, margins_of
from shaketable.analyses.flips import Flips, count_flips
from shaketable.analyses.grids import systems
from shaketable.analyses.pairs import CONDITION, SIDES, Unpaired, count_unpaired, pair, systems_in
from shaketable.factors import System
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Finding, Findings, NothingToLose


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Is one system better than another, under the conditions and on the questions that both were asked?"""

    first: System
    second: System
    metric: str
    """The number that is compared; which direction is better is the metric's to say."""
    margin: Margin
    """How much of it is too little to matter."""
    overall: Change
    """Of questions, each with its mean over the conditions it has on both sides."""
    levels: tuple[Change, ...]
    """Of each dataset, wording, evidence, temperature and type of question, where there are several, pooled over the
    others: the cell has the level."""
    conditions: tuple[Change, ...]
    """Of each condition by itself, where there are several; not adjusted, but with intervals that hold together."""
    worst_case: Change | None
    """Of the worst condition of each question, whichever it is; of as many runs of one system as of the other. None:
    there is one condition."""
    flips: Flips | None
    """None: no number tells right answers from wrong ones."""
    unpaired: tuple[Unpaired, ...]
    n_questions: int
    """With a pair under one condition at least."""
    n_conditions: int
    n_pairs: int
    """Of a question under a condition, runs averaged."""

    @property
    def spoken_of(self) -> tuple[Change, ...]:
        """What may become a sentence: the difference overall, then its details."""
        return (self.overall, *([self.worst_case] if self.worst_case else []), *self.levels)

    def subject(self, change: Change) -> Subject:
        """What a claim about a change is about."""
        first = (self.first.model, self.first.method, self.first.retriever or "")
        return Subject(
            kind=f"comparison, {change.kind}",
            cell=change.cell,
            metric=self.metric,
            other=" · ".join(filter(None, first)),
        )

    def claims(self) -> Iterable[Claim]:
        """The difference overall weighs as much as all its details together; it may also be shown to be small."""
        for place, change in enumerate(self.spoken_of):
            differs = Claim(
                subject=self.subject(change),
                estimate=change.difference,
                p=change.p,
                reason=change.reason,
                weight=weigh(place, len(self.spoken_of)),
            )
            yield differs
            if change is self.overall and self.margin.value > 0:
                yield Claim(
                    subject=differs.subject,
                    says="equivalent",
                    estimate=change.difference,
                    margin=self.margin.value,
                    p=change.p_equivalent,
                )


def compare_scores(
    first: pl.DataFrame,
    second: pl.DataFrame,
    *,
    metric: str,
    judging: str | None = None,
    margin: float | str | None = None,
    bootstrap: Bootstrap | None = None,
) -> Comparison:
    """Two score tables of one system each: of two runs, or of two systems of one run.

    `judging` tells right answers from wrong ones; `margin` is as studies write it.
    """
    bootstrap = bootstrap or Bootstrap()
    (first_system,), (second_system,) = systems_in(first), systems_in(second)
    paired = pair(first, second, metric)
    both = paired.drop_nulls(SIDES)
    grids = [grid for table in (first, second) for grid in systems(table, metric)]
    scale = margins_of(grids, margin)[metric]
    unit = dict(units(pl.concat([first, second], how="diagonal")).iter_rows())[metric]
    changes = measure_changes(
        paired, metric=metric, unit=unit, margin=scale.value, system=second_system, bootstrap=bootstrap
    )
    judged = paired if judging == metric else pair(first, second, judging) if judging else None
    return Comparison(
        first=first_system,
        second=second_system,
        metric=metric,
        margin=scale,
        overall=changes[0],
        levels=tuple(change for change in changes if change.kind == "level"),
        conditions=tuple(change for change in changes if change.kind == "condition"),
        worst_case=next((change for change in changes if change.kind == "worst case"), None),
        flips=count_flips(judged, judging, bootstrap) if judged is not None and judging else None,
        unpaired=count_unpaired(paired),
        n_questions=both.select("dataset", "question_id").n_unique(),
        n_conditions=both.select(CONDITION).n_unique(),
        n_pairs=len(both),
    )


def judge_comparisons(
    comparisons: Sequence[Comparison], *, confidence: float = 0.95, nothing_to_lose: Sequence[NothingToLose] = ()
) -> Claims:
    """What comparisons that are told together may claim: one family."""
    findings = tuple(Finding(analysis="compare", result=own) for own in comparisons)
    return claims_of(Findings(findings=findings, confidence=confidence, nothing_to_lose=tuple(nothing_to_lose)))
