"""What `validate` and `run --dry-run` say, and that they load no weights and ask no model."""

import json
import subprocess
import sys

import pytest
from made_studies import row, write_rows
from typer.testing import CliRunner

from shaketable.cli.app import app

HEAVY = ("torch", "spacy", "transformers")


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def study(tmp_path):
    def write(variations, more=""):
        rows = write_rows(tmp_path / "questions.jsonl", [row(i) for i in range(3)])
        (tmp_path / "study.toml").write_text(
            f'name = "s"\n[dataset]\nname = "jsonl"\npath = {str(rows)!r}\n[cross]\nmodels = ["untouchable"]\n'
            f"variations = {json.dumps(variations)}\n{more}\n[generation]\nmax_tokens = 8\n"
        )
        return tmp_path / "study.toml"

    return write


@pytest.mark.parametrize("words", [["validate"], ["run", "--dry-run"]])
def test_no_model_is_asked_or_touched(study, with_fake_parts, words):
    path = study(["original", "formality(by='untouchable')", "grammar(by='untouchable')"])
    result = call(words[0], path, *words[1:], "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    assert json.loads(result.stdout)["trials"] == 3 * 3


def test_the_calls_of_a_rewording_model_are_counted_at_most(study, with_fake_parts):
    path = study(["original", "formality(by='untouchable', max_attempts=4)", "spelling"])
    said = json.loads(call("run", path, "--dry-run", "--json").stdout)
    (rewording,) = said["rewordings"]
    assert (rewording["model"], rewording["n_questions"]) == ("untouchable", 3)
    # Three questions of 17 letters, four attempts each: 60 tokens for each reply, and one for every two letters.
    assert (rewording["at_most"]["calls"], rewording["at_most"]["new_tokens"]) == (12, 12 * (60 + 17 // 2))
    assert rewording["at_most"]["prompt_tokens"] > 12 * 10
    shown = call("run", path, "--dry-run").output
    assert "Rewording by formality(by='untouchable', max_attempts=4): at most 12 calls, " in shown


@pytest.mark.parametrize(
    "words",
    [
        ["validate", "query_variation"],
        ["run", "query_variation", "--dry-run"],
        ["run", "query_variation", "--dry-run", "--set", 'cross.retrievers=["dense", "gold"]'],
        ["run", "context_temperature", "--dry-run", "--set", 'cross.methods=["dragin", "flare", "search_o1"]'],
    ],
)
def test_no_heavy_library_is_loaded(words, tmp_path):
    perturbations = 'cross.perturbations=["unchanged", "entity_masking", "synonym", "entity_replacement"]'
    code = (
        "import sys; from typer.testing import CliRunner; from shaketable.cli.app import app; "
        "result = CliRunner().invoke(app, sys.argv[1:]); assert result.exit_code == 0, result.output; "
        f"print(*sorted(sys.modules.keys() & set({HEAVY!r})))"
    )
    command = [sys.executable, "-c", code, *words, "--set", perturbations]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_the_forecast_fits_a_narrow_terminal(study, with_fake_parts, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = call("run", study(["original"]), "--dry-run").stdout.splitlines()
    assert any("single_retrieval: 3 trials" in line for line in lines)
    heading = next(line for line in lines if "prompt tokens" in line)
    assert heading.split() == ["calls", "prompt", "tokens", "new", "tokens", "time", "money"]
    own = lines[lines.index(heading) :][:3]
    assert [line.split()[0] for line in own[1:]] == ["likely", "at"]
    assert not any("…" in line for line in own) and max(map(len, own)) <= 80
