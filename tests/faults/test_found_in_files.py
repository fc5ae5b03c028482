"""Files that once ended in a traceback, or in a wrong number: each found by fuzzing, each in its smallest form."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import polars as pl
import pytest

from shaketable import catalog
from shaketable.datasets.reading.rows import read_rows
from shaketable.errors import DataError, PartError, StudyError
from shaketable.stages.answer_rows import read_answer_rows
from shaketable.stages.import_answers import import_answers
from shaketable.stages.interchange.logs import read_log
from shaketable.stages.plan import plan
from shaketable.store import RecordStore
from shaketable.store.verify import verify
from shaketable.study import load_study
from shaketable.variations.variant_set import load_variant_set

DIGITS = "9" * 4400
ANSWER = {"question_id": "q", "question": "Who?", "gold": "Ann", "answer": "Ann"}


def load(folder: Path, loader: str, content: str | bytes) -> object:
    file = folder / "file"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return catalog.find("dataset", loader)(str(file))


@pytest.mark.parametrize(
    ("loader", "content", "says"),
    [
        (
            "jsonl",
            f'{{"question": "Who?", "answers": ["x"], "id": {DIGITS}}}',
            "line 1: a number has thousands of digits",
        ),
        ("hotpotqa", f"[{DIGITS}]", "a number has thousands of digits"),
        ("jsonl", '{"question": "Who?", "answers": ["x"], "tags": {"a": Infinity}}', "is inf, expected"),
        ("triviaqa", "[[null, null]]", "a question and a list of answers, both as texts"),
        ("nq_open", "[[null, null]]", "a question and a list of answers, both as texts"),
        ("nq_open", "who\t[{[]: 1}]\n", "expected a printed list"),
        ("squad", '{"id": "a", "question": "Q?", "answers": {"text": ["x"], "answer_start": 3}}', "no list"),
    ],
)
def test_a_row_that_cannot_be_read_is_told(tmp_path: Path, loader: str, content: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        load(tmp_path, loader, content)


def test_a_damaged_table_of_the_data_hub_is_told_in_a_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    stream = io.BytesIO()
    pl.DataFrame([{"id": "q1", "question": "Who is it?", "answers": ["Ann", "Bob"]}]).write_parquet(stream)
    whole = stream.getvalue()
    told = 0
    for place in range(4, len(whole) - 8, 9):
        try:
            load(tmp_path, "triviaqa", whole[:place] + b"\xff\xff" + whole[place + 2 :])
        except DataError as error:
            told += 1
            assert "\n" not in str(error)
    assert told
    assert capfd.readouterr().err == ""


def test_half_a_character_is_told_with_its_line_before_anything_is_asked(tmp_path: Path) -> None:
    rows = [{"id": "a", "question": "Who?", "answers": ["x"]}, {"id": "b", "question": "Wh\ud800o?", "answers": ["x"]}]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError, match=r"q.jsonl line 2: it holds half a character .*U\+D800\) after 'Wh'"):
        list(read_rows(tmp_path / "q.jsonl"))


@pytest.mark.parametrize("dataset", ["jsonl", "csv", "hotpotqa"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, dataset: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="is a pipe or a device"):
        catalog.find("dataset", dataset)(str(tmp_path / "pipe"))


@pytest.mark.parametrize("path", ["pipe", "/dev/zero"])
def test_wordings_of_a_pipe_or_a_device_are_refused_and_not_waited_for(tmp_path: Path, path: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="is a pipe or a device"):
        load_variant_set(tmp_path / path)


@pytest.mark.parametrize("path", ["pipe", "/dev/zero"])
def test_a_log_that_is_a_pipe_or_a_device_is_refused_and_not_waited_for(tmp_path: Path, path: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="is a pipe or a device"):
        read_log(tmp_path / path, "inspect")


def test_of_a_key_that_a_row_has_twice_the_last_counts(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"id": "a", "id": "b"}\n{"id": "c"}\n')
    assert [row.value["id"] for row in read_rows(tmp_path / "q.jsonl")] == ["b", "c"]


def test_an_error_does_not_repeat_all_that_it_found(tmp_path: Path) -> None:
    line = json.dumps({"id": "x" * 200_000, "question": "Who?", "answers": ["x"]}) + "\n"
    with pytest.raises(DataError, match="was already used in file line 1") as told:
        load(tmp_path, "jsonl", line * 2)
    assert len(str(told.value)) < 1_000
    assert len(str(StudyError("word " * 100_000))) < 11_000
    assert str(StudyError("as it is")) == "as it is"


# --- answers ----------------------------------------------------------------------------------------


def read(folder: Path, **changes: object) -> object:
    (folder / "answers.jsonl").write_text(json.dumps(ANSWER | changes))
    return read_answer_rows(folder / "answers.jsonl")


def test_a_temperature_of_minus_zero_is_zero(tmp_path: Path) -> None:
    read(tmp_path, temperature=-0.0)
    run = import_answers(tmp_path / "answers.jsonl", tmp_path / "run").run
    with RecordStore(run.records_path, read_only=True) as store:
        assert verify(store).problems == ()


@pytest.mark.parametrize("key", ["repeat", "n_facts", "n_searches", "n_generations", "n_tokens"])
def test_a_count_beyond_what_a_table_holds_is_told(tmp_path: Path, key: str) -> None:
    with pytest.raises(DataError, match=f"'{key}' is 1000000000000000000000000000000; input should be less"):
        read(tmp_path, **{key: 10**30})


@pytest.mark.parametrize(
    ("logprob", "says"), [(float("nan"), "a value that is not finite"), (1e300, "probabilities that sum to")]
)
def test_a_log_probability_that_is_none_is_told(tmp_path: Path, logprob: float, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read(tmp_path, top_logprobs=[[logprob, -1.0]])


# --- studies and parts ------------------------------------------------------------------------------


def study(folder: Path, text: str) -> object:
    (folder / "study.toml").write_text(f'name = "x"\n{text}')
    return plan(load_study(folder / "study.toml"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"seed = {DIGITS}", "a number or a list in it is too long"),
        (f"seed = {'[' * 3000}", "this is not TOML"),
        (f"seed = 0x{'f' * 5000}", "seed: found a whole number beyond 64 bits"),
        ("[dataset.where]\ntype = [0xffffffffffffffffffff]", r"dataset.where.type\[0\]: found a whole number beyond"),
        ("[dataset.where]\ntype = ['bridge', nan]", r"dataset.where.type\[1\]: found nan, which is no number"),
        ("[dataset]\nname = 'builtin'\nodd = -nan", "dataset.odd: found nan, which is no number"),
        ("[cross]\ntemperatures = {from = 0.0, to = 1e300, step = 1e-300}", "more than 10,000 temperatures"),
        ("[cross]\nrepeats = 1000000000000", "cross.repeats: found 1000000000000"),
        ("[dataset]\nname = 'jsonl'\npath = 'x'\ncolumns = 5", "dataset: 'columns' is 5; input should be a valid"),
        ("[dataset]\nname = 'hotpotqa'\npath = 'x'\nsplit = 2020-01-01", "dataset: 'split' is .*valid string"),
    ],
)
def test_a_study_that_cannot_be_is_told(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(StudyError, match=says):
        study(tmp_path, text)


@pytest.mark.parametrize("value", ["{[]: 1}", "{[1]}", "0x" + "f" * 5000, "1" + "+1" * 3000, "-" * 3000 + "1", DIGITS])
def test_a_setting_that_is_no_value_is_told(value: str) -> None:
    with pytest.raises(PartError, match="Cannot read the component"):
        catalog.parse(f"spelling(seed={value})")


def test_a_setting_that_is_not_finite_is_told() -> None:
    with pytest.raises(PartError, match="temperature' is inf; expected a number that is finite"):
        catalog.build("variation", "formality(temperature=1e999)")


def test_an_import_holds_no_second_copy_of_its_rows(tmp_path: Path) -> None:
    """Records are made as they are stored, and the digest of all rows as they are met."""
    made: list[int] = []
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps({**ANSWER, "question_id": f"q{n}"}) + "\n" for n in range(2500)))
    append = RecordStore.append
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            RecordStore, "append", lambda own, records, env: made.append(len(records)) or append(own, records, env)
        )
        run = import_answers(file, tmp_path / "run").run
    assert made == [1000, 1000, 500] and len(run.store.keys()) == 2500
    assert import_answers(file, tmp_path / "run").run.store.keys() == run.store.keys()
