"""The README and the documentation are held to what there is: commands, options, studies, parts, Python."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import page_commands
import pytest
from page_commands import blocks
from stand_in_endpoint import StandIn
from typer.main import get_command

from shaketable import catalog
from shaketable.cli.app import app
from shaketable.errors import ShaketableError
from shaketable.study import StudyFile, load_study, parse_study, shipped_studies
from shaketable.types import Study

ROOT = Path(__file__).parent.parent
BESIDE = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md")]
PAGES = [page for page in (*BESIDE[:1], *sorted((ROOT / "docs").rglob("*.md"))) if page.is_file()]
PARTS_PAGE = ROOT / "docs" / "parts.md"

TAKES = {
    # command: kind of part that its first word names
    "perturb": "perturbation",
    "vary": "variation",
}
FOLDERS = {folder.rpartition(".")[2] for folder in catalog.KINDS.values()}
"""The headings of the page of parts."""
OPTIONS = {f"--{kind}": kind for kind in catalog.KINDS}
"""Options that name a part, wherever a command has them."""
CROSSED = {
    "models": "model",
    "methods": "method",
    "retrievers": "retriever",
    "variations": "variation",
    "perturbations": "perturbation",
    "metrics": "metric",
}
GIVEN = {"table", "tables", "questions", "finding", "metric", "scan"}
"""What the line hands to analyses; the other parameters are settings."""
NAMED_IN_STUDIES = {kind: folder for kind, folder in catalog.KINDS.items() if kind != "section"}
NEEDS_WEIGHTS = re.compile(
    r"smollm2|bertscore|entity_masking|gibberish|MiniLM|[\"']demo[\"']|[\"']context_temperature[\"']"
)


# --- reading pages --------------------------------------------------------------------------------


def commands(page: str) -> Iterator[tuple[int, list[str]]]:
    """Each call of `shaketable` in a shell block: its line, and its words without the program's name."""
    for command in page_commands.commands(page, "shaketable"):
        yield command.line, list(command.words[1:])


def named_commands(page: str) -> Iterator[list[str]]:
    """Each `shaketable …` inside of a sentence: it may be named without its arguments."""
    plain = re.sub(r"^( *)(```+|~~~+).*?^\1\2 *$", "", page, flags=re.MULTILINE | re.DOTALL)
    for text in re.findall(r"`shaketable ([^`]+)`", plain):
        yield shlex.split(re.split(r" (?:&&|\||>) ", " ".join(text.split()))[0])


