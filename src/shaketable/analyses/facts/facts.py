"""Facts as analyses of factual robustness see them: one per system and question, with its scan and its curve."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from shaketable import catalog
from shaketable.errors import PartError, did_you_mean
from shaketable.facts.score import TOLERANCE, Rule, breaking_temperature, frs, is_broken
from shaketable.statistics.intervals import Numbers
from shaketable.types import Curve, Scan

Row = dict[str, Any]
PLACE = ("dataset", "model", "method", "retriever", "perturbation", "variation")
LABELS = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
"""Types of question; the metric `question_type` gives places in this list."""
TYPE_NAMES = {"number": "NUM", "place": "LOC", "person": "HUM", "entity": "ENTY"}
"""How the facts that ship call them."""
HOTTEST = 2.0
"""Where the study's grid ends; a fact that holds so far is unbroken."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One question to one system."""

    question_id: str
    dataset: str
    key: str | None
    """Of the record at temperature 0; None: there is none."""
    type: str | None
    """One of LABELS; None: not known."""
    is_known: bool | None
    """Whether the answer at temperature 0 was right; None: it has no score."""
    entropy: float | None
    margin: float | None
    n_tokens: float | None
    """These three of the answer at temperature 0."""
    is_scanned: bool = False
    """Whether the study's scan took it; a curve alone does not make a scan, unless the study samples nothing."""
    tried: frozenset[float] = frozenset()
    """Temperatures above 0 at which it was asked, failed answers included."""
    accuracies: Mapping[float, float] = field(default_factory=dict)
    """Share of correct answers at each of them that has an answer."""
    hottest: float | None = None
    """Of the study; None: it samples nothing above 0."""
    curve: Curve | None = None
    no_curve: str | None = None
    """Why a curve that was asked for could not be estimated."""


