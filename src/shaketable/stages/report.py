"""A run → its page `report.html` and its `figures/`."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import polars as pl
from markupsafe import Markup

from shaketable.analyses.evidence.figure_table import figure_table
from shaketable.metrics.scoring import GREEDY_ONLY
from shaketable.report import content as content
from shaketable.report.blocks import make_blocks
from shaketable.report.cards import draw_cards
from shaketable.report.case import case_of
from shaketable.report.cases import Store, cases_of
from shaketable.report.charts.bundle import load_bundle
from shaketable.report.charts.score_by_temperature import Band
from shaketable.report.facts_chapter import fact_blocks, fact_figures
from shaketable.report.figures import Figure, draw_figures
from shaketable.report.templates import environment
from shaketable.report.together_chapter import together_blocks, together_figures
from shaketable.report.wording_chapter import wording_blocks, wording_figures
from shaketable.stages.analyze import make_current
from shaketable.store import Run as StoredRun
from shaketable.store.counts import EmptyCount, FailureCount, ReferenceFlagCount, RejectedCount, UnscoredCount
from shaketable.store.evidence_flags import FlagCount
from shaketable.store.examples import Example
from shaketable.store.summary import RunSummary
from shaketable.store.used_parts import UsedPart
from shaketable.types import Finding, Json


class Run(Protocol):
    """What the page needs to know about a run."""

    @property
    def folder(self) -> Path: ...
    @property
    def study(self) -> Any: ...
    @property
    def study_text(self) -> str: ...
    @property
    def store(self) -> Store: ...

    def summary(self) -> RunSummary: ...
    def parts(self) -> tuple[UsedPart, ...]: ...
    def environments(self) -> tuple[Mapping[str, Json], ...]: ...
    def failures(self) -> tuple[FailureCount, ...]: ...
    def flags(self) -> tuple[FlagCount, ...]: ...
    def reference_flags(self) -> tuple[ReferenceFlagCount, ...]: ...
    def rejected(self) -> tuple[RejectedCount, ...]: ...
    def unscored(self) -> tuple[UnscoredCount, ...]: ...
    def empty_answers(self) -> tuple[EmptyCount, ...]: ...
    def findings(self) -> list[Finding]: ...
    def score_table(self) -> pl.DataFrame: ...
    def main_metric(self) -> str | None: ...
    def judging_metric(self) -> str | None: ...
    def examples(self, n: int) -> tuple[Example, ...]: ...


N_EXAMPLES = 4
"""Cases that are open on the page; others are folded."""


def report(run: StoredRun, *, band: Band = "interval", progress: Callable[[str], None] = lambda words: None) -> Path:
    """Write the page and its figures into the run's folder; returns the page. Findings that are out of date are made
    anew first.

    Figures of the main metric can be drawn again from `figure_table.csv`.
    Bands of scores are intervals over questions, or with `sd` the standard deviation between runs.
    """
    make_current(run, progress)
    findings = run.findings()
    table = content.judged_table(run.score_table(), findings)
    figures = draw(findings, table, band)
    write_figures(figures, run.folder / "figures")
    if metric := run.main_metric():
        # The numbers themselves, also of systems that get no verdict on temperature.
        figure_table(run.score_table(), metric).write_csv(run.folder / "figures" / "figure_table.csv")
    page = run.folder / "report.html"
    page.write_text(render(run, findings, table, figures), encoding="utf-8")
    return page


def draw(findings: Sequence[Finding], table: pl.DataFrame, band: Band = "interval") -> list[Figure]:
    return [
        *draw_figures(findings, table, band),
        *fact_figures(findings),
        *wording_figures(findings),
        *together_figures(findings),
    ]


def write_figures(figures: Sequence[Figure], folder: Path) -> None:
    """Each as SVG, PNG and CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    for figure in figures:
        (folder / f"{figure.name}.svg").write_text(figure.svg, encoding="utf-8")
        (folder / f"{figure.name}.png").write_bytes(figure.png())
        (folder / f"{figure.name}.csv").write_text(figure.csv, encoding="utf-8")


def render(
    run: Run, findings: Sequence[Finding], table: pl.DataFrame, figures: Sequence[Figure], remark: str = ""
) -> str:
    """The page as text. Autoescape is on; only our own drawings, styles and script pass as markup.

    `remark` stands in the banner: what a page of partial results must say about itself.
    """
    summary = run.summary()
    blocks = [
        *make_blocks(findings),
        *fact_blocks(findings, run.store),
        *wording_blocks(findings),
        *together_blocks(findings),
    ]
    on_page = [figure for figure in figures if figure.is_on_page]
    targets = {figure.name for figure in on_page} | {block.name for block in blocks}
    cards, more = draw_cards(findings, targets)
    cases = cases_of(findings, run.store, table.filter(metric=run.judging_metric() or ""))
    examples = [content.example(case) for case in cases or map(case_of, run.examples(N_EXAMPLES))]
    flags = run.flags()
    unscored = [count for count in run.unscored() if count.reason != GREEDY_ONLY]
    rejected = run.rejected()
    references = run.reference_flags()
    empty = run.empty_answers()
    missing = content.missing(summary, rejected, flags, references, unscored, empty)
    wording, known_facts, dice, evidence, together = (
        content.Chapter(
            figures=[figure for figure in on_page if figure.chapter == chapter],
            blocks=[block for block in blocks if block.chapter == chapter],
        )
        for chapter in ("wording", "facts", "dice", "evidence", "together")
    )
    return environment.get_template("report.html").render(
        summary=summary,
        facts=content.facts(summary, findings),
        banner=content.banner(summary, run.folder, remark),
        chapters=content.chapters(
            cards=cards or more,
            wording=wording,
            facts=known_facts,
            dice=dice,
            evidence=evidence or examples,
            together=together,
        ),
        cards=cards,
        more=more,
        missing=missing,
        nothing_missing=not any(count["n"] for count in missing),
        failures=run.failures(),
        empty=empty,
        rejected=rejected,
        flags=flags,
        references=references,
        unscored=unscored,
        wording=wording,
        known_facts=known_facts,
        dice=dice,
        evidence=evidence,
        together=together,
        not_applied=list(content.not_applied(findings).values()),
        n_files=sum(figure.chapter == "evidence" and not figure.is_on_page for figure in figures),
        examples=examples[:N_EXAMPLES],
        more_examples=examples[N_EXAMPLES:],
        caveats=content.caveats(findings),
        parts=run.parts(),
        environments=run.environments(),
        costs=content.costs(summary, run.study.seed),
        study_text=run.study_text,
        scripts=_scripts(has_figures=bool(on_page)),
    )


@dataclass(frozen=True, kw_only=True)
class Script:
    text: Markup
    hash: str
    """The name by which the content security policy lets this one script run."""


def _scripts(*, has_figures: bool) -> list[Script]:
    """The drawing library, where there is something to draw, and the page's own."""
    texts = [load_bundle()] if has_figures else []
    return [_script(text) for text in (*texts, environment.get_template("report.js").render())]


def _script(text: str) -> Script:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Script(text=Markup(text), hash=f"sha256-{digest}")
