"""Traces come back whole: every field of every step and reply, and those of older files."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import made_records
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_studies import small_study

from shaketable.identity import canonical, digest_text
from shaketable.stages.plan import plan
from shaketable.store import RecordStore, codec, trace
from shaketable.store.record_reading import COLUMNS
from shaketable.store.records import N_OLDER, older_checksum
from shaketable.store.verify import verify
from shaketable.types import (
    Answer,
    Completion,
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
    Question,
    Reading,
    Record,
    Search,
    Sentence,
    Step,
)

STEPS = typing.get_args(Step)
REPLIES = (Evidence, Completion, Reading, Failure)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=3,
)


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type hint; tuples and mappings with something in them, and what may be None is not."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint):
        return built(typing.cast(type, hint))
    if origin is typing.Literal:
        return st.sampled_from(inner)
    if origin in (typing.Union, types.UnionType):
        return values_of(next(member for member in inner if member is not type(None)))
    if origin is tuple:
        return st.lists(values_of(inner[0]), min_size=1, max_size=2).map(tuple)
    if origin is not None and issubclass(origin, Mapping):
        return st.dictionaries(st.text(), JSON, min_size=1, max_size=2)
    return {
        str: st.text(min_size=1),
        int: st.integers(),
        float: st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
    }[hint]


def built(kind: type) -> st.SearchStrategy[Any]:
    """Values of a dataclass in which every field differs from its default."""
    hints = typing.get_type_hints(kind)
    strategies = {}
    for field in dataclasses.fields(kind):
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        strategies[field.name] = values_of(hints[field.name]).filter(lambda value, default=default: value != default)
    return st.builds(kind, **strategies)


def came_back(record: Record) -> Record:
    """Packed and unpacked, with shared texts in a dictionary."""
    texts: dict[str, str] = {}

    def keep(value: object) -> str:
        body = canonical(value)
        texts[digest_text(body)] = body
        return digest_text(body)

    def fetch(name: str, unpack: Callable[[Any], Any]) -> Any:
        return unpack(json.loads(texts[name]))

    body = trace.pack(record, keep)
    assert set(trace.references(body)) == set(texts)
    answer, failure = record.answer, record.failure
    return trace.unpack(
        record.trial,
        None if answer is None else answer.text,
        None if failure is None else canonical(failure),
        record.cost,
        record.environment,
        body,
        fetch,
    )


def record(answer: Answer | None, *events: Event) -> Record:
    asked = made_records.record("", Question(id="q", text="Who?", answers=("Ann",)))
    return dataclasses.replace(asked, answer=answer, trace=events)


@pytest.mark.parametrize("reply", REPLIES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("step", STEPS, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_field_of_a_step_and_its_reply_comes_back(step: type, reply: type, data: st.DataObject) -> None:
    one = record(Answer(text="a"), Event(step=data.draw(built(step)), reply=data.draw(built(reply))))
    assert came_back(one) == one


@given(answer=built(Answer), failure=built(Failure))
def test_every_field_of_an_answer_and_of_a_failure_comes_back(answer: Answer, failure: Failure) -> None:
    assert came_back(record(answer)) == record(answer)
    failed = dataclasses.replace(record(None), failure=failure)
    assert came_back(failed) == failed


def test_what_equals_its_default_is_not_written() -> None:
    event = Event(step=Generate(messages=()), reply=None)
    assert json.loads(trace.pack(record(Answer(text="a"), event), lambda value: "0a")) == {
        "events": [{"generate": "0a"}]
    }


# --- files of older versions ------------------------------------------------------------------------

PASSAGE = Passage(id="Z", title="Zürich", sentences=(Sentence(id="Z#0", text="A town."),))
HIT = Hit(passage=PASSAGE, rank=1, score=0.25, source="bm25")
EDIT = Edit(kind="replace", sentence_id="Z#0", before="a", after="b", note="why")
WHERE = (Message(role="user", content="Where?"),)
OLD_TEXTS = {
    "4f0d5a08e1d2b1092bbb56bb941d9ba5": '{"edits":[{"after":"b","before":"a","kind":"replace","note":"why","rank":null,'
    '"sentence_id":"Z#0","source":null,"title":null}],"flags":["nothing_to_mask"],"hits":[{"passage":{"id":"Z",'
    '"sentences":[{"id":"Z#0","text":"A town."}],"title":"Zürich"},"rank":1,"score":0.25,"source":"bm25"}]}',
    "52b7de770335b5cda7d7b61b0abdc9a1": '[{"content":"Where?","role":"user"}]',
    "859bf985d96f3ecbca07e45f88dcd682": '[{"passage":{"id":"Z","sentences":[{"id":"Z#0","text":"A town."}],'
    '"title":"Zürich"},"rank":1,"score":0.25,"source":"bm25"}]',
}
OLD_TRACE = (
    '{"events":[{"search":"who","k":3,"evidence":"4f0d5a08e1d2b1092bbb56bb941d9ba5"},'
    '{"note":"trigger","values":{"value":0.5}},'
    '{"generate":"52b7de770335b5cda7d7b61b0abdc9a1","layout":"plain","max_tokens":5,"stop":["\\n","."],'
    '"sampling":{"temperature":0.7},"purpose":"answer_completion","completion":{"text":"Paris","finish":"stop",'
    '"n_prompt_tokens":7,"n_tokens":2,"seconds":0.125,"thoughts":"hm","n_thought_tokens":null,'
    '"written":"<think>\\nHm</think>Paris","tokens":["Par","is"],"notes":["seed_ignored"],'
    '"extras":{"logprobs":[-0.5,-1.0]},"decoding":{"temperature":1.0}}},'
    '{"generate":"52b7de770335b5cda7d7b61b0abdc9a1","layout":"chat","completion":{"text":"Rome","finish":"end",'
    '"n_prompt_tokens":1,"n_tokens":1,"seconds":0.5}},'
    '{"probe":"Paris","wants":["attention"],"tokens":["Par","is"]},'
    '{"probe":"a","wants":["logprobs"],"before":"52b7de770335b5cda7d7b61b0abdc9a1","layout":"plain","tokens":["a"]},'
    '{"generate":"52b7de770335b5cda7d7b61b0abdc9a1","layout":"plain","failure":{"kind":"busy","may_retry":true,'
    '"message":"later","step":"generate"}}],'
    '"working":"w","abstained":true,"reason":"no_box","hits":"859bf985d96f3ecbca07e45f88dcd682"}'
)
"""As version 4 wrote it."""
OLD_EVENTS = (
    Event(step=Search(query="who", k=3), reply=Evidence(hits=(HIT,), edits=(EDIT,), flags=("nothing_to_mask",))),
    Event(step=Note(name="trigger", values={"value": 0.5}), reply=None),
    Event(
        step=Generate(
            messages=WHERE, layout="plain", max_tokens=5, stop=("\n", "."), sampling={"temperature": 0.7},
            purpose="answer_completion",
        ),
        reply=Completion(
            text="Paris", finish_reason="stop", n_prompt_tokens=7, n_tokens=2, seconds=0.125, thoughts="hm",
            n_thought_tokens=None, written="<think>\nHm</think>Paris", tokens=("Par", "is"),
            extras={"logprobs": [-0.5, -1.0]}, decoding={"temperature": 1.0}, notes=("seed_ignored",),
        ),
    ),
    Event(
        step=Generate(messages=WHERE),
        reply=Completion(text="Rome", finish_reason="end", n_prompt_tokens=1, n_tokens=1, seconds=0.5),
    ),
    Event(step=Probe(text="Paris", wants=("attention",)), reply=Reading(tokens=("Par", "is"), extras={})),
    Event(
        step=Probe(text="a", wants=("logprobs",), before=WHERE, layout="plain"),
        reply=Reading(tokens=("a",), extras={}),
    ),
    Event(
        step=Generate(messages=WHERE, layout="plain"),
        reply=Failure(kind="busy", message="later", step="generate", may_retry=True),
    ),
)  # fmt: skip


VERSION_4 = (
    *("meta", "questions", "variants", "conditions", "environments", "texts", "records"),
    *("reference_answers", "curves", "verdicts"),
)
"""The tables of that version."""


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    """A file of version 4 with one record."""
    planned = plan(small_study(tmp_path))
    trial, condition = next(iter(planned.trials()))
    path = tmp_path / "old.sqlite"
    with RecordStore(path) as store:
        store.add_questions([(question, planned.items[question.id]) for question in planned.questions])
        store.append([(Record(trial=trial, answer=Answer(text="Paris")), condition)], {"engine": "e"})
        with store._connection as connection:
            connection.executemany("INSERT INTO texts VALUES (?, ?)", OLD_TEXTS.items())
            connection.execute("UPDATE records SET trace = ?", (OLD_TRACE,))
            [row] = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM records")
            connection.execute("UPDATE records SET checksum = ?", (older_checksum(row),))
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                if table not in VERSION_4:
                    connection.execute(f"DROP TABLE {table}")
            for column in COLUMNS[N_OLDER:]:
                connection.execute(f"ALTER TABLE records DROP COLUMN {column}")
            connection.execute("PRAGMA user_version = 4")
    path.with_suffix(".seal").unlink()
    return path


@pytest.mark.parametrize("read_only", [True, False])
def test_a_record_of_version_4_is_read_as_it_was(old_file: Path, read_only: bool) -> None:
    with RecordStore(old_file, read_only=read_only) as store:
        [stored] = store.records()
        assert stored.trace == OLD_EVENTS
        assert stored.answer == Answer(text="Paris", working="w", hits=(HIT,), abstained=True, reason="no_box")
        assert verify(store).problems == ()


@pytest.mark.parametrize("digest", OLD_TEXTS)
def test_a_missing_text_is_named_whichever_field_refers_to_it(old_file: Path, digest: str) -> None:
    with RecordStore(old_file) as store:
        with store._connection as connection:
            connection.execute("DELETE FROM texts WHERE digest = ?", (digest,))
        assert any(f"text {digest} is missing" in problem for problem in verify(store).problems)


def test_the_text_before_a_probe_is_missed_when_it_is_lost(tmp_path: Path) -> None:
    planned = plan(small_study(tmp_path))
    trial, condition = next(iter(planned.trials()))
    probe = Event(step=Probe(text="a", wants=(), before=WHERE), reply=Reading(tokens=("a",), extras={}))
    with RecordStore(tmp_path / "r.sqlite") as store:
        store.add_questions([(question, planned.items[question.id]) for question in planned.questions])
        store.append([(Record(trial=trial, answer=Answer(text="x"), trace=(probe,)), condition)], {"engine": "e"})
        assert verify(store).problems == ()
        with store._connection as connection:
            connection.execute("DELETE FROM texts")
        [problem] = verify(store).problems
        assert problem.endswith("is missing")


def test_what_is_not_finite_is_not_known():
    assert codec.format_json({"score": float("nan"), "hits": [float("inf"), 1.5]}) == '{"score":null,"hits":[null,1.5]}'


def test_a_trace_with_a_word_that_is_no_json_refers_to_nothing():
    with pytest.raises(ValueError, match="NaN is no JSON"):
        list(trace.references('{"events":[],"value":NaN}'))
