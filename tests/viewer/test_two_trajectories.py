"""A reworded record's searches beside those of the original wording."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import made_run
import pytest
from asked_viewer import Client, serving

from shaketable.store import Run
from shaketable.types import Event, Evidence, Record, Search, Variant
from shaketable.viewer import two_trajectories
from shaketable.viewer.server import LocalServer

WORDING = "Who rote book 0?"
FIRST, SECOND = f"rote book 0 {made_run.HANDLER}", "book number 0"


def reworded(original: Record) -> Record:
    """Asked with an error, answered wrongly after two searches, of which neither found the gold document."""
    trial = dataclasses.replace(
        original.trial,
        key=original.trial.key[::-1],
        variant=Variant(question_id=original.trial.question_id, text=WORDING, variation="spelling"),
    )
    search, note, generate = original.trace
    assert isinstance(search.reply, Evidence)
    other = Evidence(hits=search.reply.hits[1:])
    searches = [Event(step=Search(query=query, k=2), reply=other) for query in (FIRST, SECOND)]
    answer = dataclasses.replace(original.answer, text="Nobody knows.")  # type: ignore[type-var]
    return dataclasses.replace(original, trial=trial, trace=(*searches, note, generate), answer=answer)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Run, Record, Record]]:
    run = made_run.made_run(tmp_path_factory.mktemp("reworded") / "made run")
    original, condition = next(made_run.records_of(made_run.question(0)))
    other = reworded(original)
    with run.writing() as store:
        store.append([(other, condition)], {})
    scores = [score for record in run.store.records() for score in made_run.scores_of(record)]
    run.write_scores(scores)
    yield Run(run.folder), original, other


@pytest.fixture(scope="module")
def viewer(keys: tuple[Run, Record, Record]) -> Iterator[LocalServer]:
    with serving(keys[0]) as viewer:
        yield viewer


def section(page: str) -> str:
    found = re.search(r'<section aria-labelledby="trajectories-title">.*?</section>', page, re.DOTALL)
    return found.group(0) if found else ""


def test_a_reworded_record_stands_beside_the_original_wording(viewer: LocalServer, keys: Any) -> None:
    _, original, other = keys
    _, _, page = Client(viewer).ask(f"/run/made%20run/record/{other.trial.key}")
    shown = section(page)
    assert "book 0 &lt;/script&gt;" in shown
    assert "rote book 0 &lt;img" in shown
    assert SECOND in shown
    assert made_run.HANDLER not in shown
    # One search of the original, which found the gold document, against two that did not.
    assert shown.count("★ gold hit") == 1
    assert shown.count("no gold hit") == 2
    assert f"/record/{original.trial.key}" in shown
    assert "Author 0" in shown
    assert "Nobody knows." in shown


def test_the_original_wording_has_nothing_to_stand_beside(viewer: LocalServer, keys: Any) -> None:
    _, original, _ = keys
    status, _, page = Client(viewer).ask(f"/run/made%20run/record/{original.trial.key}")
    assert status == 200
    assert section(page) == ""


@pytest.mark.weights
def test_queries_have_their_similarity(viewer: LocalServer, keys: Any) -> None:
    """That of the encoder for the same two texts; the second search has no other to be compared with."""
    from shaketable.text.encoder import encoder

    _, original, other = keys
    first, second = encoder("all-MiniLM-L6-v2").embed([original.trace[0].step.query, FIRST])
    shown = section(Client(viewer).ask(f"/run/made%20run/record/{other.trial.key}")[2])
    assert re.findall(r'<td class="n">([^<]*)</td>', shown)[1::2] == [f"{first @ second:.2f}", "–"]


def test_without_the_encoder_at_hand_nothing_is_fetched(
    viewer: LocalServer, keys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path))
    monkeypatch.setattr(two_trajectories, "vectors_of", lambda *given: pytest.fail("it asked for the encoder"))
    shown = section(Client(viewer).ask(f"/run/made%20run/record/{keys[2].trial.key}")[2])
    assert "Similarities are not measured: the weights of all-MiniLM-L6-v2 are not here." in shown
    assert SECOND in shown
