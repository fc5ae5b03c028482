"""What runs as a study says, but hardly as its author meant, is told before anything is asked."""

from pathlib import Path

import pytest

import shaketable
from shaketable.stages.advice import advice_on
from shaketable.stages.plan import plan
from shaketable.study import load_study
from shaketable.types import Question

STUDY = """
name = "x"
[dataset]
name = "csv"
path = "questions.csv"
[cross]
models = ["scripted"]
methods = ["closed_book"]
[score]
metrics = ["{metric}"]
"""


def advice(folder: Path, header: str, metric: str) -> list[str]:
    (folder / "questions.csv").write_text(f"{header}\nWho wrote Hamlet?,Shakespeare\n")
    (folder / "study.toml").write_text(STUDY.format(metric=metric))
    return advice_on(plan(load_study(folder / "study.toml")))


def test_a_metric_of_ones_own_says_that_it_needs_answers(tmp_path: Path) -> None:
    @shaketable.metric(needs_answers=True)
    def begins_right(answer: str, question: Question) -> bool:
        return answer.startswith(question.answers[0][0])

    [said] = advice(tmp_path, "question,anser", "begins_right")
    assert "no question has an accepted answer, so begins_right cannot tell right from wrong" in said


def test_a_column_of_answers_that_is_overlooked_is_told(tmp_path: Path) -> None:
    [said] = advice(tmp_path, "question,anser", "correct")
    assert "no question has an accepted answer, so correct cannot tell right from wrong" in said
    assert "Name the column of answers 'answer'" in said


@pytest.mark.parametrize(("header", "metric"), [("question,answer", "correct"), ("question,note", "same_answer")])
def test_nothing_is_said_where_answers_are_there_or_not_needed(tmp_path: Path, header: str, metric: str) -> None:
    assert advice(tmp_path, header, metric) == []


def told_of(folder: Path, cross: str) -> list[str]:
    (folder / "questions.csv").write_text("question,answer\nWho wrote Hamlet?,Shakespeare\n")
    study = STUDY.format(metric="correct").replace('models = ["scripted"]\n', cross)
    (folder / "study.toml").write_text(study)
    return advice_on(plan(load_study(folder / "study.toml")))


NEITHER = "max_tokens_field='max_completion_tokens', send_temperature=False"


def rewording(by: str, more: str = "") -> str:
    return f'models = ["scripted"]\nvariations = ["original", "formality(by=\\"{by}\\"{more})"]\n'


def test_settings_that_a_rewording_model_refuses_are_known(tmp_path: Path) -> None:
    [said] = told_of(tmp_path, rewording("openai(model='gpt-5-mini')"))
    assert said.startswith("cross.variations: formality: gpt-5-mini refuses max_tokens and temperature")
    assert NEITHER in said and "set max_tokens to 4000" in said


def test_a_rewording_model_needs_room_to_think(tmp_path: Path) -> None:
    [said] = told_of(tmp_path, rewording(f"openai(model='gpt-5-mini', {NEITHER})"))
    assert "refuses" not in said and "set max_tokens to 4000" in said


@pytest.mark.parametrize(
    "by",
    [
        f"openai(model='gpt-5-mini', {NEITHER})",
        "openai(model='gpt-4o-mini')",
        "openai(model='gpt-5-mini', base_url='http://127.0.0.1:8000/v1')",
    ],
)
def test_settings_that_fit_are_not_mentioned(tmp_path: Path, by: str) -> None:
    assert told_of(tmp_path, rewording(by, ", max_tokens=4000")) == []


def test_a_model_under_test_is_known_too(tmp_path: Path) -> None:
    [said] = told_of(tmp_path, "models = [\"openai(model='o3')\"]\n")
    assert said.startswith("cross.models: o3 refuses max_tokens and temperature")
