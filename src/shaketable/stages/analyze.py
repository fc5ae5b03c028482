"""Scores → findings."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

import polars as pl

from shaketable import catalog
from shaketable.analyses.evidence.flagged import left_out
from shaketable.analyses.evidence.undone import find_undone, without_verdicts
from shaketable.analyses.floors import find_floors, find_nothing_to_lose
from shaketable.analyses.tables import Tables
from shaketable.factors import given_names
from shaketable.protocols import EvidenceResult
from shaketable.stages import score
from shaketable.stages.heat_check import (
    at_coolest,
    at_one_temperature,
    curves_that_count,
    never_differed,
    not_applied,
)
from shaketable.statistics.intervals import Bootstrap
from shaketable.store import Run
from shaketable.store.findings_file import check_result
from shaketable.types import Finding, Findings, NotApplied, Scan

MOST_TRIES = 3
"""To find scores with their baselines, while other processes score the run too."""


def analyze(
    run: Run, analyses: Sequence[str] | None = None, progress: Callable[[str], None] = lambda name: None
) -> Findings:
    """Ask every question of the study of its score table, and keep the findings with the run.

    >>> import shaketable
    >>> study = shaketable.make_study("rehearsal", models="scripted(replies=('Paris',))", limit=2, metrics="contains")
    >>> findings = shaketable.analyze(shaketable.run(study, "runs/analyzed"), ["correctness"])
    >>> [finding.analysis for finding in findings.findings]
    ['correctness']
    """
    with run.holding_scores():
        source = run.findings_source(analyses)
        findings = findings_of(run, analyses or run.study.analyses, progress)
    if not _is_outrun(run, source, analyses):
        run.write_findings(findings, source=source, analyses=analyses)
    return findings


def _is_outrun(run: Run, source: str, analyses: Sequence[str] | None) -> bool:
    """Whether other scores stand now than those that were analyzed, and another process has analyzed them already."""
    with run.reading() as now:
        return now.findings_source(analyses) != source and now.has_current_findings()


def make_current(run: Run, progress: Callable[[str], None] = lambda name: None) -> None:
    """Score and analyze again what has changed since the findings were made."""
    with holding_findings(run, progress):
        pass


@contextlib.contextmanager
def holding_findings(run: Run, progress: Callable[[str], None] = lambda name: None) -> Iterator[Findings]:
    """The findings, made anew where they are out of date, with the scores that they are of."""
    with holding_scores(run, lambda name: progress(f"scoring {name}")):
        findings = run.current_findings()
        if findings is None:
            findings = analyze(run, run.asked_analyses(), lambda name: progress(f"analyzing {name}"))
        yield findings


@contextlib.contextmanager
def holding_scores(run: Run, progress: Callable[[str], None] = lambda name: None) -> Iterator[None]:
    """Scores that are those of the records, made anew where they are not: they are read until the end, also if other
    processes score the run otherwise meanwhile."""
    for n_left in reversed(range(MOST_TRIES)):
        score.make_current(run, progress)
        with run.holding_scores():
            if run.has_baselines() or not n_left:
                yield
                return


def findings_of(run: Run, analyses: Sequence[str], progress: Callable[[str], None] = lambda name: None) -> Findings:
    """An analysis that fails leaves a finding that says so; those of the others are kept."""
    asked = [(text, catalog.bind("analysis", text, "analyze.analyses")) for text in analyses]
    tables = tables_of(run)
    done_as_asked = tables.done_as_asked()
    findings = []
    for text, analysis in asked:
        progress(text)
        finding = _ask(text, analysis, tables)
        findings.append(finding)
        result = finding.result
        if done_as_asked is not None and isinstance(result, EvidenceResult) and result.tells_of_evidence:
            findings.append(replace(_ask(text, analysis, done_as_asked), is_as_asked=True))
    return Findings(
        findings=tuple(findings),
        main_metric=tables.metric(),
        judging_metric=tables.judging_metric(),
        confidence=tables.bootstrap.confidence,
        n_resamples=tables.bootstrap.n_resamples,
        not_applied=tables.not_applied,
        not_varied=run.not_varied(),
        left_out=left_out(tables),
        undone=tables.undone,
        nothing_to_lose=find_nothing_to_lose(tables),
        floors=find_floors(tables),
    )


def tables_of(run: Run) -> Tables:
    """What analyses read of a run; systems that temperature did not reach are in all tables at their coolest alone."""
    with run.holding_scores():
        return _read_tables(run)


def _read_tables(run: Run) -> Tables:
    flat = not_applied(run)
    constant = never_differed(run, flat)
    records = functools.cache(lambda: at_one_temperature(run.records(), flat))

    def of_records(rows: pl.DataFrame) -> pl.DataFrame:
        return rows.join(records().select("key"), on="key", how="semi", maintain_order="left") if flat else rows

    scores = at_coolest(run.score_tables(), flat)
    undone = find_undone(scores)
    run.score_tables().forget_factors()  # Another run may be read before this one is read again.
    return Tables(
        scores=without_verdicts(scores, undone),
        undone=undone,
        read_records=records,
        read_record_columns=functools.partial(_record_columns, run, flat),
        read_records_of=run.records_of,
        read_searches=lambda: of_records(run.searches()),
        read_calls=lambda: of_records(run.calls()),
        read_wordings=run.store.wordings,
        read_verdicts=run.verdicts,
        read_curves=lambda: curves_that_count(run, flat),
        read_baselines=run.baselines,
        chosen_metric=run.main_metric(),
        margin=run.study.margin,
        scan=run.study.scan or Scan(),
        repeats=run.study.repeats if run.study.precision is None else None,
        bootstrap=Bootstrap(confidence=run.study.confidence, n_resamples=run.study.n_resamples),
        given_names=given_names(run.study),
        not_applied=tuple(
            NotApplied(model=model, method=method, reason=reason, never_differed=(model, method) in constant)
            for (model, method), reason in flat.items()
        ),
        read_scan=at_coolest(run.score_tables(), flat.keys() - constant).whole if constant else None,
    )


def _record_columns(run: Run, flat: Collection[tuple[str, str]], columns: Sequence[str]) -> pl.DataFrame:
    read = dict.fromkeys((*columns, "model", "method", "temperature") if flat else columns)
    return at_one_temperature(run.records(tuple(read)), flat).select(columns)


def _ask(text: str, analysis: Callable[[Tables], object], tables: Tables) -> Finding:
    try:
        result = analysis(tables)
        check_result(text, result)
        return Finding(analysis=text, result=result)
    except Exception as error:  # Whatever it is, the findings of the others must not be lost.
        return Finding(analysis=text, result=None, failure=f"{type(error).__name__}: {error}")
