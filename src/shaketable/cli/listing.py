"""The command that lists the parts there are, and explains one: its settings, an example, and what it does."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from shaketable import catalog
from shaketable.cli.console import guarded, out, print_json
from shaketable.cli.part_pages import PartPage, describe_part, tell_part
from shaketable.cli.running import JsonOption
from shaketable.errors import PartError, did_you_mean
from shaketable.report.words import count
from shaketable.study import SHIPPED, load_study, shipped_studies
from shaketable.variations.gate.reworded import CHECKED_BY_RULES, Reworded, checked_fully

TYPING_ERROR = 0.75
"""How near a name must be to be meant: among all names some other word is half alike."""


@guarded
def ls(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND|NAME]", help="One kind (models, metrics, studies …), or one component to explain."
        ),
    ] = None,
    json_: JsonOption = False,
) -> None:
    """The components there are; with the name of one, its settings, an example, and what it does to a real question.

    Any model, method or retriever also takes a name of your own, such as `smollm2(name='prod')`. What methods ask is
    shown by `shaketable prompts`.

    Examples: `shaketable ls perturbations` · `shaketable ls sentence_removal` ·
    `shaketable ls "word_reordering(p=0.3)"`
    """
    kinds = {folder: kind for kind, folder in catalog.KINDS.items() if catalog.known(kind)}
    listed = [*kinds, "studies"]
    if name is not None and name not in listed:
        _explain(name, listed, json_)
        return
    rows = [row for folder in kinds if name in (None, folder) for row in _rows(folder, kinds[folder])]
    if name in (None, "studies"):
        rows += [
            {"kind": "studies", "name": study, "settings": "", "about": _study_about(study)}
            for study in shipped_studies()
        ]
    if json_:
        print_json(rows)
        return
    for folder in dict.fromkeys(row["kind"] for row in rows):
        out.print(Text(folder, style="bold"))
        table = Table(box=None, pad_edge=False, show_header=False)
        for row in rows:
            if row["kind"] == folder:
                purpose = f"{_purpose(row['about'])} {row.get('check', '')}".rstrip()
                table.add_row(Text(f"  {row['name']}"), Text(purpose))
        out.print(table)
    out.print("Settings, an example and what it does: shaketable ls NAME.", highlight=False)


def _purpose(about: str) -> str:
    """Its first sentence."""
    return re.split(r"(?<=[.?])\s+(?=[A-Z])", about)[0]


def _explain(name: str, kinds: list[str], json_: bool) -> None:
    if name in shipped_studies():
        _show_study(name, json_)
        return
    pages = _pages(name, kinds)
    if json_:
        print_json([page.values() for page in pages])
        return
    for page in pages:
        tell_part(page)


def _pages(text: str, kinds: list[str]) -> list[PartPage]:
    """A part of each kind that knows the name."""
    name = text.partition("(")[0].strip()
    parts = [kind for kind in catalog.KINDS if kind != "section" and name in catalog.known(kind)]
    if not parts:
        every = sorted({known for kind in catalog.KINDS if kind != "section" for known in catalog.known(kind)})
        hint = did_you_mean(name, [*every, *kinds], nearness=TYPING_ERROR)
        raise PartError(
            f"There is no component and no kind '{name}'.{hint} Known kinds: {', '.join(kinds)}. All components: "
            "shaketable ls."
        )
    return [describe_part(kind, text) for kind in parts]


def _rows(folder: str, kind: str) -> list[dict[str, str]]:
    rows = []
    for name in catalog.known(kind):
        part = catalog.find(kind, name)
        about = (inspect.getdoc(part) or inspect.getdoc(sys.modules[part.__module__]) or "").split("\n\n")[0]
        row = {"kind": folder, "name": name, "settings": _settings(part), "about": " ".join(about.split())}
        if isinstance(part, type) and issubclass(part, Reworded) and not checked_fully(part()):
            row["check"] = CHECKED_BY_RULES
        rows.append(row)
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


def _show_study(name: str, json_: bool) -> None:
    text = (SHIPPED / f"{name}.toml").read_text("utf-8")
    if json_:
        print_json([{"kind": "studies", "name": name, "about": _study_about(name), "text": text}])
    else:
        out.print(Text(text.rstrip()))
        for kind in catalog.KINDS:
            if kind != "section" and name in catalog.known(kind):
                out.print(f"\nThe {kind} of that name: shaketable ls '{name}()'.", highlight=False)


def _study_about(name: str) -> str:
    study = load_study(name)
    models = ", ".join(study.models)
    return f"{models}: {len(study.perturbations)} kinds of evidence, {count(len(study.temperatures), 'temperature')}"
