"""Where does the system break, as far as the budget could tell?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import polars as pl

from shaketable.analyses.arms import CLEAN, Arm, Levels
from shaketable.analyses.shakes import Breaking, BrokenAnswer, Shaken
from shaketable.analyses.tables import Tables
from shaketable.factors import ORIGINAL, SYSTEM, UNCHANGED, Cell, System
from shaketable.statistics.betting import confidence_sequence, detectable_mean, e_value, e_value_needed
from shaketable.text.word_edits import align
from shaketable.types import Estimate

HOW = "confidence sequence by betting"
FEW_FAILED = 0.05
"""Up to this share of an arm's answers, failures cannot decide much."""
N_EXAMPLES = 3
LEAST_GAINS = 0.02
"""Of questions that become right by chance, in the forecast of what could have been seen."""
Kept = Mapping[str, float | None]
"""Question → how good its answers are; None: all failed."""


def shaken(tables: Tables) -> Shaken:
    """Each way to ask beside the clean one, with intervals and claims that hold whenever the budget ended.

    All ways share the error: the chance that any interval misses, or that anything is claimed where nothing is lost, is
    at most 1 − confidence.
    """
    metric = tables.judging_metric()
    rows = tables.of_metric(metric)
    if metric is None or rows.is_empty():
        return Shaken()
    kept = {arm: _by_question(own) for arm, own in _by_arm(rows)}
    clean, level = kept.pop(CLEAN, {}), tables.bootstrap.confidence
    levels = _levels(kept)
    error = {arm: levels.error_of(arm, 1 - level) for arm in (*levels.single, *levels.paired) if arm in kept}
    system = System(**dict(zip(SYSTEM, rows.select(SYSTEM).row(0), strict=True)))
    judged = {arm: _judge(arm, clean, kept[arm], error[arm], metric, level) for arm in error}
    ranked = sorted(judged, key=lambda arm: (-_at_least(judged[arm]), bool(arm.parts), str(arm)))
    worst = next((arm for arm in ranked if judged[arm].is_shown), None)
    return Shaken(
        system=system,
        metric=metric,
        level=_share([value for value in clean.values() if value is not None], level),
        noise=_share(_changes(rows), level),
        arms=tuple(judged[arm] for arm in ranked),
        n_ways=len(levels.single) + len(levels.paired),
        examples=() if worst is None else _examples(rows, worst, clean, kept[worst], _wordings(tables.records)),
    )


def _by_arm(rows: pl.DataFrame) -> list[tuple[Arm, pl.DataFrame]]:
    coolest = rows["temperature"].min()
    marked = rows.with_columns(
        arm_variation=pl.when(pl.col("variation") != ORIGINAL).then(pl.col("variation")),
        arm_perturbation=pl.when(pl.col("perturbation") != UNCHANGED).then(pl.col("perturbation")),
        arm_temperature=pl.when(pl.col("temperature") != coolest).then(pl.col("temperature")),
    )
    names = ("arm_variation", "arm_perturbation", "arm_temperature")
    return [
        (Arm(variation=variation, perturbation=perturbation, temperature=temperature), own)
        for (variation, perturbation, temperature), own in marked.group_by(*names, maintain_order=True)
    ]


def _by_question(rows: pl.DataFrame) -> dict[str, float | None]:
    means = rows.group_by("question_id", maintain_order=True).agg(pl.col("value").mean())
    return dict(means.iter_rows())


def _levels(arms: Mapping[Arm, Kept]) -> Levels:
    """All that occur: each is tried alone before anything else is."""
    return Levels(
        variations=tuple(sorted({arm.variation for arm in arms if arm.variation is not None})),
        perturbations=tuple(sorted({arm.perturbation for arm in arms if arm.perturbation is not None})),
        temperatures=tuple(sorted({arm.temperature for arm in arms if arm.temperature is not None})),
    )


