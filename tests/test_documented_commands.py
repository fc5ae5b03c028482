"""Every command of README, documentation and examples is really given, as somebody would who reads the page."""

from __future__ import annotations

import itertools
import re
import tomllib
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import page_commands
import pytest
import readers
from page_commands import Command
from readers import Desk, Shelf
from served_command import INTERRUPTED, look_once, serves
from test_tutorial import calls as tutorial_calls
from typer.testing import CliRunner

from shaketable.cli.app import app

ROOT = Path(__file__).parents[1]
SOURCES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
PAGES = {str(page.relative_to(ROOT)): page.read_text("utf-8") for page in SOURCES}
TUTORIAL = "docs/tutorial.md"
"""Given by `test_tutorial.py`, which also compares what is printed."""
WRITTEN = ("--out", "--junit", "--markdown", "--badge")
"""Options that name a file or folder which is there afterwards."""

PREPARING = ("cd", "export")
"""Programs of the shell itself."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Somebody gives commands of a page, one after the other."""

    page: str
    has: Callable[[Desk], None]
    """What is at hand before the first of them."""
    gives: tuple[str, ...] = ()
    """How they begin; empty: all that no other reading of the page gives."""
    ends: Mapping[str, int] = field(default_factory=dict)
    """Beginning of a command → its exit code, where the page says that it is not 0."""
    takes_long: bool = False
    needs_weights: bool = False

    @property
    def name(self) -> str:
        first = "-".join(self.gives[0].split()[:3]) if self.gives else ""
        return f"{self.page}{first and f':{first}'}"


@dataclass(frozen=True, kw_only=True)
class Change:
    """A command that cannot be given here as it is written."""

    command: str
    """How it begins."""
    because: str
    adds: tuple[str, ...] = ()
    leaves_out: tuple[str, ...] = ()
    stands_in_for: str = ""
    """An address; the reader's desk says what stands in for it."""


READINGS = (
    Reading(
        page="README.md",
        has=readers.has_questions_and_two_releases,
        ends={"check RUN --against BASE": 100},
        needs_weights=True,
    ),
    Reading(
        page="README.md",
        has=readers.has_an_app_and_its_run,
        gives=("shake app.py:answer", "explain RUN QUESTION"),
        takes_long=True,
        needs_weights=True,
    ),
    *(
        Reading(page="README.md", has=readers.has_nothing, gives=(study,), takes_long=True, needs_weights=True)
        for study in ("run factual_robustness", "run query_variation", "run joint")
    ),
    Reading(page="docs/annotating.md", has=readers.has_squad),
    Reading(
        page="docs/annotating.md",
        has=readers.has_a_question_of_squad,
        gives=("vary formality",),
        takes_long=True,
        needs_weights=True,
    ),
    Reading(page="docs/ci.md", has=readers.has_a_gate),
    Reading(page="docs/cluster.md", has=readers.has_a_cluster, takes_long=True),
    Reading(page="docs/comparing.md", has=readers.has_runs_to_compare),
    Reading(
        page="docs/comparing.md",
        has=readers.has_the_examples,
        gives=("run examples/two_prompts/study.toml",),
        takes_long=True,
        needs_weights=True,
    ),
    Reading(page="docs/data.md", has=readers.has_questions_and_a_key),
    Reading(page="docs/data.md", has=readers.has_documents, gives=("init --data questions.csv --documents",)),
    Reading(page="docs/endpoints.md", has=readers.has_an_endpoint_of_batches),
    Reading(page="docs/explaining.md", has=readers.has_books, gives=("explain runs/books salt-road --by removal",)),
    Reading(page="docs/explaining.md", has=readers.has_books, takes_long=True, needs_weights=True),
    Reading(page="docs/gate.md", has=readers.has_a_gate),
    Reading(page="docs/installing.md", has=readers.has_nothing, needs_weights=True),
    Reading(page="docs/interchange.md", has=readers.has_a_run_and_a_log),
    Reading(page="docs/prompts.md", has=readers.has_nothing),
    Reading(page="docs/reproducing.md", has=readers.has_a_published_study),
    Reading(page="docs/runs.md", has=readers.has_many_questions),
    Reading(page="docs/shaking.md", has=readers.has_a_service, takes_long=True, needs_weights=True),
    Reading(page="docs/study.md", has=readers.has_nothing),
    Reading(page="docs/viewer.md", has=readers.has_a_run_of_the_demo),
    Reading(page="docs/wordings.md", has=readers.has_squad_and_a_run, gives=("vary --run",)),
    Reading(page="docs/wordings.md", has=readers.has_a_question_of_squad, takes_long=True, needs_weights=True),
    Reading(page="examples/shake/README.md", has=readers.has_the_examples, takes_long=True, needs_weights=True),
)
CHANGES = (
    Change(
        command="run query_variation --limit 1",
        because="one repeat of eight tokens goes the same way as three of 64",
        adds=("--set", "cross.repeats=1", "--set", "generation.max_tokens=8"),
    ),
    Change(
        command="run joint --limit 2",
        because="two temperatures and eight tokens go the same way as four and 48",
        adds=("--set", "cross.temperatures=[0.0, 1.0]", "--set", "generation.max_tokens=8"),
    ),
    Change(
        command="run my.toml --executor ray --address 10.0.0.1:6379",
        because="two nodes on this machine are the cluster",
        stands_in_for="10.0.0.1:6379",
    ),
    Change(
        command="run examples/two_prompts/study.toml",
        because="one question of 24 goes the same way in a quarter of a minute",
        adds=("--limit", "1"),
    ),
    Change(
        command="merge runs/part1 runs/part2",
        because="the dots stand for the other six parts",
        leaves_out=("…",),
    ),
    Change(
        command="shake https://example.org/ask",
        because="nobody answers there; a server on this machine does",
        stands_in_for="https://example.org",
    ),
    Change(
        command="shake https://example.org/v1",
        because="nobody answers there; a server on this machine does",
        stands_in_for="https://example.org",
    ),
)


