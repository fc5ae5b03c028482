"""A new user: a folder with a table, one command that writes a study, one that runs it, and a report at the end."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from limited_endpoint import limited
from typer.testing import CliRunner

from shaketable.cli import confirming, starting
from shaketable.cli.app import app
from shaketable.cli.first_study import write_study_text
from shaketable.stages.starting.draft import Draft
from shaketable.store import Run
from shaketable.study import load_study

CSV = """nr,Question text,Correct answer,Background,topic
1,Where is the Eiffel Tower?,Paris,"The Eiffel Tower is a tower in Paris. It was built in 1889.",place
2,Who wrote Emma?,Jane Austen,"Emma is a novel. Jane Austen wrote it in 1815.",person
3,Who wrote Dune?,Frank Herbert,"Dune is a novel. Frank Herbert wrote it in 1965.",person
4,Where is Mount Fuji?,Japan,"Mount Fuji is a mountain. It lies in Japan.",place
"""


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    """Each test works in an empty folder, with a cache of its own, and without anybody's key."""
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


@pytest.fixture
def no_report(monkeypatch):
    """The report is drawn once, in the test that looks for it."""
    monkeypatch.setattr("shaketable.stages.report.report", lambda run, **_: run.folder / "report.html")


def call(*words, answers=None):
    return CliRunner().invoke(app, [str(word) for word in words], input=answers)


