"""A run → its page `report.html` and its `figures/`."""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import jinja2
from markupsafe import Markup

from shaketable.stages import report_content as content
from shaketable.stages.report_figures import Figure, draw_cards, draw_figures
from shaketable.types import Finding


class Run(Protocol):
    """What the page needs to know about a run."""

    @property
    def folder(self) -> Path: ...
    @property
    def study(self) -> Any: ...
    @property
    def study_text(self) -> str: ...

    def summary(self) -> dict[str, Any]: ...
    def parts(self) -> list[dict[str, Any]]: ...
    def environments(self) -> list[dict[str, Any]]: ...
    def failures(self) -> list[dict[str, Any]]: ...
    def flags(self) -> list[dict[str, Any]]: ...
    def unscored(self) -> list[dict[str, Any]]: ...
    def findings(self) -> list[Finding]: ...
    def examples(self, n: int) -> list[dict[str, Any]]: ...


N_EXAMPLES = 4


def report(run: Run) -> Path:
    """Write the page and its figures into the run's folder; returns the page."""
    findings = run.findings()
    figures = draw_figures(findings)
    write_figures(figures, run.folder / "figures")
    page = run.folder / "report.html"
    page.write_text(render(run, findings, figures), encoding="utf-8")
    return page


def write_figures(figures: Sequence[Figure], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for figure in figures:
        (folder / f"{figure.name}.svg").write_text(figure.svg, encoding="utf-8")
        (folder / f"{figure.name}.png").write_bytes(figure.png)
        (folder / f"{figure.name}.csv").write_text(figure.csv, encoding="utf-8")


def render(run: Run, findings: Sequence[Finding], figures: Sequence[Figure]) -> str:
    """The page as text. Autoescape is on; only our own drawings, styles and script pass as markup."""
    summary = run.summary()
    cards, more_sentences = draw_cards(findings)
    examples = [content.example(one) for one in run.examples(N_EXAMPLES)]
    flags, unscored = run.flags(), run.unscored()
    missing = content.missing(summary, flags, unscored)
    by_chapter = {chapter: [one for one in figures if one.chapter == chapter] for chapter in ("dice", "evidence")}
    script = _environment.get_template("report.js").render()
    return _environment.get_template("report.html").render(
        summary=summary,
        facts=content.facts(summary, findings),
        banner=content.banner(summary, _resume_command(run.folder)),
        chapters=content.chapters(cards=cards, examples=examples, **by_chapter),
        cards=cards,
        more_sentences=more_sentences,
        missing=missing,
        nothing_missing=not any(count["n"] for count in missing),
        failures=run.failures(),
        flags=flags,
        unscored=unscored,
        figures=by_chapter,
        examples=examples,
        caveats=list(dict.fromkeys(caveat for finding in findings for caveat in finding.caveats)),
        parts=run.parts(),
        environments=run.environments(),
        costs=content.costs(summary, run.study.seed),
        study_text=run.study_text,
        script=Markup(script),
        script_hash=_content_hash(script),
    )


def _resume_command(folder: Path) -> str:
    return f"shaketable run {shlex.quote(str(folder / 'study.toml'))} --out {shlex.quote(str(folder))}"


def _content_hash(script: str) -> str:
    """The name by which the content security policy lets this one script run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _data_uri(text: str, kind: str) -> str:
    return f"data:{kind};base64," + base64.b64encode(text.encode()).decode()


def _cell(value: Any, row: Mapping[str, Any], name: str) -> str:
    unit = row.get("unit", "") if name in ("value", "low", "high") else ""
    return content.cell(value, unit)


_environment = jinja2.Environment(
    loader=jinja2.PackageLoader("shaketable"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.filters.update(
    cell=_cell, data_uri=_data_uri, named=content.named_evidence, thousands=lambda number: f"{number:,}"
)
