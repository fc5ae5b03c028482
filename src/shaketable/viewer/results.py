"""First results of a run that is going on, and the results of several runs side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shaketable import catalog
from shaketable.analyses.evidence.correctness import Correctness, Level
from shaketable.factors import Cell, Labels, given_names, judges, numbers_of
from shaketable.report.words import name_evidence
from shaketable.store import RecordStore, Run
from shaketable.types import Estimate
from shaketable.viewer.first_questions import N_FIRST, first_questions

ROUNDING = 12
"""Decimals kept of an interval: a bound at 0 may come as 7e-16."""
CHEAP = ("correct", "contains", "exact_match", "token_f1", "refusal", "terse")
"""Metrics that need neither weights, nor a model, nor references that a model writes."""


@dataclass(frozen=True, kw_only=True)
class First:
    """The share of right answers among the first records, by condition."""

    metric: str
    """The metric that judged them."""
    words: str
    """Which questions they are of; empty: all."""
    n: int
    temperatures: list[float]
    lines: list[tuple[str, str, list[Estimate | None]]]
    """System, evidence, and a share for each temperature; None: nothing yet."""


def first_results(run: Run) -> First | None:
    """None while no answer can be told right or wrong."""
    with RecordStore(run.records_path, read_only=True) as store:
        questions = {question.id: question for question in store.questions()}
        first = first_questions(store, N_FIRST)
        records = list(store.records(first_questions=first.n, with_trace=False))
    cheap = [text for text in run.study.metrics if catalog.parse(text)[0] in CHEAP and judges(*numbers_of([text])[:1])]
    metric = next(iter(cheap), CHEAP[0])
    marks = catalog.build("metric", metric).score(records, questions)
    counted: dict[tuple[str, str], dict[float, list[float]]] = {}
    for record, (score,) in zip(records, marks, strict=True):
        trial = record.trial
        if score.value is not None:
            system = " · ".join(part for part in (trial.model, trial.method, trial.retriever) if part)
            line = counted.setdefault((system, trial.perturbation or "no_evidence"), {})
            line.setdefault(trial.temperature, []).append(score.value)
    if not counted:
        return None
    temperatures = sorted({temperature for line in counted.values() for temperature in line})
    lines = [
        (system, evidence, [_share(line[temperature]) if temperature in line else None for temperature in temperatures])
        for (system, evidence), line in sorted(counted.items(), key=lambda line: _untouched_first(*line[0]))
    ]
    return First(metric=metric, words=first.words, n=len(records), temperatures=temperatures, lines=lines)


def _share(values: list[float]) -> Estimate:
    from scipy.stats import binomtest

    n, right = len(values), int(sum(values))
    ends = binomtest(right, n).proportion_ci(confidence_level=0.95, method="wilson")
    low, high = (round(float(end), ROUNDING) for end in ends)
    return Estimate(value=right / n, low=low, high=high, level=0.95, n=n, how="Wilson", unit="share")


def _untouched_first(system: str, evidence: str) -> tuple[str, bool, str]:
    return system, evidence != "unchanged", evidence


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One condition in several runs."""

    system: str
    evidence: str
    variation: str
    temperature: float
    numbers: list[Estimate | None]
    """One for each run; None: not in it."""


@dataclass(frozen=True, kw_only=True)
class SideBySide:
    metric: str
    metrics: list[str]
    lines: list[Line]


def side_by_side(runs: Mapping[str, Run], metric: str | None) -> SideBySide | None:
    """What the analysis `correctness` gave in each run, condition by condition; None: no run was analyzed."""
    levels = {name: _levels(run) for name, run in runs.items()}
    metrics = list(dict.fromkeys(level.metric for of_run in levels.values() for level in of_run))
    if not metrics:
        return None
    chosen = metric if metric in metrics else str(next(iter(runs.values())).main_metric(metrics))
    cells: dict[Cell, dict[str, Estimate]] = {}
    for name, of_run in levels.items():
        for level in of_run:
            if level.metric == chosen:
                cells.setdefault(level.cell, {})[name] = level.mean
    labels = Labels.of_cells(cells, [name for run in runs.values() for name in given_names(run.study)])
    lines = [
        Line(
            system=labels.name(cell, "dataset"),
            evidence=name_evidence(cell.perturbation),
            variation=cell.variation or "",
            temperature=cell.temperature or 0.0,
            numbers=[numbers.get(name) for name in runs],
        )
        for cell, numbers in sorted(cells.items(), key=lambda pair: _order(pair[0], labels))
    ]
    return SideBySide(metric=chosen, metrics=metrics, lines=lines)


def _order(cell: Cell, labels: Labels) -> tuple[str, bool, str, str, float]:
    """Systems by name, each with undisturbed evidence first."""
    evidence = cell.perturbation or ""
    return labels.name(cell, "dataset"), not cell.is_undisturbed, evidence, cell.variation or "", cell.temperature or 0


def _levels(run: Run) -> list[Level]:
    """Of all questions together."""
    with run.reading() as fresh:
        findings = fresh.findings().findings if fresh.has_current_findings() else ()
    results = [finding.result for finding in findings if isinstance(finding.result, Correctness)]
    return [level for result in results for level in result.levels if level.cell.group is None]
