"""The answers of two runs side by side: which are laid together, what is marked, and what each address shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import quote

import made_run
import pytest
from asked_viewer import Client, serving
from made_answers import answer_rows
from made_answers import made_run as imported
from seen_page import SeenPage

from shaketable.store import Run

OLD, NEW = [1, 1, 0, 0, None], [1, 0, 1, 0, 1]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("answers")
    two = [row for model in ("v2", "v3") for row in answer_rows(NEW, model=model)]
    return [
        imported(folder / "old", answer_rows(OLD, model="v1")),
        imported(folder / "new", answer_rows(NEW, model="v2")),
        imported(folder / "two", two),
        made_run.made_run(folder / "hostile"),
    ]


@pytest.fixture(scope="module")
def client(runs: list[Run]) -> Iterator[Client]:
    with serving(*runs) as viewer:
        yield Client(viewer)


def ask(client: Client, path: str, status: int = 200) -> str:
    got, _, body = client.ask(path)
    assert got == status, body[:500]
    return body


def test_changed_answers_are_marked_word_by_word(client: Client) -> None:
    body = ask(client, "/answers?first=old&second=new")
    text = SeenPage(body).text
    assert "5 of 5 pairs" in text
    assert "3 changed; by contains, 1 turned wrong and 1 turned right." in text
    assert body.count('<tr class="changed">') == 3
    assert "<del>town001, of course.</del>" in body and "<ins>Oslo.</ins>" in body
    assert "Gold answer: town001" in text and "turned wrong" in text and "turned right" in text


@pytest.mark.parametrize(
    ("asked", "n"),
    [("only=changed", 3), ("only=same", 2), ("only=broken", 1), ("only=mended", 1), ("words=town002", 1), ("", 5)],
)
def test_pairs_are_filtered(client: Client, asked: str, n: int) -> None:
    body = ask(client, f"/answers?first=old&second=new&{asked}")
    assert f'id="count">{n}<' in body
    assert len(re.findall(r'<th scope="row">', body)) == n


def test_each_answer_leads_to_its_record(client: Client) -> None:
    found = re.findall(r'<a class="small" href="([^"]*)"', ask(client, "/answers?first=old&second=new&only=broken"))
    texts = [SeenPage(ask(client, unescape(link))).text for link in found]
    assert "It is town001, of course." in texts[0] and "It is Oslo." in texts[1]


def test_two_systems_of_one_run_are_laid_together_by_name(client: Client) -> None:
    first, second = (quote(f"two/{name} · imported") for name in ("v2", "v3"))
    assert "0 changed" in SeenPage(ask(client, f"/answers?first={first}&second={second}")).text
    old = ask(client, f"/answers?first=old&second={second}")
    assert "3 changed" in SeenPage(old).text


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("first=old&second=gone", "'second' is 'gone', expected a run of old, new, two, hostile, or run/system."),
        ("first=old&second=old", "Both sides are the same."),
        ("first=old&second=two", "Name them as run/system. old: v1 · imported; two: v2 · imported, v3 · imported."),
        ("first=old/v9&second=new", "Run 'old' has no system 'v9'. Systems: v1 · imported."),
        ("first=old&second=new&only=odd", "expected one of changed, same, broken, mended"),
        ("first=old&second=new&page=0", "expected a whole number from 1"),
    ],
)
def test_what_cannot_be_laid_together_is_told(client: Client, asked: str, words: str) -> None:
    assert words in SeenPage(ask(client, f"/answers?{asked}", status=404)).text


def test_hostile_answers_stay_texts(client: Client) -> None:
    first, second = (quote(f"hostile/{model} · single_retrieval · gold", safe="") for model in made_run.MODELS)
    page = SeenPage(ask(client, f"/answers?first={first}&second={second}"))
    assert "288" not in page.text and "144 of 144 pairs" in page.text
    assert page.tags.count("script") == 1 and not {"img", "svg", "iframe"} & set(page.tags)


def test_more_answers_of_a_run_are_paired_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shaketable.store.record_index.LOOK_AGAIN_SECONDS", 0.0)
    monkeypatch.setattr("shaketable.store.record_index.REST", 0)
    runs = [made_run.made_run(tmp_path / name, n_answered=2, with_scores=False) for name in ("a", "b")]
    with serving(*runs) as viewer:
        assert "72 of 72 pairs" in SeenPage(ask(Client(viewer), "/answers?first=a&second=b")).text
        for run in runs:
            with run.writing() as store:
                store.append(list(made_run.records_of(made_run.question(2))), {})
        assert "108 of 108 pairs" in SeenPage(ask(Client(viewer), "/answers?first=a&second=b")).text
