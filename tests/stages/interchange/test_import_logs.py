"""Logs that the tools themselves wrote (see tests/helpers/make_logs.py) come in with the answers that were given."""

import gzip
import json
import random
import shutil
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from make_logs import CHOICES, QUESTIONS, REPLIES

from shaketable.errors import DataError
from shaketable.stages.import_answers import import_answers
from shaketable.stages.interchange.logs import read_log
from shaketable.stages.score import score
from shaketable.store.verify import verify
from shaketable.types import Generate

LOGS = Path(__file__).parent / "logs"
CAPITALS = ["inspect_0.3.140_capitals.json", "inspect_0.3.140_capitals.eval"]
SAMPLES = sorted((LOGS / "lm_eval_0.4.13").glob("*/samples_*.jsonl"))
ANSWERS = {(country, repeat): said for country, replies in REPLIES.items() for repeat, said in enumerate(replies)}


@pytest.fixture
def imported(tmp_path):
    def bring(path, **how):
        return import_answers(path, tmp_path / "run", **how)

    return bring


def answers(run, *names):
    return {tuple(row[:-1]): row[-1] for row in run.records().select(*names, "answer").iter_rows()}


# --- Inspect ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CAPITALS)
def test_answers_of_an_inspect_log_are_those_that_were_given(imported, name):
    run = imported(LOGS / name).run
    told = answers(run, "question_id", "repeat")
    assert {key: said for key, said in told.items() if key[0] != "Fiji"} == ANSWERS
    assert told[("Fiji", 0)] is None and told[("Fiji", 1)] is None
    assert verify(run.store).problems == ()


@pytest.mark.parametrize("name", CAPITALS)
def test_epochs_temperature_model_targets_and_solvers_of_an_inspect_log_arrive(imported, name):
    run = imported(LOGS / name).run
    assert (run.study.models, run.study.methods) == (("mockllm/model",), ("in_turn",))
    assert (run.study.temperatures, run.study.repeats) == ((0.7,), 2)
    questions = {question.id: question for question in run.store.questions()}
    assert {id: (one.text, one.answers) for id, one in questions.items()} == {
        id: (text, (gold, f"{gold} City")) for id, (text, gold) in QUESTIONS.items()
    }
    assert {question.dataset for question in questions.values()} == {"capitals"}
    assert questions["Peru"].tags["type"] == "place"


def test_an_error_of_a_sample_is_a_failure_with_its_message(imported):
    run = imported(LOGS / CAPITALS[0]).run
    failures = [record.failure for record in run.store.records() if record.failure]
    assert {(failure.kind, failure.message) for failure in failures} == {
        ("error", "RuntimeError('the endpoint is down')")
    }


def test_scores_of_inspect_are_numbers_of_their_own(imported):
    run = imported(LOGS / CAPITALS[1]).run
    score(run)
    table = run.score_table().filter(metric="given@includes").sort("question_id", "repeat")
    told = {(id, repeat): value for id, repeat, value in table.select("question_id", "repeat", "value").iter_rows()}
    assert told == {
        ("Fiji", 0): None, ("Fiji", 1): None, ("France", 0): 1.0, ("France", 1): 1.0, ("Ghana", 0): 1.0,
        ("Ghana", 1): 0.0, ("Peru", 0): 0.0, ("Peru", 1): 1.0,
    }  # fmt: skip
    reasons = table.filter(question_id="Fiji")["reason"].to_list()
    assert reasons == ["failed: error"] * 2


def test_the_prompt_of_a_sample_stands_in_the_record(imported):
    run = imported(LOGS / "inspect_0.3.140_choices.json", temperature=1.0).run
    record = next(record for record in run.store.records() if record.trial.question_id == "2")
    [step] = [event.step for event in record.trace if isinstance(event.step, Generate)]
    assert "B) Lima" in step.messages[-1].content
    assert (record.answer.text, record.answer.working) == ("Paris", "ANSWER: A")


