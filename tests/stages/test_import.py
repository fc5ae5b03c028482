import json

import polars as pl
import pytest
from made_studies import write_rows

from shaketable.errors import DataError, RunError
from shaketable.stages.analyze import analyze
from shaketable.stages.import_answers import import_answers
from shaketable.stages.score import score
from shaketable.store.verify import verify
from shaketable.types import Event, Evidence, Hit, Note, Passage, Search

ROW = {"question_id": "q1", "question": "Who?", "gold": "Ann", "answer": "It was Ann."}
FULL = {
    **ROW,
    "gold": ["Ann", "Anna"],
    "dataset": "nq",
    "type": "bridge",
    "n_facts": 3,
    "model": "gpt-4o",
    "method": "adaptive rag",
    "retriever": "bm25",
    "variation": "typos",
    "perturbation": "noise",
    "temperature": 0.7,
    "repeat": 2,
    "n_searches": 4,
    "n_generations": 5,
    "n_tokens": 60,
    "searches": [{"query": "Ann", "hits": ["Ann of Cleves", "Anna"], "gold_hit": True}, {"query": "Bob"}],
}


@pytest.fixture
def imported(tmp_path):
    def bring(*rows, name="answers.jsonl", out="run"):
        return import_answers(write_rows(tmp_path / name, list(rows)), tmp_path / out).run

    return bring


def test_every_field_arrives(imported):
    run = imported(FULL)
    [record] = run.store.records()
    trial, cost = record.trial, record.cost
    assert (trial.question_id, trial.variant.text, trial.variant.variation) == ("q1", "Who?", "typos")
    assert (trial.model, trial.method, trial.retriever, trial.perturbation) == (
        "gpt-4o",
        "adaptive rag",
        "bm25",
        "noise",
    )
    assert (trial.temperature, trial.repeat) == (0.7, 2)
    assert (cost.n_searches, cost.n_generations, cost.n_tokens) == (4, 5, 60)
    assert (record.answer.text, record.failure) == ("It was Ann.", None)
    [question] = run.store.questions()
    assert (question.answers, question.dataset, question.tags) == (
        ("Ann", "Anna"),
        "nq",
        {"type": "bridge", "n_facts": 3},
    )
    hits = tuple(
        Hit(passage=Passage(id=title, title=title, sentences=()), rank=rank, score=None, source="imported")
        for rank, title in enumerate(["Ann of Cleves", "Anna"], 1)
    )
    assert record.trace == (
        Event(step=Search(query="Ann", k=2), reply=Evidence(hits=hits)),
        Event(step=Note(name="gold_hit", values={"value": True}), reply=None),
        Event(step=Search(query="Bob", k=0), reply=Evidence(hits=())),
    )


def test_four_fields_are_enough(imported):
    run = imported(ROW)
    [record] = run.store.records()
    assert (record.trial.model, record.trial.method, record.trial.retriever) == ("imported", "imported", None)
    assert (record.trial.temperature, record.trial.repeat, record.cost.n_searches) == (0.0, 0, 0)


def test_searches_that_are_listed_are_counted(imported):
    run = imported({**ROW, "searches": [{"query": "a"}, {"query": "b"}]})
    [record] = run.store.records()
    assert record.cost.n_searches == 2


def test_a_null_answer_is_a_failure_and_never_a_zero(imported):
    run = imported(ROW, {**ROW, "repeat": 1, "answer": None})
    assert (run.summary().done, run.summary().failed) == (1, 1)
    score(run, ["contains"])
    assert run.scores()["value"].to_list() == [1.0, None]


def test_an_empty_answer_is_an_answer(imported):
    run = imported({**ROW, "answer": ""})
    score(run, ["contains"])
    assert run.scores()["value"].to_list() == [0.0]


def test_imported_answers_are_sound_scored_and_analyzed(imported):
    rows = [
        {**ROW, "question_id": f"q{n}", "repeat": repeat, "answer": "Ann" if n < 2 else "Bob", "temperature": 0.5}
        for n in range(4)
        for repeat in range(2)
    ]
    run = imported(*rows)
    assert verify(run.store).problems == ()
    score(run)
    results = {finding.analysis: finding.result for finding in analyze(run).findings}
    assert results.keys() == {"correctness", "variability"}
    levels = [one for one in results["correctness"].levels if one.metric == "contains" and one.cell.group is None]
    assert [level.mean.value for level in levels] == [0.5]


