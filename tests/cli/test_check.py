"""The gate as people and CI services meet it: what it prints, writes and ends with."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from gate_answers import answers
from made_run import made_run
from scipy.stats import binomtest
from typer.testing import CliRunner, Result

from shaketable.cli.app import app
from shaketable.stages.import_answers import import_answers


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders `base`, `same`, `worse` and `failing`."""
    folder = tmp_path_factory.mktemp("gate")
    for name, numbers in (
        ("base", {"n_right": 36, "n_removed": 33}),
        ("same", {"n_right": 36, "n_removed": 33}),
        ("narrow", {"n_right": 36, "n_removed": 30}),
        ("worse", {"n_right": 36, "n_removed": 12}),
        ("failing", {"n_right": 36, "n_removed": 33, "n_failed": 12}),
    ):
        import_answers(answers(folder / f"{name}.jsonl", **numbers), folder / name)
    return folder


@pytest.fixture
def check(runs: Path) -> Callable[..., Result]:
    def call(run: str, *options: str) -> Result:
        return CliRunner().invoke(app, ["check", str(runs / run), *options])

    return call


def values(result: Result) -> dict[str, object]:
    parsed: dict[str, object] = json.loads(result.stdout)
    return parsed


def test_the_same_answers_pass_against_their_base(check, runs):
    result = check("same", "--against", str(runs / "base"))
    assert result.exit_code == 0
    assert "The gate is passed, with 95 % confidence." in result.stdout


def test_a_copy_passes_by_the_strictest_rules(check, runs):
    strict = ("--undecided", "fail", "--max-regression", "0.05", "--max-broken", "0", "--json")
    result = check("same", "--against", str(runs / "base"), *strict)
    assert result.exit_code == 0
    told = values(result)
    assert {row["verdict"] for row in told["checks"]} == {"holds"}
    assert told["broken"] == []


def test_broken_answers_are_listed_with_both_answers_everywhere(check, runs, tmp_path):
    """Three of the 40 break, which no interval shows; each is named in all four forms."""
    files = {name: tmp_path / f"gate.{name}" for name in ("xml", "md")}
    options = ["--against", str(runs / "base"), "--max-broken"]
    written = ["--junit", str(files["xml"]), "--markdown", str(files["md"])]
    assert check("narrow", *options[:2]).exit_code == 0
    assert "--max-broken 0 lists" in " ".join(check("narrow", *options[:2]).output.split())
    closed = check("narrow", *options, "0", *written)
    assert closed.exit_code == 100
    told = check("narrow", *options, "0", "--json")
    rows = values(told)["broken"]
    assert [(row["question_id"], row["perturbation"], row["before"]) for row in rows] == [
        (f"q{i}", "sentence_removal", f"City{i}") for i in (30, 31, 32)
    ]
    [counted] = [row for row in values(told)["checks"] if row["threshold"] == "max_broken"]
    assert (counted["estimate"]["value"], counted["expected"], counted["verdict"]) == (3.0, None, "broken")
    (failure,) = ElementTree.parse(files["xml"]).getroot().iter("failure")
    for text in (" ".join(closed.output.split()), str(failure.text), files["md"].read_text("utf-8")):
        for i in (30, 31, 32):
            assert f"Which city is number {i}?" in text
            assert f"City{i}" in text
        assert "Rome" in text
    assert check("narrow", *options, "3").exit_code == 0


def test_broken_answers_are_those_of_a_base(check):
    result = check("base", "--max-broken", "0")
    assert result.exit_code == 2
    assert "Give the base with --against" in " ".join(result.stderr.split())


def test_worse_answers_close_the_gate_with_exit_code_100(check, runs):
    result = check("worse", "--against", str(runs / "base"), "--json")
    assert result.exit_code == 100
    told = values(result)
    assert (told["passes"], told["against"]) == (False, str(runs / "base"))
    by_evidence = {row["perturbation"]: row["verdict"] for row in told["checks"]}
    assert by_evidence == {None: "broken", "unchanged": "holds", "sentence_removal": "broken"}


@pytest.mark.parametrize(
    ("option", "limit", "code"),
    [
        ("--min-accuracy", "0.7", 0),
        ("--min-accuracy", "0.95", 100),
        ("--max-drop", "0.3", 0),
        ("--max-drop", "0.01", 100),
        ("--max-flip-rate", "0.3", 0),
        ("--max-failures", "0.1", 0),
    ],
)
def test_each_threshold_passes_and_fails(check, option, limit, code):
    assert check("base", option, limit).exit_code == code


def test_brackets_are_said_to_be_one_sided_bounds_wherever_they_stand(check, runs, tmp_path):
    files = ["--markdown", str(tmp_path / "gate.md"), "--junit", str(tmp_path / "gate.xml")]
    passed = check("base", "--min-accuracy", "0.7", *files)
    sentence = "In brackets: one-sided 95 % bounds, so that both ends make a confidence interval of 90 %. The intervals"
    assert sentence in " ".join(passed.output.split())
    assert sentence in (tmp_path / "gate.md").read_text("utf-8")
    assert "(one-sided 95 % bounds), at least 70 %" in (tmp_path / "gate.xml").read_text("utf-8")
    compared = check("worse", "--against", str(runs / "base"))
    assert "of 90 %; where something failed or is compared, wider ones" in " ".join(compared.output.split())


