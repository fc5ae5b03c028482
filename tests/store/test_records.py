import dataclasses
import shutil
import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_studies import answered, row, small_study, write_rows

from shaketable.errors import StoreError
from shaketable.stages.plan import plan
from shaketable.store import RecordStore, schema
from shaketable.types import (
    Answer,
    Completion,
    Cost,
    Edit,
    Event,
    Evidence,
    Failure,
    Generate,
    Hit,
    Message,
    Note,
    Passage,
    Probe,
    Reading,
    Record,
    Search,
    Sentence,
)

PASSAGE = Passage(id="Zürich", title="Zürich", sentences=(Sentence(id="Zürich#0", text="東京 \0 \u2028 🙂"),))
HIT = Hit(passage=PASSAGE, rank=1, score=0.25, source="bm25")
EDIT = Edit(kind="replace", sentence_id="Zürich#0", before="a", after=None, note="why")


@pytest.fixture
def planned(tmp_path):
    return plan(small_study(tmp_path))


def record_of(planned, n=0, **changes):
    trial, condition = list(planned.trials())[n]
    return Record(
        **{"trial": trial, "answer": Answer(text="Paris"), "environment": {"engine": "e"}, **changes}
    ), condition


def stored(path, planned, *records):
    with RecordStore(path) as store:
        store.add_questions([(question, planned.items[question.id]) for question in planned.questions])
        store.append(records, {"engine": "e"})
        return list(store.records())


def test_a_record_comes_back_as_it_went_in(tmp_path, planned):
    full = Completion(
        text="Paris \0 🙂", finish_reason="stop", n_prompt_tokens=7, n_tokens=2, seconds=0.125, thoughts="hm",
        n_thought_tokens=None, written="<think>\nHm</think>Paris", tokens=("Par", "is"),
        extras={"logprobs": [-0.5, -1.0]},
        decoding={"temperature": 1.0}, notes=("seed_ignored",),
    )  # fmt: skip
    generation = Generate(
        messages=(Message(role="system", content="S"), Message(role="user", content="U \0")),
        layout="plain", max_tokens=5, stop=("\n", "."), sampling={"temperature": 0.7}, purpose="answer_completion",
    )  # fmt: skip
    trace = (
        Event(step=Search(query="who", k=3), reply=Evidence(hits=(HIT,), edits=(EDIT,), flags=("nothing_to_mask",))),
        Event(step=Note(name="trigger", values={"value": 0.5}), reply=None),
        Event(step=generation, reply=full),
        Event(step=Probe(text="Paris", wants=("attention",)), reply=Reading(tokens=("Par", "is"), extras={})),
        Event(
            step=Probe(text="a", wants=("logprobs",), before=generation.messages, layout="plain"),
            reply=Reading(tokens=("a",), extras={}),
        ),
        Event(step=generation, reply=Failure(kind="busy", message="later", step="generate", may_retry=True)),
    )
    record, condition = record_of(
        planned,
        answer=Answer(text="Paris \0", working="w", hits=(HIT,), abstained=True, reason="no_box"),
        trace=trace,
        cost=Cost(n_searches=1, n_generations=2, n_prompt_tokens=7, n_tokens=2, seconds=0.125),
    )
    assert stored(tmp_path / "r.sqlite", planned, (record, condition)) == [record]


def test_a_failure_comes_back_as_it_went_in(tmp_path, planned):
    failure = Failure(kind="timeout", message="no reply — 'x'", step="generate", may_retry=True)
    record, condition = record_of(planned, answer=None, failure=failure)
    assert stored(tmp_path / "r.sqlite", planned, (record, condition)) == [record]
    with RecordStore(tmp_path / "r.sqlite", read_only=True) as store:
        assert (store.keys(), store.finished_keys(), store.n_finished()) == ({record.trial.key}, set(), 0)


def test_a_very_long_answer_comes_back_whole(tmp_path, planned):
    text = "ä\0\n" * 1_000_000
    record, condition = record_of(planned, answer=Answer(text=text, working=text))
    [found] = stored(tmp_path / "r.sqlite", planned, (record, condition))
    assert found == record


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text())
def test_any_text_comes_back_as_it_went_in(tmp_path_factory, planned, text):
    step = Generate(messages=(Message(role="user", content=text),))
    completion = Completion(text=text, finish_reason="end", n_prompt_tokens=1, n_tokens=1, seconds=0.0)
    record, condition = record_of(planned, answer=Answer(text=text), trace=(Event(step=step, reply=completion),))
    assert stored(tmp_path_factory.mktemp("any") / "r.sqlite", planned, (record, condition)) == [record]


def test_questions_come_back_as_they_were_in_the_order_they_were_given(tmp_path, planned):
    with RecordStore(tmp_path / "r.sqlite") as store:
        store.add_questions([(question, "item") for question in planned.questions])
        assert tuple(store.questions()) == planned.questions


def test_texts_that_many_records_share_are_kept_once(tmp_path):
    answered(small_study(tmp_path, n=1, repeats=50), tmp_path / "r.sqlite")
    with RecordStore(tmp_path / "r.sqlite", read_only=True) as store:
        # 100 records share one evidence, its hits and one prompt.
        assert store.rows("SELECT COUNT(*) FROM records") == [(100,)]
        assert store.rows("SELECT COUNT(*) FROM texts") == [(3,)]


def test_a_trial_is_stored_once_and_its_last_record_counts(tmp_path, planned):
    failed, condition = record_of(
        planned, answer=None, failure=Failure(kind="busy", message="", step="x", may_retry=True)
    )
    fine = dataclasses.replace(failed, answer=Answer(text="Paris"), failure=None)
    assert stored(tmp_path / "r.sqlite", planned, (failed, condition), (fine, condition)) == [fine]


