"""The command that shows and empties the answers that runs share."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from shaketable.cli.console import guarded, out, print_json, say
from shaketable.report.words import count
from shaketable.store.user_cache import SIZE, SWITCH, cache_path, cache_size, clear_cache, is_switched_on

CacheOption = Annotated[
    bool | None,
    typer.Option(
        "--cache/--no-cache",
        help=f"Take answers of models that cost money from your other runs by their keys. Off unless {SWITCH}=1.",
    ),
]


class Doing(enum.StrEnum):
    show = "show"
    clear = "clear"


@guarded
def cache(
    doing: Annotated[Doing, typer.Argument(metavar="[show|clear]", help="What to do with it.")] = Doing.show,
    json_: Annotated[bool, typer.Option("--json", help="End with one JSON object on standard output.")] = False,
) -> None:
    """Show the answers that your runs share, where they lie and how large they are, or forget them.

    Examples: `shaketable cache` · `shaketable cache clear`
    """
    before = cache_size() if doing is Doing.show else None
    if before is None:
        clear_cache()
    size = before or cache_size()
    if json_:
        print_json(
            {
                "path": str(cache_path()),
                "on": is_switched_on(),
                "answers": size.n_answers,
                "bytes": size.n_bytes,
                "most_bytes": size.most_bytes,
            }
        )
        return
    if doing is Doing.clear:
        say(f"{cache_path()} holds no answer any more. Runs keep their own.")
        return
    out.print(
        f"{cache_path()}: {count(size.n_answers, 'answer')}, {_megabytes(size.n_bytes)} of "
        f"{_megabytes(size.most_bytes)} ({SIZE}; the oldest give way)",
        highlight=False,
        markup=False,
    )
    switched = "on" if is_switched_on() else "off"
    out.print(f"It is {switched} ({SWITCH}); --cache and --no-cache of run and answer go before that.", highlight=False)


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"