def _judge(arm: Arm, clean: Kept, kept: Kept, error: float, metric: str, level: float) -> Breaking:
    asked = {id: before for id in kept if (before := clean.get(id)) is not None}
    pairs = [(before, after) for id, before in asked.items() if (after := kept[id]) is not None]
    losses = [before - after for before, after in pairs]
    n_failed = len(asked) - len(pairs)
    evidence = e_value(losses)
    if n_failed > FEW_FAILED * len(asked):  # What failed may have been right: then nothing would have been lost there.
        evidence = min(evidence, e_value([before - _or_right(kept[id]) for id, before in asked.items()]))
    needed = e_value_needed(error)
    n = len(losses)
    low, high = confidence_sequence(losses, error)
    gains = math.fsum(max(-loss, 0.0) for loss in losses) / max(n, 1)
    return Breaking(
        cell=Cell(variation=arm.variation, perturbation=arm.perturbation, temperature=arm.temperature),
        metric=metric,
        loss=Estimate(
            value=math.fsum(losses) / n if n else None,
            low=low,
            high=high,
            level=level,
            n=n,
            how=HOW,
            unit="share",
            reason=None if n else "all failed",
        ),
        clean=math.fsum(before for before, _ in pairs) / n if n else 0.0,
        disturbed=math.fsum(after for _, after in pairs) / n if n else 0.0,
        gains=gains,
        is_shown=evidence >= needed,
        e_value=evidence,
        e_needed=needed,
        n_failed=n_failed,
        detectable=detectable_mean(round(min(max(gains, LEAST_GAINS), 0.3), 2), n, error) if n else None,
    )


def _or_right(kept: float | None) -> float:
    return 1.0 if kept is None else kept


def _at_least(arm: Breaking) -> float:
    return -1.0 if arm.loss.low is None else arm.loss.low


def _share(values: Sequence[float], level: float) -> Estimate:
    """A mean of numbers from 0 to 1, which may be read at any moment too."""
    low, high = confidence_sequence([2 * value - 1 for value in values], 1 - level)
    mean = math.fsum(values) / len(values) if values else None
    reason = None if values else "no clean answers"
    return Estimate(
        value=mean,
        low=(low + 1) / 2,
        high=(high + 1) / 2,
        level=level,
        n=len(values),
        how=HOW,
        unit="share",
        reason=reason,
    )


def _changes(rows: pl.DataFrame) -> list[float]:
    """Of each question, whether asking it plainly once more makes the answer right or wrong, or another."""
    own = next((own for arm, own in _by_arm(rows) if arm == CLEAN), rows.clear())
    values = own.drop_nulls("value").group_by("question_id", maintain_order=True).agg("value")["value"].to_list()
    several = [float(len(set(runs)) > 1) for runs in values if len(runs) > 1]
    # Agreement is with the first answer, which has no number itself.
    return several or [1.0 - run for (run,) in values]


def _wordings(records: pl.DataFrame) -> dict[str, str]:
    """Key of a record → what was asked; nothing where the records are not at hand."""
    return {} if records.is_empty() else dict(records.select("key", "wording").iter_rows())


def _examples(
    rows: pl.DataFrame, worst: Arm, clean: Kept, kept: Kept, wordings: Mapping[str, str]
) -> tuple[BrokenAnswer, ...]:
    """Questions that lose most; among equals those whose wording is changed least, then the shortest."""
    by_arm = dict(_by_arm(rows))
    first = {
        name: dict(own.sort("repeat", descending=True).select("question_id", "key").iter_rows())
        for name, own in (("clean", by_arm[CLEAN]), ("broken", by_arm[worst]))
    }
    losses = {id: before - after for id, before in clean.items() if before and (after := kept.get(id)) is not None}
    lost = [
        BrokenAnswer(question_id=id, clean=first["clean"][id], broken=first["broken"][id])
        for id, loss in losses.items()
        if loss > 0
    ]

    def size(example: BrokenAnswer) -> tuple[float, int, int, str]:
        plain, broken = wordings.get(example.clean, ""), wordings.get(example.broken, "")
        return -losses[example.question_id], n_changed(plain, broken), len(plain), example.question_id

    return tuple(sorted(lost, key=size)[:N_EXAMPLES])


def n_changed(before: str, after: str) -> int:
    """Words that went or came."""
    return sum(j - i + m - k for kind, i, j, k, m in align(before.split(), after.split()) if kind != "equal")
