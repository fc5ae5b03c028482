"""Commands that bring answers in and take tables out."""

from __future__ import annotations

import enum
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, cast

import polars as pl
import typer

from shaketable.cli.console import guarded, print_json, say
from shaketable.cli.running import JsonOption, RunArgument
from shaketable.errors import OutputError
from shaketable.report.words import count
from shaketable.stages.analyze import make_current as make_findings_current
from shaketable.stages.import_answers import import_answers
from shaketable.stages.interchange.inspect_writing import export_inspect
from shaketable.stages.interchange.lm_eval_writing import export_lm_eval
from shaketable.stages.score import make_current as make_scores_current
from shaketable.store import Run
from shaketable.store.findings_file import tidy_rows
from shaketable.store.frame_file import FileFormat, format_frames, write_frames
from shaketable.text.unseen import visible


class TableName(enum.StrEnum):
    records = "records"
    wide = "wide"
    scores = "scores"
    findings = "findings"


class Format(enum.StrEnum):
    csv = "csv"
    parquet = "parquet"
    jsonl = "jsonl"
    inspect = "inspect"
    lm_eval = "lm-eval"


class ImportFormat(enum.StrEnum):
    answers = "answers"
    inspect = "inspect"
    lm_eval = "lm-eval"


LOG_FORMATS = {Format.inspect: export_inspect, Format.lm_eval: export_lm_eval}


