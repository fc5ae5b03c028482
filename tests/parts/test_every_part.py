"""What all parts promise before they do anything: a name, a text that reads back, settings that stay, no waiting."""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest
from promises import CLASSES, EXCLUSIVE, FUNCTIONS, another_value, every_class, every_part, text_of

import shaketable
from shaketable import catalog

HEAVY = ("torch", "transformers", "spacy", "altair", "vl_convert", "openai", "statsmodels")


def build(kind, name):
    return catalog.build(kind, text_of(name))


@pytest.mark.parametrize(("kind", "name"), every_part())
def test_name_file_and_object_agree(kind, name):
    part = catalog.find(kind, name)
    # Names in Python do not begin with a digit.
    name = {"2wikimultihopqa": "twowikimultihopqa"}.get(name, name)
    assert part.__module__.rpartition(".")[2] == name
    if kind in CLASSES:
        assert part.__name__ == "".join(word.capitalize() for word in name.split("_"))
        assert catalog.name_of(build(kind, name)) == name
    else:
        assert part.__name__ == (f"load_{name}" if kind == "dataset" else name)


@pytest.mark.parametrize(("kind", "name"), every_part())
def test_it_says_what_it_does(kind, name):
    part = catalog.find(kind, name)
    module = importlib.import_module(part.__module__)
    assert (inspect.getdoc(module) or "").strip(), "The module opens with one sentence giving its job."
    if kind in CLASSES:
        # A dataclass without a docstring gets its signature as one.
        assert not (part.__doc__ or "").startswith(f"{part.__name__}(")


@pytest.mark.parametrize(("kind", "name"), every_class())
def test_it_is_a_frozen_value_with_settings_by_name(kind, name):
    part = build(kind, name)
    assert dataclasses.is_dataclass(part)
    assert all(field.kw_only for field in dataclasses.fields(part))
    assert hash(part) == hash(build(kind, name))
    with pytest.raises(dataclasses.FrozenInstanceError):
        part.anything = 1


@pytest.mark.parametrize(("kind", "name"), every_class())
def test_it_has_a_version_that_is_no_setting(kind, name):
    part = build(kind, name)
    assert isinstance(type(part).version, int)
    assert type(part).version >= 1
    assert "version" not in catalog.settings_of(part)


@pytest.mark.parametrize(("kind", "name"), every_class())
def test_it_prints_and_parses_back_to_itself(kind, name):
    part = build(kind, name)
    assert catalog.build(kind, catalog.label(part)) == part
    assert catalog.build(kind, spelled_settings(part)) == part
    assert json.loads(json.dumps(catalog.describe(part)))["name"] == name


@pytest.mark.parametrize(("kind", "name"), every_class())
def test_every_changed_setting_prints_and_parses_back(kind, name):
    part = build(kind, name)
    for field in dataclasses.fields(part):
        if (name, field.name) in EXCLUSIVE:
            continue
        changed = dataclasses.replace(part, **{field.name: another_value(part, field)})
        assert catalog.build(kind, catalog.label(changed)) == changed
        assert catalog.build(kind, spelled_settings(changed)) == changed
        if field.compare:
            assert changed != part, f"{field.name} has no other value; name one in CHANGED."
            assert catalog.spelled(changed) != catalog.spelled(part)
        else:
            assert catalog.spelled(changed) == catalog.spelled(part)


def spelled_settings(part):
    """What a key says of a part, without the version and the prompts behind it, and with the names of files again
    where a key has their contents."""
    text = catalog.spelled(part).rpartition(f"@{type(part).version}")[0]
    for setting, content in part.contents().items() if hasattr(part, "contents") else ():
        text = text.replace(repr(content), repr(getattr(part, setting)))
    return text


@pytest.mark.parametrize("kind", [*CLASSES, *FUNCTIONS])
def test_every_file_is_listed_or_used_by_one_that_is(kind):
    """A part that nobody listed would be dead code that looks alive."""
    folder = Path(shaketable.__file__).parent / catalog.KINDS[kind]
    listed = {
        target.split(":")[0].rpartition(".")[2]
        for target in catalog.known(kind).values()
        if target.startswith("shaketable.")
    }
    helpers = {file.stem for file in folder.glob("*.py")} - listed - {"__init__"}
    imported = {
        name
        for module, names in imports_of_the_package()
        if module.startswith(f"shaketable.{folder.name}")
        for name in (module.rpartition(".")[2], *names)
    }
    assert helpers <= imported


@functools.cache
def imports_of_the_package():
    """Modules with the names that are taken from them."""
    return [
        (node.module or "", [alias.name for alias in node.names])
        for file in Path(shaketable.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
    ]


def test_building_is_instant_and_touches_nothing(tmp_path):
    """No network, no weights, no heavy library: a study is checked without any of them."""
    texts = [(kind, text_of(name)) for kind in CLASSES for name in catalog.known(kind)]
    found = [(kind, name) for kind in ("dataset", "analysis") for name in catalog.known(kind)]
    code = f"""
import json, socket, sys

def refuse(*arguments, **settings):
    raise AssertionError("it went to the network")

socket.socket.connect = socket.getaddrinfo = refuse
from shaketable import catalog

report = []
for kind, text in {texts + found!r}:
    before = set(sys.modules)
    (catalog.build if kind in {CLASSES!r} else catalog.find)(kind, text)
    heavy = sorted((sys.modules.keys() - before) & set({HEAVY!r}))
    report.append([kind, text, heavy])
print(json.dumps(report))
"""
    home = tmp_path / "home"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"SHAKETABLE_HOME": str(home), "HOME": str(home)},
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert len(report) == len(texts) + len(found)
    assert [row for row in report if row[2]] == [], "These load a heavy library when they are built."
    assert not home.exists(), "Something was written into the cache."
