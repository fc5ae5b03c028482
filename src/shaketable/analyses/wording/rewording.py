"""What analyses of rewording share: the answers to all wordings of a question, paired with those to the original."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

from shaketable.report.old_words import named, said
from shaketable.statistics.intervals import agreed, known, mean_estimates
from shaketable.statistics.significance import add_holm, signed_rank
from shaketable.types import NOTHING, OldFinding

Row = dict[str, Any]
PLACE = ("dataset", "model", "method", "retriever", "perturbation", "temperature")
ORIGINAL = "original"
POOLED = "all datasets"
ANSWERED = "_answered"
"""How the name of a metric ends among trials whose answer is not empty."""
PEOPLE = ("rewrites", "human")
"""Names of variations that people wrote."""
NO_RECORDS = "the answers were not given; analyze the run, or give its records()"
NO_VALUE = "no question has a value"
NO_ORIGINAL = "the original wording was not asked; add original to the variations"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What one system answered to the wordings of one dataset's questions."""

    system: str
    """The model, and whatever else of the pipeline differs within the run; not the dataset."""
    place: Mapping[str, Any]
    answers: Mapping[str, Sequence[Row]]
    """By question id: a row for each finished trial, with question_id, variation, wording, repeat and more."""
    n_failed: Mapping[str, int]
    """By variation: trials that failed. They are in no number."""

    @property
    def variations(self) -> list[str]:
        """The original first, the others by name."""
        found = {row["variation"] for rows in self.answers.values() for row in rows} | set(self.n_failed)
        return sorted(found, key=lambda name: (name != ORIGINAL, name))

    @property
    def reworded(self) -> list[str]:
        return [name for name in self.variations if name != ORIGINAL]

    @property
    def searches(self) -> bool:
        """Whether it can search, or did."""
        searched = any(row["n_searches"] for rows in self.answers.values() for row in rows)
        return self.place["retriever"] is not None or searched

    def means(self, number: Callable[[Row], float | None]) -> dict[str, dict[str, float]]:
        """Variation → question → mean of a number over its wordings and runs."""
        return self._averaged(
            (row["variation"], question, number(row)) for question, rows in self.answers.items() for row in rows
        )

    def paired(self, number: Callable[[Row, Row], float | None]) -> dict[str, dict[str, float]]:
        """Variation → question → mean of a number of original and reworded over wordings and runs."""
        return self._averaged(
            (reworded["variation"], original["question_id"], number(original, reworded))
            for original, reworded in self.pairs()
        )

    def pairs(self) -> Iterator[tuple[Row, Row]]:
        """Each reworded trial with the trial of the original wording of the same run."""
        for rows in self.answers.values():
            originals = {row["repeat"]: row for row in rows if row["variation"] == ORIGINAL}
            for row in rows:
                if row["variation"] != ORIGINAL and row["repeat"] in originals:
                    yield originals[row["repeat"]], row

    def sets(self, *, with_people: bool = True) -> Iterator[tuple[str, list[Row]]]:
        """Each question with the trials of one run to two wordings or more, the original among them."""
        for question, rows in self.answers.items():
            runs: dict[int, list[Row]] = {}
            for row in rows:
                if with_people or not by_people(row["variation"]):
                    runs.setdefault(row["repeat"], []).append(row)
            for run in runs.values():
                if len(run) > 1 and any(row["variation"] == ORIGINAL for row in run):
                    yield question, run

    def over_sets(self, number: Callable[[list[Row]], float | None], *, with_people: bool = True) -> dict[str, float]:
        """Question → mean over runs of a number of all its wordings together."""
        found = ((None, question, number(run)) for question, run in self.sets(with_people=with_people))
        return self._averaged(found).get(None, {})

    def kinds_of_sets(self) -> list[tuple[str, bool]]:
        """All wordings, and those that no person wrote where there are both, as the study tells them apart."""
        people = [by_people(variation) for variation in self.reworded]
        return [("all wordings", True)] + (
            [("without rewrites by people", False)] if 0 < sum(people) < len(people) else []
        )

    @staticmethod
    def _averaged(found: Iterable[tuple[Any, str, float | None]]) -> dict[Any, dict[str, float]]:
        grouped: dict[Any, dict[str, list[float]]] = {}
        for variation, question, value in found:
            if value is not None:
                grouped.setdefault(variation, {}).setdefault(question, []).append(value)
        # fsum, so that the order of the records does not change the last bit.
        return {
            variation: {question: math.fsum(values) / len(values) for question, values in by_question.items()}
            for variation, by_question in grouped.items()
        }


