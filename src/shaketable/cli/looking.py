"""Commands that look around: the parts, a study, a perturbation, this machine."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import inspect
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
from shaketable.cli.forecasting import notes_on_plan
from shaketable.cli.prompting import notes_on_prompts
from shaketable.cli.running import JsonOption, LimitOption, SetOption
from shaketable.errors import DataError, StudyError, did_you_mean
from shaketable.protocols import EndpointModel
from shaketable.retrievers.corpus import indexes
from shaketable.stages.plan import plan
from shaketable.stages.readiness import refuse_unready
from shaketable.study import load_study, shipped_studies, study_schema
from shaketable.text.word_edits import align
from shaketable.types import Evidence, Hit, Query, Question


@guarded
def ls(
    kind: Annotated[str | None, typer.Argument(help="One kind only: models, metrics, perturbations, studies …")] = None,
    json_: JsonOption = False,
) -> None:
    """The components there are, each with its settings and what it does.

    Any model, method or retriever also takes a name of your own, such as `smollm2(name='prod')`. What methods ask is
    shown by `shaketable prompts`.
    """
    kinds = {folder: name for name, folder in catalog.KINDS.items() if catalog.known(name)}
    listed = [*kinds, "studies"]
    if kind is not None and kind not in listed:
        raise StudyError(f"Unknown kind '{kind}'.{did_you_mean(kind, listed)} Known kinds: {', '.join(listed)}.")
    rows = [row for folder in kinds if kind in (None, folder) for row in _rows(folder, kinds[folder])]
    if kind in (None, "studies"):
        rows += [
            {"kind": "studies", "name": name, "settings": "", "about": _study_about(name)} for name in shipped_studies()
        ]
    if json_:
        print_json(rows)
        return
    table = Table("kind", "name", "settings", "what it does", box=None, pad_edge=False)
    for row in rows:
        table.add_row(row["kind"], Text(row["name"], style="bold"), Text(row["settings"]), Text(row["about"]))
    out.print(table)


def _rows(folder: str, kind: str) -> list[dict[str, str]]:
    rows = []
    for name in catalog.known(kind):
        part = catalog.find(kind, name)
        about = (inspect.getdoc(part) or inspect.getdoc(sys.modules[part.__module__]) or "").split("\n\n")[0]
        rows.append({"kind": folder, "name": name, "settings": _settings(part), "about": " ".join(about.split())})
    return rows


def _settings(part: Any) -> str:
    if not dataclasses.is_dataclass(part):
        parameters = inspect.signature(part).parameters
        if "table" in parameters or "tables" in parameters:
            return ", ".join(f"{name}={value!r}" for name, value in catalog.values_of(part).items())
        return ", ".join(p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters.values())
    return ", ".join(
        field.name if field.default is dataclasses.MISSING else f"{field.name}={field.default!r}"
        for field in catalog.listed_fields(part)
    )


def _study_about(name: str) -> str:
    study = load_study(name)
    models = ", ".join(study.models)
    return f"{models}: {len(study.perturbations)} kinds of evidence, {len(study.temperatures)} temperatures"


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
        raise StudyError("Which study? Give a file or a name: shaketable validate demo.")
    planned = plan(load_study(study, set_ or (), limit))
    refuse_unready(planned)
    counts = {
        "study": planned.study.name,
        "questions": len(planned.questions),
        "rejected_rows": len(planned.rejected_rows),
        "remarks": len(planned.remarks),
        "conditions": len(planned.conditions),
        "cells": planned.n_cells,
        "trials": planned.n_trials,
    }
    if json_:
        print_json(counts)
        return
    said = f"{counts['questions']} questions, {counts['conditions']} conditions, {counts['trials']:,} trials"
    say(f"{study} is fine: {said}.")
    for note in (*notes_on_plan(planned), *notes_on_prompts(planned)):
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
    loaded = catalog.find("dataset", dataset)(**({"path": path} if path else {}))
    chosen = _question(loaded.questions, question, dataset)
    hits = catalog.build("retriever", retriever).search([Query(text=chosen.text, question=chosen)], k)[0]
    if not hits:
        raise DataError(f"Question {chosen.id} has no evidence for {retriever}. Choose another question or retriever.")
    evidence: Evidence = part.perturb([chosen], [hits])[0]
    before, after = _sentences(hits), _sentences(evidence.hits)
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
    for line in _diff(before, after):
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


def _sentences(hits: list[Hit] | tuple[Hit, ...]) -> list[str]:
    return [sentence.text for hit in hits for sentence in hit.passage.sentences]


def _diff(before: list[str], after: list[str]) -> list[Text]:
    """Sentence by sentence; inside a changed sentence, word by word."""
    lines = []
    for kind, a, b, c, d in align(before, after):
        if kind == "equal":
            lines += [Text(f"  {sentence}") for sentence in before[a:b]]
        elif kind == "replace" and b - a == d - c:
            for old, new in zip(before[a:b], after[c:d], strict=True):
                lines.append(word_diff(old, new))
        else:
            lines += [Text(f"- {sentence}", style="red strike") for sentence in before[a:b]]
            lines += [Text(f"+ {sentence}", style="green") for sentence in after[c:d]]
    return lines


def word_diff(old: str, new: str) -> Text:
    line = Text("~ ")
    a, b = old.split(), new.split()
    for kind, i, j, m, n in align(a, b):
        if kind == "equal":
            line.append(" ".join(a[i:j]) + " ")
            continue
        if i < j:
            line.append(_marked(" ".join(a[i:j]), "[-", "-]"), style="red strike").append(" ")
        if m < n:
            line.append(_marked(" ".join(b[m:n]), "{+", "+}"), style="green").append(" ")
    return line


def _marked(words: str, start: str, end: str) -> str:
    """Marks stand in for colors where there are none, as in a file or a pipe."""
    return words if out.is_terminal else f"{start}{words}{end}"


# --- this machine -----------------------------------------------------------------------------------

LIBRARIES = ("torch", "transformers", "spacy", "polars", "altair", "vl-convert-python", "openai", "rouge-score-rs")


@guarded
def doctor(
    endpoint: Annotated[
        str | None, typer.Option(help="Also ask an endpoint what it honors: \"openai(model='…', base_url='…')\".")
    ] = None,
    json_: JsonOption = False,
) -> None:
    """What works on this machine, what is missing, and how to get it. Exit 1 if the demo could not run."""
    checks = [*_library_checks(), *_weight_checks(), *_environment_checks()]
    if endpoint:
        model = catalog.build("model", endpoint)
        if not isinstance(model, EndpointModel):
            raise StudyError(
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
        try:
            rows.append({"what": name, "ok": True, "found": importlib.metadata.version(name), "advice": ""})
        except importlib.metadata.PackageNotFoundError:
            rows.append({"what": name, "ok": False, "found": "not installed", "advice": f"pip install {name}"})
    return rows


def _weight_checks() -> list[dict[str, Any]]:
    rows = []
    for name, wanted in weights.EMBEDDED.items():
        folder = weights.present(name)
        damage = weights.find_damage(name) if folder else None
        needed = name not in ("smollm2-gguf", "nlpaug-misspellings")
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
        raise StudyError(
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
