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
