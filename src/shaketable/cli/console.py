"""What all commands share: where words go and how errors end."""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import shlex
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from shaketable.errors import EXTRAS, INTERRUPTED, ShaketableError, UsageError, lacks_packages
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
            if segment.control:
                yield segment
            else:
                # Line by line: to cut a line off, rich copies all that follows, and hot models write thousands.
                for line in visible(segment.text).splitlines(keepends=True) or [""]:
                    yield Segment(line, segment.style)

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

LIBRARIES = (
    r"(torch|transformers|huggingface_hub|numba|scipy|sklearn|spacy|thinc|altair|pymilvus|ray|langchain\w*)(\.|$)"
)
"""Modules whose warnings are for their developers and ours."""

COMMAND_PAGES: Mapping[str, str] = {
    "annotate": "annotating",
    "check": "gate",
    "compare": "comparing",
    "compare_published": "reproducing",
    "docs": "index",
    "doctor": "installing",
    "explain": "explaining",
    "init": "data",
    "models": "installing#weights",
    "perturb": "parts",
    "prompts": "prompts",
    "shake": "shaking",
    "vary": "wordings",
}
"""Command → the page that tells more where its words are wrong."""

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
            own_page = COMMAND_PAGES.get(command.__name__) if isinstance(error, UsageError) else None
            _print_error(str(error), own_page or error.page)
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
    """A warning for users is its words alone; the line of code that gave it tells them nothing. What libraries have to
    say to those who program them is left out, unless it is asked for (python -W, PYTHONWARNINGS)."""
    usual = warnings.formatwarning

    def plain(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> str:
        return (
            f"Warning: {visible(str(message))}\n"
            if category is UserWarning
            else usual(message, category, *place, **more)
        )

    warnings.formatwarning = plain
    try:
        with warnings.catch_warnings():
            if not sys.warnoptions:
                for category in (FutureWarning, DeprecationWarning, PendingDeprecationWarning):
                    warnings.simplefilter("ignore", category)
                warnings.filterwarnings("ignore", module=LIBRARIES)
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


def say_left_out(n: int) -> None:
    """Of findings that are told, how many more there are; nothing where those are all."""
    if n > 0:
        out.print(f"  and {n} more in the report", highlight=False, markup=False)


def _print_error(text: str, page: str = "") -> None:
    """With the page that tells more, unless the words name one."""
    err.print(Text.assemble(("Error:", "bold red"), " ", text))
    if page and "shaketable docs" not in text:
        err.print(Text(f"More: shaketable docs {page}", style="dim"))
