"""Every command as a user meets it: what it prints, what it writes, how it ends."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from made_studies import FORGIVING, STUDY, row, write_rows
from packaging.version import Version
from typer.testing import CliRunner

import shaketable
from shaketable import catalog
from shaketable.cli import looking, running
from shaketable.cli.app import app
from shaketable.retrievers.corpus import passages
from shaketable.stages.measured import known_rates
from shaketable.store import RecordStore

COMMANDS = sorted(command.name or command.callback.__name__ for command in app.registered_commands)
N_TRIALS = 32


@pytest.fixture(autouse=True)
def own_home(monkeypatch, tmp_path):
    """Each test works in a folder of its own, with a cache of its own."""
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


@pytest.fixture
def no_report(monkeypatch):
    """The report is drawn once, in `finished`; elsewhere it would only take time."""
    monkeypatch.setattr("shaketable.stages.report.report", lambda run, **_: run.folder / "report.html")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A whole run, made by one command, and what that command printed."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "small.toml").write_text(STUDY)
    result = call("run", folder / "small.toml", "--out", folder / "run", *FORGIVING, "--json")
    assert result.exit_code == 0, result.output
    return folder / "run", json.loads(result.stdout)


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def refused(exit_code, *words):
    """What a command says that cannot be done: one message, no traceback, nothing on standard output."""
    result = call(*words)
    assert result.exit_code == exit_code, result.output
    assert isinstance(result.exception, SystemExit), repr(result.exception)
    assert "Traceback" not in result.output
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    return result.stderr.removeprefix("Error: ").rstrip("\n").partition("\nMore: shaketable docs ")[0]


def write_study(text=STUDY, name="small.toml"):
    Path(name).write_text(text, "utf-8")
    return name


def tree(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def stored(folder):
    with RecordStore(folder / "records.sqlite", read_only=True) as store:
        return {record.trial.key: record for record in store.records()}


# --- help -------------------------------------------------------------------------------------------


def test_there_is_a_command_for_every_stage():
    assert {"run", "answer", "score", "analyze", "report", "import", "export", "verify"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    result = call(command, "--help")
    assert result.exit_code == 0
    assert "Usage:" in result.output
    assert "--json" in re.sub(r"\x1b\[[0-9;]*m", "", result.output)


def test_the_version_is_said():
    assert call("--version").stdout == f"shaketable {Version(shaketable.__version__)}\n"


def test_an_unknown_command_is_wrong_usage():
    assert call("rum").exit_code == 2


# --- the line ---------------------------------------------------------------------------------------


def test_run_ends_with_one_json_object_and_writes_the_whole_folder(finished):
    folder, said = finished
    records = stored(folder)
    failed = sum(record.failure is not None for record in records.values())
    counts = {"trials", "done", "failed", "reused", "shared", "stopped", "seconds", "spent", "rewordings", "repeats"}
    assert set(said) == {"run", *counts}
    assert (said["run"], said["trials"], said["reused"]) == (str(folder), N_TRIALS, 0)
    assert (said["done"], said["failed"]) == (N_TRIALS - failed, failed)
    assert failed > 0
    names = {entry.name for entry in folder.iterdir()}
    assert {"study.toml", "records.sqlite", "scores.parquet", "findings.json", "figures", "report.html"} <= names


def test_running_again_reuses_everything(finished, no_report):
    folder, first = finished
    before = stored(folder)
    said = json.loads(call("run", folder / "study.toml", "--out", folder, "--json").stdout)
    assert said == {**first, "reused": N_TRIALS, "seconds": 0.0}
    assert stored(folder) == before


def test_a_run_is_resumed_by_its_folder(no_report):
    call("run", write_study(), "--out", "first", "--json")
    with RecordStore(Path("first/records.sqlite")) as store, store._connection as connection:
        connection.execute("DELETE FROM records WHERE id % 2 = 0")
    said = json.loads(call("run", "first", "--json").stdout)
    assert (said["run"], said["reused"]) == ("first", N_TRIALS // 2)
    assert not Path("runs").exists()


def test_without_out_a_run_goes_into_the_folder_runs(no_report):
    assert json.loads(call("run", write_study(), "--json").stdout)["run"] == "runs/small"
    changed = json.loads(call("run", "small.toml", "--set", "cross.repeats=1", "--json").stdout)
    assert re.fullmatch(r"runs/small-[0-9a-f]{6}", changed["run"])
    assert changed["trials"] == N_TRIALS // 2
    again = json.loads(call("run", "small.toml", "--set", "cross.repeats=1", "--json").stdout)
    assert (again["run"], again["reused"]) == (changed["run"], N_TRIALS // 2)


def test_without_json_the_words_go_to_people_and_the_findings_to_standard_output(no_report):
    result = call("run", write_study(), "--out", "r", *FORGIVING)
    assert result.exit_code == 0
    assert "small: 4 questions, 4 conditions, 32 trials" in result.stderr
    assert " of 32 trials failed; they are kept as failures, never as zeros." in result.stderr
    assert "The report: r/report.html" in result.stderr
    assert result.stdout.startswith("• ")


def test_a_run_in_which_everything_failed_is_a_failed_run_and_keeps_its_failures(no_report):
    result = call(
        "run", write_study(), "--set", "cross.models=[\"scripted(replies=['ERROR'])\"]", "--out", "r", "--json"
    )
    assert (result.exit_code, result.stdout) == (1, "")
    assert "All 32 trials failed." in result.stderr
    assert {record.failure.kind for record in stored(Path("r")).values()} == {"scripted"}


def test_a_limit_takes_questions_balanced_over_the_cells(no_report):
    text = STUDY.replace("limit = 4\n", "").replace('by = ["type"]', 'by = ["type", "n_facts"]')
    json.loads(call("run", write_study(text), "--out", "r", "--limit", 6, "--json").stdout)
    with RecordStore(Path("r/records.sqlite"), read_only=True) as store:
        cells = [(question.tags["type"], question.tags["n_facts"]) for question in store.questions()]
    assert sorted(cells) == [(kind, n) for kind in ("bridge", "comparison") for n in (2, 3, 4)]


def test_a_dry_run_counts_and_writes_nothing(own_home):
    write_study()
    before = tree(own_home)
    said = json.loads(call("run", "small.toml", "--dry-run", "--json").stdout)
    assert (said["questions"], said["conditions"], said["cells"], said["trials"]) == (4, 4, 16, 32)
    [system] = said["systems"]
    most = system["at_most"]
    assert (system["trials"], most["calls"], most["new_tokens"], most["dollars"]) == (32, 32, 32 * 8, None)
    assert system["likely"] is None
    shown = call("run", "small.toml", "--dry-run")
    assert "4 questions × 2 choices of system and evidence × 2 temperatures × 2 repeats = 32 trials" in shown.stdout
    assert "Nothing was run." in shown.stdout
    assert tree(own_home) == before


def test_a_dry_run_says_what_a_priced_model_would_cost_at_most():
    model = "openai(model='m', base_url='http://127.0.0.1:1/v1', price_in=0.0, price_out=1000000.0)"
    said = json.loads(call("run", write_study(), "--set", f'cross.models=["{model}"]', "--dry-run", "--json").stdout)
    # 32 calls of 8 new tokens at most, a dollar each
    assert said["systems"][0]["at_most"]["dollars"] == 256.0


def test_a_dry_run_says_what_rewording_by_a_priced_model_costs_at_most():
    model = "openai(model='m', base_url='http://127.0.0.1:1/v1', price_in=1000000.0, price_out=1000000.0)"
    variations = json.dumps([f'formality(by="{model}", max_tokens=200, max_attempts=2)'])
    words = ("run", write_study(), "--set", f"cross.variations={variations}")
    [rewording] = json.loads(call(*words, "--dry-run", "--json").stdout)["rewordings"]
    most = rewording["at_most"]
    assert (most["calls"], most["new_tokens"]) == (4 * 2, 4 * 2 * 200)
    assert most["dollars"] == most["prompt_tokens"] + most["new_tokens"]
    fewer = [word.replace("=2)", "=1)") for word in words]
    [once] = json.loads(call(*fewer, "--dry-run", "--json").stdout)["rewordings"]
    # The second attempt reads the first prompt again, a reply of 200 tokens, and why it was refused.
    assert most["prompt_tokens"] > 2 * once["at_most"]["prompt_tokens"] + 4 * 200
    shown = " ".join(call(*words, "--dry-run").stdout.split())
    assert f"at most 8 calls, {most['prompt_tokens']:,} prompt tokens, 1,600 new tokens" in shown
    assert f"money: ${most['dollars']:,.2f}" in shown


def test_a_dry_run_multiplies_what_it_says_it_multiplies():
    """Wordings were left out: 84 questions × 5 conditions × 1 temperature × 3 repeats were said to be 8,805 trials."""
    words = ("--set", 'cross.variations=["original", "spelling", "imperative"]', "--dry-run")
    shown = " ".join(call("run", write_study(), *words).stdout.split())
    product = re.search(
        r"([\d,]+) wordings \(of 4 questions\) × 2 choices of system and evidence × 2 temperatures × 2 repeats"
        r" = (\d+)",
        shown,
    )
    assert product is not None, shown
    assert int(product[1]) * 2 * 2 * 2 == int(product[2])
    said = json.loads(call("run", "small.toml", *words, "--json").stdout)
    assert (said["wordings"], said["trials"]) == (int(product[1]), int(product[2]))


def test_what_a_run_took_is_the_likely_cost_of_the_next(no_report):
    call("run", write_study(), "--out", "r", "--json")
    likely = json.loads(call("run", "small.toml", "--limit", 2, "--dry-run", "--json").stdout)["systems"][0]["likely"]
    records = [record for record in stored(Path("r")).values() if record.failure is None]
    assert likely["calls"] == 16
    assert likely["new_tokens"] == round(16 * sum(record.cost.n_tokens for record in records) / len(records))
    assert likely["prompt_tokens"] == round(16 * sum(record.cost.n_prompt_tokens for record in records) / len(records))


def test_stages_can_be_called_one_by_one(no_report):
    call("run", write_study(), "--out", "r", "--json")
    for name in ("scores.parquet", "findings.json"):
        Path("r", name).unlink()
    answered = json.loads(call("answer", "r", "--json").stdout)
    assert (answered["trials"], answered["reused"]) == (32, 32)
    scored = json.loads(call("score", "r", "--metric", "exact_match", "--metric", "contains", "--json").stdout)
    failed = answered["failed"]
    rows = {one["metric"]: one for one in scored["metrics"]}
    assert scored["scores"] == 64
    assert {name: (one["n"], one["missing"]) for name, one in rows.items()} == {
        "exact_match": (32 - failed, failed),
        "contains": (32 - failed, failed),
    }
    analyzed = json.loads(call("analyze", "r", "--json").stdout)
    assert [finding["analysis"] for finding in analyzed["findings"]] == ["correctness"]
    assert analyzed["findings"][0]["rows"]
    reported = json.loads(call("report", "r", "--json").stdout)
    assert reported == {"run": "r", "report": "r/report.html"}


def test_analyze_scores_first_where_there_are_no_scores(no_report):
    call("run", write_study(), "--out", "r", "--json")
    Path("r/scores.parquet").unlink()
    assert call("analyze", "r", "--analysis", "variability").exit_code == 0
    assert Path("r/scores.parquet").exists()


def test_the_rate_of_a_run_is_that_of_its_own_tokens(monkeypatch, no_report):
    result = running.Answered(n_trials=32, n_reused=16, n_done=16, n_failed=0, n_tokens=500, seconds=2.0)
    monkeypatch.setattr(running, "answer_stage", lambda *args, **kwargs: result)
    call("run", write_study(), "--out", "r", "--json")
    assert list(known_rates().values()) == [250.0]


def test_an_interrupt_anywhere_ends_with_130(monkeypatch, no_report):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("shaketable.stages.pipeline.score", interrupted)
    result = call("run", write_study(), "--out", "r", "--json")
    again = "Interrupted; every finished trial is kept. Go on with: shaketable run r/study.toml --out r\n"
    assert (result.exit_code, result.stdout, result.stderr.lstrip("\n")) == (130, "", again)
    monkeypatch.setattr(looking, "plan", interrupted)
    assert call("validate", "small.toml").exit_code == 130


@pytest.mark.parametrize("part", ["shaketable.weights", "typer"])
def test_an_interrupt_while_modules_are_imported_prints_no_traceback(tmp_path, part):
    """The command stands still in one of its imports, and is interrupted there."""
    stop = f"import os, signal\nclass Stop:\n    def find_spec(self, name, *_):\n        if name == {part!r}:\n"
    (tmp_path / "sitecustomize.py").write_text(
        f"{stop}            os.kill(os.getpid(), signal.SIGINT)\nimport sys\nsys.meta_path.insert(0, Stop())\n"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    ended = subprocess.run(
        [sys.executable, "-m", "shaketable", "ls"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode in (130, -signal.SIGINT)
    assert ended.stderr in ("", "Interrupted.\n") and ended.stdout == ""


# --- taking out and bringing in ---------------------------------------------------------------------


@pytest.mark.parametrize("table", ["records", "scores", "findings"])
def test_a_table_is_the_same_in_every_format(finished, table):
    folder, _ = finished
    heights = {}
    for ending, read in (("csv", pl.read_csv), ("jsonl", pl.read_ndjson), ("parquet", pl.read_parquet)):
        said = json.loads(call("export", folder, "--table", table, "--out", f"new/t.{ending}", "--json").stdout)
        assert (said["table"], said["file"]) == (table, f"new/t.{ending}")
        heights[ending] = (
            read(f"new/t.{ending}", infer_schema_length=None).height
            if ending != "parquet"
            else read(f"new/t.{ending}").height
        )
        assert heights[ending] == said["rows"]
    assert len(set(heights.values())) == 1
    assert heights["csv"] > 0


def test_exported_records_carry_every_factor_and_count(finished):
    folder, said = finished
    table = pl.read_csv(call("export", folder).stdout.encode(), infer_schema_length=None)
    assert table.height == N_TRIALS
    assert {"key", "question_id", "model", "method", "retriever", "perturbation", "variation", "temperature"} <= set(
        table.columns
    )
    assert {"repeat", "answer", "failure", "n_tokens", "n_generations", "n_searches", "seconds"} <= set(table.columns)
    assert table["failure"].count() == said["failed"]


def test_a_format_that_is_not_known_is_wrong_usage(finished):
    folder, _ = finished
    assert "which format is '.xlsx'? Use .csv, .parquet or .jsonl, or say --format." in refused(
        2, "export", folder, "--out", "t.xlsx"
    )
    assert refused(2, "export", folder, "--format", "parquet") == "Parquet is binary: give a file with --out."


def test_verify_says_sound_or_names_what_is_not(finished, no_report):
    folder, _ = finished
    said = json.loads(call("verify", folder, "--json").stdout)
    assert (said["sound"], said["n_records"], said["missing"], said["problems"]) == (True, 32, 0, [])
    assert call("verify", folder).stdout == "Sound: 32 records checked.\nScores worked out anew: correct.\n"
    call("run", write_study(), "--out", "r", "--json")
    with RecordStore(Path("r/records.sqlite")) as store, store._connection as connection:
        connection.execute("UPDATE records SET answer = 'Better' WHERE id = 1")
        connection.execute("DELETE FROM records WHERE id = 2")
    result = call("verify", "r")
    assert result.exit_code == 1
    assert "does not match its checksum" in result.stdout
    assert "2 problems: 31 records checked, 1 trial still to answer." in result.stdout
    result = call("verify", "r", "--json")
    assert (result.exit_code, json.loads(result.stdout)["sound"]) == (1, False)


def test_imported_answers_are_scored_and_analyzed_and_not_run():
    write_rows(Path("a.jsonl"), [{"question_id": "1", "question": "Who?", "gold": "Ann", "answer": "Ann."}])
    said = json.loads(call("import", "a.jsonl", "--out", "r", "--json").stdout)
    assert said.pop("left_out").keys() == set(catalog.known("analysis")) - {"correctness"}
    assert said == {"run": "r", "trials": 1, "done": 1, "failed": 0, "n_questions": 1, "analyses": ["correctness"]}
    assert json.loads(call("analyze", "r", "--json").stdout)["findings"][0]["rows"]
    for words in (("answer", "r"), ("run", "r"), ("run", "r", "--dry-run")):
        assert refused(1, *words).startswith("This run was imported: its answers were made elsewhere")


# --- looking around ---------------------------------------------------------------------------------


def test_ls_names_every_kind_and_one_kind_alone():
    kinds = {one["kind"] for one in json.loads(call("ls", "--json").stdout)}
    assert {"models", "methods", "metrics", "perturbations", "retrievers", "variations", "datasets", "studies"} <= kinds
    models = json.loads(call("ls", "models", "--json").stdout)
    assert {one["kind"] for one in models} == {"models"}
    assert all(one["about"] for one in models)
    assert "scripted" in call("ls", "models").stdout
    assert "Did you mean 'models'? Known kinds: " in refused(2, "ls", "modles")


def test_validate_counts_without_running(own_home):
    write_study()
    said = json.loads(call("validate", "small.toml", "--json").stdout)
    counts = {"questions": 4, "rejected_rows": 0, "remarks": 0, "conditions": 4, "cells": 16, "trials": 32}
    assert said == {"study": "small", **counts}
    counted, reach = call("validate", "small.toml").stderr.splitlines()
    assert counted == "small.toml is fine: 4 questions, 4 conditions, 32 trials."
    assert reach.startswith("With fewer than 8 questions ")
    assert "properties" in json.loads(call("validate", "--schema").stdout)
    assert refused(2, "validate") == "Which study? Give a file or a name: shaketable validate demo."
    assert not Path("runs").exists()


def test_doctor_says_what_works_and_its_exit_code_agrees():
    result = call("doctor", "--json")
    checks = json.loads(result.stdout)["checks"]
    broken = [check for check in checks if check["ok"] is False]
    # The cache of this test is empty, so the weights are missing, each with the command that brings it.
    assert result.exit_code == 1
    assert all(check["advice"] for check in broken)
    assert any(check["advice"] == "shaketable models fetch smollm2" for check in broken)
    assert "✗" in call("doctor").stdout


def test_building_an_index_is_told_once_and_counted_by_the_doctor(own_home, no_report):
    passages._opened.cache_clear()  # Another test of this process may have opened them in another home.
    write_study(STUDY.replace("perturbations", 'retrievers = ["bm25"]\nperturbations'))
    assert call("run", "small.toml", "--out", "quiet", *FORGIVING, "--json").stderr == ""
    found = next(check for check in json.loads(call("doctor", "--json").stdout)["checks"] if check["what"] == "indexes")
    n, _, place = found["found"].split(", ")
    assert (n, place) == ("2", f"in {own_home / 'home' / 'indexes'}"), "Passages, and their postings."
    shutil.rmtree(own_home / "home" / "indexes")
    passages._opened.cache_clear()
    built = call("run", "small.toml", "--out", "built").stderr
    assert re.search(r"built in \d+ s\. It holds 336 passages, ", built)
    opened = call("run", "small.toml", "--out", "opened").stderr
    assert "built in" not in opened
    for said in (built, opened):
        assert said.count("bm25, builtin: 336 passages, checked\n") == 1
    assert not logging.getLogger("shaketable").handlers


def test_what_was_changed_or_left_out_of_the_data_is_told_once(no_report):
    rows = [{"question": f"who wrote book {n}", "answer": answers} for n, answers in enumerate([["Ann", "the"], []])]
    write_rows(Path("nq.jsonl"), rows)
    write_study(
        'name = "x"\n[dataset]\nname = "nq_open"\npath = "nq.jsonl"\n'
        '[cross]\nmodels = ["scripted"]\nmethods = ["closed_book"]\n'
    )
    for words in (("validate",), ("run", "--dry-run"), ("run", "--out", "run")):
        said = call(words[0], "small.toml", *words[1:]).stderr
        assert said.count("Note: rows left out: 1, such as nq.jsonl line 2: ") == 1, said
        assert said.count("Note: changes to rows: 1, such as nq.jsonl line 1: The accepted answer 'the' was") == 1
    counted = json.loads(call("validate", "small.toml", "--json").stdout)
    assert (counted["rejected_rows"], counted["remarks"]) == (1, 1)


def test_doctor_cannot_ask_a_model_without_an_endpoint():
    assert "this model has no endpoint to ask. Use openai(" in refused(2, "doctor", "--endpoint", "scripted")


def test_models_lists_the_embedded_weights_and_where_they_would_be(own_home):
    said = json.loads(call("models", "--json").stdout)
    assert said["home"] == str(own_home / "home")
    assert {one["name"] for one in said["weights"]} >= {"smollm2", "en_core_web_sm"}
    assert all(one["folder"] == "" for one in said["weights"])
    assert "Did you mean 'fetch'?" in refused(2, "models", "fetsh")
    assert "No embedded weights 'smollm3'. Did you mean 'smollm2'?" in refused(1, "models", "fetch", "smollm3")


def test_perturb_shows_a_diff_with_its_edits():
    said = json.loads(call("perturb", "sentence_removal", "--json").stdout)
    assert said["perturbation"] == "sentence_removal"
    assert [edit["kind"] for edit in said["edits"]]
    assert all(edit["before"] in said["before"] and edit["before"] not in said["after"] for edit in said["edits"])
    shown = call("perturb", "sentence_removal", "--question", said["question_id"]).stdout
    assert said["question"] in shown
    assert "- " in shown
    assert "has no question 'nope'." in refused(2, "perturb", "sentence_removal", "--question", "nope")


def test_brackets_in_data_are_shown_as_they_are():
    write_rows(Path("q.jsonl"), [row(0, question="Who wrote [/red] and [bold]?")])
    result = call("perturb", "unchanged", "--dataset", "jsonl", "--path", "q.jsonl")
    assert result.exit_code == 0
    assert "Who wrote [/red] and [bold]?" in result.stdout


# --- what cannot be done ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("scripted(", "scriptd(", "cross.models[0]: Unknown model 'scriptd'. Did you mean 'scripted'? Known models: "),
        (
            "replies=",
            "replys=",
            "cross.models[0]: scripted has no setting 'replys'. Did you mean 'replies'? Settings: replies, price_in, "
            "price_out.",
        ),
        (
            '"sentence_removal"',
            '"sentence_remove"',
            "Unknown perturbation 'sentence_remove'. Did you mean 'sentence_removal'?",
        ),
        ("seed = 3", "sead = 3", "small.toml, sead: unknown key 'sead'. Did you mean 'seed'? Known keys: name, seed, "),
        ("repeats = 2", "repeats = 'two'", "small.toml, cross.repeats: found 'two'; input should be a valid integer"),
        ('by = ["type"]', 'by = ["typ"]', "No question has the tag 'typ' to balance by. Did you mean 'type'?"),
        (
            'name = "builtin"',
            'name = "bultin"',
            "dataset.name: Unknown dataset 'bultin'. Did you mean 'builtin'? Known",
        ),
        ("[cross]", "[cross", "small.toml: this is not TOML: "),
    ],
)
@pytest.mark.parametrize("command", ["run", "validate"])
def test_a_misspelt_study_is_wrong_usage_and_leaves_nothing(own_home, command, old, new, message):
    write_study(STUDY.replace(old, new))
    before = tree(own_home)
    assert message in refused(2, command, "small.toml")
    assert tree(own_home) == before


def test_a_study_that_is_not_there_is_wrong_usage():
    assert refused(2, "run", "smal.toml").startswith(
        "No study file smal.toml. Give the path of a TOML file, or a study that ships: "
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (None, "There is no file q.jsonl in "),
        (
            [row(0), row(1, answers=[])],
            "q.jsonl line 2: 'answers' is empty. Give an accepted answer, or tag the question",
        ),
        (
            [row(0, facts=[["Book 0", 7]])],
            "q.jsonl line 1: the fact ['Book 0', 7] names no sentence; 'Book 0' has the sentences",
        ),
        (
            [row(0, facts=[["Nowhere", 0]])],
            "q.jsonl line 1: the fact ['Nowhere', 0] names no document; titles: Book 0, Author 0",
        ),
        (
            [row(0), row(0)],
            "q.jsonl line 2: the id 'q0' was already used in q.jsonl line 1. Give each question its own id.",
        ),
        ([row(0, anwsers=["x"])], "q.jsonl line 1: 'anwsers' is no known key. Did you mean 'answers'?"),
    ],
)
def test_wrong_data_is_named_with_file_and_line(rows, message):
    write_study('name = "x"\n[dataset]\nname = "jsonl"\npath = "q.jsonl"\n[cross]\nmodels = ["scripted"]\n')
    if rows is not None:
        write_rows(Path("q.jsonl"), rows)
    found = refused(2, "run", "small.toml")
    assert message in found
    assert not Path("runs").exists()


def test_the_folder_of_another_study_is_refused_and_left_as_it_was(own_home, no_report):
    call("run", write_study(), "--out", "r", "--json")
    before = tree(own_home)
    found = refused(1, "run", "small.toml", "--set", "seed=4", "--out", "r")
    assert found.startswith(
        "r holds the run of another study: seed was 3, now 4. Nothing was changed. Give another folder"
    )
    assert tree(own_home) == before


def test_a_folder_of_something_else_is_refused_and_left_as_it_was(own_home):
    Path("photos").mkdir()
    write_study("cat", "photos/cat.jpg")
    write_study()
    before = tree(own_home)
    found = refused(1, "run", "small.toml", "--out", "photos")
    assert found == "photos is not empty and holds no run (found cat.jpg). Give an empty or new folder with --out."
    assert tree(own_home) == before


@pytest.mark.parametrize("words", [("score",), ("analyze",), ("report",), ("verify",), ("export",), ("answer",)])
def test_a_folder_without_a_run_says_how_to_make_one(words):
    assert refused(1, *words, "nowhere").startswith(
        "nowhere holds no run: there is no study.toml in it. Make one with: "
    )


def test_a_broken_records_file_is_named_by_every_command_and_left_as_it_was(no_report):
    call("run", write_study(), "--out", "r", "--json")
    path = Path("r/records.sqlite")
    for rest in ("-wal", "-shm"):
        path.with_name(path.name + rest).unlink(missing_ok=True)
    path.write_bytes(path.read_bytes()[:9000])
    broken = path.read_bytes()
    for words in (("run", "r"), ("answer", "r"), ("score", "r"), ("export", "r")):
        found = refused(1, *words)
        assert found.startswith("r/records.sqlite cannot be read as a run's records: ")
        assert found.endswith("Restore it from a copy, or move the folder away and run the study again.")
        assert path.read_bytes() == broken
    told = call("verify", "r")
    assert (told.exit_code, path.read_bytes()) == (1, broken)
    assert "r/records.sqlite has lost its last" in told.stdout


def test_a_folder_that_cannot_be_made_is_named():
    write_study("a file", "taken")
    write_study()
    assert "taken is a file, and a run is a folder." in refused(1, "run", "small.toml", "--out", "taken")
    found = refused(1, "run", "small.toml", "--out", "taken/inside")
    assert found == "taken/inside: Not a directory. Check the path, its permissions and the disk's space."


def test_half_a_character_in_the_data_is_named():
    crossed = '[cross]\nmodels = ["scripted"]\nmethods = ["closed_book"]\n'
    write_study('name = "x"\n[dataset]\nname = "jsonl"\npath = "q.jsonl"\n' + crossed)
    Path("q.jsonl").write_text('{"question": "Who is \\ud83d?", "answers": ["x"]}\n')
    assert "q.jsonl line 1: it holds half a character (a lone surrogate, U+D83D) after 'Who is '." in refused(
        2, "run", "small.toml", "--json"
    )


def test_brackets_in_a_message_are_no_markup():
    assert "No study file [bold]x[/nope].toml." in refused(2, "run", "[bold]x[/nope].toml")


def test_the_installed_command_ends_with_the_exit_codes_it_promises(own_home):
    write_study(STUDY.replace("seed", "sead"))
    calls = [["ls", "models"], ["verify", "nowhere"], ["validate", "small.toml"]]
    done = subprocess.run([sys.executable, "-c", FORKS, json.dumps(calls)], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[0, 1, 2]", done.stderr


FORKS = """
import json, os, sys
from shaketable.cli import main
codes = []
for words in json.loads(sys.argv[1]):
    child = os.fork()
    if not child:
        sys.argv[1:] = words
        main()
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(codes)
"""
"""Each call ends a process of its own; they share the second that importing takes."""


def test_a_warning_is_its_words_alone():
    program = (
        "import warnings\nfrom shaketable.cli.console import guarded\nguarded(lambda: warnings.warn('Mind this.'))()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "Warning: Mind this.\n"
