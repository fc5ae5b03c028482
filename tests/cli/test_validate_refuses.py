"""What `validate` refuses, and `run` before anything is spent."""

from __future__ import annotations

import json

import pytest
from made_studies import row, write_rows
from typer.testing import CliRunner

from shaketable import weights
from shaketable.cli.app import app

HEAD = """
name = "checked"

[dataset]
name = "jsonl"
path = "questions.jsonl"
"""


def told(*words):
    done = CliRunner().invoke(app, list(words))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, " ".join((done.stdout + done.stderr).split())


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Writes a study beside its questions, and gives its path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHAKETABLE_OFFLINE", "1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def write(rest, rows=None):
        write_rows(tmp_path / "questions.jsonl", rows or [row(1), row(2)])
        (tmp_path / "study.toml").write_text(HEAD + rest)
        return "study.toml"

    return write


def crossed(models='["scripted"]', more=""):
    return f"[cross]\nmodels = {models}\n{more}"


@pytest.mark.parametrize("retriever", ["gold", "full_gold"])
@pytest.mark.parametrize("command", ["validate", "run"])
def test_gold_evidence_on_data_without_any(study, tmp_path, command, retriever):
    bare = {"id": "q1", "question": "Who?", "answers": ["Me"]}
    code, words = told(command, study(crossed(more=f'retrievers = ["{retriever}"]'), [bare]))
    assert code == 2
    assert f"cross.retrievers: {retriever} gives the supporting sentences of a question's own record" in words
    assert "none of the 1 questions has any" in words
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("command", ["validate", "run"])
def test_an_analysis_without_its_metric(study, tmp_path, command):
    scored = (
        '\n[score]\nmetrics = ["token_f1"]\n[analyze]\nanalyses = ["correctness", "outcomes(correct=\'contains\')"]'
    )
    code, words = told(command, study(crossed() + scored))
    assert code == 2
    assert "analyze.analyses[1]: outcomes(correct='contains') reads contains (correct), which is not scored." in words
    assert "Add it to score.metrics" in words
    assert not (tmp_path / "runs").exists()


def test_an_analysis_reads_what_the_study_scores_unless_it_is_told_otherwise(study):
    scored = '\n[score]\nmetrics = ["exact_match"]\n[analyze]\nanalyses = ["correctness", "outcomes"]'
    assert told("validate", study(crossed() + scored))[0] == 0


@pytest.mark.parametrize("command", ["validate", "run"])
def test_a_missing_key(study, tmp_path, command, monkeypatch):
    monkeypatch.setenv("SHAKETABLE_OFFLINE", "0")
    path = study(crossed("""["openai(model='m', base_url='https://models.example/v1')"]"""))
    code, words = told(command, path)
    assert code == 2
    assert "Model 'm' at models.example needs a key, and the environment variable OPENAI_API_KEY is not set" in words
    assert not (tmp_path / "runs").exists()
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    code, words = told("validate", path)
    assert (code, "SHAKETABLE_ALLOW" in words) == (2, True)  # The host is none that is known.
    monkeypatch.setenv("SHAKETABLE_ALLOW", "OPENAI_API_KEY@models.example")
    assert told("validate", path)[0] == 0


@pytest.mark.parametrize("command", ["validate", "run"])
def test_weights_that_are_not_there(study, tmp_path, command):
    code, words = told(command, study(crossed("""["transformers(path='nowhere/at-all')"]""")))
    assert code == 2
    assert "cross.models: Weights 'nowhere/at-all' were not found." in words
    assert not (tmp_path / "runs").exists()


def test_an_encoder_that_is_not_there(study):
    code, words = told("validate", study(crossed() + """\n[score]\nmetrics = ["bertscore(encoder='no/encoder')"]"""))
    assert code == 2
    assert "score.metrics: Weights 'no/encoder' were not found." in words


def test_a_limit_beyond_the_data_is_a_note(study):
    code, words = told("validate", study(crossed()), "--limit", "500")
    assert code == 0
    assert "Note: dataset.limit asks for 500 questions, and jsonl gives 2." in words


def test_a_dry_run_says_what_is_missing_and_forecasts(study):
    code, words = told("run", study(crossed("""["transformers(path='nowhere/at-all')"]""")), "--dry-run")
    assert code == 0
    assert "it would not run here. cross.models: Weights 'nowhere/at-all' were not found." in words


@pytest.mark.parametrize("words", [["validate"], ["run", "--dry-run"]])
def test_nothing_is_loaded_or_worded(study, words, monkeypatch):
    """Wordings need an encoder and a parser; planning stands the question in for them."""

    def refuse(name):
        raise AssertionError(f"{name} was loaded")

    monkeypatch.setattr("shaketable.weights.locate", refuse)
    monkeypatch.setattr(weights, "glance", lambda name: None)
    path = study(crossed('["smollm2"]', 'variations = ["original", "formality", "readability"]'))
    code, said = told(*words[:1], path, *words[1:], "--json")
    assert code == 0, said
    assert json.loads(said)["trials"] % 6 == 0
