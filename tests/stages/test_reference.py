import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from shaketable import catalog
from shaketable.datasets.builtin import load_builtin
from shaketable.errors import RunError
from shaketable.models.scripted import Scripted
from shaketable.prompts import REFERENCE_ANSWER
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.stages.reference import cut, made_by, write_references
from shaketable.stages.score import score
from shaketable.store import Run, schema
from shaketable.store.counts import ReferenceFlagCount
from shaketable.study import parse_study
from shaketable.types import Question

SHARED = Path(__file__).parents[3] / "shared" / "data"
splits_sentences = pytest.mark.weights  # by the language model


def answered(tmp_path, reference, replies="'Paris is the answer.'"):
    tables = {
        "name": "r",
        "dataset": {"name": "builtin", "limit": 3},
        "cross": {"models": [f"scripted(replies=({replies},))"]},
        "score": {"metrics": ["rouge"], "reference": reference},
    }
    study = parse_study(tables, "test")
    run = Run.prepare(tmp_path / "run", study)
    with run.writing() as store:
        answer(plan(study), store)
    return run


def asked(questions, tmp_path, reference="template", **more):
    """A run of these questions that nobody has answered yet, with its references."""
    study = parse_study({"name": "r", "score": {"reference": reference, **more}}, "test")
    run = Run.prepare(tmp_path / "run", study)
    with run.writing() as store:
        store.add_questions([(question, "item") for question in questions])
    write_references(run)
    return run


def with_references(run):
    return run.store.questions(made_by(run.study))


# The three examples of the context-temperature study, section 5.3.
@splits_sentences
@pytest.mark.parametrize(
    ("whole", "kept", "flags"),
    [
        ("No, X is older. It was founded in 1990. More.", "No, X is older. It was founded in 1990.", []),
        ("YES. Both are. And more.", "YES. Both are.", []),
        ("Norway hosted it. Later it rained.", "Norway hosted it.", []),
        ("No. 1 is the answer.", "No. 1 is the answer.", ["no_may_be_a_number"]),
        ("It is Paris", "It is Paris", []),
        ("", "", []),
    ],
)
def test_a_reference_is_the_first_sentence_or_two_after_yes_or_no(whole, kept, flags):
    assert cut(whole) == (kept, whole, flags)


@pytest.mark.parametrize("part", ["multihop", "facts"])
def test_the_template_reference_of_every_built_in_question_holds_its_answer(tmp_path, part):
    for question in with_references(asked(load_builtin(part=part).questions, tmp_path)):
        assert question.reference == f'The answer to the question "{question.text}" is {question.answers[0]}.'


@pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of real data is not there")
@pytest.mark.parametrize(
    ("dataset", "file", "n_questions"),
    [
        ("hotpotqa", "hotpotqa_stratified.jsonl.gz", 867),
        ("2wikimultihopqa", "2wikimultihopqa.jsonl.gz", 1000),
        ("musique", "musique.jsonl.gz", 449),
        ("squad", "squad_v1.1_dev_2000.jsonl.gz", 2000),
    ],
)
def test_the_template_reference_of_every_real_question_holds_its_answer(tmp_path, dataset, file, n_questions):
    questions = catalog.find("dataset", dataset)(str(SHARED / file)).questions
    stored = with_references(asked(questions, tmp_path))
    assert len(stored) == n_questions
    lost = [question for question in stored if question.answers[0] not in question.reference]
    assert lost == []


def test_references_of_the_rule_that_lost_answers_are_not_used_again(tmp_path):
    run = answered(tmp_path, "template")
    with run.writing() as store:  # As version 0.1.0 stored them.
        cut_short = [(question.id, 'The answer to the question "Who?"', "whole", []) for question in store.questions()]
        store.add_references("template", cut_short)
    assert write_references(run) == 3
    assert all(question.answers[0] in question.reference for question in with_references(run))


@splits_sentences
def test_a_model_s_reference_that_loses_the_answer_by_the_cut_is_flagged_and_counted(tmp_path):
    made = [
        Question(id=name, text="Which town?", answers=(answer,))
        for name, answer in (("kept", "Paris"), ("lost", "Rome"), ("never", "Oslo"))
    ]
    run = asked(made, tmp_path, "scripted(replies=('Of all towns it is Paris. Others say Rome.',))")
    flags = dict(run.store.rows("SELECT question_id, flags FROM reference_answers"))
    assert flags == {"kept": "[]", "lost": '["answer_cut_off"]', "never": '["answer_missing"]'}
    assert run.reference_flags() == (
        ReferenceFlagCount(flag="answer_cut_off", n=1),
        ReferenceFlagCount(flag="answer_missing", n=1),
    )


