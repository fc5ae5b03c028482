"""A shake as a new user meets it: a file with a function, a table of questions, a budget."""

from __future__ import annotations

import csv
import json
import sqlite3
import tomllib
from pathlib import Path

import pytest
from stand_in_endpoint import StandIn
from typer.testing import CliRunner, Result

from shaketable.cli.app import app
from shaketable.cli.targets import Given, name_model
from shaketable.errors import StudyError
from shaketable.stages.shaking.confirm import plan_confirmation
from shaketable.statistics.betting import n_to_claim
from shaketable.store import Run

COLD = """
def answer(question, temperature):
    return "nothing" if temperature >= 1 else "It is number " + question.split()[-1].strip("?") + "."
"""
"""Breaks when it is hot."""
PLAIN = ["--set", 'cross.variations=["original"]']
"""Wordings load a sentence encoder; most of what is tested here does not need them."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    questions(tmp_path)
    return tmp_path


def questions(folder: Path, n: int = 30, *, columns: tuple[str, ...] = ("question", "answer")) -> None:
    with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        rows = ((f"Which is number {i}?", f"number {i}", f"First of all. It is number {i}.") for i in range(n))
        writer.writerows(row[: len(columns)] for row in rows)


def shake(code: str | None, *options: str, budget: str = "150 calls", target: str = "app.py:answer") -> Result:
    if code is not None:
        Path("app.py").write_text(code, "utf-8")
    return CliRunner().invoke(app, ["shake", target, "--data", "questions.csv", "--budget", budget, *options])


def n_asked() -> int:
    [store] = Path("runs").glob("*/records.sqlite")
    with sqlite3.connect(store) as connection:
        return int(connection.execute("SELECT count(*) FROM records").fetchone()[0])


NEVER = """
def answer(question, temperature):
    return "nothing at all"
"""
"""Is never right, so it has nothing to lose."""


# --- to the end -----------------------------------------------------------------------------------


def test_a_function_and_a_table_end_in_the_worst_case_a_report_and_a_study_that_would_confirm_it(folder):
    questions(folder, 150)
    result = shake(COLD, *PLAIN, budget="100 calls")
    assert result.exit_code == 0, result.output
    assert "app.py:answer breaks at temperature 1: it loses 100 points" in result.output
    assert "an e-value of" in result.output
    assert "The smallest examples of it:" in result.output and "→ nothing" in result.output
    [run] = (folder / "runs").iterdir()
    assert "breaks at temperature 1" in (run / "report.html").read_text("utf-8")
    confirm = tomllib.loads((run / "confirm.toml").read_text("utf-8"))
    assert confirm["cross"]["temperatures"] == [0.0, 1.0] and confirm["cross"]["variations"] == ["original"]
    assert "shake" not in confirm and "limits" not in confirm
    confirmed = CliRunner().invoke(app, ["run", str(run / "confirm.toml"), "--dry-run"])
    assert confirmed.exit_code == 0 and "holds the run of another study" not in confirmed.output
    checked = CliRunner().invoke(app, ["validate", str(run / "confirm.toml")])
    assert checked.exit_code == 0 and "is fine" in checked.output


def test_it_goes_on_where_it_stopped_and_further_with_a_larger_budget(folder):
    assert shake(COLD, *PLAIN, budget="60 calls").exit_code == 0
    assert n_asked() == 60
    again = shake(None, *PLAIN, "--json", budget="60 calls")
    assert json.loads(again.stdout)["reused"] == 60 and n_asked() == 60
    more = json.loads(shake(None, *PLAIN, "--json", budget="100 calls").stdout)
    assert (more["reused"], n_asked()) == (60, 100)


def test_another_program_goes_into_another_folder(folder):
    shake(COLD, *PLAIN, budget="60 calls")
    shake(COLD + "\n# mended\n", *PLAIN, budget="60 calls")
    assert len(list((folder / "runs").iterdir())) == 2


def test_nothing_is_claimed_of_a_system_that_holds(folder):
    result = shake(COLD.replace("temperature >= 1", "False"), *PLAIN, budget="90 calls")
    assert result.exit_code == 0
    assert "No weakness of app.py:answer is shown." in result.output
    assert "would likely have been named there" in result.output
    assert "larger --budget" in result.output
    assert not list((folder / "runs").glob("*/confirm*"))
    more = shake(None, *PLAIN, budget="500 calls")
    assert "Every question was asked in every way" in more.output and "Spent: 120 of 500 calls" in more.output


def test_for_programs_there_is_one_object(folder):
    told = json.loads(shake(COLD, *PLAIN, "--json").stdout)
    assert told["worst"]["way"] == {"temperature": 1.0}
    assert told["worst"]["loss"]["value"] == 1.0
    assert told["worst"]["e_value"] > told["worst"]["e_value_needed"]
    assert Path(told["confirm"]).is_file() and Path(told["report"]).is_file()


def test_without_accepted_answers_it_is_held_to_its_own(folder):
    questions(folder, columns=("question",))
    result = shake(COLD, *PLAIN, "--json")
    told = json.loads(result.stdout)["worst"]
    assert (told["metric"], told["loss"]["value"]) == ("same_answer", 1.0)
    [run] = (folder / "runs").iterdir()
    assert tomllib.loads((run / "confirm.toml").read_text("utf-8"))["cross"]["repeats"] >= 2


def test_evidence_is_disturbed_where_the_function_hands_it_over(folder):
    code = """
