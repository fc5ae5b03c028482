"""One part of the catalog, explained: what it does, its settings, how a study writes it, and what it does here."""

from __future__ import annotations

import inspect
import sys
import typing
from dataclasses import asdict, dataclass, replace
from typing import Any

from rich.table import Table
from rich.text import Text

from shaketable import catalog
from shaketable.cli.console import out
from shaketable.cli.part_effects import Effect, show_effect
from shaketable.cli.setting_words import Setting, settings_of
from shaketable.cli.usual_settings import usual_words
from shaketable.protocols import ReplaceableMethod
from shaketable.types import Json

EXAMPLES = {
    "openai": "openai(model='gpt-4o-mini')",
    "transformers": "transformers(path='weights/my-model')",
    "pipeline": "pipeline(python='app.py:answer')",
    "scripted": "scripted(replies=('Paris', 'Lyon'))",
    "frozen": "frozen(path='variants.jsonl')",
    "rewrites": "rewrites(path='rewrites.jsonl', texts=('rewrite',))",
    "judge": "judge(model=\"openai(model='gpt-4o-mini')\")",
    "milvus": "milvus(uri='http://127.0.0.1:19530')",
}
"""How a part is written that needs settings."""
LINES = {
    "variation": ("cross", 'variations = ["original", "{}"]'),
    "perturbation": ("cross", 'perturbations = ["unchanged", "{}"]'),
    "retriever": ("cross", 'retrievers = ["{}"]'),
    "model": ("cross", 'models = ["{}"]'),
    "method": ("cross", 'methods = ["{}"]'),
    "metric": ("score", 'metrics = ["{}"]'),
    "analysis": ("analyze", 'analyses = ["{}"]'),
}


@dataclass(frozen=True, kw_only=True)
class PartPage:
    kind: str
    name: str
    about: str
    settings: tuple[Setting, ...]
    example: str
    """Lines of a study."""
    prompts: tuple[str, ...] = ()
    """Of a method: the settings whose texts can be replaced."""
    effect: Effect | None = None

    def values(self) -> dict[str, Json]:
        effect = self.effect
        return {
            "kind": catalog.KINDS[self.kind],
            "name": self.name,
            "about": self.about,
            "settings": [asdict(setting) for setting in self.settings],
            "example": self.example,
            "prompts": list(self.prompts),
            "effect": None
            if effect is None
            else {
                "question": effect.question,
                "lines": [line.plain for line in effect.lines],
                "problem": effect.problem or None,
            },
        }


def describe_part(kind: str, text: str) -> PartPage:
    """`text` is a name, or a part with settings as a study writes it."""
    name, given = catalog.parse(text) if text.isascii() and "(" in text else (text.strip(), {})
    part = catalog.find(kind, name)
    written = text.strip() if given else EXAMPLES.get(name, name)
    if given and kind not in ("dataset", "analysis"):
        catalog.build(kind, text)  # What is wrong with its settings is told now.
    method = catalog.build("method", written) if kind == "method" else None
    needs = not given and any(setting.default is None for setting in settings_of(kind, part))
    return PartPage(
        kind=kind,
        name=name,
        about=_about(part),
        settings=tuple(_whole(part, name, setting) for setting in settings_of(kind, part)),
        example=_example(kind, name, written),
        prompts=tuple(method.replaceable()) if isinstance(method, ReplaceableMethod) else (),
        effect=None if needs and kind != "model" else show_effect(kind, written),
    )


def _about(part: Any) -> str:
    """The sentence of its file, which says it plainly, and what its authors say of it."""
    texts = (inspect.getdoc(sys.modules[part.__module__]), inspect.getdoc(part))
    return "\n\n".join(dict.fromkeys(filter(None, texts)))


def tell_part(page: PartPage) -> None:
    out.print(Text.assemble((page.name, "bold"), f"  {page.kind}"), highlight=False)
    out.print(Text(page.about))
    if page.settings:
        out.print()
        table = Table("setting", "default", "meaning", box=None, pad_edge=False)
        for setting in page.settings:
            default = "needed" if setting.default is None else setting.default
            table.add_row(Text(setting.name, style="bold"), Text(default), Text(setting.about))
        out.print(table)
    out.print()
    out.print(Text("In a study:", style="bold"))
    out.print(Text(page.example))
    if page.prompts:
        out.print(Text(f"Its prompt: shaketable prompts {page.name}", style="dim"))
    if page.effect is not None:
        _tell_effect(page.kind, page.effect)
    out.print()


def _tell_effect(kind: str, effect: Effect) -> None:
    heads = {
        "perturbation": "What it does to the evidence of a question",
        "variation": "What it makes of a question",
        "metric": "What it gives to some answers",
        "method": "What it asks, with replies made up here",
        "retriever": "What it brings",
        "dataset": "The first question, as it is read",
        "model": "What it would be asked (nothing is asked now)",
        "analysis": "What a run must have for it",
    }
    out.print()
    out.print(Text(f"{heads[kind]}:", style="bold"))
    if effect.problem:
        out.print(Text(f"  not shown here: {effect.problem}"))
        return
    if effect.question:
        out.print(Text(f"  {effect.question}", style="italic"))
    for line in effect.lines:
        out.print(line)


def _whole(part: Any, name: str, setting: Setting) -> Setting:
    """With what is usual, where nothing stands in the code, and the values that it may have."""
    about = usual_words(name, setting.name, setting.about)
    choices = _choices(part, setting.name)
    if choices and not all(str(choice) in about for choice in choices):
        about = f"{about} One of {', '.join(map(repr, choices))}.".strip()
    return replace(setting, about=about)


def _choices(part: Any, setting: str) -> tuple[object, ...]:
    try:
        declared = typing.get_type_hints(part).get(setting)
    except (NameError, TypeError):  # A part may name types that it imports for type checkers alone.
        return ()
    literals = [declared, *typing.get_args(declared)]
    return next((typing.get_args(one) for one in literals if typing.get_origin(one) is typing.Literal), ())


def _example(kind: str, name: str, written: str) -> str:
    if kind == "dataset":
        path = "" if name == "builtin" else f'\npath = "{"questions.jsonl" if name == "jsonl" else "FILE"}"'
        return f'[dataset]\nname = "{name}"{path}'
    table, line = LINES[kind]
    quoted = written.replace("\\", "\\\\").replace('"', '\\"')
    return f"[{table}]\n{line.format(quoted)}"
