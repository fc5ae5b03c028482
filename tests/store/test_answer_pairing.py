"""Answers of two runs beside each other: what is paired, what counts as changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from made_answers import made_run

from shaketable.errors import RunError
from shaketable.store import Run
from shaketable.store.answer_pairing import AnswerPairing, PairCounts, Source, systems_of
from shaketable.store.explore import Explorer
from shaketable.store.record_index import N_SHOWN

LONG = "word " * N_SHOWN
OLD = ("It is town0.", "It is town1.", "It is Oslo.", None, LONG + "old", "It is town5.")
NEW = ("It is town0. ", "It is Oslo.", "It is town2.", "It is town3.", LONG + "new", "It is town5.")
"""The same but for a space; turned wrong; turned right; failed before; other at its very end; the same."""


def rows(answers: tuple[str | None, ...], **factors: Any) -> list[dict[str, Any]]:
    return [
        {"question_id": f"q{n}", "question": f"Where is {n}?", "gold": f"town{n}", "answer": text, **factors}
        for n, text in enumerate(answers)
    ]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """The second was asked at another temperature and other questions too, which have no partner."""
    folder = tmp_path_factory.mktemp("pairs")
    hot = rows(NEW, model="v2", temperature=1.0)
    other = [{**row, "question_id": f"z{n}"} for n, row in enumerate(rows(NEW, model="v2"))]
    old = made_run(folder / "old", rows(OLD, model="v1"))
    return old, made_run(folder / "new", [*rows(NEW, model="v2"), *hot, *other])


@pytest.fixture(scope="module")
def pairing(runs: tuple[Run, Run]) -> Iterator[AnswerPairing]:
    explorers = [Explorer(run) for run in runs]
    sources = [Source(records=one.run.records_path, index=one.index()) for one in explorers]
    names = [systems_of(source.records) for source in sources]
    assert names == [["v1 · imported"], ["v2 · imported"]]
    made = AnswerPairing(sources[0], sources[1], [(names[0][0], names[1][0])], "contains")
    yield made
    made.close()
    for explorer in explorers:
        explorer.close()


def found(pairing: AnswerPairing, change: str | None = None, words: str = "") -> list[str]:
    return [pair.wording[9:-1] for pair in pairing.find(change, words, 0, 50).rows]


def test_answers_to_the_same_question_under_equal_conditions_are_paired(pairing: AnswerPairing) -> None:
    page = pairing.find(None, "", 0, 50)
    assert [(pair.first.text, pair.second.text) for pair in page.rows] == [
        ((old or "")[:1000], new[:1000]) for old, new in zip(OLD, NEW, strict=True) if new is not None
    ]
    assert {pair.temperature for pair in page.rows} == {0.0}
    assert page.counts == PairCounts(n=6, n_changed=4, n_broken=1, n_mended=1)


def test_what_changed_is_found_by_how(pairing: AnswerPairing) -> None:
    assert found(pairing, "changed") == ["1", "2", "3", "4"]
    assert found(pairing, "same") == ["0", "5"]
    assert (found(pairing, "broken"), found(pairing, "mended")) == (["1"], ["2"])
    with pytest.raises(RunError, match="expected one of changed, same, broken, mended"):
        pairing.find("odd", "", 0, 50)


def test_words_are_looked_for_in_the_question_and_both_answers(pairing: AnswerPairing) -> None:
    assert found(pairing, words="oslo") == ["1", "2"]
    assert found(pairing, "changed", "Where is 3") == ["3"]
    assert found(pairing, words="%") == []


def test_pages_follow_one_another(pairing: AnswerPairing) -> None:
    pages = [pairing.find("changed", "", offset, 3) for offset in (0, 3, 6)]
    assert [page.n for page in pages] == [4, 4, 4]
    assert [pair.wording for page in pages for pair in page.rows] == [
        pair.wording for pair in pairing.find("changed", "", 0, 50).rows
    ]