@dataclass(frozen=True, kw_only=True)
class Breaking:
    """How a breaking temperature is read off a scan."""

    rule: Rule = "first"
    threshold: float = 0.5
    inclusive: bool = False

    def capped(self, fact: Fact) -> float | None:
        """On the grid, or where nothing was sampled, of the curve; None: unbroken up to the end, or undecided."""
        if fact.tried:
            return breaking_temperature(
                fact.accuracies, rule=self.rule, threshold=self.threshold, inclusive=self.inclusive
            )
        found = self._on_curve(fact)
        return found if found is not None and found <= HOTTEST else None

    def undecided(self, fact: Fact) -> str | None:
        """Why it is known neither where the fact breaks nor that it holds up to the end; None: one of them is."""
        if self.capped(fact) is not None or fact.hottest in fact.accuracies:
            return None
        if fact.tried:
            return "the scan has not come to its end"
        if fact.curve is None:
            return fact.no_curve or "it has neither a scan nor a curve"
        if self._on_curve(fact) is not None or self._holds(fact.curve, HOTTEST):
            return None
        read_at = fact.curve.settings.get("threshold", self.threshold)
        if read_at != self.threshold:
            return f"its curve was read at the threshold {read_at}"
        return "the curve leaves open where it breaks"

    def is_decided(self, fact: Fact) -> bool:
        return self.undecided(fact) is None

    def is_unbroken(self, fact: Fact) -> bool | None:
        """Up to the end of the scan; None: undecided. That it breaks may be certain when it is not certain where."""
        if self.is_decided(fact):
            return self.capped(fact) is None
        surely = None if fact.tried or fact.curve is None else fact.curve.breaking_high
        return False if surely is not None and surely <= HOTTEST else None

    def uncapped(self, fact: Fact) -> float | None:
        """By the curve; its end, as a lower bound, for a fact that holds that long. None: the curve cannot say."""
        found = self._on_curve(fact)
        if found is None and fact.curve is not None and self.is_censored(fact):
            return fact.curve.temperatures[-1]
        return found

    def span(self, fact: Fact) -> tuple[float, float | None]:
        """Between which temperatures the curve breaks, by the interval of its estimate, or by its certain bounds where
        there is none, to the step of its grid; None: it may hold beyond its end."""
        curve = fact.curve
        if curve is None or not curve.temperatures:
            return 0.0, None
        lows = [low if value is None else value for low, value in zip(curve.low, curve.value_low, strict=True)]
        highs = [high if value is None else value for high, value in zip(curve.high, curve.value_high, strict=True)]
        before, at = (self._first_below(line) for line in (lows, highs))
        temperatures = (0.0, *curve.temperatures)
        least = max(temperatures[-1 if before is None else before], curve.breaking_low or 0.0)
        most = [t for t in (None if at is None else temperatures[at + 1], curve.breaking_high) if t is not None]
        found = curve.breaking
        return min(least, least if found is None else found), max(min(most), found or 0.0) if most else None

    def _first_below(self, line: Sequence[float]) -> int | None:
        broken = (is_broken(value, threshold=self.threshold, inclusive=self.inclusive) for value in line)
        return next((place for place, is_below in enumerate(broken) if is_below), None)

    def is_censored(self, fact: Fact) -> bool:
        """Whether the curve ends before the fact breaks."""
        curve = fact.curve
        return curve is not None and self._on_curve(fact) is None and self._holds(curve, math.inf)

    def _on_curve(self, fact: Fact) -> float | None:
        """Where the curve breaks; None: nowhere, or nobody knows, or it was read at another threshold than this."""
        if fact.curve is None or fact.curve.settings.get("threshold", self.threshold) != self.threshold:
            return None
        return fact.curve.breaking

    def _holds(self, curve: Curve, up_to: float) -> bool:
        """Whether a correct answer stays likely enough, by the certain bound or else by the estimate."""
        here = [place for place, t in enumerate(curve.temperatures) if t <= up_to + TOLERANCE]
        least = [max(curve.low[place], curve.value[place] or 0.0) for place in here]
        return bool(least) and not any(
            is_broken(value, threshold=self.threshold, inclusive=self.inclusive) for value in least
        )

    def score(self, fact: Fact, d: float, *, is_capped: bool = True) -> float | None:
        """The fact's score; None without entropy or an end of the scan, and uncapped without a curve that can say."""
        if fact.entropy is None:
            return None
        if is_capped:
            return frs(fact.entropy, self.capped(fact), d) if self.is_decided(fact) else None
        breaking = self.uncapped(fact)
        return None if breaking is None else frs(fact.entropy, breaking, d)

    def score_span(self, fact: Fact, d: float) -> tuple[float, float] | None:
        """The uncapped score at both ends of where the curve breaks: it only rises with the breaking temperature."""
        if fact.entropy is None or self.uncapped(fact) is None:
            return None
        low, high = self.span(fact)
        return frs(fact.entropy, low, d), frs(fact.entropy, high, d)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What one system was asked of one dataset, or of all."""

    system: str
    """The model, and whatever else of the pipeline differs within the table; not the dataset."""
    place: Mapping[str, str | None]
    """Dataset (None: several, pooled), model, method, retriever, perturbation, variation."""
    asked: tuple[Fact, ...]
    """By question id, ascending."""

    @property
    def known(self) -> tuple[Fact, ...]:
        """Right at temperature 0, and scanned."""
        return tuple(fact for fact in self.asked if fact.is_known and fact.is_scanned)

    def row(self, analysis: str, *, metric: str, unit: str, **more: Any) -> Row:
        """A row of a finding; more takes value, low, high, n and what the analysis adds."""
        return {
            "analysis": analysis,
            "system": self.system,
            "metric": metric,
            **self.place,
            "temperature": None,
            "type": None,
            "unit": unit,
        } | more


def settled(
    scan: Scan | None, *, known: str | None = None, correct: str | None = None, threshold: float | None = None
) -> Scan:
    """The study's scan, save where an analysis was told otherwise; None: the defaults of a scan.

    A `known` of '' takes all questions, as in a study; which of them are known, `correct` then tells.
    """
    told = {"known": known, "correct": correct, "threshold": threshold}
    return replace(scan or Scan(), **{name: value for name, value in told.items() if value is not None})  # type: ignore[arg-type]


def judges(scan: Scan) -> tuple[str, str]:
    """The names of the metrics that tell which facts are known and which answers are correct, as scores have them."""
    return catalog.parse(scan.known or scan.correct)[0], catalog.parse(scan.correct)[0]


def facts_of(table: pl.DataFrame, curves: Sequence[Curve], scan: Scan) -> list[Facts]:
    """One for each system and dataset, in a fixed order; the scan says which metrics judge."""
    if not len(table):
        return []
    known, correct = judges(scan)
    _check(table, known, correct)
    varying = [name for name in PLACE if name not in ("dataset", "model") and table[name].drop_nulls().n_unique() > 1]
    table = table.with_columns(system=pl.concat_str("model", *varying, separator=" · ", ignore_nulls=True))
    cold = _cold(table)
    hot = _hot(table, correct)
    tried = _tried(table)
    hottest = max((temperature for temperatures in tried.values() for temperature in temperatures), default=None)
    curve_of = {curve.key: curve for curve in curves}
    asked: dict[tuple[Any, ...], list[Fact]] = {}
    places = table.select("system", *PLACE, "question_id", "type").unique().sort("system", *PLACE, "question_id")
    for row in places.iter_rows():
        place, question_id, given_type = row[:-2], row[-2], row[-1]
        found = cold.get((*place, question_id), {})
        right = found.get(known)
        above = tried.get((*place, question_id), frozenset())
        curve = curve_of.get(found.get("key", ""))
        asked.setdefault(place, []).append(
            Fact(
                question_id=question_id,
                dataset=place[1],
                key=found.get("key"),
                type=_type(given_type, found.get("question_type")),
                is_known=None if right is None else right == 1,
                entropy=found.get("entropy"),
                margin=found.get("margin"),
                n_tokens=found.get("answer_tokens"),
                is_scanned=bool(above) or (scan.strategy == "none" and curve is not None),
                tried=above,
                accuracies=hot.get((*place, question_id), {}),
                hottest=hottest,
                curve=curve if curve is not None and curve.reason is None else None,
                no_curve=None if curve is None else curve.reason,
            )
        )
    return [
        Facts(system=place[0], place=dict(zip(PLACE, place[1:], strict=True)), asked=tuple(facts))
        for place, facts in asked.items()
    ]


def pooled(every: Sequence[Facts]) -> list[Facts]:
    """One for each system over all its datasets, under the name of the dataset where there is only one."""
    systems: dict[str, list[Facts]] = {}
    for one in every:
        systems.setdefault(one.system, []).append(one)
    return [
        of_system[0]
        if len(of_system) == 1
        else replace(
            of_system[0],
            place={**of_system[0].place, "dataset": None},
            asked=tuple(fact for one in of_system for fact in one.asked),
        )
        for of_system in systems.values()
    ]


def each_and_pooled(every: Sequence[Facts]) -> Iterator[Facts]:
    """Each system on each dataset, and then on all where there are several."""
    yield from every
    yield from (one for one in pooled(every) if one.place["dataset"] is None)


def ids(facts: Iterable[Fact]) -> list[str]:
    """Names that stay different when datasets are pooled."""
    return [f"{fact.dataset}/{fact.question_id}" for fact in facts]


def numbers(values: Iterable[float | None]) -> Numbers:
    """NaN where there is none."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def share(is_true: bool | None) -> float | None:
    return None if is_true is None else float(is_true)


