"""First results of a run that is going on."""

from __future__ import annotations

from dataclasses import dataclass

from shaketable import catalog
from shaketable.factors import judges, numbers_of, short_names
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
    names = short_names(record.trial.model for record in records)
    for record, (score,) in zip(records, marks, strict=True):
        trial = record.trial
        if score.value is not None:
            system = " · ".join(part for part in (names[trial.model], trial.method, trial.retriever) if part)
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
