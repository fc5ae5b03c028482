"""An analysis with its section from another package, as CONTRIBUTING.md shows it, is asked, kept, exported and told."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STUDY = """
name = "outside"
seed = 1
[dataset]
name = "builtin"
limit = 6
[cross]
models = ["scripted(replies=('Paris', 'I do not know that.', 'no'))"]
methods = ["closed_book"]
temperatures = [0.0, 1.0]
repeats = 2
[score]
metrics = ["contains"]
[analyze]
analyses = ["words_written"]
n_resamples = 50
"""

BROKEN = """
from dataclasses import replace

from my_package.analysis import WordsWritten, words_written
from shaketable.analyses.tables import Tables


def raises(tables: Tables) -> WordsWritten:
    raise ZeroDivisionError("division by zero")


def gives_no_number(tables: Tables) -> WordsWritten:
    first, *rest = words_written(tables).lengths
    return WordsWritten(lengths=(replace(first, words=replace(first.words, value=float("nan"))), *rest))


def gives_text(tables: Tables) -> WordsWritten:
    return "many words"
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    """The code of CONTRIBUTING.md as an installed package of somebody else."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    analysis, section = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    points = re.search(r"```toml\n(.*?)```", text, re.DOTALL).group(1)
    site = tmp_path_factory.mktemp("site")
    (site / "my_package").mkdir()
    (site / "my_package" / "__init__.py").touch()
    (site / "my_package" / "analysis.py").write_text(analysis, "utf-8")
    moved = section.replace("shaketable.analyses.evidence.words_written", "my_package.analysis")
    (site / "my_package" / "section.py").write_text(moved, "utf-8")
    (site / "my_package" / "broken.py").write_text(BROKEN, "utf-8")
    information = site / "my_package-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    plain = re.sub(r'\[project\.entry-points\."(.*?)"\]', r"[\1]", points).replace('"', "")
    broken = "".join(f"{name} = my_package.broken:{name}\n" for name in ("raises", "gives_no_number", "gives_text"))
    (information / "entry_points.txt").write_text(
        plain.replace("[shaketable.sections]", f"{broken}[shaketable.sections]")
    )
    return site


@pytest.fixture(scope="module")
def shaketable(package, tmp_path_factory):
    folder = tmp_path_factory.mktemp("outside")
    (folder / "study.toml").write_text(STUDY, "utf-8")
    paths = [str(package), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]

    def call(*words: str) -> str:
        code = "import sys; from shaketable.cli import main; sys.argv[0] = 'shaketable'; main()"
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    call("run", "study.toml", "--out", "run")
    return call, folder / "run"


def test_its_section_figure_and_card_stand_in_the_report(shaketable):
    _, run = shaketable
    page = (run / "report.html").read_text("utf-8")
    assert page.count("How much does a system write at each temperature?") >= 2  # the section, and its caveats
    assert '<figure id="words_written">' in page
    assert re.search(r'<p class="kicker">Length · scripted.*?</p>\s*<p class="number">\d', page)
    assert {"words_written.svg", "words_written.png", "words_written.csv"} <= {
        file.name for file in (run / "figures").iterdir()
    }


def test_its_numbers_are_kept_and_exported(shaketable):
    call, run = shaketable
    call("export", "run", "--table", "findings", "--out", "findings.csv")
    lines = (run.parent / "findings.csv").read_text("utf-8").splitlines()
    assert len(lines) == 1 + 2  # a header, and a row for each temperature
    columns = lines[0].split(",")
    assert {"analysis", "table", "model", "temperature", "value", "low", "high", "n", "unit"} <= set(columns)
    assert all(line.startswith("words_written,") for line in lines[1:])


def test_the_command_line_tells_it(shaketable):
    call, _ = shaketable
    assert "writes most at temperature" in call("analyze", "run")
    assert "words_written" in call("ls", "analyses")


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("raises", "ZeroDivisionError: division by zero"),
        pytest.param("gives_no_number", "not JSON compliant", marks=pytest.mark.slow),
        ("gives_text", "str"),
    ],
)
def test_an_analysis_that_fails_leaves_a_finding_that_says_so_and_the_others_are_kept(shaketable, broken, reason):
    call, run = shaketable
    asked = [word for name in ("correctness", broken, "words_written") for word in ("--analysis", name)]
    told = json.loads(call("analyze", "run", *asked, "--json"))
    assert [finding["analysis"] for finding in told["findings"]] == ["correctness", broken, "words_written"]
    first, failed, last = told["findings"]
    assert first["rows"] and last["rows"] and not failed["rows"]
    assert reason in failed["failure"]
    assert "writes most at temperature" in call("analyze", "run", *asked)
    call("report", "run")
    assert reason in (run / "report.html").read_text("utf-8")
