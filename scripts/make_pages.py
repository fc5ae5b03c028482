"""What the package knows of itself → pages: `docs/study.md` and the JSON Schema from the study's keys, `docs/api.md`
from docstrings, the lists of words in `docs/reading.md`.

    python scripts/make_pages.py            # write them
    python scripts/make_pages.py --check    # say which are behind; exit 1 if any is
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

import shaketable
from shaketable.report.cards import KICKERS
from shaketable.report.glossary import CARDS, NUMBERS, VERDICTS, Term
from shaketable.report.page import TITLES
from shaketable.study import TABLES, study_schema

ROOT = Path(__file__).parents[1]
WIDTH = 120


# --- the study file -------------------------------------------------------------------------------

STUDY_HEAD = """\
# The study file

A study is a TOML file that says what is asked and how. Its lists are crossed: every model meets every method, every
kind of evidence, every wording and every sampling temperature. Only `name` must be there; everything else has a
default, and a key that does not exist is refused with the nearest one that does. `shaketable validate STUDY` checks a
file without running it, `shaketable run STUDY --dry-run` tells its trials, calls, time and money, and `--set KEY=VALUE`
changes one key for one run.

**In an editor.** A JSON Schema of all of this ships with the package, and `shaketable validate --schema` prints it.
With the extension *Even Better TOML* (VS Code) or with *Taplo* (any editor that speaks LSP), a first line in the study
gives completion, descriptions and checks while you type:

```bash
shaketable validate --schema > study.schema.json
```

```toml
#:schema ./study.schema.json
name = "first"
```

