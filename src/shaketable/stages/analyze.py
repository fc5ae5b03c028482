"""Scores → findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shaketable import catalog
from shaketable.store import Run
from shaketable.types import Finding


def analyze(
    run: Run, analyses: Sequence[str] | None = None, progress: Callable[[str], None] = lambda name: None
) -> list[Finding]:
    """Ask every question of the study of its score table, and keep the findings with the run."""
    table = run.score_table()
    findings = []
    for text in analyses or run.study.analyses:
        progress(text)
        findings.append(catalog.bind("analysis", text, "analyze.analyses")(table))
    run.write_findings(findings)
    return findings
