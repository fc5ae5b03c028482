"""What runs as a study says, but hardly as its author meant, is told before anything is asked."""

from pathlib import Path

import pytest

import shaketable
from shaketable.errors import PartError
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


ENDPOINT = "models = [\"openai(model='m', base_url='http://127.0.0.1:1/v1')\"]\n"
FLARE = 'methods = ["flare(distribution=\'processed\')"]\nretrievers = ["bm25"]\n'


def told_of_study(folder: Path, cross: str, generation: str = "", metrics: str = '"correct"') -> str:
    (folder / "study.toml").write_text(
        f'name = "x"\n[dataset]\nname = "builtin"\nlimit = 2\n[cross]\n{cross}'
        f"[generation]\nmax_tokens = 8\n{generation}[score]\nmetrics = [{metrics}]\n"
    )
    return " ".join(advice_on(plan(load_study(folder / "study.toml"))))


@pytest.mark.parametrize(
    ("temperatures", "generation", "words"),
    [
        ("[0.7]", "top_p = 0.8\ntop_k = 20\n", ""),
        ("[0.7]", "", ""),
        ("[0.0]", "", "never searches there"),
        ("[1.5]", "top_k = 20\n", ""),
        ("[1.5]", "", "Set distribution='raw'"),
        ("[0.7]", "top_k = 40\n", "top_k is 40"),
    ],
)
def test_processed_doubt_of_an_endpoint(tmp_path: Path, temperatures: str, generation: str, words: str) -> None:
    said = told_of_study(tmp_path, f"{ENDPOINT}{FLARE}temperatures = {temperatures}\n", generation)
    assert (words in said) if words else said == ""


def test_certainty_that_an_endpoint_cannot_give_is_told_before(tmp_path: Path) -> None:
    cross = f'{ENDPOINT}methods = ["closed_book"]\ntemperatures = [0.0, 2.0]\n'
    said = told_of_study(tmp_path, cross, "logprobs = true\n", '"certainty"')
    assert "certainty cannot be given" in said and "at temperature 2" in said and "certainty(scaled=False)" in said
    assert told_of_study(tmp_path, cross.replace("2.0", "1.0"), "logprobs = true\n", '"certainty"') == ""


def test_a_method_that_an_endpoint_cannot_serve_names_what_to_change(tmp_path: Path) -> None:
    with pytest.raises(PartError, match=r"Take 'dragin' out of cross\.methods"):
        told_of_study(tmp_path, ENDPOINT + 'methods = ["dragin"]\nretrievers = ["bm25"]\n')
