"""Every published study passes `validate` and `--dry-run` where small files stand for its data."""

from __future__ import annotations

import json
from importlib import resources

import pytest
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.study import load_study, shipped_studies

DATASETS = ("squad", "nq", "triviaqa", "2wikimultihopqa", "hotpotqa", "musique")
PEOPLE = {name: load_study(f"published/query_variation_{name}") for name in ("people", "dense", "closed", "flips")}
N, N_REWRITTEN = 5, 2


def write_lines(file, rows):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Six files of AdaRAGUE, of whose questions two are reworded twice, and passages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    rewrites = []
    for name in DATASETS:
        rows = [
            {
                "dataset": name,
                "qid": f"single_{name}_dev_{i}",
                "question_text": f"Who was {name} {i}?",
                "reference": ["Ann"],
            }
            for i in range(N)
        ]
        write_lines(tmp_path / f"{name}.jsonl", rows)
        rewrites += [
            {"id": row["qid"], "rewrite": f"{row['question_text'][:-1]}, say {who}?", "annotator": who}
            for row in rows[:N_REWRITTEN]
            for who in ("a", "b")
        ]
    write_lines(tmp_path / "human_rewrites.jsonl", rewrites)
    (tmp_path / "psgs_w100.tsv").write_text("id\ttext\ttitle\n1\tAnn was there.\tAnn\n2\tBob was here.\tBob\n")
    return tmp_path


STAND_INS = {
    "transformers(path='meta-llama/Llama-3.1-8B-Instruct', device='cuda', dtype='bfloat16')": "smollm2",
    "transformers(path='Qwen/QwQ-32B', device='cuda', dtype='bfloat16')": "smollm2(batching='free')",
    "facebook/contriever": "all-MiniLM-L6-v2",
    "all-mpnet-base-v2": "all-MiniLM-L6-v2",
}
"""Weights of the study → embedded ones."""


def stood_in(name, folder):
    text = (resources.files("shaketable") / "resources" / "studies" / "published" / f"{name}.toml").read_text()
    for published, embedded in STAND_INS.items():
        text = text.replace(published, embedded)
    (folder / "study.toml").write_text(text)
    return str(folder / "study.toml")


def ask(*words):
    reply = CliRunner().invoke(app, list(words))
    assert reply.exit_code == 0, reply.output
    return reply.stdout


@pytest.mark.parametrize("name", PEOPLE)
def test_an_experiment_of_the_third_study_is_valid_and_forecast(name, data):
    file = stood_in(f"query_variation_{name}", data)
    ask("validate", file)
    told = json.loads(ask("run", file, "--dry-run", "--json"))
    study = PEOPLE[name]
    assert told["questions"] == N_REWRITTEN * len(study.datasets)
    n_wordings = 1 + len(study.variations)  # There are two rewrites of each question.
    n_systems = len(study.models) * len(study.methods)
    n = N_REWRITTEN * len(study.datasets) * n_wordings * n_systems * len(study.temperatures) * study.repeats
    assert told["trials"] == n


def test_each_experiment_is_of_questions_with_rewrites():
    assert {choice.with_rewrites for study in PEOPLE.values() for choice in study.datasets} == {True}


def test_experiments_have_the_systems_and_settings_of_their_tables():
    people, dense, closed, flips = (PEOPLE[name] for name in ("people", "dense", "closed", "flips"))
    assert (len(people.datasets), len(people.methods), len(people.variations)) == (6, 4, 8)
    assert dense.retrievers == ("dense(corpus='psgs_w100.tsv', encoder='facebook/contriever', similarity='dot')",)
    assert closed.models == ("openai(model='gpt-4o-mini')",)
    assert flips.temperatures == (0.0, 0.3, 0.7, 1.0)


def test_all_published_studies_load():
    for name in shipped_studies():
        if name.startswith("published/"):
            assert load_study(name).name