@guarded
def import_(
    answers: Annotated[
        Path,
        typer.Argument(
            metavar="ANSWERS",
            help="JSON lines or CSV, one answer each; or a log of Inspect (.eval, .json) or samples_*.jsonl of "
            "lm-evaluation-harness; or a folder of such logs.",
        ),
    ],
    out_folder: Annotated[Path, typer.Option("--out", help="The new run's folder.")],
    format_: Annotated[
        ImportFormat | None, typer.Option("--format", help="Whose log it is; its content tells if absent.")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(min=0.0, help="The sampling temperature of logs that name none.")
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Make a run of answers that another system gave, so that they can be scored and analyzed.

    Each line has `question_id`, `question`, `gold`, `answer` and may have dataset, type, n_facts, model, method,
    retriever, variation, wording, perturbation, temperature, repeat, n_searches, n_generations, n_prompt_tokens,
    n_tokens, seconds, gold_titles, reference, working, prompt, failure, failure_message, entropy or top_logprobs (with
    tokens), scores as `{name: number}`, and searches: a list of `{query, hits: [{id, title}], gold_hit}`.
    In CSV these are columns, lists are JSON texts, and an empty `answer` is one that failed.

    Of logs, epochs and repeated responses are repeats, targets are gold answers, errors are failures, and scores come
    as `given@NAME` beside those that are made here.

    What varies picks the analyses: several temperatures, perturbations beside `unchanged`, variations beside
    `original`, repeats, methods beside `closed_book`, searches, entropy. It tells which were picked, and why no others.
    Then: `shaketable analyze RUN` (`--analysis` to choose others), `shaketable report RUN`.
    """
    imported = import_answers(
        answers, out_folder, log_format=None if format_ is None else format_.value, temperature=temperature
    )
    summary, analyses = imported.run.summary(), imported.run.study.analyses
    if json_:
        shown = ("run", "trials", "done", "failed", "n_questions")
        left_out = {name: group.reason for group in imported.left_out for name in group.analyses}
        print_json(
            {name: getattr(summary, name) for name in shown}
            | {"analyses": list(analyses), "left_out": left_out}
            | ({"remarks": [f"{one.where}: {one.text}" for one in imported.remarks]} if imported.remarks else {})
        )
        return
    failed = f", {summary.failed:,} of them failed" if summary.failed else ""
    say(f"{count(summary.trials, 'answer')} to {count(summary.n_questions, 'question')}{failed}.")
    for remark in imported.remarks:
        say(f"{remark.where}: {remark.text}.")
    say(f"Analyses that the columns allow: {', '.join(analyses)}.")
    if imported.left_out:
        names = [name for group in imported.left_out for name in group.analyses]
        say(f"{len(names)} others need what is not there: {', '.join(names)}. Why: --json, or shaketable ls NAME.")
    say(f"Next: shaketable analyze {out_folder}")


@guarded
def export(
    run_folder: RunArgument,
    table: Annotated[TableName, typer.Option(help="Which table.")] = TableName.records,
    format_: Annotated[Format | None, typer.Option("--format", help="Taken from the file's ending if absent.")] = None,
    out_file: Annotated[
        Path | None, typer.Option("--out", help="The file, or a folder for logs; standard output if absent.")
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Write a run's table for other tools. Records carry key, every factor, answer, failure and counts.

    `--table wide` is one table for everything: a row per record with its question, gold answers, evidence, answer,
    costs, and a column for each score; `NAME_missing` says why there is none. Lists are lists in JSON lines and
    Parquet, and JSON texts in CSV.

    `--format inspect` writes logs that `inspect view` opens, one for each condition: a folder, or for a run with one
    condition a file that ends in .eval or .json. `--format lm-eval` writes a folder with `samples_*.jsonl` and
    `results_*.json`. Both carry the scores.
    """
    run = Run(run_folder)
    if format_ in LOG_FORMATS:
        _export_logs(run, format_, table, out_file, json_)
        return
    slices = _slices(run, table)
    chosen = format_ or (Format.jsonl if json_ and out_file is None else _format_of(out_file))
    if chosen is Format.csv:
        slices = map(_flat, slices)
    if out_file is None:
        if chosen is Format.parquet:
            raise OutputError("Parquet is binary: give a file with --out.")
        for _, text in format_frames(slices, "csv" if chosen is Format.csv else "jsonl"):
            # A file or another program gets the data as they are; a terminal would obey what is in them.
            typer.echo(visible(text).replace("\r", "[U+000D]") if sys.stdout.isatty() else text, nl=False)
        return
    out_file.parent.mkdir(parents=True, exist_ok=True)
    n_rows = write_frames(slices, out_file, cast(FileFormat, chosen.value))
    if json_:
        print_json({"run": str(run_folder), "table": table, "rows": n_rows, "file": str(out_file)})
    else:
        say(f"{count(n_rows, 'row')} in {out_file}")


def _export_logs(run: Run, format_: Format, table: TableName, out: Path | None, json_: bool) -> None:
    if out is None:
        raise OutputError(f"Logs are files: give a folder with --out, such as --out {run.folder.name}-logs.")
    if table is not TableName.records:
        raise OutputError(f"--format {format_} writes records with their scores. Leave --table {table} away.")
    make_scores_current(run)
    files = LOG_FORMATS[format_](run, out)
    if json_:
        print_json({"run": str(run.folder), "format": format_, "files": [str(file) for file in files]})
        return
    say(f"{len(files):,} file{'' if len(files) == 1 else 's'} in {out}" if len(files) > 1 else f"Written: {files[0]}")
    if format_ is Format.inspect:
        say(f"Next: inspect view --log-dir {out if out.is_dir() else out.parent}")


def _slices(run: Run, table: TableName) -> Iterator[pl.DataFrame]:
    """The table, some rows after the other: a large run does not fit the memory."""
    if table is TableName.records:
        return run.record_slices()
    if table in (TableName.scores, TableName.wide):
        make_scores_current(run)
        return run.wide_slices() if table is TableName.wide else run.score_tables().slices()
    make_findings_current(run)
    return iter([pl.DataFrame(tidy_rows(run.findings()), infer_schema_length=None)])


def _format_of(file: Path | None) -> Format:
    ending = file.suffix.lstrip(".") if file else "csv"
    if ending not in ("csv", "parquet", "jsonl"):
        raise OutputError(f"{file}: which format is '.{ending}'? Use .csv, .parquet or .jsonl, or say --format.")
    return Format(ending)


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Lists, such as the keys behind a case, as JSON texts: CSV has no other place for them."""
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    texts = {
        name: [None if value is None else json.dumps(value, ensure_ascii=False) for value in frame[name].to_list()]
        for name in nested
    }
    return frame.with_columns(pl.Series(name, own, dtype=pl.String) for name, own in texts.items())
