"""What does rewording a question cost in correct answers?"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace

import polars as pl

from shaketable.analyses.claims import Claim
from shaketable.analyses.conditions import units_of
from shaketable.analyses.grids import chosen_metrics
from shaketable.analyses.tables import Tables
from shaketable.analyses.wording.answers import group_scores, read_scores
from shaketable.analyses.wording.asked import Asked
from shaketable.analyses.wording.candidates import claim_differences, spoken_of
from shaketable.analyses.wording.failed_wordings import bound_losses
from shaketable.analyses.wording.measurements import Measurement, measure_losses
from shaketable.analyses.wording.numbers import WordingNumber, estimate_numbers
from shaketable.types import Unit


@dataclass(frozen=True, kw_only=True, slots=True)
class WordingAccuracy:
    """What does rewording a question cost in correct answers?"""

    metrics: tuple[str, ...]
    """The first is the one that is spoken of."""
    numbers: tuple[WordingNumber, ...]
    """The mean score of each variation, and its loss against the original."""

    @property
    def losses(self) -> list[WordingNumber]:
        """Those that are spoken of: of the first metric, whether or not an answer is empty."""
        return spoken_of(
            number
            for number in self.numbers
            if number.is_loss and not number.answered_only and number.metric in self.metrics[:1]
        )

    def claims(self) -> Iterable[Claim]:
        """What each rewording takes away, or adds."""
        return claim_differences(self.losses, "wording", is_main=True)


def wording_accuracy(
    tables: Tables, *, metric: str | None = None, metrics: tuple[str, ...] | None = None
) -> WordingAccuracy:
    """The mean score of each variation, and what it costs against the original wording, paired by question.

    Losses are original minus reworded, tested by flipping the signs of questions: of one run, McNemar's exact test.
    InAccuracy of the study is `contains(match='token')`. Several rewrites of a question are averaged. `metrics` of
    None are all numbers of which more is better; sentences speak of `metric`, the main one. Where a system leaves
    answers empty, which count as wrong, the same is told among the others.
    """
    empty = _empty_answers(tables)
    main = tables.metric(metric if metrics is None else metrics[0])
    others = (name for name in chosen_metrics(tables.score_reader, "all") if name != main)
    shown = metrics or (*filter(None, [main]), *others)
    unit_of = units_of(map(tables.of_metric, shown))
    numbers = []
    for name in shown:
        scores = read_scores(tables, name)
        for asked in group_scores(tables, name):
            measurements = _measure(asked, name, unit_of[name], scores, empty)
            numbers += estimate_numbers(asked, measurements, tables.bootstrap, tells_most=name == shown[0])
    return WordingAccuracy(metrics=shown, numbers=tuple(bound_losses(numbers, tables, shown[0]) if shown else numbers))


def _measure(
    asked: Asked, metric: str, unit: Unit, scores: Mapping[str, float | None], empty: Container[str]
) -> list[Measurement]:
    measurements = measure_losses(asked, metric, lambda reply: scores[reply.key], unit)
    if any(reply.key in empty for reply in asked.every_reply()):
        alone = measure_losses(asked, metric, lambda reply: None if reply.key in empty else scores[reply.key], unit)
        measurements += [replace(measurement, answered_only=True) for measurement in alone]
    return measurements


def _empty_answers(tables: Tables) -> frozenset[str]:
    """The keys of trials whose answer has no word."""
    if tables.records.is_empty():
        return frozenset()
    return frozenset(tables.records.filter(pl.col("answer").str.strip_chars() == "")["key"])
