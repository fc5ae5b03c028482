from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from shaketable import catalog
from shaketable.perturbations.altered import Target
from shaketable.stages.explaining.changed_evidence import Changed, Remembered
from shaketable.stages.explaining.sentence_edits import edits_by
from shaketable.types import Hit, Passage, Query, Question, Sentence

QUESTION = Question(id="q", text="Where?", answers=("Oslo",))
UNCHANGED = catalog.build("perturbation", "unchanged")


def hit(id: str, *texts: str) -> Hit:
    sentences = tuple(Sentence(id=f"{id}#{i}", text=text) for i, text in enumerate(texts))
    return Hit(passage=Passage(id=id, title=id, sentences=sentences), rank=1, score=None, source="test")


def test_a_passage_that_is_not_split_is_split_and_one_that_is_not_touched_stays_as_it_was() -> None:
    hits = [hit("long", "Oslo is old. It is in Norway. It has a port."), hit("other", "Rome is\n old. It is in Italy.")]
    watching = Changed(before=UNCHANGED)
    [untouched] = watching.perturb([QUESTION], [hits])
    assert list(untouched.hits) == hits
    assert list(watching.seen) == ["long#0", "long#1", "long#2", "other#0", "other#1"]
    edits = edits_by("removal", QUESTION, list(watching.seen.values()))
    assert not isinstance(edits, str)
    [changed] = Changed(before=UNCHANGED, edits={"long#1": edits["long#1"]}).perturb([QUESTION], [hits])
    assert changed.hits[0].passage.text == "Oslo is old. It has a port."


def test_what_stays_alone_stays_alone_whatever_else_is_found() -> None:
    [evidence] = Changed(before=UNCHANGED, only=frozenset({"b#0"})).perturb(
        [QUESTION], [[hit("a", "A."), hit("b", "B."), hit("c", "C.")]]
    )
    assert [(own.passage.text, own.rank) for own in evidence.hits] == [("B.", 1)]


def test_every_sentence_that_can_be_replaced_is_replaced_by_one_that_is_no_evidence() -> None:
    document = hit("d", *(f"Sentence {i}." for i in range(8))).passage
    question = Question(id="q", text="?", answers=("x",), documents=(document,), gold_titles=("d",))
    for n in (1, 2, 3, 4):
        targets = [Target(sentence=sentence, title="d") for sentence in document.sentences[:n]]
        edits = edits_by("replacement", question, targets)
        assert not isinstance(edits, str)
        assert list(edits) == [f"d#{i}" for i in range(n)]
        assert {edit.after for edit in edits.values()} <= {f"Sentence {i}." for i in range(n, 8)}


@dataclass(frozen=True, kw_only=True)
class Counted:
    version: ClassVar[int] = 1
    asked: list[str] = field(default_factory=list)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        self.asked.extend(query.text for query in queries)
        return [[hit(query.text, "Text.")] for query in queries]


def test_a_query_is_searched_once_for_all_sets() -> None:
    counted = Counted()
    remembered = Remembered(retriever=counted)
    queries = [Query(text=text, question=QUESTION) for text in ("a", "b", "a")]
    assert [hits[0].passage.id for hits in remembered.search(queries, 5)] == ["a", "b", "a"]
    remembered.search(queries[:1], 5)
    assert counted.asked == ["a", "b"]
