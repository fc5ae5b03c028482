"""`shaketable show`: one record, step by step."""

from __future__ import annotations

import json
from dataclasses import replace

import made_records
import made_run
import pytest
from made_studies import STUDY
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.identity import digest
from shaketable.stages.import_answers import ImportedCondition
from shaketable.store import Run
from shaketable.study import parse_study
from shaketable.types import (
    Completion,
    Event,
    Evidence,
    Failure,
    Generate,
    Hit,
    Message,
    Note,
    Passage,
    Probe,
    Question,
    Reading,
    Search,
)

QUESTION = Question(id="q", text="Who discovered radium?", answers=("Curie",), dataset="d", gold_titles=("Radium",))
SCORES = (0.5, 0.1, 0.9)
AT = ("q/1?&<", 0.0, "sentence_removal")


def hits(*titles):
    return tuple(
        Hit(passage=Passage(id=title, title=title, sentences=()), rank=rank, score=7.25 / rank, source="bm25")
        for rank, title in enumerate(titles, 1)
    )


EVENTS = (
    Event(
        step=Generate(messages=(Message(role="user", content="?"),)),
        reply=Completion(text="Marie was [here].", finish_reason="end", n_prompt_tokens=9, n_tokens=4, seconds=0.1),
    ),
    Event(step=Probe(text="Marie was here.", wants=("attention",)), reply=Reading(tokens=("Marie", " was"), extras={})),
    Event(
        step=Note(
            name="rind",
            values={
                "sentence": "Marie was here.",
                "words": ["Marie", "was", "here."],
                "scores": list(SCORES),
                "hits": [2],
                "content_hits": [2],
                "threshold": 0.6,
                "triggered": True,
            },
        ),
        reply=None,
    ),
    Event(step=Note(name="qfs", values={"words": ["Marie"], "weights": None}), reply=None),
    Event(step=Search(query="Marie", k=2), reply=Evidence(hits=hits("Polonium", "radium"))),
    Event(step=Search(query="here", k=2), reply=Evidence(hits=hits("Polonium"))),
    Event(
        step=Search(query="gone", k=2),
        reply=Failure(kind="retriever", message="It is down.", step="search", may_retry=True),
    ),
)


@pytest.fixture
def run(tmp_path):
    import tomllib

    made = Run.prepare(tmp_path / "run", parse_study(tomllib.loads(STUDY), "test"))
    condition = ImportedCondition(labels=dict.fromkeys(("model", "method", "retriever", "perturbation"), "m"))
    records = [
        replace(made_records.record("Curie", QUESTION, "abc1"), trace=EVENTS),
        made_records.record(None, QUESTION, "abd2"),
    ]
    with made.writing() as store:
        store.add_questions([(QUESTION, digest("q"))])
        store.append([(record, condition) for record in records], {"engine": "test"})
    return made.folder


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_every_step_is_shown_with_its_values(run):
    lines = [line.rstrip() for line in call("show", run, "abc").stdout.splitlines()]
    assert lines[0] == "Who discovered radium?"
    assert lines[2:] == [
        "  1. generate, 4 tokens, ended by end",
        "     Marie was [here].",
        "  2. probe for attention: “Marie was here.”",
        "  3. rind",
        "     Marie 0.5  was 0.1  ▸here. 0.9",
        "     sentence: Marie was here.",
        "     threshold: 0.6",
        "     triggered: True",
        "  4. qfs",
        "     words: ['Marie']",
        "     weights: None",
        "  5. search “Marie”, k = 2, gold hit",
        "     1. Polonium (bm25, 7.25)",
        "     2. radium (bm25, 3.625) ★ gold",
        "  6. search “here”, k = 2, no gold hit",
        "     1. Polonium (bm25, 7.25)",
        "  7. search “gone”, k = 2",
        "     failed: retriever: It is down.",
        "Evidence",
        "     1. Polonium (bm25, 7.25)",
        "Prompt, user",
        "     ?",
        "Answer: Curie",
        "Gold answer: Curie",
        "Scores: none yet; make them: shaketable score",
    ]


def test_the_gold_answer_the_scores_and_the_prompts_of_every_record_are_shown(tmp_path):
    made = made_run.made_run(tmp_path / "run")
    [failed] = [one.trial.key for one in made.store.records() if one.failure][:1]
    [wrong] = [
        one.trial.key
        for one in made.store.records()
        if one.answer and (one.trial.question_id, one.trial.temperature, one.trial.perturbation) == AT
    ][:1]
    words = call("show", made.folder, wrong).stdout
    for line in ("Gold answer: Author 1", "Scores: contains 0, length ", "Evidence", "Other is 1.", "Prompt, user"):
        assert line in words, line
    assert "Scores: contains – (failed), length – (failed)" in call("show", made.folder, failed).stdout
    told = json.loads(call("show", made.folder, wrong, "--json").stdout)
    assert told["gold_answers"] == ["Author 1"] and told["scores"]["contains"] == 0


def test_a_failed_record_says_why(run):
    assert "Failed: 60 s" in call("show", run, "abd2").stdout.splitlines()


def test_json_is_the_whole_record_with_its_gold_hits(run):
    said = json.loads(call("show", run, "abc1", "--json").stdout)
    assert said["gold_hits"] == [True, False]
    assert said["trial"]["key"] == "abc1"
    assert said["trace"][2]["step"]["values"]["scores"] == list(SCORES)
    assert said["trace"][4]["reply"]["hits"][1]["score"] == 3.625


@pytest.mark.parametrize(("key", "found"), [("ab", "more than one record"), ("xyz", "no record"), ("*", "no record")])
def test_a_key_that_names_no_single_record_is_told(run, key, found):
    result = call("show", run, key)
    assert result.exit_code != 0
    assert f"has {found} whose key begins with '{key}'" in " ".join(result.stderr.split())
