"""A run → its page `report.html` and its `figures/`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from shaketable.analyses.evidence.figure_table import figure_table
from shaketable.analyses.score_reading import conditions_in
from shaketable.factors import Labels, given_names
from shaketable.report.about import find_missing, list_costs, list_facts, make_banner
from shaketable.report.cards import make_cards
from shaketable.report.case import case_of, explain_cases
from shaketable.report.cases import make_cases
from shaketable.report.drawing import Drawing, draw_figures, write_drawings
from shaketable.report.examples import show_case
from shaketable.report.page import (
    contents,
    describe_first,
    group_caveats,
    make_chapters,
    make_scripts,
    make_sections,
)
from shaketable.report.section import Band, Page, Section
from shaketable.report.templates import environment
from shaketable.report.words import describe_not_applied, describe_processed_at_zero, describe_truncation
from shaketable.stages.analyze import holding_findings
from shaketable.stages.explaining.explained_now import current_explanations
from shaketable.stages.heat_check import at_coolest
from shaketable.store import Run
from shaketable.store.sealing.files import write_sealed
from shaketable.types import Findings

N_EXAMPLES = 4
PROCESSED = re.compile(r"distribution\s*[=:]\s*['\"]?processed")
"""Cases that are open on the page; others are folded."""
N_HEADLINES = 3
"""Of each section, that are kept beside the page for whoever shows a run in brief."""


def report(run: Run, *, band: Band = "interval", progress: Callable[[str], None] = lambda words: None) -> Path:
    """Write the page and its figures into the run's folder; returns the page. Findings that are out of date are made
    anew first.

    Figures of the main metric can be drawn again from `figure_table.csv`.
    Bands of scores are intervals over questions, or with `sd` the standard deviation between runs.

    >>> import shaketable
    >>> study = shaketable.make_study("rehearsal", models="scripted(replies=('Paris',))", limit=2, metrics="contains")
    >>> shaketable.write_report(shaketable.run(study, "runs/reported")).name
    'report.html'
    """
    with holding_findings(run, progress) as findings:
        return _write(run, page_of(run, findings, band))


def _write(run: Run, page: Page) -> Path:
    source = run.report_source(page.band)  # As it is before: what changes meanwhile is not on the page.
    sections, drawings = draw(page)
    write_drawings(drawings, run.folder / "figures")
    if metric := run.main_metric():
        # The numbers themselves, also of systems that get no verdict on temperature.
        table = figure_table(run.score_tables().of(metric), metric, labels=page.labels)
        table.write_csv(run.folder / "figures" / "figure_table.csv")
    path = run.folder / "report.html"
    write_sealed(path, render(run, page, sections, drawings))
    told = [headline.text for section in sections for headline in section.headlines[:N_HEADLINES]]
    run.write_headlines(told, source=source)
    return path


def page_of(run: Run, findings: Findings, band: Band = "interval") -> Page:
    """What the sections of a run may know."""
    scores = run.score_tables()
    flat = {(flat.model, flat.method) for flat in findings.not_applied}
    return Page(
        findings=findings,
        labels=Labels.of(conditions_in(scores), given_names(run.study)),
        scores=at_coolest(scores, flat),
        band=band,
        read_records=lambda keys: list(run.store.records_of(keys)),
        read_questions=run.store.questions_of,
    )


def sections_of(run: Run, findings: Findings) -> list[Section]:
    """What there is to say of a run, without drawing anything."""
    page = page_of(run, findings)
    return make_sections(page)


def draw(page: Page) -> tuple[list[Section], list[Drawing]]:
    sections = make_sections(page)
    return sections, draw_figures(figure for section in sections for figure in section.figures)


def render(run: Run, page: Page, sections: Sequence[Section], drawings: Sequence[Drawing], remark: str = "") -> str:
    """The page as text. Autoescape is on; only our own drawings, styles and script pass as markup.

    `remark` stands in the banner: what a page of partial results must say about itself.
    """
    summary = run.summary()
    on_page = [drawing for drawing in drawings if drawing.figure.is_on_page]
    targets = {drawing.figure.name for drawing in on_page}
    targets |= {section.name for section in sections if section.has_block}
    cards, more = make_cards(sections, targets)
    cases = make_cases(page) or [case_of(example) for example in run.examples(N_EXAMPLES)]
    examples = [show_case(case) for case in explain_cases(cases, current_explanations(run))]
    chapters = make_chapters(sections, drawings)
    home = "evidence" if any(chapter and chapter.name == "evidence" for chapter in chapters) else "answers"
    chapters = [chapter for chapter in chapters if chapter or (chapter.name == home and examples)]
    environments = run.environments()
    of_endpoints = list(dict.fromkeys(filter(None, map(describe_truncation, environments))))
    if 0 in run.study.temperatures:
        of_endpoints += map(describe_processed_at_zero, filter(PROCESSED.search, run.study.methods))
    return environment.get_template("report.html").render(
        summary=summary,
        facts=list_facts(summary, conditions_in(page.score_reader), page.labels),
        banner=make_banner(summary, run.folder, remark),
        contents=contents(chapters, has_verdict=bool(cards or more)),
        chapters=chapters,
        home_of_cases=home,
        cards=cards,
        more=more,
        missing=find_missing(run, summary, page.findings),
        not_applied=[*(describe_not_applied(flat) for flat in page.findings.not_applied), *of_endpoints],
        floors=describe_first(page),
        n_files=sum(not drawing.figure.is_on_page for drawing in drawings),
        examples=examples[:N_EXAMPLES],
        more_examples=examples[N_EXAMPLES:],
        caveats=group_caveats(page, sections, of_endpoints),
        parts=run.parts(),
        environments=environments,
        costs=list_costs(summary, run.study.seed, run.extensions()),
        study_text=run.study_text,
        scripts=make_scripts(has_figures=bool(on_page)),
    )