def made(*words):
    result = call("init", *words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(*words):
    result = call("init", *words)
    assert isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code != 0
    assert result.stderr.count("Error: ") == 1
    return result.stderr.partition("Error: ")[2]


# --- from a table to a report -----------------------------------------------------------------------


def test_a_table_and_an_endpoint_become_a_report_in_a_few_commands(own_folder):
    Path("my.csv").write_text(CSV)
    with limited() as server:
        first = call("init", "--data", "my.csv", "--model", "stand-in", "--base-url", server.url)
        assert first.exit_code == 0, first.output
        assert "Not confirmed (no terminal). To choose others: --question" in first.stderr
        commands = [line.partition("#")[0].split() for line in first.stdout.splitlines()]
        assert [words[1] for words in commands] == ["run", "run", "view"]
        forecast, run, view = (words[1:] for words in commands)
        assert "108 trials" in call(*forecast).stdout
        assert not Path("runs").exists()
        result = call(*run)
        assert result.exit_code == 0, result.output
    assert Path(view[1], "report.html").read_text("utf-8").startswith("<!doctype html>")
    [listed] = json.loads(call("runs", "--json").stdout)
    assert (listed["run"], listed["state"], listed["trials"], listed["failed"]) == (view[1], "finished", 108, 0)
    assert listed["systems"] == ["stand-in · single_retrieval"]
    assert listed["headline"]


WITHOUT = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        is_hidden = name.partition(".")[0] in ("torch", "transformers", "spacy", "numba", "lemminflect", "Stemmer")
        return None if is_hidden else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
from shaketable.cli import main
main()
"""
"""The program on a machine without the heavy libraries."""


@pytest.mark.slow
def test_an_endpoint_needs_no_heavy_library_from_the_table_to_the_report():
    Path("my.csv").write_text(CSV)
    with limited() as server:
        for words in (
            ["init", "--data", "my.csv", "--model", "m", "--base-url", server.url],
            ["run", "my.toml"],
            ["runs"],
            ["ls", "formality"],
        ):
            done = subprocess.run([sys.executable, "-c", WITHOUT, *words], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
    assert "formality' needs the packages torch, transformers, spacy and lemminflect: pip install" in done.stdout
    assert Path("runs/my/report.html").is_file()


def test_a_study_says_what_was_guessed_and_validates():
    Path("my.csv").write_text(CSV)
    said = made("--data", "my.csv", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert [(column["role"], column["column"]) for column in said["columns"]] == [
        ("question", "Question text"),
        ("answer", "Correct answer"),
        ("context", "Background"),
        ("id", "nr"),
        ("tag", "topic"),
    ]
    assert said["dataset"]["tags"] == ["topic"]
    assert (said["questions"], said["trials"], said["notes"]) == (4, 4 * 3 * 3 * 3, [])
    study = load_study("my.toml")
    assert study.models == ("openai(model='m', base_url='http://127.0.0.1:9/v1', name='m')",)
    assert study.perturbations == (
        "unchanged",
        "sentence_removal",
        "random_noise(sentences='all')",
    )
    assert call("validate", "my.toml").exit_code == 0
    commented = [line for line in Path("my.toml").read_text().splitlines() if line.startswith("# ")]
    assert len(commented) > 15


def test_sentences_with_the_answer_go_only_where_most_questions_have_one():
    """Two of these four have none: their accepted answers stand in no sentence of the background."""
    Path("my.csv").write_text(CSV.replace("Jane Austen,", "J. Austen,").replace("Japan,", "Nippon,"))
    made("--data", "my.csv", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert load_study("my.toml").perturbations[1] == "sentence_removal"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.jsonl", '{"query": "Who wrote Emma?", "target": ["Jane Austen", "Austen"]}\n'),
        ("rows.json", '[{"query": "Who wrote Emma?", "target": "Jane Austen"}]'),
        ("rows.tsv", "query\ttarget\nWho wrote Emma?\tJane Austen\n"),
        ("rows.csv", "query;target\nWho wrote Emma?;Jane Austen\n"),
    ],
)
def test_other_layouts_are_asked_without_evidence(name, content, no_report):
    Path(name).write_text(content)
    said = made("--data", name, "--model", "scripted(replies=('Jane Austen',))")
    assert said["dataset"]["columns"] == {"question": "query", "answer": "target"}
    assert load_study("rows.toml").methods == ("closed_book",)
    assert call("run", "rows.toml", "--set", 'analyze.analyses=["correctness"]', "--json").exit_code == 0


def test_a_file_in_our_own_layout_names_no_columns():
    Path("ours.jsonl").write_text('{"question": "Who wrote Emma?", "answers": ["Jane Austen"], "type": "person"}\n')
    assert made("--data", "ours.jsonl")["dataset"] == {"name": "jsonl", "path": "ours.jsonl"}


def test_a_table_without_answers_measures_agreement():
    Path("q.csv").write_text("question\nWho wrote Emma?\nWho wrote Dune?\n")
    made("--data", "q.csv")
    assert load_study("q.toml").metrics == ("same_answer", "refusal")


def many(n, types=("",)):
    rows = (f"What is {n} {type}?,value {n},{type}\n" for n in range(n) for type in types)
    Path("q.csv").write_text("question,answer,type\n" + "".join(rows))
    return made("--data", "q.csv")


def test_a_large_table_is_limited_and_the_line_says_so():
    said = many(130)
    assert (said["questions"], said["dataset"]["limit"]) == (100, 100)
    assert "# The data has 130 questions." in Path("q.toml").read_text()


def test_each_type_of_question_has_its_share():
    said = many(130, ("bridge", "comparison"))
    assert (said["questions"], said["dataset"]["balance"]) == (200, {"by": ["type"], "per_cell": 100})
    assert load_study("q.toml").datasets[0].per_cell == 100


def test_a_small_table_is_asked_whole_and_what_it_cannot_confirm_is_said():
    said = many(58)
    assert said["questions"] == 58 and "limit" not in said["dataset"]
    beyond = said["verdicts"][-1]
    assert "highest safe temperature" in beyond and "needs at least 59 questions" in beyond


def test_a_table_of_sixty_questions_reaches_a_safe_temperature():
    [reached] = many(60)["verdicts"]
    assert "highest safe temperature" in reached


def test_without_data_the_built_in_questions_are_asked():
    assert made("first.toml")["dataset"]["name"] == "builtin"
    assert load_study("first.toml").models == ("smollm2",)


# --- documents --------------------------------------------------------------------------------------


def test_documents_become_a_corpus_beside_the_study_that_is_searched_from_anywhere(own_folder, monkeypatch, no_report):
    Path("q.csv").write_text("question,answer\nWho wrote Emma?,Jane Austen\nWhere is the tower?,Paris\n")
    Path("docs").mkdir()
    Path("docs/books.txt").write_text("Jane Austen wrote Emma. It is a novel.")
    Path("docs/tower.md").write_text("# Tower\n\nThe tower is in Paris. It is tall.")
    Path("docs/old.pdf").write_bytes(b"%PDF")
    said = made("studies/s.toml", "--data", "q.csv", "--documents", "docs", "--model", "scripted(replies=('Paris',))")
    assert (said["corpus"], said["passages"]) == ("studies/s_corpus.jsonl", 2)
    assert [name for name, _ in said["left_out"]] == ["old.pdf"]
    monkeypatch.chdir(own_folder.parent)
    ran = call(
        "run", own_folder / "studies/s.toml", "--out", "r", "--set", 'analyze.analyses=["correctness"]', "--json"
    )
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["failed"] == 0
    found = {title for titles in Run("r").searches()["titles"] for title in titles}
    assert found == {"books", "Tower"}


def test_documents_without_questions_are_refused():
    Path("docs.txt").write_text("Some words.")
    assert "Give those too: --data questions.csv" in refused("--documents", "docs.txt")


# --- the model --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "model"),
    [
        ((None, None), "smollm2"),
        (("smollm2", None), "smollm2"),
        (("gpt-4o-mini", None), "openai(model='gpt-4o-mini', name='gpt-4o-mini')"),
        (
            ("llama3", "http://127.0.0.1:11434/v1/chat/completions"),
            "openai(model='llama3', base_url='http://127.0.0.1:11434/v1', name='llama3')",
        ),
        # A name that a part has would be taken for it.
        (("smollm2", "http://127.0.0.1:9/v1"), "openai(model='smollm2', base_url='http://127.0.0.1:9/v1')"),
        (
            ("claude-x", None),
            "openai(model='claude-x', base_url='https://api.anthropic.com/v1', "
            "api_key_variable='ANTHROPIC_API_KEY', name='claude-x')",
        ),
        (
            ("o3-mini", None),
            "openai(model='o3-mini', name='o3-mini', max_tokens_field='max_completion_tokens', send_temperature=False)",
        ),
    ],
)
def test_a_model_is_written_as_a_study_has_it(words, model):
    assert starting.name_model(*words) == model


def test_a_key_of_openai_names_its_endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert starting.name_model(None, None) == "openai(model='gpt-4o-mini', name='gpt-4o-mini')"


def test_an_endpoint_without_a_model_is_refused():
    assert "which model is asked there? Name it: --model NAME." in refused("--base-url", "http://127.0.0.1:9/v1")


def test_a_missing_key_is_told_before_anything_runs():
    Path("q.csv").write_text("question,answer\nWho?,Ann Lee\n")
    said = made("--data", "q.csv", "--model", "gpt-4o-mini")
    assert any("OPENAI_API_KEY" in note for note in said["notes"])


# --- columns, files and people ----------------------------------------------------------------------


def test_columns_are_overridden_by_name():
    Path("my.csv").write_text(CSV)
    said = made("--data", "my.csv", "--answer", "topic", "--context", "-", "--id", "nr")
    assert said["dataset"]["columns"] == {"question": "Question text", "answer": "topic", "id": "nr"}
    assert load_study("my.toml").methods == ("closed_book",)


def test_a_person_is_asked_and_may_correct(monkeypatch):
    monkeypatch.setattr(starting, "is_somebody_there", lambda: True)
    Path("my.csv").write_text(CSV)
    # No; keep the question; another answer; no context; no id; then yes.
    result = call("init", "--data", "my.csv", answers="n\n\ntopic\n-\n-\ny\n")
    assert result.exit_code == 0, result.output
    assert tomllib.loads(Path("my.toml").read_text())["dataset"]["columns"] == {
        "question": "Question text",
        "answer": "topic",
    }


def test_a_typo_is_asked_again_alone_and_nothing_that_was_said_is_forgotten(monkeypatch):
    monkeypatch.setattr(starting, "is_somebody_there", lambda: True)
    Path("my.csv").write_text(CSV)
    # No; no questions, then those; a typo, then the right name; no context; no id; then yes.
    result = call("init", "--data", "my.csv", answers="n\n-\nBackground\ntopics\ntopic\n-\n-\ny\n")
    assert "A study needs questions: name their column." in result.stderr
    assert "no column 'topics'. Did you mean 'topic'?" in result.stderr
    assert result.exit_code == 0, result.output
    assert tomllib.loads(Path("my.toml").read_text())["dataset"]["columns"] == {
        "question": "Background",
        "answer": "topic",
    }


def test_a_column_that_is_named_twice_is_told_and_asked_again(monkeypatch):
    monkeypatch.setattr(starting, "is_somebody_there", lambda: True)
    Path("my.csv").write_text(CSV)
    result = call("init", "--data", "my.csv", answers="n\n\nQuestion text\n\n\ny\n")
    assert "no column looks like questions" in result.stderr
    assert result.exit_code == 0, result.output


# --- what a table is taken for ----------------------------------------------------------------------

ODD = "Row #;Customer Question (EN);Gold Ans;Passage text\n" + "".join(
    f"{n};Where is {city}?;{city} land;{city} is a city. It lies in {city} land. Many people live there.\n"
    for n, city in enumerate(("Ulm", "Bern", "Graz"))
)


def test_numbers_of_rows_are_an_id_and_no_answers():
    Path("odd.csv").write_text(ODD)
    said = made("--data", "odd.csv")
    assert said["dataset"]["columns"] == {
        "question": "Customer Question (EN)",
        "answer": "Gold Ans",
        "context": "Passage text",
        "id": "Row #",
    }


def test_answers_that_only_their_content_speaks_for_are_not_taken_unseen():
    Path("x.csv").write_text("q,x\nWho is Ann?,a doctor\nWho is Bob?,the baker\n")
    message = refused("--data", "x.csv")
    assert "'x' may hold them" in message and "--answer x, or --answer - for none; --yes takes" in message
    assert call("init", "--data", "x.csv", "--json").exit_code == 2
    assert not Path("x.toml").exists()
    taken = call("init", "--data", "x.csv", "--yes")
    assert taken.exit_code == 0 and "Look whether 'x' holds the accepted answers" in taken.stderr
    assert "Not confirmed (--yes)" in taken.stderr
    Path("x.toml").unlink()
    assert made("--data", "x.csv", "--answer", "-")["dataset"]["columns"] == {"question": "q"}


def test_a_person_may_confirm_answers_that_only_their_content_speaks_for(monkeypatch):
    monkeypatch.setattr(starting, "is_somebody_there", lambda: True)
    Path("x.csv").write_text("q,x\nWho is Ann?,a doctor\nWho is Bob?,the baker\n")
    result = call("init", "--data", "x.csv", answers="y\n")
    assert result.exit_code == 0 and "Look whether" not in result.stderr


def test_a_first_line_that_asks_something_is_told():
    Path("x.csv").write_text("Who is Ann?,a doctor\nWho is Bob?,the baker\nWho is Eve?,a pilot\n")
    result = call("init", "--data", "x.csv", "--yes")
    assert "a column is named 'Who is Ann?', which looks like a question" in " ".join(result.stderr.split())
    assert any("looks like a question" in note for note in made("y.toml", "--data", "x.csv", "--yes")["notes"])


def test_no_file_is_written_over_unless_somebody_says_so(monkeypatch):
    Path("my.csv").write_text(CSV)
    Path("my.toml").write_text("mine")
    assert "my.toml is there already, and nothing is written over." in refused("--data", "my.csv", "--yes")
    monkeypatch.setattr(starting, "is_somebody_there", lambda: True)
    assert call("init", "--data", "my.csv", answers="n\n").exit_code == 2
    assert Path("my.toml").read_text() == "mine"
    assert call("init", "--data", "my.csv", answers="y\ny\n").exit_code == 0
    assert load_study("my.toml").name == "my"


def test_what_cannot_be_planned_leaves_no_file(own_folder):
    Path("q.csv").write_text("question,answer,x\nWho?,.,1\n")
    assert "no question is left of 1" in refused("--data", "q.csv")
    assert sorted(path.name for path in own_folder.iterdir()) == ["q.csv"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--data", "nowhere.csv"), "There is no file nowhere.csv."),
        (("--data", "no.csv", "--question", "x"), "There is no file no.csv."),
        (("--question", "x"), "--question names a column, and there is no table."),
        (("study.txt",), "a study is a TOML file. Name it study.toml."),
        (("--model", "openai(modle='x')"), "openai has no setting 'modle'. Did you mean 'model'?"),
    ],
)
def test_what_is_wrong_is_one_message(words, message):
    assert message in refused(*words)


def test_a_table_in_which_nothing_asks_names_its_columns():
    Path("x.csv").write_text("a,b\n1,2\n3,4\n")
    assert "no column looks like questions. Name it: --question COLUMN. Columns: a, b." in refused("--data", "x.csv")


cells = st.text(max_size=12) | st.sampled_from(["Who is it?", "Paris", "1", "", "NaN", "['a', 'b']", "a|b", '"'])


def as_text(rows, mark):
    text = io.StringIO()
    csv.writer(text, delimiter=mark).writerows(rows)
    return text.getvalue()


tables = st.builds(as_text, st.lists(st.lists(cells, max_size=4), max_size=6), st.sampled_from([",", ";", "\t", "|"]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(content=st.one_of(tables.map(lambda text: text.encode("utf-8", "replace")), st.binary(max_size=60)))
def test_an_odd_table_ends_in_a_study_or_in_one_message(own_folder, content):
    Path("odd.csv").write_bytes(content)
    Path("odd.toml").unlink(missing_ok=True)
    result = call("init", "--data", "odd.csv", "--model", "scripted", "--yes")
    if result.exit_code == 0:
        assert load_study("odd.toml").datasets[0].name in ("table", "jsonl")
    else:
        assert isinstance(result.exception, SystemExit), repr(result.exception)
        assert result.stderr.count("Error: ") == 1
        assert not Path("odd.toml").exists()


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


@given(name=texts, column=texts, tag=texts, path=texts)
def test_whatever_things_are_called_the_text_says_what_the_draft_says(name, column, tag, path):
    dataset = {"name": "table", "path": path, "columns": {"question": column}, "tags": [tag]}
    draft = Draft(
        name=name, dataset=dataset, n_questions=3, model="smollm2", retrievers=("gold",), perturbations=("x",)
    )
    read = tomllib.loads(write_study_text(draft, 5))
    assert read.pop("limits") == {}
    assert read == draft.tables()


def test_the_example_of_a_column_is_short():
    Path("x.csv").write_text(f"question,answer\n{'long ' * 50}?,y\n")
    table = starting.open_table("x.csv")
    assert len(confirming.example_of(table, table.guesses[0])) <= confirming.LONGEST
