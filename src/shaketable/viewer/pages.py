"""Address → page. No part of an address becomes a path of a file: runs and files are looked up by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from shaketable.errors import RunError
from shaketable.factors import Labels, given_names, judges
from shaketable.report.about import list_facts, make_banner
from shaketable.report.templates import environment
from shaketable.store import Run
from shaketable.store.explore import Explorer
from shaketable.store.sealing.damage import damage_told
from shaketable.store.summary import RunSummary
from shaketable.text.normalization import without_surrogates
from shaketable.types import Findings
from shaketable.viewer.addresses import PER_PAGE, link, pages_of, read_metric, read_number
from shaketable.viewer.answer_pairs import AnswerPairs
from shaketable.viewer.comparison import ComparisonPages
from shaketable.viewer.first_questions import first_records
from shaketable.viewer.index import index_values
from shaketable.viewer.live_report import LiveReport
from shaketable.viewer.question_page import question_values
from shaketable.viewer.record_list import read_selection, record_list_values, state_of
from shaketable.viewer.record_page import record_values
from shaketable.viewer.reply import Reply
from shaketable.viewer.results import first_results

if TYPE_CHECKING:
    from shaketable.report.section import Section

FILES = {"report.css": "text/css", "viewer/viewer.css": "text/css", "viewer/viewer.js": "text/javascript"}
"""All that is served beside pages, each from the package."""
REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-downloads"
)
"""A report may come from elsewhere: it runs as a stranger here, without access to this server's pages."""