def answer(question, disturb):
    passages = disturb(["The box is red. It is number " + question.split()[-1].strip("?") + "."])
    return " ".join(passages)
"""
    result = shake(code, *PLAIN, "--set", 'cross.perturbations=["unchanged", "sentence_removal"]', "--json")
    worst = json.loads(result.stdout)["worst"]
    assert worst["way"] == {"perturbation": "sentence_removal"}


def test_evidence_is_disturbed_where_the_table_has_it_and_the_function_takes_it(folder):
    questions(folder, columns=("question", "answer", "context"))
    chosen = ["--set", 'cross.perturbations=["unchanged", "sentence_removal"]']
    result = shake("def answer(question, context):\n    return context", *PLAIN, *chosen, "--json")
    worst = json.loads(result.stdout)["worst"]
    assert (worst["way"], worst["loss"]["value"]) == ({"perturbation": "sentence_removal"}, 1.0)


def test_questions_that_were_not_asked_confirm_where_there_are_enough(folder):
    questions(folder, 150)
    assert shake(COLD, *PLAIN, budget="100 calls").exit_code == 0
    [run] = (folder / "runs").iterdir()
    asked = set(Run(run).records()["question"])
    with (run / "confirm_questions.csv").open(encoding="utf-8", newline="") as file:
        fresh = {row["question"] for row in csv.DictReader(file)}
    assert len(fresh) + len(asked) == 150 and not fresh & asked
    confirmation = plan_confirmation(Run(run))
    # At least so much is lost, which is more than half of the estimate; its one way to ask has the whole error.
    assert 0.5 < confirmation.loss == confirmation.worst.loss.low
    assert confirmation.n_needed == n_to_claim(confirmation.loss, 0.02, 0.05)
    ran = CliRunner().invoke(app, ["run", str(run / "confirm.toml"), "--out", "confirmed"])
    assert ran.exit_code == 0 and "breaks at temperature 1" in ran.output, ran.output


def test_questions_that_were_asked_confirm_nothing(folder):
    """All 30 were asked: the study is fixed, and its table waits for new ones."""
    result = shake(COLD, *PLAIN)
    [run] = (folder / "runs").iterdir()
    assert Run(run).records()["question_id"].n_unique() == 30
    n_needed = plan_confirmation(Run(run)).n_needed
    assert (run / "confirm_questions.csv").read_text("utf-8").splitlines() == ["question,answer"]
    told = " ".join(result.output.split())
    assert f"Add {n_needed} new questions to runs/{run.name}/confirm_questions.csv" in told
    assert "Confirm it:" not in told
    ran = CliRunner().invoke(app, ["run", str(run / "confirm.toml"), "--out", "confirmed"])
    assert ran.exit_code == 2 and "found no questions below the header" in " ".join(ran.output.split())
    assert not Path("confirmed/records.sqlite").exists()


def test_a_function_that_prints_forks_raises_and_exits_spoils_no_more_than_its_trials(folder):
    code = """