def pooled_rows(rows: Sequence[Row]) -> list[Row]:
    """Those over all datasets of a system, or over its only one."""
    of_all = {row["system"] for row in rows if row["dataset"] is None}
    return [row for row in rows if row["dataset"] is None or row["system"] not in of_all]


def _check(table: pl.DataFrame, known: str, correct: str) -> None:
    names = sorted(table["metric"].unique())
    for setting, metric in (("known", known), ("correct", correct)):
        if metric not in names:
            raise PartError(
                f"{setting} is '{metric}', which these scores do not have.{did_you_mean(metric, names)} "
                f"Scored metrics: {', '.join(names)}."
            )
    highest = table.filter(metric="entropy")["value"].max()
    if isinstance(highest, float) and highest > 1 + 1e-9:
        raise PartError(
            f"entropy reaches {highest:.3g}, but the robustness score takes 0 to 1. "
            "Score entropy with base='10' and n_top=10."
        )


def _cold(table: pl.DataFrame) -> dict[tuple[Any, ...], Row]:
    """The scores of the first record at temperature 0, by system, place and question."""
    where = ("system", *PLACE, "question_id")
    wanted = table.filter(temperature=0.0).sort("repeat")
    found: dict[tuple[Any, ...], Row] = {}
    for *place, key, metric, value in wanted.select(*where, "key", "metric", "value").iter_rows():
        scores = found.setdefault(tuple(place), {"key": key})
        if scores["key"] == key:
            scores[metric] = value
    return found


def _hot(table: pl.DataFrame, correct: str) -> dict[tuple[Any, ...], dict[float, float]]:
    where = ("system", *PLACE, "question_id")
    scored = table.filter((pl.col("temperature") > 0) & (pl.col("metric") == correct) & pl.col("value").is_not_null())
    shares = scored.group_by(*where, "temperature").agg(share=pl.col("value").mean()).sort("temperature")
    found: dict[tuple[Any, ...], dict[float, float]] = {}
    for *place, temperature, mean in shares.select(*where, "temperature", "share").iter_rows():
        found.setdefault(tuple(place), {})[temperature] = mean
    return found


def _tried(table: pl.DataFrame) -> dict[tuple[Any, ...], frozenset[float]]:
    """Temperatures above 0 at which each question was asked, by system, place and question."""
    where = ("system", *PLACE, "question_id")
    asked = table.filter(pl.col("temperature") > 0).group_by(*where).agg(pl.col("temperature").unique())
    return {tuple(place): frozenset(temperatures) for *place, temperatures in asked.iter_rows()}


def _type(given: str | None, predicted: float | None) -> str | None:
    """What the dataset names goes before what a classifier predicts; a tag such as `bridge` names no type."""
    name = TYPE_NAMES.get(given or "", given)
    if name in LABELS:
        return name
    return None if predicted is None else LABELS[int(predicted)]
