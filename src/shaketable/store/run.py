"""A run is a folder: the frozen study, its records, scores, findings, figures and report."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import fcntl
import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from shaketable import __version__, catalog
from shaketable.errors import PartError, RunError
from shaketable.factors import judging_metric, main_metric
from shaketable.identity import canonical, digest
from shaketable.store.findings_file import has_findings, load_findings, write_findings
from shaketable.store.records import RecordStore
from shaketable.study import format_study, load_study
from shaketable.text.gold import gold_among
from shaketable.types import Curve, Finding, Record, Score, Study

FACTORS = (
    "dataset",
    "question_id",
    "model",
    "method",
    "retriever",
    "perturbation",
    "variation",
    "temperature",
    "repeat",
)
UNFINISHED = "study.tmp"
NUMBER = re.compile(r"-?\d+(\.\d+)?")
NO_WORD = "(TRIM(r.answer, ' ' || char(9, 10, 13)) = '')"
"""Whether an answer has nothing but white space."""
NOTHING_WRITTEN = "nothing was written"
"""Why an answer is empty where its method does not say."""
GOLD_HIT = "gold_hit"
"""The note of an imported search that says whether it brought a supporting document."""
SOURCE, ASKED = "made_from", "asked"
"""Kept with scores and findings: the digest of what they were made from, and the metrics or analyses that were asked
for instead of the study's."""
NOTHING_CHANGED = "nothing_changed"
"""The flag of a record whose evidence no search disturbed, whatever kept the perturbation from it."""
SCORE_SCHEMA = {"key": pl.String, "metric": pl.String, "value": pl.Float64, "reason": pl.String}
SEARCH_SCHEMA: dict[str, Any] = {
    "key": pl.String,
    "hop": pl.Int64,
    "query": pl.String,
    "passages": pl.List(pl.String),
    "titles": pl.List(pl.String),
    "gold_hit": pl.Boolean,
    "n_gold": pl.Int64,
}

SETS_ITS_OWN = "the method sets the temperature of every generation itself"
ASKS_NONE = "the method asks no model"


