"""Commands that look around: the parts, a study, a perturbation, this machine."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import platform
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from shaketable import __version__, catalog, weights
from shaketable.cli.console import guarded, out, print_json, say
from shaketable.cli.diffs import sentence_diff, sentences_of
from shaketable.cli.forecasting import notes_on_plan, verdict_lines
from shaketable.cli.prompting import notes_on_prompts
from shaketable.cli.running import JsonOption, LimitOption, SetOption
from shaketable.errors import EXTRAS, DataError, PackageError, UsageError, did_you_mean, lacks_packages
from shaketable.protocols import EndpointModel
from shaketable.report.words import count, name_questions
from shaketable.retrievers.corpus import indexes
from shaketable.stages.plan import plan
from shaketable.stages.readiness import refuse_unready
from shaketable.study import load_study, study_schema
from shaketable.types import Evidence, Query, Question


@guarded
def validate(
    study: Annotated[str | None, typer.Argument(metavar="STUDY", help="A study file, or one that ships.")] = None,
    limit: LimitOption = None,
    set_: SetOption = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of study files, for editors.")
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Check a study without running it: its keys, components, settings and data."""
    if schema:
        print_json(study_schema())
        return
    if study is None:
        raise UsageError("Which study? Give a file or a name: shaketable validate demo.")
    planned = plan(load_study(study, set_ or (), limit))
    refuse_unready(planned)
    counts = {
        "study": planned.study.name,
        "questions": len(planned.questions),
        "rejected_rows": len(planned.rejected_rows),
        "remarks": len(planned.remarks),
        "conditions": planned.n_conditions,
        "cells": planned.n_cells,
        "trials": planned.n_trials,
    }
    if json_:
        print_json(counts)
        return
    sizes = ((planned.n_conditions, "condition"), (planned.n_trials, "trial"))
    said = ", ".join([name_questions(len(planned.questions)), *(count(n, single) for n, single in sizes)])
    say(f"{study} is fine: {said}.")
    for note in (*notes_on_plan(planned), *notes_on_prompts(planned), *verdict_lines(planned)):
        say(note)


# --- what a perturbation does -----------------------------------------------------------------------


@guarded
def perturb(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A perturbation, such as sentence_removal.")],
    dataset: Annotated[str, typer.Option(help="A dataset loader.")] = "builtin",
    path: Annotated[str | None, typer.Option(help="The dataset's file.")] = None,
    question: Annotated[str | None, typer.Option(help="A question's id; the first question if absent.")] = None,
    retriever: Annotated[str, typer.Option(help="Where the evidence comes from.")] = "gold",
    k: Annotated[int, typer.Option(help="Hits, for retrievers that rank.")] = 5,
    json_: JsonOption = False,
) -> None:
    """Show what a perturbation does to a question's evidence, as a diff with its edit log."""
    part = catalog.build("perturbation", name)
    for kind, own in (("perturbation", part), ("retriever", catalog.build("retriever", retriever))):
        if problem := catalog.lacks_packages(kind, own):
            raise PackageError(problem)
    loaded = catalog.find("dataset", dataset)(**({"path": path} if path else {}))
    chosen = _question(loaded.questions, question, dataset)
    hits = catalog.build("retriever", retriever).search([Query(text=chosen.text, question=chosen)], k)[0]
    if not hits:
        raise DataError(f"Question {chosen.id} has no evidence for {retriever}. Choose another question or retriever.")
    evidence: Evidence = part.perturb([chosen], [hits])[0]
    before, after = sentences_of(hits), sentences_of(evidence.hits)
    if json_:
        print_json(
            {
                "question_id": chosen.id,
                "question": chosen.text,
                "perturbation": catalog.label(part),
                "before": " ".join(before),
                "after": " ".join(after),
                "edits": [dataclasses.asdict(edit) for edit in evidence.edits],
                "flags": list(evidence.flags),
            }
        )
        return
    out.print(Text.assemble((chosen.id, "bold"), "  ", chosen.text))
    for line in sentence_diff(before, after):
        out.print(line)
    for edit in evidence.edits:
        where = f" to place {edit.rank}" if edit.rank is not None else ""
        out.print(Text(f"  {edit.kind} {edit.sentence_id}{where}  {edit.note}".rstrip(), style="dim"))
    for flag in evidence.flags:
        out.print(Text(f"  flag: {flag}", style="yellow"))


def _question(questions: tuple[Question, ...], wanted: str | None, dataset: str) -> Question:
    if wanted is None:
        return questions[0]
    by_id = {question.id: question for question in questions}
    if wanted not in by_id:
        raise DataError(
            f"{dataset} has no question '{wanted}'.{did_you_mean(wanted, by_id)} The first is {questions[0].id}."
        )
    return by_id[wanted]


# --- this machine -----------------------------------------------------------------------------------

LIBRARIES = ("polars", "altair", "vl-convert-python", "openai", "rouge-score-rs")
"""Of those that come with the core, what a broken install would lack first."""