# --- what is given --------------------------------------------------------------------------------


def begins(command: Command, beginning: str) -> bool:
    return f"{command.text} ".startswith(f"shaketable {beginning} ")


def given(reading: Reading, readings: Sequence[Reading], pages: Mapping[str, str]) -> list[Command]:
    """The commands of a reading, in the order of the page, with what prepares a shell for them."""
    others = [start for other in readings if other.page == reading.page for start in other.gives]
    return [
        command
        for command in page_commands.commands(pages[reading.page], "shaketable", *PREPARING)
        if command.words[0] in PREPARING
        or any(begins(command, start) for start in reading.gives)
        or (not reading.gives and not any(begins(command, start) for start in others))
    ]


def not_given(readings: Sequence[Reading], pages: Mapping[str, str]) -> list[str]:
    """Commands that no reading gives, and readings that no command is left for."""
    found = []
    for page, text in pages.items():
        own = [given(reading, readings, pages) for reading in readings if reading.page == page]
        reached = {command for commands in own for command in commands}
        left = [one for one in page_commands.commands(text, "shaketable") if one not in reached]
        found += [f"{page} line {command.line}: {command.text}" for command in left]
    for reading in readings:
        own = given(reading, readings, pages) if reading.page in pages else []
        for start in reading.gives or ("",):
            if not any(begins(command, start) if start else command.words[0] == "shaketable" for command in own):
                found.append(f"{reading.page} has no command for the reading '{reading.name}' ({start})")
    return found


def stale_changes(changes: Sequence[Change], pages: Mapping[str, str]) -> list[str]:
    """Those of commands that no page has as the change needs it."""
    commands = [command for text in pages.values() for command in page_commands.commands(text, "shaketable")]
    return [
        change.command
        for change in changes
        if not any(
            begins(command, change.command)
            and set(change.leaves_out) <= set(command.words)
            and change.stands_in_for in command.text
            for command in commands
        )
    ]


def as_given(command: Command, changes: Sequence[Change], desk: Desk) -> list[str]:
    """The words without the program's name, changed where they must be."""
    words = list(command.words[1:])
    for change in changes:
        if begins(command, change.command):
            words = [word for word in words if word not in change.leaves_out] + list(change.adds)
            if change.stands_in_for:
                here = desk.stand_ins[change.stands_in_for]
                words = [word.replace(change.stands_in_for, here) for word in words]
    return words


def prepare(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    program, value = command.words
    if program == "cd":
        monkeypatch.chdir(value)
    else:
        monkeypatch.setenv(*value.split("=", 1))


def give(command: Command, words: list[str], code: int) -> None:
    """In the working folder; what it should write is there afterwards."""
    if serves(words):
        ended, page = look_once(words, Path.cwd())
        assert ended == INTERRUPTED and "<html" in page, f"{command.text}: {ended}\n{page[:500]}"
    else:
        result = CliRunner().invoke(app, words)
        is_a_bug = result.exception is not None and not isinstance(result.exception, SystemExit)
        raised = "".join(traceback.format_exception(result.exception)) if is_a_bug else ""
        assert result.exit_code == code, f"line {command.line}: {command.text}\n{result.output}\n{raised}"
        if command.target is not None:
            assert result.stdout
            Path(command.target).write_text(result.stdout, "utf-8")
    for option, value in itertools.pairwise(words):
        assert option not in WRITTEN or Path(value).exists(), f"{command.text}: there is no {value}"


# --- every command --------------------------------------------------------------------------------


def each_reading() -> Iterator[object]:
    for reading in READINGS:
        marks = [pytest.mark.slow] * reading.takes_long + [pytest.mark.weights] * reading.needs_weights
        yield pytest.param(reading, id=reading.name, marks=marks)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return Shelf(tmp_path_factory.mktemp("shelf"))


@pytest.mark.parametrize("reading", list(each_reading()))
def test_the_commands_of_a_page_do_what_it_says(reading, shelf, tmp_path, monkeypatch):
    desk = Desk(folder=tmp_path, shelf=shelf)
    with desk.leaving:
        reading.has(desk)
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "SHAKETABLE_CACHE", "SHAKETABLE_ALLOW"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"SHAKETABLE_OFFLINE": "1", **desk.environment}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        for command in given(reading, READINGS, PAGES):
            if command.words[0] in PREPARING:
                prepare(command, monkeypatch)
                continue
            code = next((code for start, code in reading.ends.items() if begins(command, start)), 0)
            give(command, as_given(command, CHANGES, desk), code)