import os, sys
def answer(question, temperature):
    n = int(question.split()[-1].strip("?"))
    print("noise", flush=True)
    if n % 10 == 0:
        sys.exit(3)
    if n % 10 == 1:
        raise ValueError("no such thing")
    if n % 10 == 2:
        os._exit(1)
    if n % 10 == 3:
        os.fork()
    return f"number {n}"
"""
    result = shake(code, *PLAIN, "--max-failures", "0.5", budget="40 calls")
    assert result.exit_code == 0, result.output
    assert "trials failed; they are kept as failures, never as zeros." in result.output
    assert "noise\n" not in result.output.replace("the last: noise", "")
    assert "No weakness" in result.output


def test_a_dry_run_asks_nothing(folder):
    result = shake(COLD, *PLAIN, "--dry-run")
    assert result.exit_code == 0 and "Nothing was asked." in result.output
    assert not (folder / "runs").exists()
    told = json.loads(shake(COLD, *PLAIN, "--dry-run", "--json").stdout)
    assert (told["temperatures"], told["ways"], told["full_design"]) == ([0.7, 1.0], 2, 90)


def test_too_few_questions_to_show_anything_are_told_before(folder):
    questions(folder, 4)
    assert "not even a loss of all answers could be shown" in shake(COLD, *PLAIN, "--dry-run").output


@pytest.mark.slow
def test_the_example_breaks_where_words_are_misspelled(folder):
    example = Path(__file__).parents[2] / "examples" / "shake"
    for file in example.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    variations = 'cross.variations=["original", "spelling(p=0.2)", "keywords", "disfluency"]'
    result = shake(None, "--set", variations, budget="300 calls")
    assert result.exit_code == 0, result.output
    assert "app.py:answer breaks with spelling (p: 0.2)" in result.output


# --- what cannot be shaken ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "target", "budget", "told"),
    [
        (COLD, "app.py:answer", "5 parsecs", "unknown unit 'parsecs'"),
        (COLD, "app.py:answer", "0 calls", "the amount is 0"),
        (COLD, "app.py:answer", "9 calls", "is too small: to ask a few questions"),
        (COLD, "app.py", "90 calls", "names a file and no function in it. Write the function's name after a colon"),
        (COLD, "ap.py:answer", "90 calls", "There is no file"),
        (COLD, "app.py:anser", "90 calls", "has no 'anser'. Did you mean 'answer'?"),
        (COLD, "nosuch.module:answer", "90 calls", "There is no module 'nosuch.module'"),
        (COLD, "gpt-4o", "90 calls", "openai(model='gpt-4o')"),
        ("answer = 3", "app.py:answer", "90 calls", "'answer' is int, which cannot be called"),
        ("class answer: pass", "app.py:answer", "90 calls", "'answer' is a class"),
        ("def answer(question, top_k): pass", "app.py:answer", "90 calls", "needs 'top_k', which nothing gives"),
        ("def answer(): pass", "app.py:answer", "90 calls", "takes no question"),
        ("def answer(question:", "app.py:answer", "90 calls", "cannot be imported: line 1"),
        ("import sys\nsys.exit(1)", "app.py:answer", "90 calls", "calls sys.exit(1) when it is imported"),
        ("def answer(question, context): pass", "app.py:answer", "90 calls", "has no column 'context'"),
    ],
)
def test_what_is_wrong_is_told_with_what_to_do(folder, code, target, budget, told):
    result = shake(code, *PLAIN, target=target, budget=budget)
    assert result.exit_code == 2, result.output
    assert told in " ".join(result.output.split())
    assert "Traceback" not in result.output and not (folder / "runs").exists()


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (None, "There is no file questions.csv"),
        ("", "found no questions below the header"),
        ("question,answer\n", "found no questions below the header"),
        ("text,answer\nWho?,Ann\n", "no column is named 'question'"),
        ("id,question,answer\n1,Who?,Ann\n1,When?,Now\n", "the id '1' was already used"),
    ],
)
def test_a_table_that_is_none_is_told(folder, table, told):
    if table is None:
        Path("questions.csv").unlink()
    else:
        Path("questions.csv").write_text(table, "utf-8")
    result = shake(COLD, *PLAIN)
    assert result.exit_code == 2
    assert told in " ".join(result.output.split())


def test_a_function_that_nothing_can_be_varied_of_is_told(folder):
    result = shake("def answer(question): return 'a'", *PLAIN)
    assert result.exit_code == 2 and "There is nothing to shake" in result.output


def test_money_is_no_limit_of_a_function_that_does_not_tell_its_cost(folder):
    result = shake(COLD, *PLAIN, budget="2 usd")
    assert result.exit_code == 1
    assert "does not tell what its answers cost" in " ".join(result.output.split())


# --- targets --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "options", "written"),
    [
        ("package.module:name", {}, "pipeline(python='package.module:name', name='package.module:name')"),
        (
            "package.module:f",
            {"concurrency": 4},
            "pipeline(python='package.module:f', concurrency=4, name='package.module:f')",
        ),
        ("smollm2", {}, "smollm2"),
        ("openai(model='x')", {}, "openai(model='x')"),
        (
            "https://example.org/ask",
            {"template": '{"q": "{question}"}', "answer": "$.a", "headers": ("X: ${T}",)},
            "pipeline(http='https://example.org/ask', headers={'X': '${T}'}, template='{\"q\": \"{question}\"}', "
            "answer='$.a', name='example.org/ask')",
        ),
        (
            "https://example.org/v1/chat/completions",
            {"model_name": "m"},
            "openai(model='m', base_url='https://example.org/v1')",
        ),
    ],
)
def test_a_target_as_a_study_writes_it(target, options, written):
    assert name_model(target, Given(**options)) == written


@pytest.mark.parametrize(
    ("target", "options", "told"),
    [
        ("https://example.org/v1", {}, "--model-name"),
        ("smollm2", {"template": "{}"}, "--template means nothing for TARGET smollm2"),
        ("https://example.org/v1", {"model_name": "m", "answer": "$.a"}, "--answer means nothing"),
        ("https://example.org/ask", {"template": "{}", "model_name": "m"}, "--model-name means nothing"),
        ("smollm2", {"headers": ("X: y",)}, "--header means nothing"),
        ("https://example.org/ask", {"headers": ("secret",)}, "write NAME: VALUE"),
    ],
)
def test_an_endpoint_that_is_not_told_enough_of(target, options, told):
    with pytest.raises(StudyError, match=told):
        name_model(target, Given(**options))


def test_an_endpoint_is_shaken_by_what_its_template_takes(folder):
    endpoint = StandIn()
    endpoint.reply = lambda body, n: (
        *(200, {}),
        {"text": "none" if body["heat"] >= 1 else f"number {body['query'].split()[-1].strip('?')}"},
    )
    options = ["--template", '{"query": "{question}", "heat": "{temperature}"}', "--answer", "$.text", "--json"]
    try:
        result = shake(None, *PLAIN, *options, target=endpoint.url)
    finally:
        endpoint.server.shutdown()
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["worst"]["way"] == {"temperature": 1.0}
    assert {request["heat"] for request in endpoint.requests} == {0.0, 0.7, 1.0}


def test_a_system_that_is_never_right_is_not_cleared(folder: Path) -> None:
    told = " ".join(shake(NEVER, *PLAIN).output.split())
    first, second = (
        told.index("The baseline of app.py:answer is at chance level: "),
        told.index("No weakness of app.py:answer is shown."),
    )
    assert first < second
    assert "The baseline is not above chance level, so none could be found." in told and "most was lost" not in told
    values = json.loads(shake(None, *PLAIN, "--json").stdout)
    assert next(iter(value for key, value in values.items() if key == "nothing_to_lose"))[0].startswith("The baseline ")