@dataclass(frozen=True, kw_only=True)
class Number:
    """One number of one variation, before it is averaged over questions."""

    metric: str
    variation: str | None
    """None: of all wordings together."""
    values: Mapping[str, float]
    """By question id."""
    unit: str = "score"
    contrast: str | None = None
    """`original - X`: a difference, tested against none."""
    reason: str | None = None
    """Why there are no values."""
    is_difference: bool = False
    """It may be negative."""
    more: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


def by_people(variation: str) -> bool:
    return variation.partition("(")[0] in PEOPLE


def told_variation(variation: str) -> str:
    """How a sentence names a variation; the file of rewrites is no part of the name."""
    return "rewriting by people" if by_people(variation) else named(variation)


def asked_of(records: pl.DataFrame, **numbers: Mapping[str, float | None]) -> list[Asked]:
    """One for each system and dataset, in a fixed order, then one for each system on all its datasets together.

    Each of the numbers, by key, becomes a column.
    """
    varying = [name for name in ("method", "retriever", "perturbation") if records[name].drop_nulls().n_unique() > 1]
    frame = records.with_columns(system=pl.concat_str("model", *varying, separator=" · ", ignore_nulls=True))
    grouped: dict[tuple[Any, ...], dict[str, list[Row]]] = {}
    failed: dict[tuple[Any, ...], dict[str, int]] = {}
    for row in frame.sort("question_id", "variation", "wording", "repeat", "key").iter_rows(named=True):
        place = (row["system"], *(row[name] for name in PLACE))
        answers = grouped.setdefault(place, {})
        if row["answer"] is None:
            counts = failed.setdefault(place, {})
            counts[row["variation"]] = counts.get(row["variation"], 0) + 1
        else:
            given = {name: values.get(row["key"]) for name, values in numbers.items()}
            answers.setdefault(row["question_id"], []).append(row | given)
    every = [
        Asked(
            system=place[0],
            place=dict(zip(PLACE, place[1:], strict=True)),
            answers=grouped[place],
            n_failed=failed.get(place, {}),
        )
        for place in sorted(grouped, key=lambda place: [(part is not None, part) for part in place])
    ]
    return every + _pooled(every)


def _pooled(every: Sequence[Asked]) -> list[Asked]:
    """Each system that was asked of several datasets, on all of them: every question counts once."""
    together: dict[tuple[Any, ...], list[Asked]] = {}
    for one in every:
        together.setdefault((one.system, *({**one.place, "dataset": POOLED}.values())), []).append(one)
    return [
        Asked(
            system=place[0],
            place=dict(zip(PLACE, place[1:], strict=True)),
            # Two datasets may use the same id.
            answers={
                (own := f"{one.place['dataset']}: {question}"): [{**row, "question_id": own} for row in rows]
                for one in parts
                for question, rows in one.answers.items()
            },
            n_failed=sum((Counter(one.n_failed) for one in parts), Counter()),
        )
        for place, parts in together.items()
        if len(parts) > 1
    ]


def scores_of(table: pl.DataFrame, metric: str) -> dict[str, float | None]:
    """Key → value of one metric."""
    return dict(table.filter(pl.col("metric") == metric).select("key", "value").iter_rows())


def differences(asked: Asked, metric: str, number: Callable[[Row], float | None], unit: str = "score") -> list[Number]:
    """The mean of a number for each variation, and what it loses against the original, paired by question."""

    def difference(original: Row, reworded: Row) -> float | None:
        before, after = number(original), number(reworded)
        return None if before is None or after is None else before - after

    means, lost = asked.means(number), asked.paired(difference)
    numbers = [
        Number(metric=metric, variation=variation, values=means.get(variation, {}), unit=unit)
        for variation in asked.variations
    ]
    return numbers + [
        Number(
            metric=metric,
            variation=variation,
            values=lost.get(variation, {}),
            unit=unit,
            contrast=f"{ORIGINAL} - {variation}",
            is_difference=True,
        )
        for variation in asked.reworded
    ]


