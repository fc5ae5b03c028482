"""A run is a folder: the frozen study, its records, scores, findings, figures and report."""

from __future__ import annotations

import contextlib
import importlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from shaketable.errors import PackageError, PartError, RunError, did_you_mean, lacks_packages
from shaketable.factors import judging_metric, main_metric
from shaketable.store import card, counts, currency, score_file, tables, used_parts, wide
from shaketable.store.codec import decode
from shaketable.store.dimensions import UsedPart
from shaketable.store.evidence_flags import FlagCount, count_flags, evidence_flags
from shaketable.store.examples import Example, choose_examples
from shaketable.store.findings_file import has_findings, load_findings, tidy_rows, write_findings
from shaketable.store.folder import RunFolder
from shaketable.store.judges import judge_efforts
from shaketable.store.lock import is_locked
from shaketable.store.score_tables import ScoreTables
from shaketable.store.sealing.files import is_as_sealed, load_seals, refuse_altered, write_sealed
from shaketable.store.summary import RunSummary, summarize
from shaketable.store.temperature import systems_without_temperature
from shaketable.types import Curve, Findings, Json, JudgeEffort, NotVaried, Score

if TYPE_CHECKING:
    import pandas  # An extra: the package is not needed for anything else.

TABLES = ("wide", "records", "scores", "score_table", "searches", "calls", "findings")
HEADLINES = "headlines.json"


