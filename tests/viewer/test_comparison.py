"""Runs side by side: equal conditions in one row whatever the systems are, and a page that compares two of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from asked_viewer import Client, serving
from made_answers import answer_rows, made_run
from seen_page import SeenPage

from shaketable.stages.analyze import analyze
from shaketable.store import Run

OLD, NEW = [0] * 20 + [1] * 4, [1] * 14 + [0] * 6 + [1] * 3 + [0]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """The old release searches and was asked hot too; the new one answers by itself."""
    folder = tmp_path_factory.mktemp("side by side")
    old = [
        row
        for evidence in ("unchanged", "sentence_removal")
        for row in answer_rows(OLD, model="v1", perturbation=evidence)
    ]
    made = [made_run(folder / "old", old), made_run(folder / "new", answer_rows(NEW, model="v2"))]
    for run in made:
        analyze(run, ["correctness"])
    return made


@pytest.fixture(scope="module")
def client(runs: list[Run]) -> Iterator[Client]:
    with serving(*runs) as viewer:
        yield Client(viewer)


def text_of(client: Client, path: str, status: int = 200) -> str:
    got, _, body = client.ask(path)
    assert got == status, body[:500]
    return SeenPage(body).text


def test_equal_conditions_of_different_systems_stand_in_one_row(client: Client) -> None:
    words = text_of(client, "/")
    assert "Temperature old v1 new v2 unchanged original 0 16.7 % [" in words
    row = words.split("unchanged original 0 ")[1].split("sentence removal")[0]
    assert "16.7 %" in row and "70.8 %" in row
    assert words.split("sentence removal original 0 ")[1].startswith("16.7 % [")


def test_the_table_leads_to_a_page_of_two(client: Client, runs: list[Run]) -> None:
    _, _, body = client.ask("/")
    assert 'href="/compare?first=old&amp;second=new"' in body
    old, new = dict.fromkeys(re.findall(r'<option value="((?:old|new)/[^"]*)"', body))
    before = written(runs)
    for path in ("first=old&second=new", f"first={quote(old)}&second={quote(new)}"):
        status, headers, page = client.ask(f"/compare?{path}")
        assert status == 200 and "sandbox" in headers["Content-Security-Policy"]
        assert "v2 is better than v1." in SeenPage(page).text
    assert written(runs) == before


def written(runs: list[Run]) -> dict[Path, int]:
    """When each file was, less what SQLite keeps beside a database that somebody reads."""
    files = [file for run in runs for file in run.folder.rglob("*") if not file.name.endswith(("-shm", "-wal"))]
    return {file: file.stat().st_mtime_ns for file in files if file.is_file()}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("first=old&second=gone", "'second' is 'gone', expected a run of old, new, or run/system."),
        ("first=old", "'second' is '', expected a run of old, new"),
        ("first=old&second=../../etc", "expected a run of"),
        ("first=old/v3&second=new/v2", "has no system 'v3'"),
        ("first=old&second=old", "one system, so there is nothing to compare it with"),
    ],
)
def test_what_cannot_be_compared_is_told(client: Client, asked: str, words: str) -> None:
    assert words in text_of(client, f"/compare?{asked}", status=404)


def test_a_run_without_scores_is_not_scored_by_looking(tmp_path: Path, runs: list[Run]) -> None:
    bare = made_run(tmp_path / "bare", answer_rows(NEW, model="v2"))
    (bare.folder / "scores.parquet").unlink()
    with serving(runs[0], bare) as viewer:
        words = text_of(Client(viewer), "/compare?first=old&second=bare", status=404)
    assert "has no scores of its present answers. Make them: shaketable score" in words
    assert not (bare.folder / "scores.parquet").exists()