class RunSite:
    """The pages of some runs."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = _named(runs)
        self.explorers = {name: Explorer(run) for name, run in self.runs.items()}
        self.live_reports = {name: LiveReport(run) for name, run in self.runs.items()}
        self.comparisons = ComparisonPages(self.runs)
        self.pairs = AnswerPairs(self.runs, self.explorers)

    def close(self) -> None:
        self.pairs.close()
        for explorer in self.explorers.values():
            explorer.close()

    def reply(self, steps: Sequence[str], given: Mapping[str, str]) -> Reply:
        given = {without_surrogates(name): without_surrogates(value) for name, value in given.items()}
        match list(map(without_surrogates, steps)):
            case []:
                with damage_told(run.folder for run in self.runs.values()):
                    return self._runs(given)
            case ["compare"]:
                sides = (self.comparisons.read(given.get(name, ""), name) for name in ("first", "second"))
                with damage_told(run.folder for run in self.runs.values()):
                    return Reply(body=self.comparisons.page(*sides), policy=REPORT_POLICY)
            case ["answers"]:
                with damage_told(run.folder for run in self.runs.values()):
                    return self._page("answers", self.pairs.values(given))
            case ["static", *path] if "/".join(path) in FILES:
                return _file("/".join(path))
            case ["run", name, *rest] if name in self.runs:
                with damage_told([self.runs[name].folder]):
                    return self._of_run(name, rest, given)
        return self.problem(404, "There is no such page.")

    def problem(self, status: int, text: str) -> Reply:
        return self._page("problem", {"text": text, "status": status}, status=status)

    def _of_run(self, name: str, rest: Sequence[str], given: Mapping[str, str]) -> Reply:
        explorer = self.explorers[name]
        match list(rest):
            case []:
                return self._run(name)
            case ["progress.json"]:
                return Reply.json(_progress(_summary(self.runs[name])))
            case ["report"]:
                return self._report(name)
            case ["records"]:
                return self._records(name, given)
            case ["records.json"]:
                found = explorer.find(read_selection(given, explorer.metrics, self._metric(name, {})))
                return Reply.json({"n": found.n, "records": [asdict(row) for row in found.rows]})
            case ["questions"]:
                return self._questions(name, given)
            case ["question", question_id]:
                values = question_values(explorer, question_id, self._metric(name, given))
                return self._page("question", values, run=name)
            case ["record", key]:
                return self._record(name, key, given)
        return self.problem(404, "This run has no such page.")

    # --- pages --------------------------------------------------------------------------------

    def _runs(self, given: Mapping[str, str]) -> Reply:
        return self._page("runs", index_values(self.runs, given.get("metric")))

    def _run(self, name: str) -> Reply:
        run, summary = self.runs[name], _summary(self.runs[name])
        with run.reading() as fresh:
            failures = fresh.failures() if summary.failed else ()
            records = first_records(fresh) if summary.done else None
            labels = Labels() if records is None else Labels.of(records, given_names(run.study))
            # Those of a run that went on since are out of date.
            with fresh.holding_scores():
                findings = fresh.current_findings() if summary.is_finished else None
                sections = [] if findings is None else _sections(fresh, findings)
        values = {
            "summary": summary,
            "facts": [] if records is None else list_facts(summary, records, labels),
            "banner": make_banner(summary, run.folder),
            "statements": [(section.question, section.statements) for section in sections if section.statements],
            "partial": first_results(run) if summary.done and findings is None else None,
            "failures": failures,
            "has_report": summary.is_finished and _report_path(run) is not None,
            "study_text": run.study_text,
            "took": _span(summary.seconds),
        }
        return self._page("run", values, run=name)

    def _report(self, name: str) -> Reply:
        path = _report_path(self.runs[name]) if _summary(self.runs[name]).is_finished else None
        body = self.live_reports[name].page() if path is None else path.read_bytes()
        return Reply(body=body, policy=REPORT_POLICY)

    def _records(self, name: str, given: Mapping[str, str]) -> Reply:
        values = record_list_values(self.explorers[name], self._home(name), given, self._metric(name, {}))
        return self._page("records", values, run=name)

    def _record(self, name: str, key: str, given: Mapping[str, str]) -> Reply:
        explorer, metric = self.explorers[name], self._metric(name, given)
        values = record_values(explorer, key, metric)
        selection = read_selection(given, explorer.metrics, self._metric(name, {}))
        try:
            neighbours = explorer.neighbours(selection, key)
        except RunError:  # It took too long; the record can be read without its list.
            neighbours = None
        around = {"neighbours": neighbours, "state": state_of(given), "per_page": PER_PAGE}
        return self._page("record", values | around, run=name)

    def _questions(self, name: str, given: Mapping[str, str]) -> Reply:
        explorer, metric = self.explorers[name], self._metric(name, given)
        page = read_number(given.get("page", "1"), "page")
        found = explorer.questions(metric, given.get("words", ""), (page - 1) * PER_PAGE, PER_PAGE)
        values = {
            "found": found,
            "given": given,
            "metric": metric,
            "metrics": explorer.metrics,
            "pages": pages_of(f"{self._home(name)}/questions", given, found.n),
        }
        return self._page("questions", values, run=name)

    # --- what pages share ---------------------------------------------------------------------

    def _metric(self, name: str, given: Mapping[str, str]) -> str | None:
        """The metric that colours a page: the one asked for, or the main one of the run."""
        metrics = self.explorers[name].metrics
        return read_metric(given, "metric", metrics) or self.runs[name].main_metric(metrics)

    def _home(self, name: str) -> str:
        return f"/run/{quote(name, safe='')}"

    def _page(self, template: str, values: Mapping[str, Any], run: str | None = None, status: int = 200) -> Reply:
        text = environment.get_template(f"viewer/{template}.html").render(
            values, run=run, home=None if run is None else self._home(run), runs=self.runs, link=link, judges=judges
        )
        return Reply(body=text.encode(), status=status)


def _named(runs: Sequence[Run]) -> dict[str, Run]:
    """Runs by the names of their folders; a second of the same name gets a number."""
    named: dict[str, Run] = {}
    for run in runs:
        folder = run.folder.resolve().name or "run"
        name, n = folder, 1
        while name in named:
            n += 1
            name = f"{folder}-{n}"
        named[name] = run
    return named


def _file(name: str) -> Reply:
    source, _, _ = environment.loader.get_source(environment, name)  # type: ignore[union-attr]
    return Reply(body=source.encode(), kind=f"{FILES[name]}; charset=utf-8")


def _report_path(run: Run) -> Path | None:
    """The run's report, if it is of its present answers; one that leads out of the folder is not the run's."""
    with run.reading() as fresh:
        if (run.folder / "findings.json").is_file() and not fresh.has_current_findings():
            return None
    path = (run.folder / "report.html").resolve()
    return path if path.is_file() and path.parent == run.folder.resolve() else None


def _summary(run: Run) -> RunSummary:
    """Of the run as it is now."""
    with run.reading() as fresh:
        return fresh.summary()


def _span(seconds: float) -> str:
    """`8.1 s`, `12 min`, `3.4 h`."""
    if seconds < 90:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:,.1f} h"


def _progress(summary: RunSummary) -> dict[str, str | int]:
    return {
        "state": summary.state,
        "trials": summary.trials,
        "done": summary.done,
        "failed": summary.failed,
        "missing": summary.missing,
        "n_tokens": summary.n_tokens,
    }


def _sections(run: Run, findings: Findings) -> list[Section]:
    # The drawing library takes a second to import; other pages do without.
    from shaketable.stages.report import sections_of

    return sections_of(run, findings)