def test_the_original_wording_is_the_text_of_the_question(imported):
    run = imported({**ROW, "question": "hwo?", "variation": "typos"}, ROW)
    assert [question.text for question in run.store.questions()] == ["Who?"]
    assert {record.trial.variant.text for record in run.store.records()} == {"hwo?", "Who?"}


def test_odd_line_separators_inside_an_answer_do_not_end_a_line(imported):
    text = "one\u2028two\x85three\x0cfour"
    [record] = imported({**ROW, "answer": text}).store.records()
    assert record.answer.text == text


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [ROW, ROW],
            "answers.jsonl line 2: the same question, condition, temperature and repeat as answers.jsonl line 1.",
        ),
        (
            [ROW, {**ROW, "repeat": 1, "gold": "Bob"}],
            "answers.jsonl line 2: question 'q1' has the gold answers ['Bob'], but ['Ann'] in another line.",
        ),
        (
            [{**ROW, "anwser": "x"}],
            "answers.jsonl line 1: unknown key 'anwser'. Did you mean 'answer'? Known keys: question_id,",
        ),
        ([{**ROW, "gold": []}], "answers.jsonl line 1: 'gold' is empty. Give an accepted answer."),
        ([{**ROW, "gold": " "}], "answers.jsonl line 1: 'gold' is empty. Give an accepted answer."),
        (
            [{"question_id": "q1", "question": "Who?", "gold": "Ann"}],
            "'answer' is missing. Needed: question_id, question, gold",
        ),
        ([{**ROW, "repeat": -1}], "answers.jsonl line 1: 'repeat' is -1; input should be greater than or equal to 0."),
        (
            [{**ROW, "temperature": -0.5}],
            "answers.jsonl line 1: 'temperature' is -0.5; input should be greater than or equal",
        ),
        (
            [{**ROW, "temperature": "hot"}],
            "answers.jsonl line 1: 'temperature' is 'hot'; input should be a valid number",
        ),
        ([{**ROW, "searches": [{"hits": []}]}], "answers.jsonl line 1: 'searches.0.query' is missing."),
        (
            [ROW, "q1"],
            "answers.jsonl line 2: found 'q1'; give a JSON object with question_id, question, gold and answer.",
        ),
        ([{**ROW, "entropy": 1.2}], "line 1: 'entropy' is 1.2; input should be less than or equal to 1."),
        (
            [{**ROW, "entropy": 0.2, "top_logprobs": [[-0.1]]}],
            "line 1: both 'entropy' and 'top_logprobs'. Give one: entropy is computed of the other.",
        ),
        (
            [{**ROW, "top_logprobs": [[-0.1]], "tokens": ["It", "was"]}],
            "line 1: 2 'tokens', but 'top_logprobs' of 1. Give one list for each token.",
        ),
        ([{**ROW, "tokens": ["It"]}], "line 1: 'tokens' without 'top_logprobs'. Give both, or neither."),
        (
            [{**ROW, "top_logprobs": [[-0.1, float("-inf")]]}],
            "line 1: top_logprobs[0] has a value that is not finite. Leave that token out.",
        ),
        ([{**ROW, "n_tokens": 10**10}], "'n_tokens' is 10000000000; input should be less than or equal to 1000000000"),
        (
            [{**ROW, "top_logprobs": [[0.9, 0.1]]}],
            "line 1: top_logprobs[0] has probabilities that sum to 3.56, expected at most 1. Give natural logarithms",
        ),
        (
            [{**ROW, "reference": "It was Ann."}, {**ROW, "repeat": 1, "reference": "Ann was it."}],
            "line 2: question 'q1' has the reference 'Ann was it.', but 'It was Ann.' in another line.",
        ),
        ([], "holds no answers. Give one JSON object per line, or a CSV with a header."),
    ],
)
def test_wrong_rows_are_named_and_leave_no_folder_behind(tmp_path, imported, rows, message):
    with pytest.raises(DataError) as caught:
        imported(*rows)
    assert message in str(caught.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"question_id": ', "answers.jsonl line 1: broken JSON at column 17"),
        (json.dumps(ROW).encode().replace(b"Ann", b"\xff"), "answers.jsonl line 1: byte "),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, content, message):
    (tmp_path / "answers.jsonl").write_bytes(content)
    with pytest.raises(DataError) as caught:
        import_answers(tmp_path / "answers.jsonl", tmp_path / "run")
    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(
        DataError, match=r"^No file .*none\.jsonl\. Give a JSON-lines file with question_id, question, gold"
    ):
        import_answers(tmp_path / "none.jsonl", tmp_path / "run")


