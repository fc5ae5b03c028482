"""A study of objects, functions and tables: what it is frozen as, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import pandas
import polars as pl
import pytest
from capitals import QUESTIONS, answers, run_into

import shaketable
from shaketable import catalog
from shaketable.errors import DataError, PartError, ShaketableError, StudyError
from shaketable.models.scripted import Scripted
from shaketable.perturbations.sentence_removal import SentenceRemoval
from shaketable.stages.own.questions import read_questions
from shaketable.types import Completion, Question


def answer(question, context):
    """Of a module that another process can import."""
    return context.split()[0]


class Client:
    def __init__(self, text):
        self.text = text


@dataclass(frozen=True, kw_only=True)
class Talking:
    """A model with a client, which no text can name."""

    client: object
    loud: bool = False
    note: str = field(default="", compare=False)

    version: ClassVar[int] = 1
    gives: ClassVar[frozenset[str]] = frozenset()

    def generate(self, prompts):
        text = self.client.text.upper() if self.loud else self.client.text
        return [Completion(text=text, finish_reason="end", n_prompt_tokens=1, n_tokens=1, seconds=0.0) for _ in prompts]

    def environment(self):
        return {"engine": "talking"}


def test_parts_of_the_package_are_frozen_as_their_texts():
    study = shaketable.make_study(
        "objects",
        models=[Scripted(replies=("Paris",), price_in=1.0), catalog.call(Scripted(), "plain")],
        perturbations=[SentenceRemoval(), "unchanged"],
        metrics="contains",
        temperatures=(value / 2 for value in range(3)),
        seed=7,
        limit=2,
        generation={"max_tokens": 9},
    )
    # What keys leave out, such as a price, is frozen too.
    assert study.models == ("scripted(replies=('Paris',), price_in=1.0)", "scripted(name='plain')")
    assert study.perturbations == ("sentence_removal", "unchanged")
    assert study.temperatures == (0.0, 0.5, 1.0)
    assert (study.seed, study.datasets[0].limit, study.generation["max_tokens"]) == (7, 2, 9)
    assert study.in_process == {}


def test_an_object_of_ones_own_works_and_is_frozen_by_name(tmp_path):
    study = shaketable.make_study(
        "own", questions=QUESTIONS, models=[Talking(client=Client("Oslo"), loud=True)], methods="closed_book"
    )
    assert study.models == ("talking(loud=True)",)
    run = shaketable.run(study, tmp_path / "run")
    assert set(answers(run).values()) == {"OSLO"}
    assert "talking" in run.study.in_process["model"]
    assert "talking" in run._repr_html_()


def test_a_function_of_an_imported_module_runs_in_a_process_of_its_own(tmp_path):
    study = shaketable.make_study("contained", questions=QUESTIONS, models=[answer])
    assert study.models[0].startswith("pipeline(python=")
    assert study.models[0].endswith(":answer')")


def test_a_function_of_this_process_is_a_pipeline_and_may_be_a_chain(tmp_path):
    from langchain_core.runnables import RunnableLambda

    chain = RunnableLambda(lambda question: f"Rome, for {question}")
    with pytest.raises(PartError, match=r"has no name\. Give one: shaketable\.pipeline"):
        shaketable.make_study("chain", models=[chain])
    shaketable.pipeline(chain, name="chain", version=1)
    study = shaketable.make_study("chain", questions=QUESTIONS, models=[chain, lambda_free()])
    assert study.models == ("chain", "local")
    run = shaketable.run(study, tmp_path / "run")
    told = set(run.records().select("model", "answer").iter_rows())
    assert ("chain", "Rome, for What is the capital of Italy?") in told
    assert ("local", "Paris") in told


def lambda_free():
    def local(question):
        return "Paris"

    return local


TABLE = {
    "question": ["What is the capital of France?", "What is the capital of Italy?"],
    "answer": ["Paris | City of Light", "Rome"],
    "context": ["Paris is the capital. It is old.", None],
    "level": ["easy", "hard"],
}


@pytest.mark.parametrize("frame", [pl.DataFrame(TABLE), pandas.DataFrame(TABLE)], ids=["polars", "pandas"])
def test_questions_may_be_a_data_frame(frame):
    planned = shaketable.plan(shaketable.make_study("table", questions=frame, methods="closed_book"))
    france, italy = planned.questions
    assert france.answers == ("Paris", "City of Light")
    assert [sentence.text for sentence in france.documents[0].sentences] == ["Paris is the capital.", "It is old."]
    assert (italy.documents, italy.tags["level"]) == ((), "hard")


def test_one_answer_may_be_a_text_and_several_a_column_of_lists():
    [own] = read_questions([{"question": "Where?", "answers": "Paris"}])
    assert own.answers == ("Paris",)
    frame = pandas.DataFrame({"question": ["Where?"], "answers": [["Paris", "Lutetia"]]})
    [listed] = read_questions(frame)
    assert listed.answers == ("Paris", "Lutetia")


def test_questions_may_be_values_and_keep_their_ids():
    own = Question(id="q1", text="Where?", answers=("Here",))
    study = shaketable.make_study("values", questions=[own, QUESTIONS[0]], methods="closed_book")
    assert {question.id for question in shaketable.plan(study).questions} == {"q1", "Paris"}
    same = shaketable.make_study("values", questions=[own, QUESTIONS[0]], methods="closed_book")
    other = shaketable.make_study("values", questions=[own], methods="closed_book")
    assert same == study
    assert other.datasets != study.datasets
    assert len(shaketable.plan(study).questions) == 2  # Those of another study do not take its place.


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        ([], "questions is empty"),
        (["Where?"], r"questions\[0\] is 'Where\?'; give a Question, or a mapping"),
        ("questions.csv", "questions is str; give a list of them"),
        ([{"qestion": "Where?", "answer": "x"}], r"questions\[0\]: no column is named 'question'"),
        ([{"question": "Where?", "answers": []}], r"questions\[0\]: 'answers' is empty"),
        ([{"question": "Where?", "answers": ["x"]}] * 2, r"questions\[1\]: the same question as in questions\[0\]"),
    ],
)
def test_wrong_questions_are_named_by_their_place(questions, told):
    with pytest.raises(DataError, match=told):
        shaketable.make_study("wrong", questions=questions)


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        ({"modles": ["smollm2"]}, "unknown key 'modles'. Did you mean 'models'?"),
        ({"models": [3]}, r"models\[0\]: 'int' object|models\[0\]: .*int"),
        ({"metrics": [3]}, r"metrics\[0\]: this is int 3; give a text, a metric or a function"),
        ({"perturbations": [Scripted()]}, r"perturbations\[0\]: Scripted is no perturbation: it has no perturb"),
        ({"repeats": 0}, "cross.repeats: found 0"),
        ({"temperatures": ["hot"]}, r"cross.temperatures\[0\]: found 'hot'"),
        ({"generation": {"max_token": 3}}, "unknown key 'max_token'"),
        ({"dataset": 3}, "dataset is 3; give a name"),
        ({"dataset": "builtin", "questions": QUESTIONS}, "give questions or a dataset, and not both"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tables, told):
    with pytest.raises(ShaketableError, match=told) as error:
        shaketable.make_study("wrong", **tables)
    assert isinstance(error.value, StudyError)


def test_two_settings_of_a_metric_that_give_one_number_are_refused(tmp_path):
    metrics = ["contains", "contains(match='token')"]
    with pytest.raises(StudyError, match=r"score.metrics\[1\]: .* gives the number 'contains', and so does contains"):
        shaketable.plan(shaketable.make_study("twice", models="scripted", metrics=metrics))
    with pytest.raises(StudyError, match="They cannot be told apart"):
        shaketable.score(run_into(tmp_path / "run"), metrics)


# --- what a notebook shows of a run ---------------------------------------------------------------


@pytest.fixture
def run(tmp_path):
    return run_into(tmp_path / "<run>", whole=True)


def test_a_run_describes_itself_in_one_line(run):
    assert repr(run) == f"Run({str(run.folder)!r}, capitals: 3 questions, 3 trials, finished)"


def test_the_card_of_a_run_has_its_counts_its_sentences_and_its_report(run):
    card = run._repr_html_()
    assert "3 questions, 3 trials, finished" in card
    assert run.headlines()
    assert card.count("<li>") == min(len(run.headlines()), 4)
    assert "report.html" in card
    assert "<run>" not in card  # A name is no markup.


def test_an_empty_run_has_a_card_too(tmp_path):
    study = shaketable.make_study("nothing yet", models="scripted")
    empty = shaketable.Run.prepare(tmp_path / "run", study)
    assert repr(empty).endswith("nothing yet: empty)")
    assert "<ul" not in empty._repr_html_()


@pytest.mark.parametrize("table", ["wide", "records", "scores", "score_table", "searches", "calls"])
def test_tables_come_as_data_frames_of_pandas(run, table):
    frame, own = run.to_pandas(table), getattr(run, table)()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == own.columns
    assert len(frame) == len(own)


def test_without_a_name_it_is_one_wide_table_in_which_what_is_missing_has_its_reason(tmp_path):
    replies = "scripted(replies=('Paris', 'ERROR'))"
    study = shaketable.make_study(
        "wide", models=replies, limit=3, temperatures=[0.0, 1.0], repeats=4, metrics="contains"
    )
    run = shaketable.run(study, tmp_path / "run", progress=False)
    frame = run.to_pandas()
    assert len(frame) == run.summary().trials == frame["key"].nunique()
    failed = frame["failure"].notna()
    assert 0 < failed.sum() < len(frame)
    assert frame.loc[failed, "contains"].isna().all() and frame.loc[failed, "contains_missing"].notna().all()
    assert frame.loc[~failed, "contains"].notna().all() and frame.loc[~failed, "contains_missing"].isna().all()
    assert frame.groupby("temperature")["contains"].mean().notna().all()
    assert isinstance(frame["gold"].iloc[0], list)


def test_a_run_that_is_not_scored_says_so(tmp_path):
    study = shaketable.make_study("unscored", models="scripted", limit=2)
    run = shaketable.Run.prepare(tmp_path / "run", study)
    with run.writing() as store:
        shaketable.answer(shaketable.plan(study), store)
    with pytest.raises(ShaketableError, match="has no scores yet"):
        run.to_pandas()
    assert len(run.to_pandas("records")) == 2


def test_findings_come_as_tidy_rows(run):
    frame = run.to_pandas("findings")
    assert set(frame["analysis"]) == {"correctness"}
    assert {"value", "low", "high", "n"} <= set(frame.columns)


def test_a_missing_package_and_a_wrong_table_are_told(run, monkeypatch):
    with pytest.raises(ShaketableError, match=r"There is no table 'record'\. Did you mean 'records'"):
        run.to_pandas("record")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ShaketableError, match=r"needs the package pandas: pip install 'shaketable\[pandas\]'"):
        run.to_pandas()
