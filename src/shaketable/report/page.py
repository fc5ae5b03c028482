"""Sections → the page: chapters, cards, caveats, and what the run itself has to say."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl
from markupsafe import Markup

from shaketable import catalog
from shaketable.analyses.evidence.judge_agreement import JUDGE
from shaketable.analyses.evidence.undone import describe_undone
from shaketable.analyses.floors import cell_of
from shaketable.factors import ORIGINAL, Cell, System
from shaketable.report.charts.bundle import load_bundle
from shaketable.report.drawing import Drawing
from shaketable.report.section import Chapter, Page, Section
from shaketable.report.templates import environment
from shaketable.report.words import (
    describe_disagreement,
    describe_left_out,
    describe_not_applied,
    describe_not_varied,
    describe_nothing_to_lose,
)
from shaketable.types import Finding, Undone

TITLES: dict[Chapter, tuple[str, str]] = {
    "answers": ("Answers", "How good are the answers?"),
    "wording": ("Wording", "Does rewording change the answer, the cost, or the decision to search?"),
    "facts": ("Facts", "Which facts does it really hold?"),
    "dice": ("Sampling temperature", "How high may the temperature be?"),
    "evidence": ("Evidence", "Which noise breaks it?"),
    "together": ("Together", "What explains the variation?"),
}
"""Chapters in their order, each with its title and its question."""
MOST_APART = 0.2
"""Share of answers on which a judge and the rules may disagree before the report says so first."""
N_LEAST_JUDGED = 5
"""Answers with both verdicts, below which a share says nothing."""
AS_ASKED = "Where every disturbance was done as asked"


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownChapter:
    name: str
    title: str
    question: str
    drawings: tuple[Drawing, ...]
    sections: tuple[Section, ...]
    """Those with something beside figures."""

    def __bool__(self) -> bool:
        """Whether there is anything in it."""
        return bool(self.drawings or self.sections)


def make_section(finding: Finding, page: Page) -> Section | None:
    """What the page tells of a result; None: nobody has written a section for its type."""
    kind = type(finding.result).__name__
    if kind not in catalog.known("section"):
        return None
    make = catalog.find("section", kind)
    section: Section = make(finding.result, page.as_asked if finding.is_as_asked else page)
    return section if section.name else replace(section, name=make.__module__.rpartition(".")[2])


def make_sections(page: Page) -> list[Section]:
    """One for each result that has a section, in the order of the registry; results told again as asked come last."""
    order = list(catalog.known("section"))
    known = [finding for finding in page.findings.findings if type(finding.result).__name__ in order]
    known.sort(key=lambda finding: order.index(type(finding.result).__name__))
    made = [(finding, section) for finding in known if (section := make_section(finding, page))]
    sections = [section for finding, section in made if not finding.is_as_asked]
    return [*sections, *(_told_again(section) for finding, section in made if finding.is_as_asked)]


def _told_again(section: Section) -> Section:
    """The numbers without flagged evidence. Claims are made of all evidence, or the same would be tested twice."""
    return Section(
        chapter="evidence",
        name=f"{section.name}-as-asked",
        title=f"{AS_ASKED}: {section.heading}",
        question=f"{AS_ASKED}: {section.question}",
        matrices=tuple(replace(matrix, is_folded=True) for matrix in section.matrices),
        tables=tuple(replace(table, is_folded=True) for table in section.tables),
        caveats=(
            "Without the questions whose evidence carries a flag of that disturbance; nothing is claimed of them.",
        ),
    )


def make_chapters(sections: Sequence[Section], drawings: Sequence[Drawing]) -> list[ShownChapter]:
    home = {figure.name: figure.chapter or section.chapter for section in sections for figure in section.figures}
    return [
        ShownChapter(
            name=name,
            title=title,
            question=question,
            drawings=tuple(
                drawing for drawing in drawings if drawing.figure.is_on_page and home[drawing.figure.name] == name
            ),
            sections=tuple(section for section in sections if section.chapter == name and section.has_block),
        )
        for name, (title, question) in TITLES.items()
    ]


def contents(chapters: Sequence[ShownChapter], *, has_verdict: bool) -> list[tuple[str, str]]:
    """The chapters of the page by their names; what is empty is not there."""
    verdict = [("verdict", "The verdict")] if has_verdict else []
    shown = [(chapter.name, chapter.title) for chapter in chapters]
    return [*verdict, ("missing", "What is missing"), *shown, ("method", "Method")]


def describe_first(page: Page) -> list[str]:
    """Return what a reader must know before any number: a judge at odds with the rules, perturbations that were not
    done, systems with nothing to lose."""
    return [*describe_judges(page), *describe_without_verdict(page), *describe_floors(page)]


def describe_judges(page: Page) -> list[str]:
    """Return how far `judge` and `correct` disagree, where that is on more than a fifth of the answers with both."""
    judged, ruled = (
        page.of_metric(metric).select("key", pl.col("value").alias(metric)).drop_nulls().unique("key")
        for metric in (JUDGE, "correct")
    )
    both = judged.join(ruled, on="key")
    n_apart = both.filter((pl.col(JUDGE) == 1) != (pl.col("correct") == 1)).height
    if both.height < N_LEAST_JUDGED or n_apart <= MOST_APART * both.height:
        return []
    n_judge_only = both.filter((pl.col(JUDGE) == 1) & (pl.col("correct") == 0)).height
    return [describe_disagreement(n_apart, both.height, n_judge_only)]


def describe_without_verdict(page: Page) -> list[str]:
    """The perturbations that were not done on too many questions, with the setting that works."""
    several = len(page.labels.systems) > 1
    return [describe_undone(own, page.labels.system(_system(own)) if several else "") for own in page.findings.undone]


def _system(undone: Undone) -> System:
    return System(model=undone.model, method=undone.method, retriever=undone.retriever)


def describe_floors(page: Page) -> list[str]:
    """The systems that have nothing to lose, by the number that is spoken of.

    Types of question and rewordings are named where all questions together, or the original, have something.
    """
    entries = [
        entry
        for entry in page.findings.nothing_to_lose
        if entry.metric == page.findings.main_metric and entry.temperature is None
    ]
    cells = [cell_of(entry) for entry in entries]
    return [
        describe_nothing_to_lose(entry, page.name(_of_original(cell)))
        for cell, entry in zip(cells, entries, strict=True)
        if not any(wider in cells for wider in _wider(cell))
    ]


def _of_original(cell: Cell) -> Cell:
    """Without the name of the wording where that is the original."""
    return replace(cell, variation=None) if cell.variation == ORIGINAL else cell


def _wider(cell: Cell) -> list[Cell]:
    """What says the same of more: all questions, and the original wording."""
    pooled = replace(cell, group=None)
    return [wider for wider in (pooled, replace(pooled, variation=ORIGINAL)) if wider != cell]


def group_caveats(
    page: Page, sections: Sequence[Section], of_endpoints: Sequence[str] = ()
) -> list[tuple[str, list[str]]]:
    """By the question they belong to; one that several sections share stands with the first."""
    shared = [
        *of_endpoints,
        *(describe_not_applied(flat) for flat in page.findings.not_applied),
        *(describe_not_varied(remark) for remark in page.findings.not_varied),
        *(describe_left_out(left_out) for left_out in page.findings.left_out),
        *describe_first(page),
    ]
    seen: set[str] = set()
    groups = [("What holds for all numbers", shared)] if shared else []
    for section in sections:
        new = [caveat for caveat in section.caveats if caveat not in seen]
        seen.update(new)
        if new:
            groups.append((section.question, new))
    return groups


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    text: Markup
    hash: str
    """The name by which the content security policy lets this one script run."""


def make_scripts(*, has_figures: bool) -> list[Script]:
    """The drawing library, where there is something to draw, and the page's own."""
    names = ("narrow.js", "charts.js", "report.js") if has_figures else ("report.js",)
    own = "\n".join(environment.get_template(name).render() for name in names)
    return [_script(text) for text in ([load_bundle(), own] if has_figures else [own])]


def _script(text: str) -> Script:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Script(text=Markup(text), hash=f"sha256-{digest}")