def test_choices_become_texts(imported):
    run = imported(LOGS / "inspect_0.3.140_choices.json", temperature=1.0).run
    assert list(answers(run, "question_id").values()) == ["Paris", "Paris", "Accra", "Paris"]
    assert [question.answers for question in run.store.questions()] == [(choice,) for choice in CHOICES]


def test_a_log_without_a_temperature_asks_for_it(imported):
    with pytest.raises(DataError, match=r"names no temperature.*--temperature 1"):
        imported(LOGS / "inspect_0.3.140_plain.eval")
    run = imported(LOGS / "inspect_0.3.140_plain.eval", temperature=1.0).run
    assert run.study.temperatures == (1.0,)


def test_a_task_that_was_cut_gives_what_it_has(imported, tmp_path):
    cut = tmp_path / "cut.eval"
    with zipfile.ZipFile(LOGS / CAPITALS[1]) as old, zipfile.ZipFile(cut, "w") as new:
        for name in old.namelist():
            if name in ("_journal/start.json", "samples/France_epoch_1.json"):
                new.writestr(name, old.read(name))
    brought = imported(cut)
    assert brought.run.summary().trials == 1
    assert [remark.text for remark in brought.remarks] == ["its status is 'started', so samples may be missing"]


# --- lm-evaluation-harness --------------------------------------------------------------------------


def test_answers_of_samples_are_those_that_were_given(imported):
    brought = imported(next(file for file in SAMPLES if "capitals" in file.name))
    told, places = answers(brought.run, "question_id", "repeat"), list(QUESTIONS)
    assert {(places[int(id)], repeat): said for (id, repeat), said in told.items() if id != "3"} == ANSWERS
    assert [remark.text for remark in brought.remarks] == ["answers are those of the filter 'all', not of first"]
    assert (brought.run.study.models, brought.run.study.temperatures) == (("capital-knower",), (0.7,))
    assert [(one.text, one.answers) for one in brought.run.store.questions()] == [
        (text, (gold,)) for text, gold in QUESTIONS.values()
    ]


def test_the_likeliest_choice_is_the_answer(imported):
    file = next(file for file in SAMPLES if "choices" in file.name)
    run = imported(file).run
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    likeliest = []
    for line in lines:
        values = [float(response[0]) for response in line["filtered_resps"]]
        likeliest.append(CHOICES[values.index(max(values))])
    assert list(answers(run, "question_id").values()) == likeliest
    score(run)
    given_scores = run.score_table().filter(metric="given@acc")["value"].to_list()
    assert given_scores == [line["acc"] for line in lines]
    assert given_scores == run.score_table().filter(metric="correct")["value"].to_list()


def test_a_folder_of_two_tasks_is_one_run(imported):
    run = imported(LOGS / "lm_eval_0.4.13").run
    assert {id.partition("/")[0] for id in run.records()["question_id"]} == {"capitals", "choices"}
    assert run.summary().trials == 12


def test_results_are_read_by_the_samples_beside_them(imported):
    results = next((LOGS / "lm_eval_0.4.13" / "choices").glob("results_*"))
    assert imported(results).run.summary().trials == 4


def test_samples_that_are_sampled_without_a_temperature_ask_for_it(imported, tmp_path):
    file = tmp_path / "samples_x.jsonl"
    line = json.loads(next(file for file in SAMPLES if "capitals" in file.name).read_text().splitlines()[0])
    del line["arguments"]["gen_args_0"]["arg_1"]["temperature"]
    file.write_text(json.dumps(line))
    with pytest.raises(DataError, match="no temperature is named"):
        imported(file)
    assert imported(file, temperature=0.5).run.study.temperatures == (0.5,)


def test_perplexities_hold_no_answers(imported, tmp_path):
    file = tmp_path / "samples_x.jsonl"
    line = {"doc_id": 0, "doc": {"page": "a"}, "target": "a", "arguments": {"gen_args_0": {"arg_0": "a"}},
            "resps": [[["-3.5"]]], "filtered_resps": [["-3.5"]], "filter": "none", "metrics": []}  # fmt: skip
    file.write_text(json.dumps(line))
    with pytest.raises(DataError, match="no answer in it"):
        imported(file)


