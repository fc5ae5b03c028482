"""A study that asks only questions that have rewrites."""

from __future__ import annotations

import json

import pytest

from shaketable.errors import StudyError
from shaketable.stages.plan import plan
from shaketable.study import format_study, load_study

STUDY = """
name = "people"
[[dataset]]
name = "jsonl"
path = "questions.jsonl"
with_rewrites = true
{more}
[cross]
models = ["scripted(replies=('Rome',))"]
methods = ["closed_book"]
variations = {variations}
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    questions = [{"id": f"q{i}", "question": f"Who is number {i}?", "answers": [f"Ann {i}"]} for i in range(6)]
    rewrites = [
        {"id": "q1", "rewrite": "Number 1, who is that?", "annotator": "a"},
        {"id": "q4", "rewrite": "Number 4, who is that?", "annotator": "a"},
        {"id": "q5", "rewrite": "  ", "annotator": "a"},
    ]
    for name, rows in (("questions", questions), ("rewrites", rewrites)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def write(variations='["original", "rewrites(path=\'rewrites.jsonl\')"]', more=""):
        (tmp_path / "study.toml").write_text(STUDY.format(variations=variations, more=more))
        return load_study(tmp_path / "study.toml")

    return write


def asked(study):
    return sorted(question.id for question in plan(study).questions)


def test_only_questions_with_a_rewrite_are_asked(study):
    assert asked(study()) == ["q1", "q4"]


def test_a_limit_counts_questions_with_a_rewrite(study):
    assert len(asked(study(more="limit = 2"))) == 2
    assert set(asked(study(more="limit = 1"))) <= {"q1", "q4"}


def test_without_a_file_of_rewrites_it_is_refused(study):
    with pytest.raises(StudyError, match="with_rewrites"):
        asked(study(variations='["original"]'))


def test_a_frozen_study_keeps_the_setting(study, tmp_path):
    (tmp_path / "frozen.toml").write_text(format_study(study()))
    assert load_study(tmp_path / "frozen.toml").datasets[0].with_rewrites
