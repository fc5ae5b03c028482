"""Five lines in a team's suite: the fixture and the marker, in a pytest of their own."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from gate_answers import answers

from shaketable.report.gate_words import describe_lines
from shaketable.stages.gate import check_run
from shaketable.stages.import_answers import import_answers
from shaketable.types import Gate

pytest_plugins = ["pytester"]
PLUGIN = "shaketable.cli.pytest_plugin"
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    base = import_answers(answers(folder / "base.jsonl", n_right=36, n_removed=33), folder / "base").run
    worse = import_answers(answers(folder / "worse.jsonl", n_right=36, n_removed=12), folder / "worse").run
    # The tests within run in this process, which forgets what they import, and numpy cannot be loaded twice.
    describe_lines(check_run(worse, Gate(max_drop=0.1, min_accuracy=0.5, max_failures=0.5), base))
    return folder


@pytest.fixture
def suite(pytester: pytest.Pytester, folders: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs a team's tests, in which BASE and WORSE are folders of runs."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(code: str) -> pytest.RunResult:
        pytester.makepyfile(
            f"import pytest\nBASE, WORSE = {str(folders / 'base')!r}, {str(folders / 'worse')!r}\n{code}"
        )
        return pytester.runpytest_inprocess("-p", PLUGIN, "--strict-markers", "-q", "-p", "no:cacheprovider")

    return run


def test_a_run_that_holds_passes_and_gives_what_was_found(suite):
    result = suite(
        """
@pytest.mark.robust(max_drop=0.3, min_accuracy=0.7)
def test_it_holds(shake):
    checked = shake(BASE)
    assert [check.verdict for check in checked.checks] == ["holds", "holds"]
"""
    )
    result.assert_outcomes(passed=1)


def test_a_run_that_became_worse_fails_with_what_was_measured_and_no_traceback(suite):
    result = suite(
        """
@pytest.mark.robust(against=BASE)
def test_it_holds(shake):
    shake(WORSE)
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "The gate is closed: 1 of 1 checks fail*",
            "✗ correctness lost against the base, prod: *at most 0 points; failed*",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*check_run*")


def test_the_call_goes_before_the_marker_of_the_test_and_that_before_the_module(suite):
    result = suite(
        """
pytestmark = pytest.mark.robust(max_drop=0.01)

def test_of_the_module(shake):
    shake(BASE)

@pytest.mark.robust(max_drop=0.3)
def test_of_its_own(shake):
    shake(BASE)

def test_of_the_call(shake):
    shake(BASE, max_drop=0.3)
"""
    )
    result.assert_outcomes(passed=2, failed=1)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def test_it(shake):\n    shake(BASE, max_drops=0.1)", "shake, gate.max_drops: unknown key 'max_drops'. Did*"),
        ("def test_it(shake):\n    shake(BASE)", "*there is nothing to check. Give a base*"),
        ("def test_it(shake):\n    shake('nowhere')", "No study file nowhere.*"),
        ("def test_it(shake):\n    shake(5)", "shake: its target is 5; give a path, such as shake('runs/new')."),
        ("def test_it(shake):\n    shake(BASE, against=5)", "shake: against is 5; give a path, such as*"),
        ("def test_it(shake):\n    shake(BASE, against='nowhere')", "nowhere holds no run*"),
        ("def test_it(shake):\n    shake(BASE, min_accuracy=70)", "gate.min_accuracy is 70, and * write 0.7."),
        (
            "@pytest.mark.robust(max_drop='x')\ndef test_it(shake):\n    shake(BASE)",
            "shake, gate.max_drop: found 'x'; input should be a valid number.",
        ),
        (
            "@pytest.mark.robust(nothing=1)\ndef test_it(shake):\n    shake(BASE)",
            "shake, gate.nothing: unknown key 'nothing'.*",
        ),
        ("@pytest.mark.robust(0.1)\ndef test_it(shake):\n    shake(BASE)", "robust takes names alone*found (0.1,)."),
        (
            "@pytest.mark.robust(max_drop=0.1)\ndef test_it():\n    pass",
            "test_it is marked robust and does not ask for*",
        ),
    ],
)
def test_what_is_wrong_with_a_test_is_said_where_it_is(suite, code, message):
    result = suite(code)
    assert result.ret == 1
    result.stdout.fnmatch_lines([message])


def test_a_study_is_run_once_for_several_tests(suite, pytester):
    pytester.makefile(
        ".toml",
        study="""
name = "small"
[dataset]
limit = 8
[cross]
models = ["scripted(replies=('Paris',))"]
methods = ["closed_book"]
""",
    )
    result = suite(
        """
def test_no_answer_fails(shake):
    shake("study.toml", max_failures=0.5)

def test_again(shake, _shaken_runs):
    shake("study.toml", max_failures=0.5)
    assert len(_shaken_runs) == 1
"""
    )
    result.assert_outcomes(passed=2)


def test_the_plugin_loads_nothing_but_pytest_and_is_offered_to_it():
    code = f"import sys, {PLUGIN}; print(*sorted(name for name in sys.modules if name.partition('.')[0] in {HEAVY!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"shaketable": PLUGIN}


HEAVY = ("numpy", "polars", "pydantic", "typer", "rich", "torch", "scipy")
