from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("refresh_constraints", ROOT / "scripts" / "refresh_constraints.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_written_is_what_was_read(script: ModuleType) -> None:
    text = (ROOT / "constraints.txt").read_text("utf-8")
    pinned = script.parse_constraints(text)
    assert script.format_constraints(pinned) == text
    assert script.compare(pinned, script.keep_pinned(pinned)) == []


def test_packages_that_are_behind_missing_or_not_needed_are_told(script: ModuleType) -> None:
    assert script.compare({"A_b": "1.0", "gone": "2", "same": "3"}, {"a-b": "1.1", "new": "4", "same": "3"}) == [
        "a-b is pinned at 1.0, and 1.1 can be had",
        "gone 2 is pinned and not needed",
        "new 4 is needed and not pinned",
    ]


def test_the_package_itself_and_what_pytorch_pins_are_left_out(script: ModuleType) -> None:
    installed = {
        "shaketable": "0.2",
        "pip": "26",
        "torch": "2.13.0+cpu",
        "nvidia-cublas": "13",
        "triton": "4",
        "x": "1",
    }
    assert script.keep_pinned(installed) == {"torch": "2.13.0", "x": "1"}


def test_a_line_without_a_version_is_named(script: ModuleType) -> None:
    with pytest.raises(SystemExit, match="'numpy>=2' pins no version"):
        script.parse_constraints("scipy==1.0  # why\nnumpy>=2\n")


def test_every_explained_finding_has_its_reason() -> None:
    lines = (ROOT / "scripts" / "explained_findings.txt").read_text("utf-8").splitlines()
    for line in lines:
        if line and not line.startswith("#"):
            name, _, reason = line.partition(" ")
            assert name.partition("-")[0] in ("CVE", "GHSA", "PYSEC", "OSV") and len(reason.strip()) > 20, line
