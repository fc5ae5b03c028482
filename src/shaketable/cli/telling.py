"""What `analyze` prints: sentences for people, and for programs what is claimed and the numbers behind it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from shaketable.analyses.claims import Claim
from shaketable.cli.console import out, print_json, say
from shaketable.store import Run
from shaketable.store.findings_file import cell_columns, tidy_rows
from shaketable.types import Finding, Findings, Json

if TYPE_CHECKING:  # The drawing library takes a second to import; only results that are told need it.
    from shaketable.report.section import Page, Section


def tell_findings(run: Run, findings: Findings, json_: bool) -> None:
    from shaketable.report.page import describe_first, make_sections
    from shaketable.stages.report import page_of

    page = page_of(run, findings)
    if json_:
        print_json(_values(run, page))
        return
    if not any(page.of_metric(name)["value"].count() for name in page.score_reader.metrics):
        say("No answer has a score, so there is nothing to tell. The report says what is missing, and why.")
    for section in make_sections(page):
        if not section.headlines:
            continue
        out.print(Text(section.question, style="bold"))
        for headline in section.headlines:
            out.print(f"  {headline.text}", highlight=False, markup=False)
    for sentence in describe_first(page):
        say(sentence)
    for finding in findings.findings:
        if finding.failure:
            say(f"{finding.analysis} failed: {finding.failure}")
    if page.claims.every:
        say(f"{len(page.claims.shown)} of {len(page.claims.every)} claims are shown, adjusted for one another.")


def _values(run: Run, page: Page) -> dict[str, Json]:
    """For programs: what survived as claims, and all findings."""
    from shaketable.report.page import make_section

    findings = page.findings.findings
    sections = [make_section(finding, page) for finding in findings]
    return {
        "run": str(run.folder),
        "claims": [_claim_values(claim, sections) for claim in page.claims.shown],
        "undone": [dataclasses.asdict(entry) for entry in page.findings.undone],
        "nothing_to_lose": [dataclasses.asdict(entry) for entry in page.findings.nothing_to_lose],
        "findings": [_finding_values(finding, section) for finding, section in zip(findings, sections, strict=True)],
    }


def _claim_values(claim: Claim, sections: Sequence[Section | None]) -> dict[str, Json]:
    """With the first sentence that speaks of it."""
    headlines = (headline for section in sections if section for headline in section.headlines)
    sentence = next((headline.text for headline in headlines if claim in headline.claims), None)
    subject = claim.subject
    return {
        "kind": subject.kind,
        "says": claim.says,
        "cell": cell_columns(subject.cell),
        "metric": subject.metric,
        "other": subject.other or None,
        "estimate": dataclasses.asdict(claim.estimate),
        "margin": claim.margin,
        "p": claim.p,
        "p_adjusted": claim.p_adjusted,
        "sentence": sentence,
    }


def _finding_values(finding: Finding, section: Section | None) -> dict[str, Json]:
    """Its numbers as tidy rows, and what is said of them."""
    return {
        "analysis": finding.analysis,
        "as_asked": finding.is_as_asked,
        "failure": finding.failure,
        "question": section.question if section else None,
        "sentences": [headline.text for headline in section.headlines] if section else [],
        "rows": [*tidy_rows(Findings(findings=(finding,)))],
    }
