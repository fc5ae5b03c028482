"""A run → the one page that its systems can carry."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path

from shaketable import __version__
from shaketable.analyses.gate.quantities import Quantity
from shaketable.analyses.gate.thresholds import accuracies, flip_rates
from shaketable.analyses.tables import Tables
from shaketable.errors import OutputError, StudyError
from shaketable.identity import digest_text
from shaketable.report.card import RunCard, make_system_cards
from shaketable.report.card_files import draw_png, format_html, format_markdown
from shaketable.report.section import Page
from shaketable.report.words import MISSING, count, name_questions, name_resamples
from shaketable.stages.analyze import holding_findings, tables_of
from shaketable.stages.report import page_of
from shaketable.store import Run
from shaketable.study import load_study, shipped_studies

SHOWN = (
    "A loss is shown where it has survived a test together with all else that this run might claim (Holm's "
    "adjustment); a level is stated with its interval."
)
ENDINGS = (".html", ".md", ".png")


def card(run: Run, progress: Callable[[str], None] = lambda words: None) -> RunCard:
    """What it says; scores and findings that are out of date are made anew first."""
    with holding_findings(run, progress) as findings:
        return _make(run, page_of(run, findings), tables_of(run))


def _make(run: Run, page: Page, tables: Tables) -> RunCard:
    summary = run.summary()
    failed = f"{summary.failed:,} of {summary.trials:,} trials have no answer. " if summary.failed else ""
    partial = "" if summary.is_finished else f"Partial: {summary.done:,} of {summary.trials:,} trials are done. "
    return RunCard(
        title=run.study.name,
        systems=make_system_cards(page, accuracies(tables), _flips(tables)),
        facts=_facts(run),
        command=make_command(run),
        notes=(
            f"{partial}{failed}Confidence intervals hold {name_resamples(page.bootstrap)}; those of answers that flip "
            "hold for all conditions at once.",
            SHOWN,
            f"What is not shown may still be there. {MISSING}",
        ),
    )


def write_card(run: Run, out: Path, progress: Callable[[str], None] = lambda words: None) -> RunCard:
    """As the file's ending says."""
    if out.suffix not in ENDINGS:
        raise OutputError(f"{out}: which kind of card is '{out.suffix}'? Use {', '.join(ENDINGS)}.")
    made = card(run, progress)
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix == ".png":
        out.write_bytes(draw_png(made))
    else:
        out.write_text(format_html(made) if out.suffix == ".html" else format_markdown(made), encoding="utf-8")
    return made


def _flips(tables: Tables) -> list[Quantity]:
    """None where no metric tells right answers from wrong ones, or nothing was asked twice."""
    try:
        return flip_rates(tables)
    except StudyError:
        return []


def _facts(run: Run) -> tuple[tuple[str, str], ...]:
    summary = run.summary()
    n_repeats = "" if run.study.repeats is None else f", {count(run.study.repeats, 'time')} each"
    versions = {str(own["shaketable"]) for own in run.environments() if own.get("shaketable")}
    return (
        ("Data", f"{', '.join(summary.datasets)}: {name_questions(summary.n_questions)}{n_repeats}"),
        ("Trials", f"{summary.trials:,}"),
        ("Temperatures", ", ".join(f"{temperature:g}" for temperature in run.study.temperatures)),
        ("Perturbations", ", ".join(run.study.perturbations)),
        ("Wordings", ", ".join(run.study.variations)),
        ("Date", (summary.finished or summary.created or "not known")[:10]),
        ("Study", f"{run.study.name}, sha256 {digest_text(run.study_text)[:16]}, seed {run.study.seed}"),
        ("Records", f"sha256 {run.content_digest()[:16]}"),
        ("Version", f"Shaketable {', '.join(sorted(versions)) or __version__}"),
    )


def make_command(run: Run) -> str:
    """As it is typed in the folder where the card was made: it asks the same study anew, beside this run."""
    here = run.folder.resolve()
    folder, out = (Path(os.path.relpath(own)) for own in (here, here.with_name(f"{here.name}-again")))
    if any(choice.name == "imported" for choice in run.study.datasets):
        return f"shaketable import ANSWERS --out {shlex.quote(out.as_posix())}"
    return shlex.join(["shaketable", "run", *_study(run, folder), "--out", out.as_posix()])


def _study(run: Run, folder: Path) -> list[str]:
    """The name of a shipped study if the run's is exactly that, or that of some questions; else the run's own file."""
    if run.study.name in shipped_studies():
        limits = {choice.limit for choice in run.study.datasets}
        for limit in (None, *(own for own in limits if own is not None)):
            if load_study(run.study.name, limit=limit) == run.study:
                return [run.study.name, *([] if limit is None else ["--limit", str(limit)])]
    return [(folder / "study.toml").as_posix()]