def number_rows(
    analysis: str, asked: Asked, numbers: Sequence[Number], *, confidence: float, n_resamples: int
) -> list[Row]:
    """The numbers averaged over questions, with intervals; differences with their p, by Holm over the variations."""
    if not numbers:
        return []
    questions = sorted({question for number in numbers for question in number.values})
    values = np.array(
        [[number.values.get(question, np.nan) for question in questions] for number in numbers], dtype=np.float64
    )
    estimates, counts = mean_estimates(
        values.reshape(len(numbers), len(questions)),
        questions,
        confidence=confidence,
        n_resamples=n_resamples,
        is_share=np.array([number.unit == "share" and not number.is_difference for number in numbers]),
    )
    nothing = NO_VALUE if ORIGINAL in asked.variations else NO_ORIGINAL
    rows = [
        place_row(
            analysis,
            asked,
            metric=number.metric,
            variation=number.variation,
            contrast=number.contrast,
            **known(estimate),
            n=int(n),
            unit=number.unit,
            reason=None if n else number.reason or nothing,
            p=_p(np.array(list(number.values.values()))) if number.contrast and n else None,
            **number.more,
        )
        for number, estimate, n in zip(numbers, estimates, counts, strict=True)
    ]
    for metric in {row["metric"] for row in rows}:
        add_holm([row for row in rows if row["metric"] == metric])
    return rows


def place_row(analysis: str, asked: Asked, *, variation: str | None, **more: Any) -> Row:
    """A row of a finding, with the trials that failed behind it."""
    n_failed = asked.n_failed.get(variation, 0) if variation else sum(asked.n_failed.values())
    return {
        "analysis": analysis,
        "system": asked.system,
        **asked.place,
        "type": None,
        "variation": variation,
        "contrast": None,
        **more,
        "n_missing": n_failed,
        "headline": None,
        "sentence": None,
        "detail": None,
    }


def nothing_row(analysis: str, reason: str) -> Row:
    """What stands for a finding that cannot be made."""
    nobody = Asked(system="", place=dict.fromkeys(PLACE), answers={}, n_failed={})
    return place_row(
        analysis,
        nobody,
        variation=None,
        metric=None,
        value=None,
        low=None,
        high=None,
        n=0,
        unit="score",
        reason=reason,
        p=None,
        p_holm=None,
    )


def finding_of(
    analysis: str,
    question: str,
    rows: Sequence[Row],
    caveats: Sequence[str],
    *,
    confidence: float,
    n_resamples: int,
    first: Literal["least", "most"] | None = None,
    **settings: Any,
) -> OldFinding:
    """`first`: which value of those that a sentence tells of the same thing is the most worth reading."""
    told = [row for row in rows if row["sentence"]]
    if first:
        kinds = list(dict.fromkeys(row["headline"] for row in told))
        sign = 1 if first == "least" else -1
        told.sort(key=lambda row: (kinds.index(row["headline"]), sign * row["value"]))
    shown = [row for row in rows if row["metric"] is not None]
    how = f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the questions."
    return OldFinding(
        analysis=analysis,
        question=question,
        rows=tuple(rows),
        sentences=tuple(map(said, told)),
        caveats=(how, *agreed(shown), *caveats) if shown else (),
        settings={**settings, "confidence": confidence, "n_resamples": n_resamples},
    )


def tell(row: Row, headline: str, sentence: str, detail: str | None = None) -> None:
    row.update(headline=headline, sentence=sentence, detail=detail)


def where(row: Row) -> str:
    """The system and its dataset, and the temperature where it is not 0, as sentences name them."""
    at = f" at temperature {row['temperature']:g}" if row["temperature"] else ""
    return f"{row['system']} on {row['dataset']}{at}"


def _p(differences: np.ndarray[Any, Any]) -> float:
    """Two-sided, from Wilcoxon's signed ranks."""
    return min(1.0, 2 * min(signed_rank(differences)[1], signed_rank(-differences)[1]))
