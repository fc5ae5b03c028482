import json
import sqlite3

import pytest

from shaketable.errors import RunError
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.stages.reference import cut, write_references
from shaketable.stages.score import score
from shaketable.store import Run, schema
from shaketable.study import parse_study

pytestmark = pytest.mark.weights  # sentences are split by the language model


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


# The three examples of the context-temperature study, section 5.3.
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


def test_a_template_makes_a_sentence_of_question_and_answer(tmp_path):
    run = answered(tmp_path, "template")
    assert write_references(run) == 3
    for question in run.store.questions("template"):
        assert question.reference == f'The answer to the question "{question.text}" is {question.answers[0]}.'


def test_a_model_writes_each_reference_once_and_it_is_kept_with_the_run(tmp_path):
    writer = "scripted(replies=('No, it is not. It is Rome. More.',))"
    run = answered(tmp_path, writer)
    assert write_references(run) == 3
    assert write_references(run) == 0
    assert {question.reference for question in run.store.questions(writer)} == {"No, it is not. It is Rome."}
    [(whole,)] = set(run.store.rows("SELECT whole FROM reference_answers"))
    assert whole == "No, it is not. It is Rome. More."


def test_scores_compare_with_the_reference_of_the_study(tmp_path):
    run = answered(tmp_path, "scripted(replies=('Paris is the answer.',))")
    score(run)
    assert run.scores()["value"].to_list() == pytest.approx([1.0] * 9)


def test_short_references_need_no_model_and_write_nothing(tmp_path):
    run = answered(tmp_path, "short")
    score(run)
    assert run.store.rows("SELECT COUNT(*) FROM reference_answers") == [(0,)]


def test_a_writer_that_fails_is_named_and_nothing_is_scored_with_half_the_references(tmp_path):
    run = answered(tmp_path, "scripted(replies=('ERROR',))")
    with pytest.raises(RunError, match="could not write 3 of 3 reference answers"):
        score(run)
    assert not (run.folder / "scores.parquet").exists()


def test_a_run_of_the_first_format_gets_the_new_table_and_keeps_its_records(tmp_path):
    run = answered(tmp_path, "template")
    before = run.records()
    with sqlite3.connect(run.records_path) as connection:
        connection.executescript("DROP TABLE reference_answers; DROP TABLE curves; PRAGMA user_version = 1;")
    reopened = Run(run.folder)
    assert write_references(reopened) == 3
    assert reopened.records().equals(before)
    assert reopened.store.rows("PRAGMA user_version") == [(schema.VERSION,)]


def test_the_reference_is_frozen_with_the_study(tmp_path):
    run = answered(tmp_path, "template")
    assert run.study.reference == "template"
    assert json.loads(json.dumps(run.study_text)).count('reference = "template"') == 1
