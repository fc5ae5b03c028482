"""Commands that bring answers in, take tables out, and prove that a run is sound."""

from __future__ import annotations

import dataclasses
import enum
import json
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from shaketable.cli.console import guarded, out, print_json, say
from shaketable.cli.running import JsonOption, RunArgument
from shaketable.errors import StudyError
from shaketable.stages.analyze import make_current as make_findings_current
from shaketable.stages.import_answers import import_answers
from shaketable.stages.score import make_current as make_scores_current
from shaketable.store import RecordStore, Run
from shaketable.store.findings_file import tidy_rows
from shaketable.store.verify import verify as verify_store


class TableName(enum.StrEnum):
    records = "records"
    scores = "scores"
    findings = "findings"


class Format(enum.StrEnum):
    csv = "csv"
    parquet = "parquet"
    jsonl = "jsonl"


@guarded
def import_(
    answers: Annotated[Path, typer.Argument(metavar="ANSWERS", help="JSON lines or CSV, one answer each.")],
    out_folder: Annotated[Path, typer.Option("--out", help="The new run's folder.")],
    json_: JsonOption = False,
) -> None:
    """Make a run of answers that another system gave, so that they can be scored and analyzed.

    Each line has `question_id`, `question`, `gold`, `answer` and may have dataset, type, n_facts, model, method,
    retriever, variation, wording, perturbation, temperature, repeat, n_searches, n_generations, n_tokens, gold_titles,
    reference, entropy or top_logprobs (with tokens), and searches: a list of `{query, hits: [{id, title}], gold_hit}`.
    In CSV these are columns, lists are JSON texts, and an empty `answer` is one that failed.

    What varies picks the analyses: several temperatures, perturbations beside `unchanged`, variations beside
    `original`, repeats, methods beside `closed_book`, searches, entropy. It tells which were picked, and why no others.
    Then: `shaketable analyze RUN` (`--analysis` to choose others), `shaketable report RUN`.
    """
    imported = import_answers(answers, out_folder)
    summary, analyses = imported.run.summary(), imported.run.study.analyses
    if json_:
        shown = ("run", "trials", "done", "failed", "n_questions")
        left_out = {name: group.reason for group in imported.left_out for name in group.analyses}
        print_json(
            {name: getattr(summary, name) for name in shown} | {"analyses": list(analyses), "left_out": left_out}
        )
        return
    failed = f", {summary.failed:,} of them failed" if summary.failed else ""
    say(f"{summary.trials:,} answers to {summary.n_questions:,} questions{failed}.")
    say(f"Analyses that the columns allow: {', '.join(analyses)}.")
    for group in imported.left_out:
        say(f"Not {', '.join(group.analyses)}: {group.reason}.")
    say(f"Next: shaketable analyze {out_folder}")


@guarded
def export(
    run_folder: RunArgument,
    table: Annotated[TableName, typer.Option(help="Which table.")] = TableName.records,
    format_: Annotated[Format | None, typer.Option("--format", help="Taken from the file's ending if absent.")] = None,
    out_file: Annotated[Path | None, typer.Option("--out", help="The file; standard output if absent.")] = None,
    json_: JsonOption = False,
) -> None:
    """Write a run's table for other tools. Records carry key, every factor, answer, failure and counts."""
    run = Run(run_folder)
    frame = _frame(run, table)
    chosen = format_ or (Format.jsonl if json_ and out_file is None else _format_of(out_file))
    if chosen is Format.csv:
        frame = _flat(frame)
    if out_file is None:
        if chosen is Format.parquet:
            raise StudyError("Parquet is binary: give a file with --out.")
        typer.echo(frame.write_csv() if chosen is Format.csv else frame.write_ndjson(), nl=False)
        return
    out_file.parent.mkdir(parents=True, exist_ok=True)
    if chosen is Format.csv:
        frame.write_csv(out_file)
    elif chosen is Format.jsonl:
        frame.write_ndjson(out_file)
    else:
        frame.write_parquet(out_file)
    if json_:
        print_json({"run": str(run_folder), "table": table, "rows": frame.height, "file": str(out_file)})
    else:
        say(f"{frame.height:,} rows in {out_file}")


@guarded
def verify(run_folder: RunArgument, json_: JsonOption = False) -> None:
    """Prove that nothing stored was lost, doubled or altered. Exit 1 if something was."""
    with RecordStore(Run(run_folder).records_path, read_only=True) as store:
        verdict = verify_store(store)
    if json_:
        print_json({"run": str(run_folder), "sound": not verdict.problems, **dataclasses.asdict(verdict)})
    else:
        for problem in verdict.problems[:20]:
            out.print(f"✗ {problem}", highlight=False, markup=False)
        words = "Sound" if not verdict.problems else f"{len(verdict.problems)} problems"
        missing = f", {verdict.missing:,} trials still to answer" if verdict.missing else ""
        out.print(f"{words}: {verdict.n_records:,} records checked{missing}.", highlight=False)
    raise typer.Exit(1 if verdict.problems else 0)


def _frame(run: Run, table: TableName) -> pl.DataFrame:
    if table is TableName.records:
        return run.records()
    if table is TableName.scores:
        make_scores_current(run)
        return run.score_table()
    make_findings_current(run)
    return pl.DataFrame(tidy_rows(run.findings()), infer_schema_length=None)


def _format_of(file: Path | None) -> Format:
    ending = file.suffix.lstrip(".") if file else "csv"
    if ending not in Format.__members__:
        raise StudyError(f"{file}: which format is '.{ending}'? Use .csv, .parquet or .jsonl, or say --format.")
    return Format(ending)


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Lists, such as the keys behind a case, as JSON texts: CSV has no other place for them."""
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    texts = {name: [None if value is None else json.dumps(value) for value in frame[name].to_list()] for name in nested}
    return frame.with_columns(pl.Series(name, own, dtype=pl.String) for name, own in texts.items())