class Run(RunFolder):
    """One run, opened for reading; `writing()` hands out its store to the one process that writes.

    >>> import shaketable
    >>> study = shaketable.make_study("rehearsal", models="scripted(replies=('Paris',))", limit=2, metrics="contains")
    >>> run = shaketable.run(study, "runs/rehearsal")
    >>> run
    Run('runs/rehearsal', rehearsal: 2 questions, 2 trials, finished)
    >>> run.records().select("model", "perturbation", "temperature", "answer").row(0)
    ("scripted(replies=('Paris',))", 'unchanged', 0.0, 'Paris')
    >>> run.to_pandas()[["temperature", "answer", "contains"]].values.tolist()
    [[0.0, 'Paris', 0.0], [0.0, 'Paris', 0.0]]
    """

    _score_tables: tuple[tuple[tuple[int, int], ...], ScoreTables] | None = None
    _held: score_file.OpenScores | None = None

    def __repr__(self) -> str:
        return card.describe_run(self.summary())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        report = self.folder / "report.html"
        brought = [f"{kind} {name}" for kind, own in self.study.in_process.items() for name in own]
        return card.draw_card(self.summary(), self.headlines(), report if report.is_file() else None, brought)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Run]:
        """The same run with a connection of its own: SQLite's belong to the thread that made them."""
        fresh = Run(self.folder)
        # Each page reads so, and neither the digest of all records nor their factors are worked out for each.
        fresh._take_over(self)
        try:
            yield fresh
        finally:
            self._take_over(fresh)
            if "store" in vars(fresh):
                fresh.store.close()

    def _take_over(self, other: Run) -> None:
        """What another object has worked out for the same run, and none of its connections."""
        self._content, self._score_tables = other._content, other._score_tables
        if self._score_tables is not None:
            stamps, kept = self._score_tables
            self._score_tables = stamps, kept.read_by(self._factor_table, self.evidence_flags)

    @contextlib.contextmanager
    def holding_scores(self) -> Iterator[None]:
        """Scores are read as they stand now, whoever makes them anew meanwhile; where there are none, none are held."""
        if self._held is not None:
            yield
            return
        self._held = score_file.open_scores(self.folder)
        try:
            yield
        finally:
            self._held = None

    # --- tables -------------------------------------------------------------------------------

    def records(self, columns: Sequence[str] = tables.RECORD_COLUMNS) -> pl.DataFrame:
        """One row per record: key, every factor, answer, failure, counts; or some of them."""
        return tables.record_table(self.store, columns=columns)

    def records_of(self, keys: Sequence[str], columns: Sequence[str] = tables.RECORD_COLUMNS) -> pl.DataFrame:
        """The same of some keys alone."""
        return tables.record_table(self.store, columns=columns, keys=keys)

    def record_slices(self) -> Iterator[pl.DataFrame]:
        """The same, some rows after the other."""
        return tables.record_slices(self.store)

    def wide_slices(self) -> Iterator[pl.DataFrame]:
        """Records with all that is known of them: lists as lists, evidence, flags, and a column for each number."""
        return wide.wide_slices(self.store, self.score_tables(), self.evidence_flags())

    def searches(self) -> pl.DataFrame:
        """One row per executed search: key, hop, query, passages and titles it brought, gold_hit, n_gold."""
        return tables.search_table(self.store)

    def calls(self) -> pl.DataFrame:
        """One row per record: key, and how often its method called the model, calls for another purpose aside."""
        return tables.call_table(self.store)

    def scores(self) -> pl.DataFrame:
        """One row per record and number: key, metric, value, reason."""
        return score_file.load_scores(self.folder) if self._held is None else self._held.rows.collect()

    def wide(self) -> pl.DataFrame:
        """One row per record: every factor, answer, evidence, flags, cost, a column for each tag of its question, and
        one for each number. What is missing is null, and `NUMBER_missing` says why."""
        return pl.concat(self.wide_slices(), rechunk=True)

    def to_pandas(self, table: str = "wide") -> pandas.DataFrame:
        """One of the tables as a data frame of pandas. `wide`, the default, has a row for each record and a column for
        each number and each tag of its question; the others are records, scores, score_table, searches, calls and
        findings.

        >>> import shaketable
        >>> replies = "scripted(replies=('Paris', 'ERROR'))"
        >>> study = shaketable.make_study("frames", models=replies, limit=2, temperatures=[0.0], metrics="contains")
        >>> frame = shaketable.run(study, "runs/frames").to_pandas()
        >>> frame[["temperature", "answer", "contains", "contains_missing"]].to_dict("records")[0]
        {'temperature': 0.0, 'answer': 'Paris', 'contains': 0.0, 'contains_missing': None}
        """
        if table not in TABLES:
            raise RunError(f"There is no table '{table}'.{did_you_mean(table, TABLES)} Tables: {', '.join(TABLES)}.")
        if problem := lacks_packages("A data frame of pandas", ("pandas",)):
            raise PackageError(f"{problem} Without it there are those of polars: run.{table}().")
        if table == "findings":
            rows = tidy_rows(self.findings())
            columns = dict.fromkeys(name for row in rows for name in row)
            values = {name: [row.get(name) for row in rows] for name in columns}
        else:
            frames = (self.wide, self.records, self.scores, self.score_table, self.searches, self.calls)
            values = frames[TABLES.index(table)]().to_dict(as_series=False)
        return importlib.import_module("pandas").DataFrame(values)

    def score_table(self) -> pl.DataFrame:
        """Scores with the factors of their records: what analyses read."""
        return self.score_tables().whole()

    def score_tables(self) -> ScoreTables:
        """The same, a number at a time: what is needed of a large run. Kept until there are other records or scores."""
        held = self._held
        stamps = self._stamps(self.folder / score_file.NAME) if held is None else (*self._stamps(), held.stamp)
        if self._score_tables is None or self._score_tables[0] != stamps:
            self._score_tables = stamps, self._read_score_tables()
        return self._score_tables[1]

    def _read_score_tables(self) -> ScoreTables:
        return ScoreTables(self._scan_scores(), self._factor_table, self.evidence_flags, self.study.without_flags)

    def _scan_scores(self) -> pl.LazyFrame:
        return score_file.scan_scores(self.folder) if self._held is None else self._held.rows

    def _score_source(self) -> score_file.ScoreSource:
        return score_file.load_source(self.folder) if self._held is None else self._held.source

    def _factor_table(self) -> pl.DataFrame:
        return tables.factor_table(self.store)

    def evidence_flags(self) -> pl.DataFrame:
        """One row per record whose evidence was not disturbed as asked: key, and the flags of all searches as words."""
        return evidence_flags(self.store)

    def curves(self) -> list[Curve]:
        """Estimated fragility curves, by the key of the greedy record they belong to."""
        return list(self.store.curves())

    def write_scores(
        self, scores: Iterable[Score], *, source: str | None = None, metrics: Sequence[str] | None = None
    ) -> int:
        """How many there are. `source` is what they were made from, as it was before; None: what is stored now.
        `metrics` are those that were asked for instead of the study's."""
        return score_file.write_scores(self.folder, scores, source or self.scores_source(metrics), metrics)

    def baselines(self) -> pl.DataFrame:
        """Key, metric, value, reason of clean answers to other questions; empty: none were scored with the scores."""
        if self._held is None:
            return score_file.load_baselines(self.folder)
        return score_file.score_frame(()) if self._held.baselines is None else self._held.baselines.collect()

    def has_baselines(self) -> bool:
        """Whether they were scored with the scores; there may be none of these metrics."""
        return score_file.has_baselines(self.folder) if self._held is None else self._held.baselines is not None

    def write_baselines(self, baselines: Iterable[Score], *, source: str | None = None) -> None:
        """Beside the scores, which are written before them. `source` is theirs; None: of those that are stored."""
        source = source or self._score_source().made_from or ""
        score_file.write_baselines(self.folder, baselines, source)

    def findings(self) -> Findings:
        """What the analyses gave; nothing where they were made by an older version."""
        return load_findings(self.folder).findings or Findings()

    def write_findings(
        self, findings: Findings, *, source: str | None = None, analyses: Sequence[str] | None = None
    ) -> None:
        """`source` and `analyses` as for scores."""
        write_findings(self.folder, findings, source or self.findings_source(analyses), analyses)

    def headlines(self) -> tuple[str, ...]:
        """What the report says first; empty: there is no report yet."""
        return self._headlines()[0]

    def _headlines(self) -> tuple[tuple[str, ...], str | None]:
        """And the digest of what the report was made from; None: not known."""
        file = self.folder / HEADLINES
        if not file.is_file():
            return (), None
        advice = f"Make it anew: shaketable report {self.folder}."
        refuse_altered(file, advice)
        try:
            content = json.loads(file.read_text("utf-8"))
            if isinstance(content, list):  # Version 0.3 kept the sentences alone.
                return tuple(content), None
            return tuple(content["headlines"]), content["made_from"]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise RunError(f"{file} cannot be read: {error}. {advice}") from error

    def write_headlines(self, sentences: Sequence[str], *, source: str | None = None) -> None:
        """Beside the report, which is written before them. `source` is what it was made from."""
        content = {"made_from": source, "headlines": list(sentences)}
        write_sealed(self.folder / HEADLINES, json.dumps(content, ensure_ascii=False, indent=1))

    # --- what scores and findings were made from ----------------------------------------------

    def scores_source(self, metrics: Sequence[str] | None = None) -> str:
        """The digest of what these metrics (None: the study's) would score now: records, references, and themselves."""
        return currency.scores_source(self.content_digest(), self.study, metrics)

    def has_current_scores(self) -> bool:
        """Whether the stored scores are those that their metrics would give now."""
        stored = self._score_source()
        try:
            return stored.made_from is not None and stored.made_from == self.scores_source(stored.asked)
        except PartError:  # A metric that there is no more, or that only another process has.
            return self._is_scored_elsewhere(stored.asked or self.study.metrics)

    def _is_scored_elsewhere(self, metrics: Sequence[str]) -> bool:
        """Whether a metric of a script or notebook, which is not here, has scored all records: they stand then."""
        brought = self.study.in_process.get("metric", {})
        if not any(text.partition("(")[0].strip() in brought for text in metrics):
            return False
        return set(self.scores()["key"]) == self.store.keys()

    def asked_metrics(self) -> tuple[str, ...] | None:
        """The metrics that were asked for last instead of the study's; None: the study's."""
        return self._score_source().asked

    def findings_source(self, analyses: Sequence[str] | None = None) -> str:
        """The digest of what these analyses (None: the study's) would read now, and of the program that reads it."""
        return currency.findings_source(self.content_digest(), self._score_source(), self.study, analyses)

    def has_current_findings(self) -> bool:
        """Whether the stored findings are those that their analyses would give now."""
        return self.current_findings() is not None

    def current_findings(self) -> Findings | None:
        """The stored findings, where they are those that their analyses would give now."""
        if not has_findings(self.folder) or not self.has_current_scores():
            return None
        stored = load_findings(self.folder)
        return stored.findings if stored.made_from == self.findings_source(stored.asked) else None

    def report_source(self, band: str = "interval") -> str:
        """The digest of what a report would read now, and of the program that writes it."""
        return currency.report_source(self.content_digest(), self.store.meta(), load_seals(self.folder)[0], band)

    def has_current_report(self) -> bool:
        """Whether page and figures are there as they were written, and would be written so again."""
        page, figures = self.folder / "report.html", self.folder / "figures"
        if not (page.is_file() and figures.is_dir() and self.has_current_findings() and is_as_sealed(page)):
            return False
        return self._headlines()[1] == self.report_source()

    def asked_analyses(self) -> tuple[str, ...] | None:
        """As `asked_metrics`, of the findings."""
        return load_findings(self.folder).asked if has_findings(self.folder) else None

    def main_metric(self, names: Sequence[str] | None = None) -> str | None:
        """The number that findings and pages of this run speak of, of those scored; None: nothing is scored.

        Answers that were scored by other metrics than the study's are spoken of by the first of those.
        """
        names = self._scored() if names is None else names
        return main_metric(names, self.study.main_metric if self.study.main_metric in names else None)

    def judging_metric(self) -> str | None:
        """The number that tells right answers from wrong ones; None: none does."""
        return judging_metric(self._scored(), self.main_metric())

    def _scored(self) -> list[str]:
        return list(self.score_tables().metrics)

    # --- what happened ------------------------------------------------------------------------

    def summary(self) -> RunSummary:
        """Counts, sums and state of the run; before the first record there is nothing but the study."""
        if not (self.records_path.exists() and self.records_path.stat().st_size):
            return RunSummary(run=str(self.folder), study=self.study.name, state="empty", models=self.study.models)
        return summarize(self.store, self.folder, self.study, lambda: is_locked(self.folder))

    def parts(self) -> tuple[UsedPart, ...]:
        """Every part that took part, with its settings and version."""
        return used_parts.used_parts(self.store)

    def environments(self) -> tuple[Mapping[str, Json], ...]:
        return used_parts.environments(self.store)

    def effort_by_system(self) -> tuple[used_parts.SystemEffort, ...]:
        return used_parts.effort_by_system(self.store)

    def failures(self) -> tuple[counts.FailureCount, ...]:
        return counts.count_failures(self.store)

    def empty_answers(self) -> tuple[counts.EmptyCount, ...]:
        """Trials that ended without a word: how many, by method and reason, of how many that the method answered."""
        return counts.count_empty_answers(self.store)

    def flags(self) -> tuple[FlagCount, ...]:
        """What perturbations could not do as asked: how many questions, by perturbation and flag."""
        return count_flags(self.evidence_flags(), self.records(("key", "perturbation", "dataset", "question_id")))

    def reference_flags(self) -> tuple[counts.ReferenceFlagCount, ...]:
        """What is odd about the reference answers that the scores compare with: how many, by flag."""
        return counts.count_reference_flags(self.store)

    def verdicts(self) -> tuple[JudgeEffort, ...]:
        """What each judge behind the scores was asked: calls, tokens, and replies that were no verdict."""
        return judge_efforts(self.store, self.asked_metrics() or self.study.metrics)

    def rejected(self) -> tuple[counts.RejectedCount, ...]:
        """Wordings that were not asked: how many, by variation and kind of reason, with one of them."""
        return counts.count_rejected(self.store)

    def unscored(self) -> tuple[counts.UnscoredCount, ...]:
        """Numbers that could not be given, by metric and reason; curves too."""
        return counts.count_unscored(self._scan_scores(), self.store.curves())

    def examples(self, n: int) -> tuple[Example, ...]:
        """Questions that are right with untouched evidence and wrong with disturbed evidence, coolest first."""
        return choose_examples(self.store, self.score_tables().of(self.judging_metric() or ""), n)

    def not_varied(self) -> tuple[NotVaried, ...]:
        """What the study crosses and its pipelines could not vary."""
        stored = json.loads(self.store.meta().get("not_varied", "[]"))
        return tuple(decode(NotVaried, one) for one in stored)

    def without_temperature(self) -> dict[tuple[str, str], str]:
        """Model and method → why the temperature of its trials never reached the model: the method sets its own, or
        asks no model; or the endpoint was found to ignore it."""
        if any(choice.name == "imported" for choice in self.study.datasets):
            return {}  # How answers of elsewhere were made is not known.
        return systems_without_temperature(self.store)
