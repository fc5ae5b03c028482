"""Tables, logs and cards by the command line."""

import json
from pathlib import Path

import pytest
from made_run import made_run
from typer.testing import CliRunner

from shaketable.cli.app import app

LOGS = Path(__file__).parents[1] / "stages" / "interchange" / "logs"


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return made_run(tmp_path_factory.mktemp("exchange") / "run")


def test_logs_go_out_and_the_viewer_is_named(run, tmp_path):
    done = call("export", run.folder, "--format", "inspect", "--out", tmp_path / "logs")
    assert done.exit_code == 0, done.output
    assert f"inspect view --log-dir {tmp_path / 'logs'}" in done.output.replace("\n", "")
    assert len(list((tmp_path / "logs").glob("*.eval"))) == 18


def test_samples_go_out_as_json_tells(run, tmp_path):
    done = call("export", run.folder, "--format", "lm-eval", "--out", tmp_path / "out", "--json")
    files = json.loads(done.stdout)["files"]
    assert len(files) == 20 and all(Path(file).is_file() for file in files)  # 18 conditions, results of two models


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--format", "inspect"), "give a folder with --out"),
        (("--format", "inspect", "--out", "log.eval"), "18 conditions"),
        (("--format", "lm-eval", "--out", "x.jsonl"), "Give a folder"),
        (("--format", "inspect", "--table", "wide", "--out", "logs"), "Leave --table wide away"),
        (("--table", "wide", "--out", "run.xlsx"), "Use .csv, .parquet or .jsonl"),
    ],
)
def test_what_cannot_be_exported_is_told(run, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    done = call("export", run.folder, *words)
    assert done.exit_code != 0
    assert said in " ".join(done.output.split())
    assert not list(tmp_path.iterdir())


def test_a_log_comes_in_by_its_content(tmp_path):
    done = call("import", LOGS / "inspect_0.3.140_capitals.eval", "--out", tmp_path / "run")
    assert done.exit_code == 0 and "8 answers to 4 questions, 2 of them failed" in done.output


def test_a_format_that_is_said_is_taken(tmp_path):
    done = call("import", LOGS / "inspect_0.3.140_capitals.eval", "--format", "answers", "--out", tmp_path / "run")
    assert done.exit_code != 0


def test_a_log_without_a_temperature_says_what_to_type(tmp_path):
    done = call("import", LOGS / "inspect_0.3.140_plain.eval", "--out", tmp_path / "run")
    assert done.exit_code != 0 and "--temperature 1" in done.output
    done = call("import", LOGS / "inspect_0.3.140_plain.eval", "--out", tmp_path / "run", "--temperature", "1")
    assert done.exit_code == 0, done.output


def test_a_card_is_markdown_in_a_terminal(tmp_path):
    rows = [{"question_id": f"q{n}", "question": "Who?", "gold": "Ann", "answer": "Ann"} for n in range(5)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    call("import", tmp_path / "a.jsonl", "--out", tmp_path / "run")
    done = call("card", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert "| Correct answers | **100 %** |" in done.output
    told = json.loads(call("card", tmp_path / "run", "--json").stdout)
    assert told["systems"][0]["lines"][0]["number"] == "100 %"


@pytest.mark.parametrize(
    ("words", "page"),
    [
        (("card", "--out", "c.pdf"), "interchange"),
        (("export", "--out", "w.xlsx"), "interchange"),
        (("export", "--format", "inspect"), "interchange"),
        (("export", "--format", "parquet"), "interchange"),
    ],
)
def test_what_cannot_be_written_names_the_page_about_files(words, page, tmp_path):
    rows = [{"question_id": "q", "question": "Who?", "gold": "Ann", "answer": "Ann"}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    call("import", tmp_path / "a.jsonl", "--out", tmp_path / "run")
    done = call(words[0], tmp_path / "run", *words[1:])
    assert done.exit_code == 2 and f"More: shaketable docs {page}" in done.output


def test_what_an_import_did_not_pick_is_one_line(tmp_path):
    rows = [{"question_id": "q", "question": "Who?", "gold": "Ann", "answer": "Ann"}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    lines = call("import", tmp_path / "a.jsonl", "--out", tmp_path / "run").output.splitlines()
    assert sum("others need what is not there: " in line for line in lines) == 1
    assert not any(line.startswith("Not ") for line in lines)


def test_the_help_of_export_keeps_its_asterisks():
    shown = " ".join(call("export", "--help").output.split())
    assert "samples_*.jsonl and results_*.json" in shown
