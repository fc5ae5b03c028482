"""Scores → findings."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from shaketable import catalog
from shaketable.analyses.evidence.flagged import as_asked, left_out, without_flagged
from shaketable.stages import score
from shaketable.stages.heat_check import at_one_temperature, curves_that_count, not_applied
from shaketable.store import Run
from shaketable.types import Finding, Scan

TOLD_TWICE = (
    *("degradation", "equivalence", "ranking", "dominance", "amplification", "variability", "guidelines"),
    *("variance_shares", "context_reliance"),
)
"""Analyses of evidence that are asked again without flagged evidence; `correctness` tells both side by side."""


def analyze(
    run: Run, analyses: Sequence[str] | None = None, progress: Callable[[str], None] = lambda name: None
) -> list[Finding]:
    """Ask every question of the study of its score table, and keep the findings with the run."""
    source = run.findings_source(analyses)
    findings = findings_of(run, analyses or run.study.analyses, progress)
    run.write_findings(findings, source=source, analyses=analyses)
    return findings


def make_current(run: Run, progress: Callable[[str], None] = lambda name: None) -> None:
    """Score and analyze again what has changed since the findings were made."""
    score.make_current(run, lambda name: progress(f"scoring {name}"))
    if not run.has_current_findings():
        analyze(run, run.asked_analyses(), lambda name: progress(f"analyzing {name}"))


def findings_of(
    run: Run, analyses: Sequence[str], progress: Callable[[str], None] = lambda name: None
) -> list[Finding]:
    flat = not_applied(run)
    table = at_one_temperature(run.score_table(), flat)
    records = functools.cache(lambda: at_one_temperature(run.records(), flat))

    def of_records(rows: pl.DataFrame) -> pl.DataFrame:
        return rows.join(records().select("key"), on="key", how="semi", maintain_order="left") if flat else rows

    main, undone, unflagged = run.main_metric(), left_out(table), without_flagged(table)
    given: dict[str, Callable[[], Any]] = {
        "metric": lambda: main,
        "correct": run.judging_metric,
        "margin": lambda: run.study.margin,
        "not_applied": lambda: tuple(flat),
        "curves": functools.cache(lambda: curves_that_count(run, flat)),
        "records": records,
        "searches": functools.cache(lambda: of_records(run.searches())),
        "calls": functools.cache(lambda: of_records(run.calls())),
        "verdicts": functools.cache(run.verdicts),
        # What the study says of its scan holds for every analysis that is not told otherwise.
        "scan": lambda: run.study.scan or Scan(),
        "repeats": lambda: run.study.repeats,
    }
    findings = []
    for text in analyses:
        progress(text)
        ask = catalog.bind("analysis", text, "analyze.analyses")
        # What an analysis takes beside the table is read when it is first asked for.
        taken = {name: give() for name, give in given.items() if name in inspect.signature(ask).parameters}
        taken = {name: value for name, value in taken.items() if value is not None}
        if "scan" in taken:
            taken.pop("correct", None)  # The scan says what is correct.
        if ask.keywords.get("metric", main) != main:
            taken.pop("margin", None)  # It was given for another number.
        ask = functools.partial(ask, **{**taken, **ask.keywords})
        findings.append(_marked(ask(table), flat, undone))
        if unflagged is not None and catalog.parse(text)[0] in TOLD_TWICE:
            findings.append(as_asked(_marked(ask(unflagged), flat, {})))
    return findings


def _marked(finding: Finding, flat: Mapping[tuple[str, str], str], undone: Mapping[str, str]) -> Finding:
    """A finding with a caveat for each system that temperature did not reach, and each disturbance not done."""
    told = {str(row.get("perturbation")) for row in finding.rows}
    caveats = [
        f"Temperature was not applied by {model} · {method}: {reason}. It counts at its coolest temperature alone, "
        "and nothing is said of its temperatures."
        for (model, method), reason in flat.items()
    ]
    return dataclasses.replace(
        finding, caveats=(*caveats, *(undone[name] for name in undone if name in told), *finding.caveats)
    )