def test_every_command_of_every_page_is_given():
    tutorial = {("shaketable", *call.words) for call in tutorial_calls(PAGES[TUTORIAL])}
    left = [one for one in page_commands.commands(PAGES[TUTORIAL], "shaketable") if one.words not in tutorial]
    assert left == []
    pages = {name: text for name, text in PAGES.items() if name != TUTORIAL}
    assert not_given(READINGS, pages) == []


def test_every_change_is_of_a_command_that_is_there_and_says_why():
    assert stale_changes(CHANGES, PAGES) == []
    assert all(change.because for change in CHANGES)


# --- other programs -------------------------------------------------------------------------------


def wrong_make(words: Sequence[str]) -> Iterator[str]:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    yield from (f"the Makefile has no target '{word}'" for word in words[1:] if word not in targets)


def wrong_pip(words: Sequence[str]) -> Iterator[str]:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    if words[1] != "install":
        yield f"pip {words[1]}"
    for word in words[2:]:
        wanted = re.fullmatch(r"shaketable(?:\[([\w,]+)\])?", word)
        if wanted:
            yield from (f"no extra '{name}'" for name in (wanted[1] or "").split(",") if name and name not in extras)
        elif word != "--constraint" and not (ROOT / word).is_file():
            yield f"pip installs '{word}', which is nothing of ours"


def wrong_script(words: Sequence[str]) -> Iterator[str]:
    script = ROOT / words[1]
    if not script.is_file():
        yield f"there is no {words[1]}"
        return
    source = script.read_text("utf-8")
    options = [word.partition("=")[0] for word in words[2:] if word.startswith("--")]
    yield from (f"{words[1]} has no option {option}" for option in options if f'"{option}"' not in source)


def wrong_ray(words: Sequence[str]) -> Iterator[str]:
    """The nodes of `two_nodes.py` are started by the same options."""
    source = (ROOT / "tests" / "helpers" / "two_nodes.py").read_text("utf-8")
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    yield from (f"no node is started with {option}" for option in options if f'"{option}' not in source)


def wrong_export(words: Sequence[str]) -> Iterator[str]:
    name = words[1].partition("=")[0]
    if not any(name in file.read_text("utf-8") for file in (ROOT / "src").rglob("*.py")):
        yield f"nothing reads the variable {name}"


def wrong_cd(words: Sequence[str]) -> Iterator[str]:
    if not (ROOT / words[1]).is_dir():
        yield f"there is no folder {words[1]}"


CHECKS: dict[str, Callable[[Sequence[str]], Iterator[str]]] = {
    "make": wrong_make,
    "pip": wrong_pip,
    "python": wrong_script,
    "pytest": wrong_script,
    "ray": wrong_ray,
    "export": wrong_export,
    "cd": wrong_cd,
}


def wrong_elsewhere(page: str) -> list[str]:
    """What is wrong with the lines of a page that other programs are given."""
    found = []
    for command in page_commands.commands(page):
        program = command.words[0]
        if program in CHECKS:
            found += [f"line {command.line}: {wrong}" for wrong in CHECKS[program](command.words)]
        elif program != "shaketable":
            found.append(f"line {command.line}: nobody checks '{command.text}'")
    named = re.findall(r"`make ([\w-]+)`", page)
    return found + [wrong for target in named for wrong in wrong_make(["make", target])]


@pytest.mark.parametrize("page", PAGES)
def test_what_other_programs_are_given_is_there(page):
    assert wrong_elsewhere(PAGES[page]) == []


# --- the checks themselves ------------------------------------------------------------------------

PAGE = """
```bash
cd examples
make demo
shaketable prompts            # a remark
shaketable run my.toml \\
    --limit 2 && shaketable validate --schema > schema.json
```

```console
$ shaketable ls metrics
shaketable printed this
```

```yaml
- run: shaketable check runs/new
```
"""


