"""What rewording costs must stand whatever the trials that failed would have scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shaketable.analyses.conditions import ENDS, fill_scores
from shaketable.analyses.tables import Tables
from shaketable.analyses.wording.answers import group_scores, read_scores
from shaketable.analyses.wording.asked import Asked
from shaketable.analyses.wording.measurements import measure_losses
from shaketable.analyses.wording.numbers import WordingNumber, count_failed
from shaketable.factors import ORIGINAL, Cell
from shaketable.statistics.intervals import Numbers
from shaketable.statistics.sign_flips import sign_flip
from shaketable.statistics.worst_case import WorstCase, is_uncertain, worst_cases


@dataclass(frozen=True, kw_only=True)
class _Losses:
    """Of one system by one metric, question by question."""

    asked: Asked
    values: dict[str | None, dict[str, float]]
    """By variation and question id."""

    def rows(self, questions: Sequence[str]) -> Numbers:
        """Rewordings × questions, NaN where there is no loss."""
        losses = [self.values.get(name, {}) for name in self.asked.reworded]
        rows = np.array([[own.get(question, np.nan) for question in questions] for own in losses], dtype=np.float64)
        return rows.reshape(len(losses), len(questions))


def bound_losses(numbers: Sequence[WordingNumber], tables: Tables, metric: str) -> list[WordingNumber]:
    """The same, with bounds and the largest p for losses by this metric where more failed than may be left out."""
    known = _losses(tables, metric)
    if not any(own.asked.n_failed for own in known.values()):
        return list(numbers)
    least, greatest = (_losses(filled, metric) for filled in _at_ends(tables))
    cases = {
        replace(place, variation=variation): case
        for place, own in known.items()
        for variation, case in _worst_cases(own, least[place], greatest[place]).items()
    }
    return [
        replace(number, p=case.p, worst_low=case.low, worst_high=case.high)
        if _is_bounded(number, metric) and (case := cases[number.cell]).low is not None
        else number
        for number in numbers
    ]


def _worst_cases(own: _Losses, least: _Losses, greatest: _Losses) -> dict[str, WorstCase]:
    """By rewording."""
    every = (own, least, greatest)
    questions = sorted({question for each in every for losses in each.values.values() for question in losses})
    cases = worst_cases(
        own.rows(questions),
        (least.rows(questions), greatest.rows(questions)),
        np.array([_is_uncertain(own.asked, least.asked, name) for name in own.asked.reworded], dtype=bool),
        lambda values: sign_flip(values, questions),
    )
    return dict(zip(own.asked.reworded, cases, strict=True))


def _is_bounded(number: WordingNumber, metric: str) -> bool:
    return number.is_loss and number.metric == metric and not number.answered_only


def _at_ends(tables: Tables) -> tuple[Tables, Tables]:
    """Had the original's failed trials scored as badly as can be and those of rewordings as well, and the reverse."""
    badly, well = (fill_scores(tables.scores, end) for end in ENDS)
    is_original = pl.col("variation") == ORIGINAL

    def mixed(original: pl.DataFrame, reworded: pl.DataFrame) -> Tables:
        value = pl.when(is_original).then(original["value"]).otherwise(reworded["value"])
        return replace(tables, scores=tables.scores.with_columns(value=value))

    return mixed(badly, well), mixed(well, badly)


def _losses(tables: Tables, metric: str) -> dict[Cell, _Losses]:
    scores = read_scores(tables, metric)
    return {
        asked.cell: _Losses(
            asked=asked,
            values={
                loss.variation: dict(loss.values)
                for loss in measure_losses(asked, metric, lambda reply: scores[reply.key])
                if loss.is_loss
            },
        )
        for asked in group_scores(tables, metric)
    }


def _is_uncertain(asked: Asked, filled: Asked, variation: str) -> bool:
    """Whether too many of the trials of a rewording failed, or of the original; those that nothing scores did not."""
    names = (ORIGINAL, variation)
    n_failed = np.array([count_failed(asked, name) - count_failed(filled, name) for name in names])
    n_scored = np.array([sum(reply.variation == name for reply in asked.every_reply()) for name in names])
    return bool(is_uncertain(n_failed, n_scored).any())
