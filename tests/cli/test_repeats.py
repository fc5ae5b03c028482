"""Repeats that end of themselves, as a user meets them: what is told before, at the end, and in the report."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.report.repeat_words import describe_repeats
from shaketable.store import Run

STUDY = """
name = "until"
[dataset]
name = "builtin"
limit = 12
[cross]
models = ["scripted(replies=('yes', 'no', 'Paris'))"]
perturbations = ["unchanged", "source_reordering"]
variations = ["original", "prefix_injection"]
temperatures = [0.0, 1.0]
repeats = { until = "±0.1", max = 20 }
[score]
metrics = ["correct", "token_f1"]
[analyze]
analyses = ["run_deviation"]
n_resamples = 50
"""


@pytest.fixture(scope="module", autouse=True)
def alone(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHAKETABLE_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setattr("shaketable.stages.vary.with_strength", lambda batch: batch)
        yield


def call(*words):
    said = CliRunner().invoke(app, [str(word) for word in words])
    assert said.exit_code == 0, said.output
    return said


@pytest.fixture
def study(tmp_path):
    (tmp_path / "until.toml").write_text(STUDY)
    return tmp_path / "until.toml"


def test_a_dry_run_tells_the_least_and_the_most(study):
    told = call("run", study, "--dry-run").output.replace("\n", " ")
    # 5.92 / (0.2 · 12) = 2.5: three repeats beside the first, of 12 · 2 wordings × 2 conditions × 2 temperatures.
    assert "known to ±0.1 for these questions, at most 20 times: at least 384, at most 1,920 trials" in told
    counts = json.loads(call("run", study, "--dry-run", "--json").stdout)
    assert (counts["least_trials"], counts["trials"]) == (384, 1920)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The folder of a run, and what the command said."""
    folder = tmp_path_factory.mktemp("ran")
    (folder / "until.toml").write_text(STUDY)
    return folder / "run", call("run", folder / "until.toml", "--out", folder / "run").output


def test_a_run_prints_what_it_saved_and_the_report_tells_the_same(ran):
    folder, told = ran
    repeats = Run(folder).summary().repeats
    words = f"asked {repeats.n_asked:,} of at most 1,920 trials: {int(100 * repeats.saved)} % saved; "
    assert words in told
    assert (
        "of 8 conditions reached ±0.1 (95 % confidence intervals of correctness over repeats of these questions" in told
    )
    page = (folder / "report.html").read_text("utf-8")
    assert words in page
    assert "not over other questions" in page
    assert [finding.failure for finding in Run(folder).findings().findings] == [None]


def test_programs_are_told_each_condition_and_nothing_is_asked_twice(ran):
    folder, _ = ran
    before = Run(folder).summary().repeats
    again = json.loads(call("answer", folder, "--json").stdout)
    assert (again["repeats"]["n_asked"], again["repeats"]["n_most"]) == (before.n_asked, 1920)
    assert len(again["repeats"]["cells"]) == 8
    assert again["reused"] == again["trials"] == before.n_asked


def test_unequal_repeats_are_verified_compared_checked_and_exported(ran):
    folder, _ = ran
    assert Run(folder).records().group_by("temperature").len()["len"].n_unique() == 2
    assert json.loads(call("verify", folder, "--json").stdout)["problems"] == []
    call("compare", folder, folder, "--json")
    call("check", folder, "--against", folder, "--json")
    call("export", folder, "--table", "findings")


def test_a_run_that_stopped_at_a_limit_has_saved_nothing_yet(study, tmp_path):
    told = call("run", study, "--out", tmp_path / "run", "--max-calls", 100, "--json").stdout
    assert (json.loads(told)["repeats"]["saved"], json.loads(told)["repeats"]["n_asked"]) == (None, 100)
    assert "asked 100 of at most 1,920 trials so far; 0 of 8" in describe_repeats(
        Run(tmp_path / "run").summary().repeats
    )


def test_conditions_that_never_change_stop_first(ran):
    cells = Run(ran[0]).summary().repeats.cells
    cool, hot = ({cell.n_repeats for cell in cells if cell.temperature == t} for t in (0.0, 1.0))
    assert max(cool) < max(hot)


@pytest.mark.parametrize(
    ("repeats", "told"),
    [
        ("{ until = '±3 %' }", "cross.repeats.until: found '±3 %'; value error, give half the width"),
        ("{ until = 0.7 }", "between 0 and 0.5, such as '±0.03'"),
        ("{ until = '±0.03', max = 1 }", "cross.repeats.max: found 1; input should be greater than or equal to 2"),
        ("{ until = '±0.03', max = 3, min = 5 }", "min is 5 and max is 3"),
        ("{ max = 9 }", "cross.repeats.until: this key is missing"),
        ("{ until = '±0.03', most = 9 }", "unknown key 'most'. Known keys: until, max, min"),
    ],
)
def test_validate_explains_what_is_wrong(study, repeats, told):
    study.write_text(STUDY.replace('{ until = "±0.1", max = 20 }', repeats))
    said = CliRunner().invoke(app, ["validate", str(study)])
    assert said.exit_code != 0
    assert told in " ".join(said.output.split())


@pytest.mark.parametrize("table", ["scan", "shake"])
def test_what_itself_decides_what_is_asked_next_is_refused_beside_it(study, table):
    study.write_text(f"{STUDY}\n[{table}]\n")
    said = CliRunner().invoke(app, ["validate", str(study)])
    assert f"found 'until' beside the table [{table}]" in " ".join(said.output.split())


@pytest.mark.parametrize("until", ["'±0.03'", "'+-0.03'", "'+/- 0.03'", "0.03", "'0.03'"])
def test_half_a_width_may_be_written_as_people_do(study, until):
    study.write_text(STUDY.replace('"±0.1"', until))
    assert "is fine" in call("validate", study).output


def test_the_schema_knows_both_forms():
    cross = json.loads(call("validate", "--schema", "--json").stdout)["$defs"]["Cross"]["properties"]["repeats"]
    assert {one.get("type", one.get("$ref")) for one in cross["oneOf"]} == {"integer", "#/$defs/RepeatsTable"}
