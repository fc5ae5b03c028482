"""Pages that are made from the package are what it says today, and every key of a study is explained."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import shaketable
from shaketable.study import TABLES, parse_study, study_schema

ROOT = Path(__file__).parents[2]
KEYS = [(path, name) for path, table in TABLES.items() for name in table.model_fields]
each_key = pytest.mark.parametrize(("path", "name"), KEYS, ids=[".".join((*path, name)) for path, name in KEYS])


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_pages", ROOT / "scripts" / "make_pages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_what_the_package_says(script: ModuleType) -> None:
    assert script.behind() == [], "run: python scripts/make_pages.py"


@each_key
def test_a_key_has_a_meaning_a_cost_and_examples_that_hold(script: ModuleType, path, name) -> None:
    table = TABLES[path]
    field = table.model_fields[name]
    assert field.description and re.search(r"[.)]$", field.description)
    assert field.is_required() or len(field.description) > 20
    assert field.default is not None or "Absent:" in field.description, "what it means that it is absent is not said"
    assert field.json_schema_extra["x-cost"].endswith(".")
    for number in range(len(field.examples)):
        tables = script.example_tables(path, table, name, number)
        assert tomllib.loads(script.format_example(path, table, name, number)) == tables
        parse_study({"name": "example", **tables}, "example")
    assert field.examples


def test_the_page_has_a_heading_for_every_key() -> None:
    page = (ROOT / "docs" / "study.md").read_text("utf-8")
    headings = re.findall(r"^### `(.+)`$", page, re.MULTILINE)
    assert len(headings) == len(set(headings)) == len(KEYS)


def test_every_property_of_the_schema_is_described() -> None:
    schema = study_schema()
    for table in (schema, *schema["$defs"].values()):
        assert table["description"]
        assert all(own.get("description") for own in table["properties"].values())


def test_the_schema_that_ships_is_the_one_that_is_printed() -> None:
    shipped = ROOT / "src" / "shaketable" / "resources" / "study.schema.json"
    assert json.loads(shipped.read_text("utf-8")) == json.loads(json.dumps(study_schema()))


def test_the_python_reference_has_every_public_name() -> None:
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    headings = re.findall(r"^### `(?:class )?(\w+)`$", page, re.MULTILINE)
    assert sorted(headings) == sorted(shaketable.__all__)


def test_a_signature_shows_no_address_of_a_function(script: ModuleType) -> None:
    def call(name: str, then=print, *, many: tuple[int, ...] = tuple(range(30)), short: str = "x") -> None: ...

    text = script.format_call("call", call)
    assert text == "call(name: str, then=..., *, many: tuple[int, ...] = ..., short: str = 'x') -> None"
