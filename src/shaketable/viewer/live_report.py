"""The report of a run that has none yet: made in memory from the records so far, and not too often."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from shaketable import catalog
from shaketable.errors import RunError
from shaketable.stages.analyze import findings_of
from shaketable.store import Run
from shaketable.store.counts import UnscoredCount, count_unscored
from shaketable.store.score_file import score_frame
from shaketable.store.score_tables import ScoreTables
from shaketable.store.tables import FACTORS, RECORD_COLUMNS
from shaketable.viewer.first_questions import first_questions, first_records
from shaketable.viewer.results import CHEAP

N_MOST = 20_000
"""Records that a page is made of: enough to see, few enough not to wait."""
REST = 10
"""Times as long as it took to make the page, before it is made again."""


class LiveReport:
    """One page for all who ask, made again when there are more records."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._lock = threading.Lock()
        self._page = b""
        self._seen: tuple[str, int, int] | None = None
        self._look_again = 0.0

    def page(self) -> bytes:
        with self._lock:
            start = time.monotonic()
            if start < self._look_again:
                return self._page
            with self.run.reading() as fresh:
                summary = fresh.summary()
                seen = summary.state, summary.done, summary.failed
                if seen != self._seen:
                    self._page, self._seen = render_partial(fresh).encode(), seen
            self._look_again = time.monotonic() + REST * (time.monotonic() - start)
            return self._page


class PartialRun(Run):
    """A run as far as it has come, with scores of its own. Nothing is written."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.folder)
        self.store = run.store
        self.left_out: list[str] = []
        self._first = first_questions(self.store, N_MOST)
        self._records = first_records(run, N_MOST)
        self._scores = run.scores() if run.has_current_scores() else self._cheap_scores()

    def records(self, columns: Sequence[str] = RECORD_COLUMNS) -> pl.DataFrame:
        return self._records.select(columns)

    def record_slices(self) -> Iterator[pl.DataFrame]:
        yield self._records

    def scores(self) -> pl.DataFrame:
        return self._scores.join(self._records, on="key", how="semi", maintain_order="left")

    def _read_score_tables(self) -> ScoreTables:
        return ScoreTables(
            self.scores().lazy(),
            lambda: self._records.select("key", *FACTORS, "type", "n_facts"),
            self.evidence_flags,
            self.study.without_flags,
        )

    def unscored(self) -> tuple[UnscoredCount, ...]:
        return count_unscored(self.scores().lazy(), self.store.curves())

    def _cheap_scores(self) -> pl.DataFrame:
        cheap = [text for text in self.study.metrics if catalog.parse(text)[0] in CHEAP]
        self.left_out += [text for text in self.study.metrics if text not in cheap]
        questions = {question.id: question for question in self.store.questions()}
        records = list(self.store.records(first_questions=self._first.n, with_trace=False))
        return score_frame(
            [
                score
                for text in cheap or CHEAP[:1]
                for scores in catalog.build("metric", text).score(records, questions)
                for score in scores
            ]
        )

    @property
    def remark(self) -> str:
        """What the page must say about itself."""
        said = "Reload this page for newer results."
        if self._first.words:
            said += f" It shows {self._first.words}."
        if self.left_out:
            said += f" Left out until all is answered and scored: {', '.join(self.left_out)}."
        return said


def render_partial(run: Run) -> str:
    """The page as text."""
    # The drawing library takes a second to import; other pages do without.
    from shaketable.stages.report import draw, page_of, render

    partial = PartialRun(run)
    if partial.records().is_empty():
        raise RunError(f"{run.folder} has no answers yet, so there is nothing to report. Look again when it has some.")
    findings = findings_of(partial, ())
    for text in run.study.analyses:
        try:
            more = findings_of(partial, [text])
        except Exception:  # Half a run may lack whatever an analysis compares; the page names those left out.
            partial.left_out.append(text)
        else:
            findings = replace(findings, findings=(*findings.findings, *more.findings))
    page = page_of(partial, findings)
    sections, drawings = draw(page)
    return render(partial, page, sections, drawings, remark=partial.remark)
