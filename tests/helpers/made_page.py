"""A page around results that a test made, for its sections."""

from __future__ import annotations

from shaketable.analyses.tables import Tables
from shaketable.factors import Labels
from shaketable.report.section import Page
from shaketable.types import Finding, Findings


def made_page(tables: Tables, *results: object) -> Page:
    """What sections may know of these tables and results."""
    return Page(
        findings=Findings(
            findings=tuple(Finding(analysis="", result=result) for result in results),
            main_metric=tables.metric(),
            judging_metric=tables.judging_metric(),
            confidence=tables.bootstrap.confidence,
            n_resamples=tables.bootstrap.n_resamples,
            not_applied=tables.not_applied,
        ),
        labels=Labels.of(tables.scores),
        scores=tables.scores,
    )