@guarded
def doctor(
    endpoint: Annotated[
        str | None, typer.Option(help="Also ask an endpoint what it honors: \"openai(model='…', base_url='…')\".")
    ] = None,
    json_: JsonOption = False,
) -> None:
    """What works on this machine, what is missing, and how to get it. Exit 1 if something that is installed could not
    run: with the extra `local`, the demo."""
    checks = [*_library_checks(), *_extra_checks(), *_weight_checks(), *_environment_checks()]
    if endpoint:
        model = catalog.build("model", endpoint)
        if not isinstance(model, EndpointModel):
            raise UsageError(
                f"--endpoint {endpoint}: this model has no endpoint to ask. Use openai(model=…, base_url=…)."
            )
        found = model.check()
        checks += [
            {"what": f"endpoint {name}", "ok": fact.value, "found": fact.reason, "advice": ""}
            for name, fact in found.items()
        ]
    if json_:
        print_json({"version": __version__, "checks": checks})
    else:
        for check in checks:
            mark = {True: ("✓", "green"), False: ("✗", "red"), None: ("·", "yellow")}[check["ok"]]
            out.print(Text.assemble(mark, f" {check['what']}:"), Text(check["found"]), end="", highlight=False)
            out.print(Text(f"  → {check['advice']}" if check["advice"] else ""))
    raise typer.Exit(1 if any(check["ok"] is False for check in checks) else 0)


def _library_checks() -> list[dict[str, Any]]:
    rows = [{"what": "Python", "ok": sys.version_info >= (3, 11), "found": platform.python_version(), "advice": ""}]
    for name in LIBRARIES:
        version = _version(name)
        advice = "" if version else f"pip install {name}"
        rows.append({"what": name, "ok": version is not None, "found": version or "not installed", "advice": advice})
    return rows


def _extra_checks() -> list[dict[str, Any]]:
    """Nobody needs all of them: one that is not installed is no fault."""
    rows = []
    for name, extra in EXTRAS.items():
        versions = {package: _version(package) for package in extra.packages.values()}
        missing = [package for package, version in versions.items() if version is None]
        there = ", ".join(f"{package} {version}" for package, version in versions.items())
        rows.append(
            {
                "what": f"extra {name} ({extra.brings})",
                "ok": None if missing else True,
                "found": f"not installed: {', '.join(missing)}" if missing else there,
                "advice": f"pip install 'shaketable[{name}]'" if missing else "",
            }
        )
    return rows


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _weight_checks() -> list[dict[str, Any]]:
    rows = []
    has_local = lacks_packages("", EXTRAS["local"].packages) is None
    for name, wanted in weights.EMBEDDED.items():
        folder = weights.present(name)
        damage = weights.find_damage(name) if folder else None
        needed = has_local and name not in ("smollm2-gguf", "nlpaug-misspellings")
        is_there = True if folder else False if needed else None
        rows.append(
            {
                "what": f"weights {name} ({wanted.what})",
                "ok": False if damage else is_there,
                "found": f"damaged: {damage}" if damage else str(folder) if folder else f"not in {weights.home()}",
                "advice": "" if folder and not damage else f"shaketable models fetch {name}",
            }
        )
    return rows


def _environment_checks() -> list[dict[str, Any]]:
    key = "OPENAI_API_KEY"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    folder, n_indexes, n_bytes = indexes.kept()
    return [
        {"what": "cores", "ok": True, "found": str(cores), "advice": ""},
        {"what": "indexes", "ok": True, "found": f"{n_indexes:,}, {n_bytes / 1e6:,.0f} MB, in {folder}", "advice": ""},
        {
            "what": key,
            "ok": True if os.environ.get(key) else None,
            "found": "set" if os.environ.get(key) else "not set",
            "advice": "" if os.environ.get(key) else "needed for hosted models only",
        },
        {"what": "network", "ok": None if weights.is_offline() else True,
         "found": "SHAKETABLE_OFFLINE is set" if weights.is_offline() else "allowed", "advice": ""},
    ]  # fmt: skip


@guarded
def models(
    action: Annotated[
        str | None, typer.Argument(metavar="[fetch]", help="`fetch` brings embedded weights here.")
    ] = None,
    names: Annotated[list[str] | None, typer.Argument(help="Which weights; all that the demo needs if absent.")] = None,
    json_: JsonOption = False,
) -> None:
    """Local weights: what is here and where. `shaketable models fetch` brings the embedded ones."""
    if action not in (None, "fetch"):
        raise UsageError(
            f"models knows no '{action}'.{did_you_mean(action or '', ['fetch'])} Use: shaketable models fetch."
        )
    if action == "fetch":
        for name in names or [name for name in weights.EMBEDDED if name != "smollm2-gguf"]:
            folder = weights.fetch(name, say=lambda line: say(line, quiet=json_))
            say(f"{name}: {folder}", quiet=json_)
    rows = [
        {"name": name, "what": wanted.what, "license": wanted.license, "folder": str(weights.present(name) or "")}
        for name, wanted in weights.EMBEDDED.items()
    ]
    if json_:
        print_json({"home": str(Path(weights.home())), "weights": rows})
        return
    table = Table("name", "what", "license", "folder", box=None, pad_edge=False)
    for row in rows:
        table.add_row(row["name"], row["what"], row["license"], row["folder"] or "not here")
    out.print(table)
