"""What a run tells of its searches and of its model calls."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import made_records
from made_studies import write_rows

from shaketable.identity import digest
from shaketable.stages.import_answers import ImportedCondition, import_answers
from shaketable.store import Run
from shaketable.types import (
    Completion,
    Cost,
    Event,
    Evidence,
    Failure,
    Generate,
    Hit,
    Message,
    Passage,
    Question,
    Record,
    Search,
    Study,
)

QUESTION = Question(id="q", text="Who?", answers=("Ann",), dataset="d", gold_titles=("Ann Lee", "Bob"))
NO_TITLES = Question(id="r", text="Where?", answers=("Rome",), dataset="d")


def searched(query: str, *titles: str) -> Event:
    hits = tuple(
        Hit(passage=Passage(id=f"{title}#1", title=title, sentences=()), rank=rank, score=None, source="bm25")
        for rank, title in enumerate(titles, 1)
    )
    return Event(step=Search(query=query, k=5), reply=Evidence(hits=hits))


def called(purpose: str = "") -> Event:
    reply = Completion(text='"purpose":', finish_reason="end", n_prompt_tokens=1, n_tokens=1, seconds=0.0)
    return Event(step=Generate(messages=(Message(role="user", content="?"),), purpose=purpose), reply=reply)


def stored(folder: Path, *records: Record) -> Run:
    study = import_answers(
        write_rows(folder / "a.jsonl", [{"question_id": "x", "question": "?", "gold": "y", "answer": "z"}]),
        folder / "x",
    ).run.study
    assert isinstance(study, Study)
    run = Run.prepare(folder / "run", study)
    condition = ImportedCondition(labels=dict.fromkeys(("model", "method", "retriever", "perturbation"), "m"))
    with run.writing() as store:
        store.add_questions([(one, digest(one.id)) for one in (QUESTION, NO_TITLES)])
        store.append([(record, condition) for record in records], {"engine": "test"})
    return run


def record(key: str, question: Question, *events: Event) -> Record:
    n_searches = sum(isinstance(event.step, Search) for event in events)
    cost = Cost(n_searches=n_searches, n_generations=len(events) - n_searches)
    return replace(made_records.record("Ann", question, key), trace=events, cost=cost)


def test_every_executed_search_is_a_row_with_its_hop_and_its_hits(tmp_path: Path) -> None:
    failure = Failure(kind="timeout", message="", step="search", may_retry=False)
    lost = Event(step=Search(query="lost", k=5), reply=failure)
    run = stored(
        tmp_path,
        record("a", QUESTION, called(), searched("one", "ann lee.", "BOB", "Carl"), called(), lost, searched("two")),
        record("b", NO_TITLES, searched("three", "Rome")),
        record("c", QUESTION, called()),
    )
    assert run.searches().rows() == [
        ("a", 1, "one", ["ann lee.#1", "BOB#1", "Carl#1"], ["ann lee.", "BOB", "Carl"], True, 2),
        ("a", 2, "two", [], [], False, 0),
        ("b", 1, "three", ["Rome#1"], ["Rome"], None, None),
    ]


def test_calls_for_another_purpose_are_not_the_methods_own(tmp_path: Path) -> None:
    run = stored(
        tmp_path,
        record("a", QUESTION, called(), called("reason_in_documents"), called(), called("answer_completion")),
        record("b", QUESTION, called()),
    )
    assert run.calls().rows() == [("a", 2), ("b", 1)]