def reading_of(*gives: str) -> Reading:
    return Reading(page="docs/own.md", has=readers.has_nothing, gives=gives)


def test_a_page_is_read_as_a_shell_reads_it():
    commands = page_commands.commands(PAGE)
    assert [command.text for command in commands] == [
        "cd examples",
        "make demo",
        "shaketable prompts",
        "shaketable run my.toml --limit 2",
        "shaketable validate --schema",
        "shaketable ls metrics",
        "shaketable check runs/new",
    ]
    assert [command.line for command in commands] == [3, 4, 5, 6, 6, 11, 16]
    assert [command.target for command in commands if command.target] == ["schema.json"]


def test_a_command_that_nobody_gives_is_named():
    pages = {"docs/own.md": PAGE}
    assert not_given([reading_of()], pages) == []
    assert not_given([], pages)[0] == "docs/own.md line 5: shaketable prompts"
    assert len(not_given([], pages)) == 5
    assert not_given([reading_of("prompts", "run my.toml", "ls")], pages) == [
        "docs/own.md line 6: shaketable validate --schema",
        "docs/own.md line 16: shaketable check runs/new",
    ]


def test_a_command_is_given_by_the_reading_that_names_it():
    own, rest = reading_of("run my.toml"), reading_of()
    pages = {"docs/own.md": PAGE}
    assert [one.text for one in given(own, [own, rest], pages)] == ["cd examples", "shaketable run my.toml --limit 2"]
    assert "shaketable run my.toml --limit 2" not in [one.text for one in given(rest, [own, rest], pages)]


def test_a_reading_without_a_command_is_named():
    pages = {"docs/own.md": PAGE}
    [stale] = not_given([reading_of(), reading_of("run my.tom")], pages)
    assert "run my.tom" in stale
    [gone] = not_given([reading_of()], {})
    assert "docs/own.md" in gone


def test_a_change_of_a_command_that_is_no_longer_there_is_named():
    pages = {"docs/own.md": PAGE}
    changes = [
        Change(command="run my.toml", because="", adds=("--limit", "1")),
        Change(command="run your.toml", because=""),
        Change(command="prompts", because="", leaves_out=("…",)),
        Change(command="prompts", because="", stands_in_for="https://example.org"),
    ]
    assert stale_changes(changes, pages) == ["run your.toml", "prompts", "prompts"]


def test_a_command_is_changed_as_its_change_says(tmp_path):
    desk = Desk(folder=tmp_path, shelf=Shelf(tmp_path), stand_ins={"http://a": "http://b"})
    command = Command(line=1, words=("shaketable", "shake", "http://a/v1", "…", "--data", "x.csv"))
    change = Change(command="shake", because="", adds=("--seed", "1"), leaves_out=("…",), stands_in_for="http://a")
    expected = ["shake", "http://b/v1", "--data", "x.csv", "--seed", "1"]
    assert as_given(command, [change], desk) == expected
    assert as_given(command, [], desk) == list(command.words[1:])


@pytest.mark.parametrize(
    ("words", "code", "wrong"),
    [
        (["fly"], 0, "No such command"),
        (["prompts"], 100, "shaketable prompts"),
        (["run", "demo", "--dry-run", "--out", "nowhere"], 0, "there is no nowhere"),
    ],
)
def test_a_command_that_ends_otherwise_is_named(words, code, wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match=wrong):
        give(Command(line=1, words=("shaketable", *words)), words, code)


def test_a_server_that_does_not_come_up_is_seen(tmp_path):
    with pytest.raises(AssertionError, match="it ended before it served anything"):
        look_once(["view", "nothing"], tmp_path)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("make tea", "no target 'tea'"),
        ("pip install 'shaketable[local,tea]'", "no extra 'tea'"),
        ("pip install shaketabel", "nothing of ours"),
        ("pip uninstall shaketable", "pip uninstall"),
        ("python scripts/tea.py", "no scripts/tea.py"),
        ("python scripts/train_question_types.py trec --tea", "no option --tea"),
        ("ray start --tea=1", "no node is started with --tea"),
        ("export SHAKETABLE_TEA=1", "nothing reads the variable SHAKETABLE_TEA"),
        ("cd tea", "no folder tea"),
        ("brew tea", "nobody checks 'brew tea'"),
    ],
)
def test_a_wrong_line_for_another_program_is_named(line, wrong):
    [found] = wrong_elsewhere(f"```bash\n{line}\n```\n")
    assert found.startswith("line 2: ") and wrong in found


def test_a_target_of_make_in_a_sentence_is_looked_up():
    assert wrong_elsewhere("Say `make tea` or `make demo`.") == ["the Makefile has no target 'tea'"]