@splits_sentences
def test_a_model_writes_each_reference_once_and_it_is_kept_with_the_run(tmp_path):
    writer = "scripted(replies=('No, it is not. It is Rome. More.',))"
    run = answered(tmp_path, writer)
    assert write_references(run) == 3
    assert write_references(run) == 0
    assert {question.reference for question in with_references(run)} == {"No, it is not. It is Rome."}
    [(whole,)] = set(run.store.rows("SELECT whole FROM reference_answers"))
    assert whole == "No, it is not. It is Rome. More."


@splits_sentences
def test_scores_compare_with_the_reference_of_the_study(tmp_path):
    run = answered(tmp_path, "scripted(replies=('Paris is the answer.',))")
    score(run)
    assert run.scores()["value"].to_list() == pytest.approx([1.0] * 9)


def test_short_references_need_no_model_and_write_nothing(tmp_path):
    run = answered(tmp_path, "short")
    score(run)
    assert run.store.rows("SELECT COUNT(*) FROM reference_answers") == [(0,)]


@splits_sentences
def test_a_prompt_of_the_study_is_asked_word_for_word_and_has_references_of_its_own(tmp_path, monkeypatch):
    heard, generate = [], Scripted.generate
    monkeypatch.setattr(Scripted, "generate", lambda self, prompts: heard.extend(prompts) or generate(self, prompts))
    own = "Q: {question}\nA: {answer}\nSay it in a {sentence}, $briefly. {question}"
    question = Question(id="q", text="Is {answer} a slot?", answers=("yes",))
    run = asked([question], tmp_path, "scripted(replies=('Yes.',))", reference_prompt=own)
    [prompt] = heard
    assert prompt.messages[0].content == (
        "Q: Is {answer} a slot?\nA: yes\nSay it in a {sentence}, $briefly. Is {answer} a slot?"
    )
    assert with_references(run)[0].reference == "Yes."
    for other in (own + " Please.", None):
        maker = made_by(replace(run.study, reference_prompt=other))
        assert run.store.questions(maker)[0].reference is None, "Another prompt has not been asked yet."


def test_the_prompt_that_ships_makes_the_demands_of_the_study():
    # Specification, section 5.2: question and short answer on labelled lines; complete, coherent, as brief as possible.
    first, second, _, demand = REFERENCE_ANSWER.fill(question="Who?", answer="Ada").splitlines()
    assert (first, second) == ("Question: Who?", "Short answer: Ada")
    assert all(word in demand for word in ("complete", "coherent", "as briefly as possible"))


@splits_sentences
def test_a_writer_that_fails_is_named_and_nothing_is_scored_with_half_the_references(tmp_path):
    run = answered(tmp_path, "scripted(replies=('ERROR',))")
    with pytest.raises(RunError, match="could not write 3 of 3 reference answers"):
        score(run)
    assert not (run.folder / "scores.parquet").exists()


def test_a_run_of_the_first_format_gets_the_new_table_and_keeps_its_records(tmp_path):
    run = answered(tmp_path, "template")
    before = run.records()
    with sqlite3.connect(run.records_path) as connection:
        connection.executescript(
            "DROP TABLE reference_answers; DROP TABLE curves; DROP TABLE verdicts; DROP TABLE rewordings; "
            "DROP TABLE wordings; DROP TABLE seals; DROP TABLE underway; ALTER TABLE records DROP COLUMN dollars; "
            "ALTER TABLE records DROP COLUMN reused; PRAGMA user_version = 1;"
        )
    run.records_path.with_suffix(".seal").unlink()
    reopened = Run(run.folder)
    assert write_references(reopened) == 3
    assert reopened.records().equals(before)
    assert reopened.store.rows("PRAGMA user_version") == [(schema.VERSION,)]


def test_the_reference_is_frozen_with_the_study(tmp_path):
    run = answered(tmp_path, "template")
    assert run.study.reference == "template"
    assert json.loads(json.dumps(run.study_text)).count('reference = "template"') == 1