This page is made from the same schema. *Cost* says what a key does to calls, time and money.
"""


def format_study_page() -> str:
    """Each table of a study with its keys, in the order of the file."""
    parts = [STUDY_HEAD, _contents()]
    for path, table in TABLES.items():
        parts += [_table_head(path, table), *(_key_entry(path, table, name) for name in table.model_fields)]
    return "\n".join(parts)


def _contents() -> str:
    rows = [f"| [{_titled(path)}](#{_anchor(path)}) | {_first(table)} |" for path, table in TABLES.items()]
    return "\n".join(["| table | what it says |", "|---|---|", *rows, ""])


def _first(table: Any) -> str:
    return " ".join((inspect.getdoc(table) or "").split("\n\n")[0].split())


def _titled(path: tuple[str, ...]) -> str:
    return f"`[{'.'.join(path)}]`" if path else "top of the file"


def _anchor(path: tuple[str, ...]) -> str:
    """As sites and code forges make it from the heading."""
    return f"table-{''.join(path)}" if path else "top-of-the-file"


def _table_head(path: tuple[str, ...], table: Any) -> str:
    title = f"## Table `[{'.'.join(path)}]`" if path else "## Top of the file"
    return "\n".join(["", title, "", *_wrapped(inspect.getdoc(table) or "")]) + "\n"


def _key_entry(path: tuple[str, ...], table: Any, name: str) -> str:
    field = table.model_fields[name]
    key = field.alias or name
    full = ".".join((*path, *(["MODEL"] if path == ("generation", "models") else []), key))
    schema = table.model_json_schema()
    own = schema["properties"][key]
    extra = field.json_schema_extra
    lines = [
        f"### `{full}`",
        "",
        *_wrapped(field.description),
        "",
        *_wrapped(f"- **Value:** {_kind(own, schema.get('$defs', {}))}", "  "),
        *_wrapped(f"- **Default:** {_default(path, field)}", "  "),
        *_wrapped(f"- **Cost:** {extra['x-cost']}", "  "),
        "",
    ]
    for i in range(len(field.examples)):
        lines += ["```toml", format_example(path, table, name, i), "```", ""]
    return "\n".join(lines)


def _default(path: tuple[str, ...], field: Any) -> str:
    if path == ("generation", "models"):
        return "that of `[generation]`."
    if field.is_required():
        return "none; the key must be given."
    default = field.default
    if default is None or isinstance(default, BaseModel) or default == {}:
        return "absent."
    return f"`{format_value(default)}`"


def example_tables(path: tuple[str, ...], table: Any, name: str, number: int = 0) -> dict[str, Any]:
    """The study that an example makes: the key, and whatever must stand beside it."""
    field = table.model_fields[name]
    own = {
        other.alias or key: other.examples[0]
        for key, other in table.model_fields.items()
        if path and other.is_required() and key != name
    }
    beside = field.json_schema_extra.get("x-beside", {})
    given = {**beside, **own, field.alias or name: field.examples[number]}
    given = {key: given[key] for key in sorted(given, key=_order(table))}
    if path == ("generation", "models"):
        given = {"smollm2": given}
    for step in reversed(path):
        given = {step: given}
    return given


def _order(table: Any) -> Any:
    known = [field.alias or key for key, field in table.model_fields.items()]
    return known.index


def format_example(path: tuple[str, ...], table: Any, name: str, number: int = 0) -> str:
    """As a person would write it: one heading, and inner tables on one line."""
    tables = example_tables(path, table, name, number)
    (first, inner), *_ = tables.items()
    if not isinstance(inner, Mapping):
        return f"{first} = {format_value(inner)}"
    return "\n".join([f"[{first}]", *(f"{key} = {format_value(value)}" for key, value in inner.items())])


def format_value(value: Any) -> str:
    """As TOML; tables inside of a line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {format_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(format_value(inner) for inner in value) + "]"
    return repr(value)


KINDS = {"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "`true` or `false`"}
LISTS = {"string": "a list of texts", "number": "a list of numbers", "object": "a list of tables"}
BOUNDS = {
    "minimum": "{} or more",
    "exclusiveMinimum": "more than {}",
    "maximum": "{} or less",
    "exclusiveMaximum": "less than {}",
}


def _kind(schema: Mapping[str, Any], named: Mapping[str, Any]) -> str:
    """What may stand there, in words."""
    return "; or ".join(dict.fromkeys(_kinds(schema, named))) + "."


def _kinds(schema: Mapping[str, Any], named: Mapping[str, Any]) -> Iterator[str]:
    if inner := schema.get("anyOf") or schema.get("oneOf"):
        for one in inner:
            yield from _kinds(one, named)
    elif "$ref" in schema:
        yield from _kinds(named[schema["$ref"].rpartition("/")[2]], named)
    elif "enum" in schema:
        yield "one of " + ", ".join(f"`{one}`" for one in schema["enum"])
    elif schema.get("type") == "array":
        (inside,) = list(_kinds(schema["items"], named))[:1]
        kind = next(
            (words for key, words in LISTS.items() if KINDS.get(key, "a table") == inside.split(",")[0]), "a list"
        )
        yield kind + (", not empty" if schema.get("minItems") else "")
    elif schema.get("type") == "object":
        yield "a table"
    elif schema.get("type") != "null":
        bounds = [words.format(f"{schema[key]:g}") for key, words in BOUNDS.items() if key in schema]
        yield ", ".join([KINDS[schema["type"]], *bounds])


def _wrapped(text: str, indent: str = "") -> list[str]:
    paragraphs = text.split("\n\n")
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += ["", *textwrap.wrap(" ".join(paragraph.split()), WIDTH, subsequent_indent=indent)]
    return lines[1:]


# --- the public names -----------------------------------------------------------------------------

API_HEAD = """\
# Python reference

Every public name of the package, made from its docstring. All of them are had by `import shaketable`; the examples run
in the tests. [In Python](python.md) tells how they go together.
"""
GROUPS = {
    "From a study to a report": (
        *("load_study", "make_study", "plan", "run", "answer", "score", "analyze", "write_report", "Run", "Ray"),
    ),
    "Parts": ("build", "known"),
    "Parts of your own": (
        *("pipeline", "model", "method", "retriever", "perturbation", "variation", "metric", "analysis"),
    ),
}
"""Whatever else is public stands in a last group, of values."""
REST = "Values and errors"


def format_api_page() -> str:
    grouped = {name for names in GROUPS.values() for name in names}
    groups = {**GROUPS, REST: tuple(name for name in shaketable.__all__ if name not in grouped)}
    lines = [API_HEAD]
    for title, names in groups.items():
        lines += [f"\n## {title}\n", *(_name_entry(name) for name in names if name in shaketable.__all__)]
    return "\n".join(lines)


def _name_entry(name: str) -> str:
    public = getattr(shaketable, name)
    lines = [f"### `{'class ' if inspect.isclass(public) else ''}{name}`", ""]
    if not inspect.isclass(public):
        lines += ["```py", format_call(name, public), "```", ""]
    lines += [*format_docstring(inspect.getdoc(public) or ""), ""]
    if inspect.isclass(public):
        lines += [*_fields(public), *_methods(public)]
    return "\n".join(lines)


def format_call(name: str, function: Any) -> str:
    """The signature, one parameter to a line where it is long."""
    signature = inspect.signature(function)
    parameters = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    texts = [_parameter(one) for one in parameters]
    kinds = [one.kind for one in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        texts.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    back = signature.return_annotation
    gives = "" if back is inspect.Signature.empty else f" -> {_annotation(back)}"
    line = f"{name}({', '.join(texts)}){gives}"
    return line if len(line) <= 88 else "\n".join([f"{name}(", *(f"    {text}," for text in texts), f"){gives}"])


def _parameter(parameter: inspect.Parameter) -> str:
    """With its default, unless that is a function or a long list."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    is_typed = parameter.annotation is not parameter.empty
    text = f"{stars}{parameter.name}" + (f": {_annotation(parameter.annotation)}" if is_typed else "")
    if parameter.default is parameter.empty:
        return text
    default = repr(parameter.default)
    shown = "..." if callable(parameter.default) or len(default) > 40 else default
    return f"{text} = {shown}" if is_typed else f"{text}={shown}"


def _annotation(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return text.strip("'")


def format_docstring(text: str) -> list[str]:
    """Paragraphs as they are, examples as blocks."""
    lines: list[str] = []
    is_example = False
    for line in text.splitlines():
        begins = line.lstrip().startswith(">>>")
        if begins and not is_example:
            lines += ["```pycon"]
            is_example = True
        elif is_example and not line.strip():
            lines += ["```"]
            is_example = False
        lines.append(line if is_example else line.replace("``", "`"))
    return [*lines, "```"] if is_example else lines


def _fields(public: type) -> list[str]:
    """The fields of a value, with the sentences that stand under them."""
    if not dataclasses.is_dataclass(public):
        return []
    told = _told_fields(public)
    rows = [
        f"| `{field.name}` | `{_cell(str(field.type))}` | {_cell(told.get(field.name, ''))} |"
        for field in dataclasses.fields(public)
        if not field.name.startswith("_")
    ]
    return ["| field | type | |", "|---|---|---|", *rows, ""] if rows else []


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _told_fields(public: type) -> dict[str, str]:
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(public))).body
    assert isinstance(node, ast.ClassDef)
    told = {}
    for field, after in zip(node.body, node.body[1:], strict=False):
        is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_text:
            told[field.target.id] = str(after.value.value)
    return told


def _methods(public: type) -> list[str]:
    """What it can do: public functions of its own with a docstring."""
    lines = []
    for name, member in vars(public).items():
        function = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
        if name.startswith("_") or not inspect.isfunction(function) or not function.__doc__:
            continue
        is_called = inspect.isfunction(member) or isinstance(member, classmethod | staticmethod)
        lines += [f"#### `{public.__name__}.{name}`", ""]
        lines += ["```py", format_call(name, function), "```", ""] if is_called else []
        lines += [*format_docstring(inspect.getdoc(function) or ""), ""]
    return lines


# --- the words of a report ------------------------------------------------------------------------


def format_reading_page() -> str:
    """The page as people wrote it, with the lists of words that the report itself has."""
    text = (ROOT / "docs" / "reading.md").read_text("utf-8")
    lists = {
        "verdicts": _term_rows("the report says", VERDICTS),
        "numbers": _term_rows("it is written", NUMBERS),
        "cards": [
            "| card | what it tells |",
            "|---|---|",
            *(f"| {KICKERS[kind]} | {CARDS[kind]} |" for kind in KICKERS),
        ],
        "chapters": [
            "| chapter | its question |",
            "|---|---|",
            *(f"| {title} | {question} |" for title, question in TITLES.values()),
        ],
    }
    for name, rows in lists.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = "\n".join([f"{before}{begin}", "", *rows, "", f"{end}{after}"])
    return text


def _term_rows(title: str, terms: Sequence[Term]) -> list[str]:
    return [
        f"| {title} | it means |",
        "|---|---|",
        *(f"| {_cell(term.word)} | {_cell(term.meaning)} |" for term in terms),
    ]


# --- decisions ------------------------------------------------------------------------------------

DECISIONS_HEAD = """\
# Decisions

Choices that could be argued about, each with the problem, what was chosen, and what was given up for it.
"""


def format_decisions_page() -> str:
    files = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
    titles = {file.name: file.read_text("utf-8").partition("\n")[0].lstrip("# ") for file in files}
    return "\n".join([DECISIONS_HEAD, *(f"- [{title}]({name})" for name, title in titles.items())])


# --- writing --------------------------------------------------------------------------------------


def format_schema() -> str:
    return json.dumps(study_schema(), indent=2, ensure_ascii=False) + "\n"


PAGES = {
    "docs/study.md": format_study_page,
    "docs/api.md": format_api_page,
    "docs/decisions/index.md": format_decisions_page,
    "docs/reading.md": format_reading_page,
    "src/shaketable/resources/study.schema.json": format_schema,
}


def behind() -> list[str]:
    """The files that are not what the package says."""
    return [
        name
        for name, make in PAGES.items()
        if not (ROOT / name).is_file() or (ROOT / name).read_text("utf-8") != make().rstrip("\n") + "\n"
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    names = behind()
    if parser.parse_args().check:
        print("\n".join(f"{name} is behind: python scripts/make_pages.py" for name in names) or "All pages are right.")
        return 1 if names else 0
    for name in names:
        (ROOT / name).write_text(PAGES[name]().rstrip("\n") + "\n", "utf-8")
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