# --- which log it is, and what is none --------------------------------------------------------------


def test_the_same_log_twice_is_refused(imported, tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in CAPITALS:
        shutil.copy(LOGS / name, folder)
    with pytest.raises(DataError, match="Import one log of the two"):
        imported(folder)


def test_a_folder_with_logs_of_both_tools_asks_which(imported):
    with pytest.raises(DataError, match="logs of inspect and lm-eval"):
        imported(LOGS)


def test_a_folder_without_logs_is_told(imported, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="holds no logs"):
        imported(tmp_path / "empty")


def test_a_plain_file_of_answers_is_no_log(tmp_path):
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps({"question_id": "q", "question": "Who?", "gold": "Ann", "answer": "Ann"}))
    assert read_log(file) is None


def test_a_zip_file_that_is_no_log_is_told(imported, tmp_path):
    file = tmp_path / "other.zip"
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("a.txt", "a")
    with pytest.raises(DataError, match=r"without 'header.json'"):
        imported(file)


def test_a_packed_log_that_is_damaged_is_told(tmp_path):
    file = tmp_path / "log.json.gz"
    packed = bytearray(gzip.compress((LOGS / CAPITALS[0]).read_bytes(), mtime=0))
    packed[40:60] = bytes(20)
    file.write_bytes(packed)
    with pytest.raises(DataError, match=r"log\.json\.gz: it cannot be read as a log: Error -3"):
        read_log(file, "inspect")


WHOLE = {name: (LOGS / name).read_bytes() for name in CAPITALS} | {file.name: file.read_bytes() for file in SAMPLES}


@pytest.mark.parametrize("name", list(WHOLE))
@given(seed=st.integers(0, 10**6))
def test_a_damaged_log_ends_in_a_message_or_in_rows(tmp_path_factory, name, seed):
    """Bytes are cut, flipped or doubled: there is never another kind of error."""
    rng = random.Random(seed)
    content = bytearray(WHOLE[name])
    place = rng.randrange(len(content))
    match rng.choice(("cut", "flip", "double")):
        case "cut":
            del content[place:]
        case "flip":
            for _ in range(rng.randrange(1, 20)):
                content[rng.randrange(len(content))] = rng.randrange(256)
        case "double":
            content[place:place] = content[: rng.randrange(2000)]
    file = tmp_path_factory.mktemp("damaged") / name
    file.write_bytes(content)
    try:
        log = read_log(file, "inspect" if name.startswith("inspect") else "lm-eval", 1.0)
    except DataError as error:
        assert str(error)
    else:
        assert log.rows


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
INSPECT = json.loads(WHOLE[CAPITALS[0]])


def places(value, path=()):
    """Where members lie in a JSON value."""
    yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from places(member, (*path, name))


SMALL = {**INSPECT, "samples": [{k: v for k, v in INSPECT["samples"][3].items() if k != "events"}]}
SMALL_PLACES = [path for path in places(SMALL) if path]
LINE = json.loads(SAMPLES[0].read_text().splitlines()[0])
LINE_PLACES = [path for path in places(LINE) if path]


def replaced(value, path, other):
    copy = json.loads(json.dumps(value))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = other
    return copy


@given(path=st.sampled_from(SMALL_PLACES), other=JSON)
def test_an_inspect_log_with_anything_anywhere_ends_in_a_message_or_in_rows(tmp_path_factory, path, other):
    file = tmp_path_factory.mktemp("odd") / "log.json"
    file.write_text(json.dumps(replaced(SMALL, path, other)))
    try:
        assert read_log(file, "inspect", 1.0).rows
    except DataError as error:
        assert str(error)


@given(path=st.sampled_from(LINE_PLACES), other=JSON)
def test_a_sample_with_anything_anywhere_ends_in_a_message_or_in_rows(tmp_path_factory, path, other):
    file = tmp_path_factory.mktemp("odd") / "samples_x.jsonl"
    file.write_text(json.dumps(replaced(LINE, path, other)))
    try:
        assert read_log(file, "lm-eval", 1.0).rows
    except DataError as error:
        assert str(error)