def test_importing_the_same_file_again_changes_nothing(imported):
    first = list(imported(ROW, FULL | {"gold": "Ann"}).store.records())
    assert list(imported(ROW, FULL | {"gold": "Ann"}).store.records()) == first


def test_changed_answers_do_not_overwrite_imported_ones(imported):
    imported(ROW)
    with pytest.raises(
        RunError, match=r"holds answers of an earlier answers\.jsonl\. Nothing was changed\. Give a new"
    ):
        imported({**ROW, "answer": "Bob"})
    [record] = imported(ROW).store.records()
    assert record.answer.text == "It was Ann."


# --- tables ---------------------------------------------------------------------------------------


@pytest.fixture
def imported_csv(tmp_path):
    def bring(text, name="answers.csv"):
        (tmp_path / name).write_text(text, "utf-8")
        return import_answers(tmp_path / name, tmp_path / "run").run

    return bring


def test_a_csv_has_a_column_for_each_key_and_lists_as_json(imported_csv):
    run = imported_csv(
        "question_id,question,gold,answer,temperature,repeat,type,searches,gold_titles\n"
        'q1,"Who, then?","[""Ann"", ""Anna""]","Ann, I think",0.7,2,bridge,'
        '"[{""query"": ""Ann"", ""hits"": [""Ann of Cleves""]}]","[""Ann of Cleves""]"\n'
    )
    [record] = run.store.records()
    [question] = run.store.questions()
    assert (record.answer.text, record.trial.temperature, record.trial.repeat) == ("Ann, I think", 0.7, 2)
    assert (question.text, question.answers, question.gold_titles) == (
        "Who, then?",
        ("Ann", "Anna"),
        ("Ann of Cleves",),
    )
    assert record.trace[0].step == Search(query="Ann", k=1)


def test_an_empty_cell_is_left_out_and_an_empty_answer_failed(imported_csv):
    run = imported_csv(
        "question_id,question,gold,answer,temperature,model\nq1,Who?,Ann,Ann,,\nq2,Who else?,[Ann],,0.5,ours\n"
    )
    first, second = sorted(run.store.records(), key=lambda record: record.trial.question_id)
    assert (first.trial.temperature, first.trial.model) == (0.0, "imported")
    assert (second.answer, second.failure.kind, second.trial.model) == (None, "not_answered", "ours")
    assert {question.answers for question in run.store.questions()} == {("Ann",), ("[Ann]",)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question_id,question,gold\nq1,Who?,Ann\n", "answers.csv line 2: 'answer' is missing."),
        (
            "question_id,question,gold,answer,searches\nq1,Who?,Ann,Ann,none\n",
            "answers.csv line 2: 'searches' is no JSON",
        ),
        (
            "question_id,question,gold,answer,temprature\nq1,Who?,Ann,Ann,1\n",
            "answers.csv line 2: unknown key 'temprature'. Did you mean 'temperature'?",
        ),
        (
            "question_id,question,gold,answer\n",
            "holds no answers. Give one JSON object per line, or a CSV with a header.",
        ),
    ],
)
def test_a_wrong_cell_is_named(imported_csv, text, message):
    with pytest.raises(DataError) as caught:
        imported_csv(text)
    assert message in str(caught.value)


def test_a_parquet_table_has_nulls_for_what_is_left_out(tmp_path):
    pl.DataFrame([{**ROW, "temperature": None, "answer": None}, {**ROW, "temperature": 1.0}]).write_parquet(
        tmp_path / "answers.parquet"
    )
    run = import_answers(tmp_path / "answers.parquet", tmp_path / "run").run
    assert [(record.trial.temperature, record.answer is None) for record in run.store.records()] == [
        (0.0, True),
        (1.0, False),
    ]


# --- clean evidence -------------------------------------------------------------------------------


def test_evidence_that_is_not_named_is_the_undisturbed_one_of_a_system_that_was_disturbed(imported):
    run = imported(ROW, {**ROW, "perturbation": "noise"}, {**ROW, "method": "closed_book"})
    assert {(record.trial.method, record.trial.perturbation) for record in run.store.records()} == {
        ("imported", "unchanged"),
        ("imported", "noise"),
        ("closed_book", None),
    }


def test_a_name_with_half_a_character_is_refused_and_leaves_no_study(tmp_path):
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({**FULL, "method": "a \ud83d"}))  # JSON can say it in plain letters.
    with pytest.raises(DataError, match=r"line 1: it holds half a character \(a lone surrogate, U\+D83D\) after"):
        import_answers(answers, tmp_path / "run")
    assert not (tmp_path / "run" / "study.toml").exists()