class Run:
    """One run, opened for reading; `writing()` hands out its store to the one process that writes."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._content: tuple[tuple[tuple[int, int], ...], str] | None = None
        if not (self.folder / "study.toml").is_file():
            raise RunError(
                f"{self.folder} holds no run: there is no study.toml in it. "
                f"Make one with: shaketable run STUDY --out {self.folder}."
            )

    @classmethod
    def prepare(cls, folder: str | Path, study: Study) -> Run:
        """A new run's folder, or the folder of the same study to go on with. Nothing is overwritten."""
        folder = Path(folder)
        frozen = folder / "study.toml"
        if frozen.is_file():
            differing = _differences(load_study(frozen), study)
            if differing:
                raise RunError(
                    f"{folder} holds the run of another study: {'; '.join(differing)}. Nothing was changed. "
                    "Give another folder with --out, or go on with the old study: "
                    f"shaketable run {frozen} --out {folder}."
                )
        elif folder.is_file():
            raise RunError(f"{folder} is a file, and a run is a folder. Give an empty or new folder with --out.")
        elif names := _strange_names(folder):
            found = ", ".join(names[:3])
            raise RunError(
                f"{folder} is not empty and holds no run (found {found}). Give an empty or new folder with --out."
            )
        folder.mkdir(parents=True, exist_ok=True)
        if not frozen.is_file() or load_study(frozen) != study:
            temporary = folder / UNFINISHED
            temporary.write_text(format_study(study), "utf-8")
            temporary.replace(frozen)
        return cls(folder)

    @property
    def records_path(self) -> Path:
        return self.folder / "records.sqlite"

    @cached_property
    def study(self) -> Study:
        return load_study(self.folder / "study.toml")

    @cached_property
    def study_text(self) -> str:
        return (self.folder / "study.toml").read_text("utf-8")

    @contextlib.contextmanager
    def writing(self) -> Iterator[RecordStore]:
        """The store, for the one process that may write."""
        with (self.folder / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise RunError(
                    f"Another process is writing to {self.folder}. Wait for it, or use another --out."
                ) from error
            with RecordStore(self.records_path) as store:
                if "created" not in store.meta():
                    store.set_meta(created=_now(), study=self.study.name)
                yield store

    @contextlib.contextmanager
    def reading(self) -> Iterator[Run]:
        """The same run with a connection of its own: SQLite's belong to the thread that made them."""
        fresh = Run(self.folder)
        fresh._content = self._content  # Each page reads so, and the digest of all records is not worked out for each.
        try:
            yield fresh
        finally:
            self._content = fresh._content
            if "store" in vars(fresh):
                fresh.store.close()

    @cached_property
    def store(self) -> RecordStore:
        return RecordStore(self.records_path, read_only=True)

    # --- tables -------------------------------------------------------------------------------

    def records(self, where: str = "1") -> pl.DataFrame:
        """One row per record: key, every factor, answer, failure, counts; `where` as in `RecordStore.records`."""
        columns = (
            *("key", "dataset", "question_id", "question", "gold", "type", "n_facts", "model", "method", "retriever"),
            *("perturbation", "variation", "wording", "temperature", "repeat", "seed", "answer", "failure"),
            *("n_searches", "n_generations", "n_prompt_tokens", "n_tokens", "seconds"),
        )
        rows = self.store.rows(
            f"""SELECT r.key, q.dataset, q.id, q.text, q.answers, json_extract(q.tags, '$.type'),
                      json_extract(q.tags, '$.n_facts'), c.model, c.method, c.retriever, c.perturbation, v.variation,
                      v.wording, r.temperature, r.repeat, r.seed, r.answer, json_extract(r.failure, '$.kind'),
                      r.n_searches, r.n_generations, r.n_prompt_tokens, r.n_tokens, r.seconds
               FROM records r JOIN variants v ON v.id = r.variant JOIN questions q ON q.id = v.question_id
               JOIN conditions c ON c.id = r.condition
               WHERE {where} ORDER BY q.place, c.id, v.id, r.temperature, r.repeat"""
        )
        types: dict[str, Any] = dict.fromkeys(columns, pl.String)
        types |= dict.fromkeys(("temperature", "seconds"), pl.Float64)
        types |= dict.fromkeys(
            ("n_facts", "repeat", "seed", "n_searches", "n_generations", "n_prompt_tokens", "n_tokens"), pl.Int64
        )
        return pl.DataFrame(rows, schema=types, orient="row")

    def searches(self) -> pl.DataFrame:
        """One row per executed search: key, hop from 1, query, ids and titles of the passages it brought, whether a
        supporting document is among them (None: the question names none), and how many."""
        questions = {question.id: question for question in self.store.questions()}
        brought: dict[str, tuple[list[str], list[str]]] = {}  # many trials share what one search brought
        rows: list[tuple[Any, ...]] = []
        for key, question_id, trace in self.store.rows(
            """SELECT r.key, v.question_id, r.trace FROM records r JOIN variants v ON v.id = r.variant
               WHERE r.n_searches > 0 ORDER BY r.id"""
        ):
            hop = 0
            for event in json.loads(trace)["events"]:
                if "evidence" in event:
                    hop += 1
                    digest = event["evidence"]
                    if digest not in brought:
                        brought[digest] = self._brought(digest)
                    ids, titles = brought[digest]
                    gold = gold_among(questions[question_id], titles)
                    told = (None, None) if gold is None else (bool(gold), len(gold))
                    rows.append((key, hop, event["search"], ids, titles, *told))
                elif event.get("note") == GOLD_HIT and rows and gold is None:
                    # Answers made elsewhere may tell it without naming the supporting documents.
                    rows[-1] = (*rows[-1][:5], event["values"]["value"], None)
        return pl.DataFrame(rows, schema=SEARCH_SCHEMA, orient="row")

    def _brought(self, digest: str) -> tuple[list[str], list[str]]:
        """Ids and titles of the passages that one search brought."""
        [(body,)] = self.store.rows("SELECT body FROM texts WHERE digest = ?", digest)
        passages = [hit["passage"] for hit in json.loads(body)["hits"]]
        return [passage["id"] for passage in passages], [passage["title"] for passage in passages]

    def calls(self) -> pl.DataFrame:
        """One row per record: key, and how often its method called the model, calls for another purpose aside."""
        rows = self.store.rows(
            """SELECT r.key, r.n_generations - CASE WHEN r.trace LIKE '%"purpose":%' THEN (
                   SELECT COUNT(*) FROM json_each(r.trace, '$.events') e
                   WHERE json_extract(e.value, '$.purpose') IS NOT NULL) ELSE 0 END
               FROM records r ORDER BY r.id"""
        )
        return pl.DataFrame(rows, schema={"key": pl.String, "n_calls": pl.Int64}, orient="row")

    def scores(self) -> pl.DataFrame:
        """One row per record and number: key, metric, value, reason."""
        path = self.folder / "scores.parquet"
        if not path.is_file():
            raise RunError(f"{self.folder} has no scores yet. Run: shaketable score {self.folder}.")
        return pl.read_parquet(path)

    # --- what scores and findings were made from ----------------------------------------------

    def scores_source(self, metrics: Sequence[str] | None = None) -> str:
        """The digest of what these metrics (None: the study's) would score now: records, references, and themselves."""
        spelled = [catalog.spelled(catalog.build("metric", text)) for text in metrics or self.study.metrics]
        return digest([self._content_digest(), self.study.reference, self.study.reference_prompt, spelled])

    def has_current_scores(self) -> bool:
        """Whether the stored scores are those that their metrics would give now."""
        source, metrics = self._kept_with_scores()
        try:
            return source is not None and source == self.scores_source(metrics)
        except PartError:  # A metric that there is no more.
            return False

    def asked_metrics(self) -> list[str] | None:
        """The metrics that were asked for last instead of the study's; None: the study's."""
        return self._kept_with_scores()[1]

    def _kept_with_scores(self) -> tuple[str | None, list[str] | None]:
        path = self.folder / "scores.parquet"
        kept = pl.read_parquet_metadata(path) if path.is_file() else {}
        return kept.get(SOURCE), json.loads(kept.get(ASKED, "null"))

    def findings_source(self, analyses: Sequence[str] | None = None) -> str:
        """The digest of what these analyses (None: the study's) would read now, and of the program that reads it."""
        asked = list(analyses or self.study.analyses)
        return digest([self._content_digest(), *self._kept_with_scores(), asked, self.study, __version__])

    def has_current_findings(self) -> bool:
        """Whether the stored findings are those that their analyses would give now."""
        if not has_findings(self.folder) or not self.has_current_scores():
            return False
        stored = load_findings(self.folder)
        return stored.source == self.findings_source(stored.asked)

    def asked_analyses(self) -> tuple[str, ...] | None:
        """As `asked_metrics`, of the findings."""
        return load_findings(self.folder).asked if has_findings(self.folder) else None

    def _content_digest(self) -> str:
        """Worked out anew when the file or its log changed: pages ask for it again and again."""
        files = (self.records_path, self.records_path.with_name(f"{self.records_path.name}-wal"))
        stamps = tuple((file.stat().st_mtime_ns, file.stat().st_size) for file in files if file.is_file())
        if self._content is None or self._content[0] != stamps:
            self._content = stamps, self.store.content_digest()
        return self._content[1]

    def score_table(self) -> pl.DataFrame:
        """Scores with the factors of their records: what analyses read."""
        factors = self.records().select("key", *FACTORS, "type", "n_facts")
        table = self.scores().join(factors, on="key", how="inner", maintain_order="left")
        table = table.join(self.evidence_flags(), on="key", how="left", maintain_order="left")
        # What was not disturbed says nothing of the disturbance: it would count as an effect of 0.
        unwanted = [NOTHING_CHANGED, *self.study.without_flags]
        left_out = pl.col("flags").str.split(" ").list.set_intersection(unwanted).list.len() > 0
        return table.with_columns(
            value=pl.when(left_out.fill_null(False)).then(None).otherwise("value"),
            reason=pl.when(left_out.fill_null(False)).then(pl.format("left out: {}", "flags")).otherwise("reason"),
        )

    def evidence_flags(self) -> pl.DataFrame:
        """One row per record whose evidence was not disturbed as asked: key, and the flags of all searches as words.

        `nothing_changed` is among them where no search was changed at all.
        """
        flagged = {
            digest: (json.loads(flags), n_edits)
            for digest, flags, n_edits in self.store.rows(
                """SELECT digest, json_extract(body, '$.flags'), json_array_length(body, '$.edits') FROM texts
                   WHERE body LIKE '%"flags":["%'"""
            )
        }
        found: dict[str, list[str]] = {}
        for key, digests in self._evidence_of_records() if flagged else ():
            flags = sorted({flag for digest in digests for flag in flagged.get(digest, ((), 0))[0]})
            if flags and all(digest in flagged and not flagged[digest][1] for digest in digests):
                flags.append(NOTHING_CHANGED)
            if flags:
                found[key] = flags
        rows = [(key, " ".join(flags)) for key, flags in found.items()]
        return pl.DataFrame(rows, schema={"key": pl.String, "flags": pl.String}, orient="row")

    def _evidence_of_records(self) -> Iterator[tuple[str, list[str]]]:
        """Keys of records that searched, and the digests of what their searches brought."""
        rows = self.store.rows(
            """SELECT r.key, json_group_array(json_extract(e.value, '$.evidence')) FROM records r
               JOIN json_each(r.trace, '$.events') e
               WHERE r.n_searches > 0 AND json_extract(e.value, '$.evidence') IS NOT NULL GROUP BY r.key"""
        )
        return ((key, json.loads(digests)) for key, digests in rows)

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
        return list(self.scores()["metric"].unique(maintain_order=True))

    def without_temperature(self) -> dict[tuple[str, str], str]:
        """Model and method → why the temperature of its trials never reached the model: the method sets its own, or
        asks no model; or the endpoint was found to ignore it."""
        if any(choice.name == "imported" for choice in self.study.datasets):
            return {}  # How answers of elsewhere were made is not known.
        # Only few traces name a temperature of their own; the others are not taken apart.
        never = self.store.rows(
            """SELECT c.model, c.method, MAX(r.n_generations) FROM records r JOIN conditions c ON c.id = r.condition
               WHERE r.answer IS NOT NULL GROUP BY c.model, c.method
               HAVING MAX(r.n_generations > 0 AND CASE WHEN r.trace LIKE '%"sampling":%' THEN EXISTS (
                   SELECT 1 FROM json_each(r.trace, '$.events') e WHERE json_extract(e.value, '$.generate') IS NOT NULL
                   AND json_extract(e.value, '$.sampling.temperature') IS NULL) ELSE 1 END) = 0"""
        )
        found = {(model, method): ASKS_NONE if n == 0 else SETS_ITS_OWN for model, method, n in never}
        ignored = self.store.rows(
            """SELECT DISTINCT c.model, c.method, json_extract(e.body, '$.checks.temperature_applied.reason')
               FROM records r JOIN conditions c ON c.id = r.condition JOIN environments e ON e.id = r.environment
               WHERE json_extract(e.body, '$.checks.temperature_applied.value') = 0"""
        )
        return {(model, method): f"the endpoint ignores it ({reason})" for model, method, reason in ignored} | found

    def curves(self) -> list[Curve]:
        """Estimated fragility curves, by the key of the greedy record they belong to."""
        return list(self.store.curves())

    def write_scores(
        self, scores: Sequence[Score], *, source: str | None = None, metrics: Sequence[str] | None = None
    ) -> None:
        """`source` is what they were made from, as it was before; None: what is stored now. `metrics` are those that
        were asked for instead of the study's."""
        rows = [(score.key, score.metric, score.value, score.reason) for score in scores]
        temporary = self.folder / "scores.parquet.tmp"
        kept = {SOURCE: source or self.scores_source(metrics), ASKED: json.dumps(metrics)}
        pl.DataFrame(rows, schema=SCORE_SCHEMA, orient="row").write_parquet(temporary, metadata=kept)
        temporary.replace(self.folder / "scores.parquet")

    def findings(self) -> list[Finding]:
        return list(load_findings(self.folder).findings)

    def write_findings(
        self, findings: Sequence[Finding], *, source: str | None = None, analyses: Sequence[str] | None = None
    ) -> None:
        """`source` and `analyses` as for scores."""
        write_findings(self.folder, findings, source or self.findings_source(analyses), analyses)

    # --- what happened ------------------------------------------------------------------------

    def summary(self) -> dict[str, Any]:
        """Counts, sums and state of the run."""
        meta = self.store.meta()
        [(done, failed, n_prompt, n_tokens, n_generations, n_searches)] = self.store.rows(
            """SELECT SUM(failure IS NULL), SUM(failure IS NOT NULL), SUM(n_prompt_tokens), SUM(n_tokens),
                      SUM(n_generations), SUM(n_searches) FROM records"""
        )
        done, failed = done or 0, failed or 0
        trials = int(meta.get("n_trials", done + failed))
        missing = trials - done - failed
        state = "empty" if done + failed == 0 else "interrupted" if missing else "finished"
        if state == "finished" and failed:
            state = "finished_with_failures"
        if state in ("empty", "interrupted") and self._is_being_written():
            state = "planning" if state == "empty" else "running"
        return {
            "run": str(self.folder),
            "study": self.study.name,
            "created": meta.get("created"),
            "finished": meta.get("finished"),
            "trials": trials,
            "done": done,
            "failed": failed,
            "missing": missing,
            "seconds": float(meta.get("seconds", 0.0)),
            "n_questions": self.store.rows("SELECT COUNT(*) FROM questions")[0][0],
            "n_prompt_tokens": n_prompt or 0,
            "n_tokens": n_tokens or 0,
            "n_generations": n_generations or 0,
            "n_searches": n_searches or 0,
            "models": [label for (label,) in self.store.rows("SELECT DISTINCT model FROM conditions ORDER BY 1")],
            "datasets": [name for (name,) in self.store.rows("SELECT DISTINCT dataset FROM questions ORDER BY 1")],
            "state": state,
            "selection": json.loads(meta.get("selection", "{}")),
        }

    def _is_being_written(self) -> bool:
        lock_path = self.folder / ".lock"
        if not lock_path.exists():
            return False
        with lock_path.open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def effort_by_system(self) -> list[tuple[str, str, int, int, int, int]]:
        """Model, method, answered trials, and their calls, prompt tokens and new tokens in all."""
        return self.store.rows(
            """SELECT c.model, c.method, COUNT(*), SUM(n_generations), SUM(n_prompt_tokens), SUM(n_tokens)
               FROM records r JOIN conditions c ON c.id = r.condition
               WHERE r.failure IS NULL GROUP BY 1, 2 ORDER BY 1, 2"""
        )

    def parts(self) -> list[dict[str, Any]]:
        """Every part that took part, with its settings and version."""
        found = {}
        for (parts,) in self.store.rows("SELECT parts FROM conditions ORDER BY id"):
            for part in json.loads(parts):
                found[part["kind"], part["label"]] = part
        return list(found.values())

    def environments(self) -> list[dict[str, Any]]:
        return [json.loads(body) for (body,) in self.store.rows("SELECT body FROM environments ORDER BY id")]

    def failures(self) -> list[dict[str, Any]]:
        rows = self.store.rows(
            """SELECT json_extract(failure, '$.kind'), MIN(json_extract(failure, '$.message')), COUNT(*)
               FROM records WHERE failure IS NOT NULL GROUP BY 1 ORDER BY 3 DESC"""
        )
        return [{"kind": kind, "message": message, "n": n} for kind, message, n in rows]

    def empty_answers(self) -> list[dict[str, Any]]:
        """Trials that ended without a word: how many, by method and reason, of how many that the method answered."""
        rows = self.store.rows(
            f"""SELECT c.method, CASE WHEN {NO_WORD} THEN json_extract(r.trace, '$.reason') END AS reason,
                       SUM({NO_WORD}) AS n, SUM(COUNT(*)) OVER (PARTITION BY c.method)
                FROM records r JOIN conditions c ON c.id = r.condition WHERE r.answer IS NOT NULL
                GROUP BY c.method, {NO_WORD}, reason ORDER BY c.method, n DESC, reason"""
        )
        return [
            {"method": method, "reason": (reason or NOTHING_WRITTEN).replace("_", " "), "n": n, "answered": answered}
            for method, reason, n, answered in rows
            if n
        ]

    def flags(self) -> list[dict[str, Any]]:
        """What perturbations could not do as asked: how many questions, by perturbation and flag."""
        factors = self.records().select("key", "perturbation", "dataset", "question_id")
        words = self.evidence_flags().join(factors, on="key").with_columns(flag=pl.col("flags").str.split(" "))
        counted = words.explode("flag").select("perturbation", "flag", "dataset", "question_id").unique()
        return counted.group_by("perturbation", "flag").len("n").sort("perturbation", "flag").to_dicts()

    def reference_flags(self) -> list[dict[str, Any]]:
        """What is odd about the reference answers that the scores compare with: how many, by flag."""
        made_by = self.store.meta().get("references")
        if not made_by:
            return []
        counts = self.store.rows(
            """SELECT f.value, COUNT(*) FROM reference_answers r JOIN json_each(r.flags) f
               WHERE r.made_by = ? GROUP BY 1 ORDER BY 1""",
            made_by,
        )
        return [{"flag": flag, "n": n} for flag, n in counts]

    def verdicts(self) -> list[dict[str, Any]]:
        """What each judge behind the scores was asked: calls, tokens, and replies that were no verdict."""
        metrics = [catalog.build("metric", text) for text in self.asked_metrics() or self.study.metrics]
        told = []
        for part in metrics:
            replies = self.store.verdicts(catalog.spelled(part)).values()
            if replies:
                told.append(
                    {
                        "judge": catalog.label(part),
                        "n_calls": len(replies),
                        "n_prompt_tokens": sum(reply.n_prompt_tokens for reply in replies),
                        "n_tokens": sum(reply.n_tokens for reply in replies),
                        "n_unclear": sum(reply.value is None for reply in replies),
                    }
                )
        return told

    def rejected(self) -> list[dict[str, Any]]:
        """Wordings that were not asked: how many, by variation and kind of reason, with one of them."""
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for variation, reason, wording in self.store.rows(
            "SELECT variation, rejected, wording FROM variants WHERE rejected IS NOT NULL ORDER BY variation, id"
        ):
            # What was found in one wording is left out, so that like reasons are counted together.
            kind = NUMBER.sub("…", reason.partition(":")[0])
            row = {"variation": variation, "reason": kind, "example": wording, "n": 0}
            found.setdefault((variation, kind), row)["n"] += 1
        return sorted(found.values(), key=lambda row: (row["variation"], -row["n"], row["reason"]))

    def unscored(self) -> list[dict[str, Any]]:
        """Numbers that could not be given, by metric and reason; curves too."""
        missing = self.scores().filter(pl.col("value").is_null()).group_by("metric", "reason").len("n")
        reasons = collections.Counter(curve.reason for curve in self.store.curves() if curve.reason)
        curves = [{"metric": "curve", "reason": reason, "n": n} for reason, n in sorted(reasons.items())]
        return missing.sort("metric", "reason").to_dicts() + curves

    def examples(self, n: int) -> list[dict[str, Any]]:
        """Questions that are right with untouched evidence and wrong with disturbed evidence, coolest first."""
        table = self.score_table().filter(metric=self.judging_metric() or "")
        if "unchanged" not in table["perturbation"].to_list():
            return []
        cool = table.filter(pl.col("temperature") == pl.col("temperature").min())
        cool = cool.group_by("model", "method", "retriever", "question_id", "perturbation").agg(pl.col("value").mean())
        clean = cool.filter(pl.col("perturbation") == "unchanged").drop("perturbation").rename({"value": "clean"})
        gaps = (
            cool.filter(pl.col("perturbation") != "unchanged")
            .join(clean, on=["model", "method", "retriever", "question_id"])
            .with_columns(gap=pl.col("clean") - pl.col("value"))
            .filter(pl.col("gap") > 0)
            .sort("gap", "question_id", "perturbation", descending=[True, False, False])
            .unique("question_id", keep="first", maintain_order=True)
        )
        # A different perturbation each time, as long as there are some.
        gaps = gaps.with_columns(turn=pl.int_range(pl.len()).over("perturbation")).sort("turn", maintain_order=True)
        correct = dict(table.select("key", "value").iter_rows())
        return [self._example(gap, correct) for gap in gaps.head(n).to_dicts()]

    def _example(self, gap: dict[str, Any], correct: dict[str, float | None]) -> dict[str, Any]:
        where = (
            "c.model = ? AND c.method = ? AND c.retriever = ? AND v.question_id = ? "
            "AND c.perturbation IN ('unchanged', ?)"
        )
        factors = (gap["model"], gap["method"], gap["retriever"], gap["question_id"], gap["perturbation"])
        records: list[Record] = list(self.store.records(where, *factors))
        evidence: dict[str | None, str] = {
            record.trial.perturbation: " ".join(hit.passage.text for hit in record.answer.hits)
            for record in records
            if record.answer is not None
        }
        [question] = [q for q in self.store.questions() if q.id == gap["question_id"]]
        return {
            "question": question.text,
            "wording": records[0].trial.variant.text,
            "gold": list(question.answers),
            "evidence_before": evidence.get("unchanged", ""),
            "evidence_after": evidence.get(gap["perturbation"], ""),
            "perturbation": gap["perturbation"],
            "model": gap["model"],
            "temperature": min(record.trial.temperature for record in records),
            "answers": [
                {
                    "temperature": record.trial.temperature,
                    "repeat": record.trial.repeat,
                    "perturbation": record.trial.perturbation,
                    "text": record.answer.text if record.answer else "",
                    "correct": correct.get(record.trial.key),
                }
                for record in records
            ],
        }


def _strange_names(folder: Path) -> list[str]:
    """What a new folder should not hold; half a study is left there by a run that was killed in its first moment."""
    return sorted(entry.name for entry in folder.iterdir() if entry.name != UNFINISHED) if folder.exists() else []


def _differences(frozen: Study, wanted: Study) -> list[str]:
    """Keys whose values differ, apart from what can be done again on stored answers."""
    done_again = ("metrics", "analyses", "reference", "reference_prompt", "main_metric", "margin", "without_flags")
    names = [field.name for field in dataclasses.fields(Study) if field.name not in done_again]
    return [
        f"{name} was {canonical(getattr(frozen, name))}, now {canonical(getattr(wanted, name))}"
        for name in names
        if canonical(getattr(frozen, name)) != canonical(getattr(wanted, name))
    ]


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