def test_an_append_is_whole_or_not_at_all(tmp_path, planned):
    good, condition = record_of(planned)
    bad, _ = record_of(planned, n=1, answer=Answer(text="half a character \ud83d"))
    with RecordStore(tmp_path / "r.sqlite") as store:
        with pytest.raises(
            StoreError, match=r"holds half a character .*, after 'half a character'\. .* mend it in the data"
        ):
            store.append([(good, condition), (bad, condition)], {"engine": "e"})
        assert store.keys() == set()


def test_readers_see_what_was_committed_while_the_writer_goes_on(tmp_path, planned):
    pairs = [record_of(planned, n) for n in range(3)]
    with RecordStore(tmp_path / "r.sqlite") as writer:
        writer.append(pairs[:1], {"engine": "e"})
        with RecordStore(tmp_path / "r.sqlite", read_only=True) as reader:
            assert len(reader.keys()) == 1
            writer._connection.execute("BEGIN")
            writer._connection.execute("DELETE FROM records")
            assert len(reader.keys()) == 1
            writer._connection.rollback()
            writer.append(pairs[1:], {"engine": "e"})
            assert len(reader.keys()) == 3


def test_a_reader_cannot_write(tmp_path, planned):
    stored(tmp_path / "r.sqlite", planned, record_of(planned))
    with RecordStore(tmp_path / "r.sqlite", read_only=True) as reader, pytest.raises(StoreError, match="readonly"):
        reader.set_meta(x=1)


def test_a_missing_text_is_named_with_the_next_step(tmp_path):
    answered(small_study(tmp_path), tmp_path / "r.sqlite")
    with RecordStore(tmp_path / "r.sqlite") as store:
        with store._connection as connection:
            connection.execute("DELETE FROM texts")
        with pytest.raises(
            StoreError, match=r"the text [0-9a-f]{32} that a record refers to is missing\. Run: shaketable"
        ):
            list(store.records())


# --- files that are not a run's ---------------------------------------------------------------------


def foreign(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.execute("INSERT INTO theirs VALUES (1)")
    connection.close()


def newer(path):
    with RecordStore(path) as store:
        store._connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")


def truncated(path):
    with RecordStore(path) as store:
        store.set_meta(long="x" * 100_000)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


BROKEN = [
    (lambda path: path.write_bytes(b"This is a letter, not a database. " * 100), "file is not a database"),
    (foreign, "is an SQLite file, but not one of Shaketable's. Nothing was changed. Use another folder."),
    (
        newer,
        f"a newer Shaketable (format {schema.VERSION + 1}, this one reads up to {schema.VERSION}). Update Shaketable.",
    ),
    (truncated, "cannot be read as a run's records: database disk image is malformed. Nothing was changed. Restore"),
]


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize(("make", "message"), BROKEN)
def test_a_file_that_is_no_run_is_refused_and_left_as_it_was(tmp_path, make, message, read_only):
    path = tmp_path / "records.sqlite"
    make(path)
    for rest in ("-wal", "-shm"):
        path.with_name(path.name + rest).unlink(missing_ok=True)
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        RecordStore(path, read_only=read_only)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)
    assert path.read_bytes() == before


def test_damage_inside_the_file_is_named_and_not_a_traceback(tmp_path):
    answered(small_study(tmp_path, n=40), tmp_path / "r.sqlite")
    content = bytearray((tmp_path / "r.sqlite").read_bytes())
    content[8192 : len(content) // 2] = b"\xff" * (len(content) // 2 - 8192)
    (tmp_path / "r.sqlite").write_bytes(content)
    with RecordStore(tmp_path / "r.sqlite", read_only=True) as store, pytest.raises(StoreError, match="malformed"):
        list(store.records())


def test_there_is_nothing_to_read_before_a_first_run(tmp_path):
    message = r"There are no records in .*r\.sqlite yet\. Answer the study first: shaketable run .* --out"
    with pytest.raises(StoreError, match=message):
        RecordStore(tmp_path / "r.sqlite", read_only=True)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "r.sqlite").touch()
    with pytest.raises(StoreError, match=message):
        RecordStore(tmp_path / "r.sqlite", read_only=True)


@pytest.mark.parametrize("stage", ["nothing", "journal"])
def test_a_file_that_a_killed_run_left_without_tables_is_gone_on_with(tmp_path, planned, stage):
    path = tmp_path / "r.sqlite"
    path.touch()
    if stage == "journal":
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.close()
    record, condition = record_of(planned)
    assert stored(path, planned, (record, condition)) == [record]


def test_tables_are_made_all_at_once(tmp_path, planned, monkeypatch):
    path = tmp_path / "r.sqlite"
    with monkeypatch.context() as patched, pytest.raises(StoreError):
        patched.setattr(schema, "TABLES", schema.TABLES + "CREATE NOTHING;")
        RecordStore(path)
    record, condition = record_of(planned)
    assert stored(path, planned, (record, condition)) == [record]


def test_a_copy_of_the_file_alone_holds_everything_once_the_writer_is_done(tmp_path):
    _, records = answered(small_study(tmp_path), tmp_path / "r.sqlite")
    shutil.copy(tmp_path / "r.sqlite", tmp_path / "copy.sqlite")
    with RecordStore(tmp_path / "copy.sqlite", read_only=True) as store:
        assert store.keys() == set(records)


def test_a_question_that_is_stored_again_keeps_one_row(tmp_path):
    study = small_study(tmp_path)
    answered(study, tmp_path / "r.sqlite")
    write_rows(tmp_path / "questions.jsonl", [row(n, answers=["New"]) for n in range(3)])
    answered(study, tmp_path / "r.sqlite")
    with RecordStore(tmp_path / "r.sqlite", read_only=True) as store:
        assert [question.answers for question in store.questions()] == [("New",)] * 3
