"""The command that shows what methods ask models, so that people can start their own prompts from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from shaketable import catalog
from shaketable.cli.console import guarded, out, print_json
from shaketable.cli.running import JsonOption
from shaketable.errors import UsageError, did_you_mean
from shaketable.prompts.own import Replaceable
from shaketable.protocols import Method, ReplaceableMethod
from shaketable.stages.plan import Plan


@guarded
def prompts(
    method: Annotated[
        str | None, typer.Argument(metavar="[METHOD]", help="A method, as in a study: single_retrieval, recall(k=3) …")
    ] = None,
    setting: Annotated[str, typer.Option(help="Which prompt of a method that has several.")] = "prompt",
    json_: JsonOption = False,
) -> None:
    """The prompts of the methods, with the slots that are filled; with METHOD the text of one, to start your own from.

    Example: `shaketable prompts single_retrieval > my_prompt.txt`, then write
    `single_retrieval(name='mine', prompt='my_prompt.txt')` in a study.
    """
    if method is None:
        _list(json_)
        return
    part = catalog.build("method", method)
    known = part.replaceable() if isinstance(part, ReplaceableMethod) else {}
    if setting not in known:
        listed = ", ".join(known) or "none"
        raise UsageError(
            f"{method} has no prompt '{setting}' to replace.{did_you_mean(setting, known)} Its prompts: {listed}."
        )
    if json_:
        print_json(_row(method, setting, known[setting]))
    else:
        typer.echo(known[setting].text)


def notes_on_prompts(planned: Plan) -> Iterator[str]:
    """What a study asks by prompts of its own."""
    for method in {catalog.spelled(condition.method): condition.method for condition in planned.conditions}.values():
        for setting, replaceable in _prompts_of(method):
            given = catalog.settings_of(method)[setting]
            if given is not None:
                source = "a text" if "\n" in given or "{" in given else given
                yield f"{catalog.label(method)} asks by {source} as its {setting}, with {replaceable.wanted} filled in."


def _list(json_: bool) -> None:
    rows = [
        _row(name, setting, replaceable)
        for name in catalog.known("method")
        for setting, replaceable in _prompts_of(catalog.build("method", name))
    ]
    if json_:
        print_json(rows)
        return
    table = Table("method", "setting", "slots", "what it asks", box=None, pad_edge=False)
    for row in rows:
        table.add_row(
            Text(str(row["method"]), style="bold"), str(row["setting"]), Text(str(row["wanted"])), str(row["use"])
        )
    out.print(table)
    out.print("See the text of one with: shaketable prompts METHOD. A system message goes before all: system='…'.")


def _prompts_of(method: Method) -> list[tuple[str, Replaceable]]:
    return list(method.replaceable().items()) if isinstance(method, ReplaceableMethod) else []


def _row(method: str, setting: str, replaceable: Replaceable) -> dict[str, object]:
    return {
        "method": method,
        "setting": setting,
        "slots": [slot for slot in replaceable.slots if slot not in replaceable.optional],
        "optional": [slot for slot in replaceable.slots if slot in replaceable.optional],
        "wanted": replaceable.wanted,
        "use": replaceable.use,
        "text": replaceable.text,
    }
