"""Answers made elsewhere get the Factual Robustness Score from their entropy or their likeliest tokens."""

import json
import math

import pytest
from typer.testing import CliRunner

from shaketable.cli.app import app

GRID = [round(0.2 * i, 1) for i in range(1, 11)]


def fact(name, breaking, gold="Paris", **cold):
    """Right up to its breaking temperature, wrong from there on; two answers at each."""
    row = {"question_id": name, "question": f"{name}?", "gold": [gold], "dataset": name, "model": "theirs"}
    yield {**row, "answer": gold, "temperature": 0, **cold}
    for temperature in GRID:
        for repeat in range(2):
            holds = breaking is None or temperature < breaking
            yield {**row, "answer": f"It is {gold}" if holds else "No", "temperature": temperature, "repeat": repeat}


def shell(*words):
    done = CliRunner().invoke(app, [*map(str, words)])
    assert done.exit_code == 0, done.output
    return done


def scores(folder, rows):
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)))
    shell("import", folder / "answers.jsonl", "--out", folder / "run")
    shell("score", folder / "run")
    analyzed = shell("analyze", folder / "run", "--analysis", "factual_robustness", "--json")
    rows = [row for finding in json.loads(analyzed.stdout)["findings"] for row in finding["rows"]]
    return {(row["dataset"], row["d"]): row["value"] for row in rows if row["table"] == "scores" and row["is_capped"]}


def test_given_entropy_makes_the_published_scores(tmp_path):
    """Rows of the study's worked table: H, d, breaking temperature → score; one that never breaks scores 1."""
    rows = [
        *fact("a", 1.0, entropy=0.10),
        *fact("b", 0.6, entropy=0.25),
        *fact("c", 2.0, entropy=0.0),
        *fact("d", 1.4, entropy=0.5),
        *fact("e", None, entropy=0.3),
    ]
    found = scores(tmp_path, rows)
    expected = {
        ("a", 1): 0.733333, ("a", 5): 0.680611, ("a", 50): 0.489876, ("b", 1): 0.671458, ("b", 2): 0.635535,
        ("b", 10): 0.482897, ("c", 1): 0.8, ("d", 1): 0.665738, ("e", 1): 1.0,
    }  # fmt: skip
    assert {cell: found[cell] for cell in expected} == pytest.approx(expected, abs=1e-6)
    mean = (0.733333 + 0.671458 + 0.8 + 0.665738 + 1) / 5
    assert found[None, 1] == pytest.approx(mean, abs=1e-6)


def test_likeliest_tokens_make_the_entropy_that_the_metric_computes(tmp_path):
    """.9 .05 .02 … has H = .200276 by hand, ten times .1 has 1, so two tokens have .600138; the end mark is no token
    of the answer. With t_b = 1: f = (1 - .600138) 2 - .600138 / 2 = .499655, score (f + 1) / (f + 2) = .599945."""
    logs = [
        [math.log(p) for p in (0.9, 0.05, 0.02, 0.01, 0.005, 0.004, 0.003, 0.002, 0.001, 0.001)],
        [math.log(0.1)] * 10,
    ]
    paired = [[[f"t{i}", log] for i, log in enumerate(position)] for position in logs]
    rows = [
        *fact("bare", 1.0, top_logprobs=logs),
        *fact("told", 1.0, top_logprobs=[*paired, paired[0]], tokens=["Par", "is", "<end>"]),
    ]
    found = scores(tmp_path, rows)
    assert found["bare", 1] == pytest.approx(0.599945, abs=1e-6)
    assert found["told", 1] == pytest.approx(0.599945, abs=1e-6)


def test_facts_are_analyzed_without_being_asked_for(tmp_path):
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, fact("a", 1.0, entropy=0.1))))
    shell("import", tmp_path / "answers.jsonl", "--out", tmp_path / "run")
    analyzed = json.loads(shell("analyze", tmp_path / "run", "--json").stdout)
    assert {"factual_robustness", "fact_accuracy", "breaking"} <= {one["analysis"] for one in analyzed["findings"]}


def test_a_reference_is_what_sentences_are_compared_with(tmp_path):
    row = {"question_id": "q", "question": "Where?", "gold": "Rome", "answer": "It happened in Rome"}
    values = []
    for name, more in (("short", {}), ("told", {"reference": "It happened in Rome"})):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row | more))
        shell("import", tmp_path / f"{name}.jsonl", "--out", tmp_path / name)
        shell("score", tmp_path / name)
        exported = shell("export", tmp_path / name, "--table", "scores", "--format", "jsonl").stdout
        by_metric = {line["metric"]: line["value"] for line in map(json.loads, exported.splitlines())}
        values.append(by_metric["rouge1"])
    # One of four words against one: F1 = 2 (1/4 · 1) / (1/4 + 1) = .4; the sentence itself: 1.
    assert values == pytest.approx([0.4, 1.0])
