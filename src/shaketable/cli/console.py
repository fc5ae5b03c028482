"""What all commands share: where words go, how errors end, how long work shows that it moves."""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import shlex
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
)
from rich.progress import TimeElapsedColumn as Elapsed
from rich.segment import Segment
from rich.text import Text

from shaketable.errors import EXTRAS, INTERRUPTED, ShaketableError, lacks_packages
from shaketable.report.money_words import format_dollars
from shaketable.stages.forecast.afterwards import WORTH_TELLING_SECONDS
from shaketable.stages.meter import Money
from shaketable.stages.scheduler import Tick
from shaketable.stages.vary import WordingTick
from shaketable.store.sealing.damage import damage_told
from shaketable.text.unseen import escaped, visible


class SafeConsole(Console):
    """Shows what models, servers and files wrote as it is: brackets are no markup, and what would steer a terminal,
    such as an escape character, is named."""

    def __init__(self, **options: Any) -> None:
        super().__init__(soft_wrap=True, markup=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        shown = _without_tabs(renderable) if isinstance(renderable, Text) else renderable
        for segment in super().render(shown, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)

    def render_str(self, text: str, **options: Any) -> Text:
        return _without_tabs(super().render_str(text, **options))


def _without_tabs(text: Text) -> Text:
    """A space for each: to expand one, rich copies the whole text, and there may be thousands."""
    if "\t" in text.plain:
        text = text.copy()
        text.plain = text.plain.replace("\t", " ")
    return text


out = SafeConsole()
err = SafeConsole(stderr=True)

LINE_EVERY_SECONDS = 10.0

Command = TypeVar("Command", bound=Callable[..., Any])


def guarded(command: Command) -> Command:
    """What a user can mend prints without a traceback and ends with its own exit code."""

    @functools.wraps(command)
    def inner(*args: Any, **kwargs: Any) -> Any:
        try:
            with (
                _plain_warnings(),
                _telling(quiet=kwargs.get("json_", False)),
                damage_told(_folders(kwargs), typer.Exit, typer.Abort, typer.BadParameter),
            ):
                return command(*args, **kwargs)
        except ShaketableError as error:
            _print_error(str(error))
            raise typer.Exit(error.exit_code) from error
        except ModuleNotFoundError as error:
            problem = lacks_packages("This", [module] if (module := _of_an_extra(error)) else [])
            if problem is None:
                raise
            _print_error(problem)
            raise typer.Exit(1) from error
        except BrokenPipeError:
            raise
        except OSError as error:
            file = f"{error.filename}: " if error.filename else ""
            _print_error(f"{file}{error.strerror or error}. Check the path, its permissions and the disk's space.")
            raise typer.Exit(1) from error
        except KeyboardInterrupt as interrupt:
            say("Interrupted.")
            raise typer.Exit(INTERRUPTED) from interrupt

    return inner  # type: ignore[return-value]


def _of_an_extra(error: ModuleNotFoundError) -> str | None:
    """The package that is missing, where an extra brings it: no part said that it needs it."""
    module = (error.name or "").partition(".")[0]
    return module if any(module in extra.packages for extra in EXTRAS.values()) else None


def typed() -> str:
    """How this command is typed here: by its name where the shell finds it, else by its path or by Python's."""
    own = Path(sys.argv[0])
    if own.parts[-2:] == ("shaketable", "__main__.py"):
        return f"{_by_name_or_path(Path(sys.executable))} -m shaketable"
    return _by_name_or_path(own) if own.name == "shaketable" else "shaketable"


def _by_name_or_path(command: Path) -> str:
    found = shutil.which(command.name)
    if found is not None and Path(found).absolute() == command.absolute():
        return command.name
    is_here = command.is_absolute() and command.is_relative_to(Path.cwd())
    return shlex.quote(str(command.relative_to(Path.cwd()) if is_here else command))


def _folders(given: Mapping[str, Any]) -> Iterator[Path]:
    """Of the runs that a command was given."""
    for value in given.values():
        for own in value if isinstance(value, list | tuple) else [value]:
            if isinstance(own, Path) and own.is_dir():
                yield own


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    """A warning for users is its words alone; the line of code that gave it tells them nothing."""
    usual = warnings.formatwarning

    def plain(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> str:
        return (
            f"Warning: {visible(str(message))}\n"
            if category is UserWarning
            else usual(message, category, *place, **more)
        )

    warnings.formatwarning = plain
    try:
        yield
    finally:
        warnings.formatwarning = usual


@contextlib.contextmanager
def _telling(*, quiet: bool) -> Iterator[None]:
    """What the package logs while a command runs, such as the building of an index, is said line by line."""
    if quiet:
        yield
        return
    logger, handler = logging.getLogger("shaketable"), _Lines()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def print_json(value: Any) -> None:
    """One JSON object on standard output, and nothing else."""
    sys.stdout.write(escaped(json.dumps(value, ensure_ascii=False, default=str)) + "\n")


def say(text: str, *, quiet: bool = False) -> None:
    """Words for people, as they are: brackets in a path or a title are no markup."""
    if not quiet:
        err.print(text, highlight=False, markup=False)


def _print_error(text: str) -> None:
    err.print(Text.assemble(("Error:", "bold red"), " ", text))


@contextlib.contextmanager
def answering(n_todo: int, *, quiet: bool = False, then: float = 0.0) -> Iterator[Callable[[Tick], None]]:
    """A bar with rate and time left on a terminal; a line every ten seconds elsewhere. `then`: seconds that scores,
    analyses and the report take afterwards, as far as is known."""
    if quiet:
        yield lambda tick: None
        return
    if not err.is_terminal:
        yield _lines(n_todo, then)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("answering"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        Elapsed(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.fields[money]}", markup=False),
        TextColumn("{task.fields[failed]}", style="red", markup=False),
    )
    with Progress(*columns, console=err) as bar:
        task = bar.add_task("answering", total=n_todo, rate="", left="", money="", failed="")

        def update(tick: Tick) -> None:
            failed = f"{tick.n_failed} failed" if tick.n_failed else ""
            left, money = time_left(tick, then) or "…", money_words(tick.money)
            completed = tick.n_done + tick.n_failed + tick.n_shared
            bar.update(task, completed=completed, rate=_rate(tick), left=left, money=money, failed=failed)

        yield update


@contextlib.contextmanager
def wording(*, quiet: bool = False) -> Iterator[Callable[[WordingTick], None]]:
    """A bar for each variation on a terminal; elsewhere a line when it begins, every ten seconds, and when it ends."""
    if quiet:
        yield lambda tick: None
        return
    if not err.is_terminal:
        yield _wording_lines()
        return
    columns = (
        SpinnerColumn(),
        TextColumn("rewording, {task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        Elapsed(),
    )
    with Progress(*columns, console=err) as bar:
        tasks: dict[str, TaskID] = {}

        def update(tick: WordingTick) -> None:
            if tick.variation not in tasks:
                tasks[tick.variation] = bar.add_task(tick.variation, total=tick.n_questions)
            bar.update(tasks[tick.variation], completed=tick.n_done)

        yield update


def _wording_lines() -> Callable[[WordingTick], None]:
    last = time.perf_counter()
    begun: set[str] = set()

    def update(tick: WordingTick) -> None:
        nonlocal last
        now = time.perf_counter()
        is_new = tick.variation not in begun
        if not is_new and now - last < LINE_EVERY_SECONDS and tick.n_done < tick.n_questions:
            return
        last = now
        begun.add(tick.variation)
        say(f"reworded {tick.n_done:,} of {tick.n_questions:,} questions by {tick.variation}")

    return update


def _lines(n_todo: int, then: float) -> Callable[[Tick], None]:
    last = time.perf_counter()

    def update(tick: Tick) -> None:
        nonlocal last
        now = time.perf_counter()
        finished = tick.n_done + tick.n_failed + tick.n_shared
        if now - last < LINE_EVERY_SECONDS and finished < n_todo:
            return
        last = now
        failed = f", {tick.n_failed} failed" if tick.n_failed else ""
        left = time_left(tick, then)
        spent = f", {words}" if (words := money_words(tick.money)) else ""
        say(f"answered {finished:,} of {n_todo:,}{failed}, {_rate(tick)}{left and f', {left}'}{spent}")

    return update


def time_left(tick: Tick, then: float = 0.0) -> str:
    """In words; empty: nothing can be told yet."""
    if tick.seconds_left is None:
        return ""
    if tick.seconds_range is None:
        words = f"about {duration(tick.seconds_left)} left"
    else:
        low, high = tick.seconds_range
        words = f"between {duration(low)} and {duration(high)} left"
    return f"{words}, then about {duration(then)} for scores and report" if then >= WORTH_TELLING_SECONDS else words


def _rate(tick: Tick) -> str:
    return f"{tick.n_tokens / max(tick.seconds, 1e-6):,.0f} tokens/s"


def money_words(money: Sequence[Money]) -> str:
    """Spent and expected in all, by system: `0.12 USD of about 0.50 USD`; empty: nobody is paid."""
    lines = []
    for system in money:
        name = f"{system.model} · {system.method}: " if len(money) > 1 else ""
        if system.spent is None:
            lines.append(f"{name}cost not known")
        else:
            in_all = "" if not system.left else f" of about {format_dollars(system.spent + system.left)}"
            lines.append(f"{name}{format_dollars(system.spent)}{in_all}")
    return "; ".join(lines)


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