def test_a_share_has_exact_binomial_bounds(check):
    """36 of 40 right; the expected bounds are SciPy's."""
    [told] = values(check("base", "--min-accuracy", "0.7", "--json"))["checks"]
    exact = binomtest(36, 40).proportion_ci(0.9, method="exact")
    assert (told["estimate"]["low"], told["estimate"]["high"]) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize(("run", "limit", "code"), [("base", "0", 0), ("failing", "0.3", 0), ("failing", "0.29", 100)])
def test_failures_of_the_run_are_compared_with_the_limit_itself(check, run, limit, code):
    """24 of 80 trials failed."""
    result = check(run, "--max-failures", limit)
    assert result.exit_code == code
    assert f"{24 if run == 'failing' else 0} of 80" in result.stdout


def test_options_go_before_the_study_and_its_other_thresholds_stay(runs, tmp_path):
    study = (runs / "base" / "study.toml").read_text("utf-8")
    changed = tmp_path / "run"
    changed.mkdir()
    for file in (runs / "base").iterdir():
        (changed / file.name).write_bytes(file.read_bytes())
    (changed / "study.toml").write_text(study.replace("[gate]\n", "[gate]\nmin_accuracy = 0.95\nmax_drop = 0.3\n"))
    closed = CliRunner().invoke(app, ["check", str(changed), "--json"])
    assert (closed.exit_code, [row["threshold"] for row in json.loads(closed.stdout)["checks"]]) == (
        100,
        ["min_accuracy", "max_drop"],
    )
    assert CliRunner().invoke(app, ["check", str(changed), "--min-accuracy", "0.7"]).exit_code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "there is nothing to check. Give a base with --against, or a threshold such as --max-drop 0.1"),
        (("--max-flip-rate", "7"), "options, gate.max_flip_rate: found 7.0; input should be less than or equal to 1."),
        (("--min-frs", "0.5"), "gate.min_frs: nothing was asked above temperature 0. Add temperatures to [cross]"),
        (("--min-breaking-temperature", "1"), "gate.min_breaking_temperature: nothing was asked above temperature 0."),
        (("--max-cost", "1"), "gate.max_cost: prod has no price. Give it one in cross.models"),
        (("--confidence", "0.3"), "options, gate.confidence: found 0.3; input should be greater than 0.5."),
        (("--undecided", "maybe"), "Invalid value for '--undecided'"),
    ],
)
def test_what_cannot_be_checked_ends_with_exit_code_2_and_what_to_do(check, options, message):
    result = check("base", *options)
    assert result.exit_code == 2
    assert message in " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.stderr).split())


def test_a_base_that_is_no_run_is_named(check, tmp_path):
    result = check("base", "--against", str(tmp_path))
    assert result.exit_code == 1
    assert "holds no run" in result.stderr


def test_an_unfinished_run_is_not_judged(tmp_path):
    made_run(tmp_path / "run", n_answered=3)
    result = CliRunner().invoke(app, ["check", str(tmp_path / "run"), "--max-drop", "0.5"])
    assert result.exit_code == 1
    assert "trials are not answered, and a gate judges whole runs" in " ".join(result.stderr.split())


def test_junit_has_a_test_for_each_threshold_and_says_what_failed(check, runs, tmp_path):
    file = tmp_path / "deep" / "gate.xml"
    check("worse", "--against", str(runs / "base"), "--min-accuracy", "0.7", "--junit", str(file))
    suite = ElementTree.parse(file).getroot()
    assert (suite.tag, suite.get("tests"), suite.get("failures")) == ("testsuite", "2", "1")
    (failure,) = suite.iter("failure")
    assert "at most 0 points; failed: shown not to hold" in str(failure.get("message"))


def test_the_summary_for_a_pull_request_has_the_table_and_what_broke_and_no_foreign_markup(check, runs, tmp_path):
    file = tmp_path / "gate.md"
    check("worse", "--against", str(runs / "base"), "--max-drop", "0.1", "--markdown", str(file))
    text = file.read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 2 + 2 + 2 * 3  # Two thresholds fail, and each shows three questions.
    assert {line.count("|") for line in rows[:4]} == {7}
    assert {line.count("|") for line in rows[4:]} == {6}
    assert "Which city is number 12?" in text
    assert "<code>City12</code> | <code>City12</code> | <code>Rome &#124; &#60;script" in text
    for markup in ("<script", "[x]", "https://", "www.", "\u202e", "`"):
        assert markup not in text
    assert all("@" not in outside for outside in re.sub(r"<code>.*?</code>", "", text).split())


def test_a_run_with_hostile_names_is_told_in_valid_files(tmp_path):
    made_run(tmp_path / "run")
    files = {name: tmp_path / f"gate.{name}" for name in ("xml", "md", "svg")}
    options = ["--junit", str(files["xml"]), "--markdown", str(files["md"]), "--badge", str(files["svg"])]
    result = CliRunner().invoke(app, ["check", str(tmp_path / "run"), "--max-drop", "0.1", *options])
    assert result.exit_code == 100, result.stderr
    ElementTree.parse(files["xml"])
    assert "<script" not in files["md"].read_text("utf-8")


@pytest.mark.parametrize(("limit", "word"), [("0.3", "passed"), ("0.01", "failed")])
def test_the_badge_says_the_verdict_and_is_an_image_of_its_own(check, tmp_path, limit, word):
    file = tmp_path / "badge.svg"
    check("base", "--max-drop", limit, "--badge", str(file))
    root = ElementTree.parse(file).getroot()
    assert root.get("aria-label") == f"robustness: {word}"
    assert "href" not in file.read_text("utf-8")