def studies(page: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each TOML block with a key of studies; a fragment gets a name."""
    for block in blocks(page, "toml"):
        tables = tomllib.loads(block.text)
        if tables.keys() & (StudyFile.model_fields.keys() - {"name", "seed"}):
            yield block.line, {"name": "fragment", **tables}


def parts_tables(page: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """Folder → part → settings, as the tables under the headings of a page have them."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    folder = ""
    for line in page.splitlines():
        if heading := re.match(r"#+\s+(.*)", line):
            folder = heading[1].strip().lower()
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if folder in FOLDERS and len(cells) >= 3 and (name := re.fullmatch(r"`(\w+)`", cells[0])):
            found.setdefault(folder, {})[name[1]] = tuple(re.findall(r"`([^`]+)`", cells[1]))
    return found


# --- what is wrong with them ----------------------------------------------------------------------


def wrong_commands(page: str, folder: Path) -> list[str]:
    return [
        f"line {line}, shaketable {shlex.join(words)}: {wrong}"
        for line, words in commands(page)
        for wrong in _wrong_command(words, folder)
    ]


def _find_command(words: list[str]) -> tuple[Any, list[str]]:
    """The command and the words after it; None: there is no such command."""
    command: Any = get_command(app)
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        if words[0] not in command.commands:
            return None, words
        command, words = command.commands[words[0]], words[1:]
    return command, words


def _wrong_command(words: list[str], folder: Path) -> Iterator[str]:
    command, words = _find_command(words)
    if command is None:
        yield f"there is no command '{words[0]}'"
        return
    given, plain, wrong = _split(command, words)
    yield from wrong
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    if len(plain) > len(arguments) and all(argument.nargs == 1 for argument in arguments):
        yield f"'{plain[-1]}' is one word too many"
    if any(option == "--help" for option, _ in given):
        return
    if len(plain) < sum(argument.required for argument in arguments):
        yield f"it needs {', '.join(argument.name for argument in arguments if argument.required)}"
    missing = [p for p in command.params if p.required and p.param_type_name == "option"]
    yield from (f"it needs {p.opts[0]}" for p in missing if not {option for option, _ in given} & set(p.opts))
    yield from _unknown_names(command.name, given, plain)
    yield from _wrong_settings([value for option, value in given if option == "--set" and value], folder)


def _split(command: Any, words: list[str]) -> tuple[list[tuple[str, str | None]], list[str], list[str]]:
    """Options with their values, plain words, and what is wrong with the options."""
    known = {name: p for p in command.params if p.param_type_name == "option" for name in (*p.opts, *p.secondary_opts)}
    given: list[tuple[str, str | None]] = []
    plain: list[str] = []
    wrong: list[str] = []
    rest = iter(words)
    for word in rest:
        option, equals, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            plain.append(word)
        elif option == "--help":
            given.append((option, None))
        elif option not in known:
            wrong.append(f"there is no option {option}")
        elif known[option].is_flag:
            given.append((option, None))
        else:
            given.append((option, value if equals else next(rest, None)))
            if given[-1][1] is None:
                wrong.append(f"{option} needs a value")
    return given, plain, wrong


def _unknown_names(command: str, given: list[tuple[str, str | None]], plain: list[str]) -> Iterator[str]:
    named = [(OPTIONS[option], value) for option, value in given if option in OPTIONS and value]
    if command == "init":  # Its model may also be one of an endpoint, by the endpoint's name for it.
        named = [(kind, text) for kind, text in named if kind != "model" or "(" in text]
    named += [(TAKES[command], plain[0])] if command in TAKES and plain else []
    for kind, text in named:
        yield from _unknown_part(kind, text)
    if command == "ls" and plain and plain[0] not in _listed():
        yield f"there is no kind and no part '{plain[0]}'"
    if (
        command in ("run", "validate")
        and plain
        and re.fullmatch(r"\w+", plain[0])
        and plain[0] not in shipped_studies()
    ):
        yield f"no study '{plain[0]}' ships"


def _listed() -> set[str]:
    """Kinds, parts and studies."""
    parts = {name for kind in catalog.KINDS for name in catalog.known(kind)}
    return {*catalog.KINDS.values(), "studies", *shipped_studies(), *parts}


def _wrong_settings(overrides: list[str], folder: Path) -> Iterator[str]:
    """Overrides of a small study; what they name must be there."""
    if not overrides:
        return
    file = folder / "study.toml"
    file.write_text('name = "example"\n', "utf-8")
    try:
        yield from unknown_parts(load_study(file, overrides))
    except ShaketableError as error:
        yield str(error)


def wrong_studies(page: str) -> list[str]:
    found = []
    for line, tables in studies(page):
        try:
            wrong = list(unknown_parts(parse_study(tables, "study")))
        except ShaketableError as error:
            wrong = [str(error)]
        found += [f"line {line}: {one}" for one in wrong]
    return found


def unknown_parts(study: Study) -> Iterator[str]:
    for field, kind in CROSSED.items():
        for text in getattr(study, field):
            yield from _unknown_part(kind, text)
    for text in study.analyses:
        yield from _unknown_part("analysis", text)
    for choice in study.datasets:
        yield from _unknown_part("dataset", choice.name, dict(choice.settings))


def _unknown_part(kind: str, text: str, settings: dict[str, Any] | None = None) -> Iterator[str]:
    try:
        name, given = catalog.parse(text)
        part = catalog.find(kind, name)
        if dataclasses.is_dataclass(part):
            catalog.build(kind, text)
            return
        known = catalog.values_of(part) if kind == "analysis" else inspect.signature(part).parameters
        yield from (
            f"{name} has no setting '{one}'" for one in (given if settings is None else settings) if one not in known
        )
    except ShaketableError as error:
        yield str(error)


def wrong_parts(page: str) -> list[str]:
    """Where the tables of parts differ from the catalog, and the row that would be right."""
    found, listed = [], parts_tables(page)
    for kind, folder in NAMED_IN_STUDIES.items():
        rows = listed.get(folder.rpartition(".")[2], {})
        known = {name: settings_of(kind, name) for name in _own(kind)}
        found += [f"{folder}: `{name}` is no {kind}. Take its row out." for name in rows.keys() - known.keys()]
        for name, settings in known.items():
            cell = ", ".join(f"`{setting}`" for setting in settings) or "none"
            if rows.get(name) != settings:
                wrong = "has other settings" if name in rows else "has no row"
                found.append(f"{folder}: `{name}` {wrong}. The row starts: | `{name}` | {cell} |")
    return found


def _own(kind: str) -> dict[str, str]:
    """The parts of this package; other packages document their own."""
    return {name: place for name, place in catalog.known(kind).items() if place.startswith("shaketable.")}


def settings_of(kind: str, name: str) -> tuple[str, ...]:
    """`k=5` for a setting with a default, `path` for one without."""
    part = catalog.find(kind, name)
    if dataclasses.is_dataclass(part):
        pairs = [(field.name, field.default) for field in catalog.listed_fields(part)]
    elif kind == "analysis":
        pairs = [(name, default) for name, default in catalog.values_of(part).items() if name not in GIVEN]
    else:
        pairs = [(p.name, p.default) for p in inspect.signature(part).parameters.values()]
    missing = (dataclasses.MISSING, inspect.Parameter.empty)
    return tuple(name if default in missing else f"{name}={default!r}" for name, default in pairs)


def run_python(page: str, folder: Path, address: str = "") -> subprocess.CompletedProcess[str]:
    """All Python blocks of a page, one after another in one program: later ones may use earlier names. `address` is
    that of the models that they ask."""
    program = "\n".join(block.text for block in blocks(page, "python"))
    file = folder / "example.py"
    file.write_text(program, "utf-8")
    endpoint = {"OPENAI_API_KEY": "of-a-reader", "OPENAI_BASE_URL": address}
    environment = {**os.environ, "SHAKETABLE_OFFLINE": "1", "OMP_NUM_THREADS": "1", **endpoint}
    return subprocess.run(
        [sys.executable, file.name], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


# --- the pages ------------------------------------------------------------------------------------

each_page = pytest.mark.parametrize(
    "page", [pytest.param(p.read_text("utf-8"), id=str(p.relative_to(ROOT))) for p in PAGES]
)


@each_page
def test_every_command_on_a_page_exists(page, tmp_path):
    wrong = wrong_commands(page, tmp_path)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", [*BESIDE, *PAGES[1:]], ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_in_a_sentence_exists(page):
    for words in named_commands(page.read_text("utf-8")):
        command, rest = _find_command(words)
        assert command is not None, f"there is no command '{rest[0]}'"
        _, _, wrong = _split(command, rest)
        assert not [one for one in wrong if "needs a value" not in one], words


@each_page
def test_every_study_on_a_page_is_one(page):
    wrong = wrong_studies(page)
    assert not wrong, "\n".join(wrong)


def test_the_page_of_statistics_tells_of_every_analysis_whether_it_claims_anything():
    page = (ROOT / "docs" / "statistics.md").read_text("utf-8")
    _, _, table = page.partition("| analysis | numbers | claims |")
    rows = [line.strip("|").split("|") for line in table.partition("\n\n")[0].splitlines()[2:]]
    told = {name: claims.strip() != "none" for names, _, claims in rows for name in re.findall(r"`(\w+)`", names)}
    results = {name: get_type_hints(catalog.find("analysis", name))["return"] for name in catalog.known("analysis")}
    assert told == {name: hasattr(result, "claims") for name, result in results.items()}


def test_the_page_of_parts_lists_what_there_is():
    wrong = wrong_parts(PARTS_PAGE.read_text("utf-8"))
    assert not wrong, "docs/parts.md differs from the catalog:\n" + "\n".join(wrong)


def python_pages() -> list[Any]:
    pages = []
    for page in PAGES:
        text = page.read_text("utf-8")
        code = "\n".join(block.text for block in blocks(text, "python"))
        if code:
            marks = [pytest.mark.weights] if NEEDS_WEIGHTS.search(code) else []
            pages.append(pytest.param(text, id=str(page.relative_to(ROOT)), marks=marks))
    return pages


@pytest.fixture(scope="module")
def endpoint():
    """Of a model behind OpenAI's protocol, on this machine."""
    stand_in = StandIn()
    yield stand_in
    stand_in.server.shutdown()


@pytest.mark.parametrize("page", python_pages())
def test_the_python_on_a_page_runs(page, tmp_path, endpoint):
    done = run_python(page, tmp_path, endpoint.url)
    assert done.returncode == 0, done.stderr


@each_page
def test_the_python_on_a_page_is_python(page):
    for block in blocks(page, "python"):
        compile(block.text, f"line {block.line}", "exec")


# --- the checks themselves ------------------------------------------------------------------------

GOOD = """
# Start

```bash
pip install shaketable
shaketable demo                       # a comment
$ shaketable run context_temperature --limit 12 --set generation.max_tokens=48 \\
    --set "cross.perturbations=['unchanged', 'sentence_replacement(seed=3)']"
OPENAI_API_KEY=none shaketable run mine.toml --dry-run --json | head -1 && shaketable ls metrics
shaketable perturb entity_masking --retriever full_gold
shaketable export runs/demo --table scores --out scores.csv
shaketable score runs/demo --metric token_f1 --metric "contains(match='token')"
shaketable run --help
```

```toml
[dataset]
name = "jsonl"
path = "questions.jsonl"
```

```toml
[project.entry-points."shaketable.metrics"]
length = "mine:Length"
```

```python
from shaketable import catalog
```

```python
assert catalog.build("metric", "token_f1").version >= 1
```
"""


def test_a_good_page_has_nothing_wrong(tmp_path):
    assert [words[0] for _, words in commands(GOOD)] == [
        "demo", "run", "run", "ls", "perturb", "export", "score", "run"
    ]  # fmt: skip
    assert wrong_commands(GOOD, tmp_path) == []
    assert len(list(studies(GOOD))) == 1
    assert wrong_studies(GOOD) == []
    assert run_python(GOOD, tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("fly", "no command 'fly'"),
        ("run demo --quick", "no option --quick"),
        ("run demo --out", "--out needs a value"),
        ("run", "it needs study"),
        ("run dmeo", "no study 'dmeo' ships"),
        ("run demo twice", "'twice' is one word too many"),
        ("run demo --set generation.max_token=3", "unknown key 'max_token'"),
        ("run demo --set \"cross.perturbations=['sentence_remval']\"", "Did you mean 'sentence_removal'?"),
        ("run demo --set \"cross.methods=['single_retrieval(kk=2)']\"", "no setting 'kk'"),
        ("perturb typpos", "Unknown perturbation 'typpos'"),
        ("perturb unchanged --retriever golden", "Unknown retriever 'golden'"),
        ("score RUN --metric exact_mach", "Did you mean 'exact_match'?"),
        ("import answers.jsonl", "it needs --out"),
        ("ls metric", "no kind and no part 'metric'"),
    ],
)
def test_a_wrong_command_is_named(tmp_path, command, wrong):
    (found,) = wrong_commands(f"text\n\n```bash\ncd here\nshaketable {command}\n```\n", tmp_path)
    assert found.startswith("line 5, ")
    assert wrong in found


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('[cross]\nmodel = ["smollm2"]', "unknown key 'model'"),
        ('[cross]\nmodels = ["smolm2"]', "Did you mean 'smollm2'?"),
        ('[score]\nmetrics = ["token_f1(strict=True)"]', "no setting 'strict'"),
        ('[analyze]\nanalyses = ["corectness"]', "Did you mean 'correctness'?"),
        ('[dataset]\nname = "jsonl"\nfile = "q.jsonl"', "jsonl has no setting 'file'"),
        ('name = "x"\n[dataset]\nname = "squat"', "Unknown dataset 'squat'"),
    ],
)
def test_a_wrong_study_is_named(text, wrong):
    (found,) = wrong_studies(f"```toml\n{text}\n```")
    assert wrong in found


def test_a_wrong_row_of_parts_is_named():
    page = PARTS_PAGE.read_text("utf-8")
    assert any("`contains`" in one for one in wrong_parts(page.replace("| `contains` |", "| `holds` |")))
    assert any("`holds` is no metric" in one for one in wrong_parts(page.replace("| `contains` |", "| `holds` |")))
    assert any("`k=5`" in one for one in wrong_parts(page.replace("`k=5`", "`k=6`")))
    assert len(wrong_parts("")) == sum(len(_own(kind)) for kind in NAMED_IN_STUDIES)


ASKING = """
```python
from shaketable import make_study
from shaketable.stages.run import ask

study = make_study("asking", models="openai(model='gpt-4o')", methods="closed_book", limit=1)
assert ask(study, "runs/asking").summary().failed == 0
```
"""


def test_python_that_asks_a_model_behind_an_endpoint_is_run(tmp_path, endpoint):
    n_before = len(endpoint.requests)
    done = run_python(ASKING, tmp_path, endpoint.url)
    assert done.returncode == 0, done.stderr
    assert len(endpoint.requests) > n_before


def test_python_that_fails_is_seen(tmp_path):
    assert "NameError" in run_python("```python\nnothing\n```", tmp_path).stderr
