"""The list of records and the page of one: every state has an address, and leads on and back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import made_run
import pytest
from asked_viewer import Client, serving
from disagreeing import disagreeing_run
from made_answers import answer_rows
from made_answers import made_run as imported
from seen_page import SeenPage

HOME = "/run/made%20run"


@pytest.fixture(scope="module")
def disagreeing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with serving(disagreeing_run(tmp_path_factory.mktemp("list") / "run")) as viewer:
        yield Client(viewer)


def page_of(client: Client, path: str) -> str:
    status, _, body = client.ask(path)
    assert status == 200, body[:500]
    return body


def count(body: str) -> int:
    return int(re.findall(r'id="count">([\d,]+)<', body)[0].replace(",", ""))


def links(body: str, attributes: str) -> list[str]:
    return [unescape(href) for href in re.findall(rf'<a {attributes} href="([^"]*)"', body)]


@pytest.mark.parametrize(
    ("asked", "n", "words"),
    [
        ("outcome=right", 5, "as contains tells right from wrong"),
        ("outcome=wrong", 5, "as contains tells right from wrong"),
        ("outcome=empty", 2, "records"),
        ("outcome=failed", 2, "records"),
        ("repeats=differ", 4, "differ in their words"),
        ("repeats=flip", 2, "are right and wrong in turn"),
        ("repeats=flip&outcome=right", 1, "1 record"),
        ("words=bergen", 1, "the first 300 characters of the answer"),
        ("words=place+3&outcome=empty", 2, "records"),
        ("words=nothing+like+it", 0, "No record is like this."),
    ],
)
def test_records_are_filtered_by_what_came_of_them(disagreeing: Client, asked: str, n: int, words: str) -> None:
    body = page_of(disagreeing, f"/run/run/records?{asked}")
    assert count(body) == n
    assert words in SeenPage(body).text
    told = json.loads(page_of(disagreeing, f"/run/run/records.json?{asked}"))
    assert told["n"] == n == len(told["records"])


def test_a_run_that_nothing_judges_offers_no_right_and_wrong(tmp_path: Path) -> None:
    run = imported(tmp_path / "run", answer_rows([1, 0]))
    (run.folder / "scores.parquet").unlink()
    with serving(run) as viewer:
        body = page_of(Client(viewer), "/run/run/records")
        status, _, problem = Client(viewer).ask("/run/run/records?outcome=right")
    offered = re.findall(r'<option value="(right|wrong|empty|flip|differ)"', body)
    assert offered == ["empty", "differ"]
    assert status == 404 and "Outcomes: answered, failed, empty." in SeenPage(problem).text


def test_flags_are_offered_where_evidence_has_some(client: Client, disagreeing: Client) -> None:
    assert 'name="flag"' not in page_of(disagreeing, "/run/run/records")
    assert count(page_of(client, f"{HOME}/records?flag=any")) == 0


def test_each_heading_sorts_and_turns_round(client: Client) -> None:
    body = page_of(client, f"{HOME}/records?perturbation=unchanged&page=2")
    headings = links(body, 'class="sort"')
    # Question, the five factors that differ, the score, the answer.
    assert len(headings) == 8
    for heading in headings:
        assert "perturbation=unchanged" in heading and "page=" not in heading
        up = page_of(client, heading)
        assert 'aria-sort="ascending"' in up and count(up) == count(body)
        [turned] = [link for link in links(up, 'class="sort"') if "order=down" in link]
        assert 'aria-sort="descending"' in page_of(client, turned)


def test_a_record_leads_to_its_neighbours_and_back_to_its_list(client: Client) -> None:
    asked = "perturbation=unchanged&sort=length&order=down"
    rows = [
        row["key"]
        for page in (1, 2)
        for row in json.loads(page_of(client, f"{HOME}/records.json?{asked}&page={page}"))["records"]
    ]
    found = re.findall(r'<th scope="row"><a href="([^"]*)"', page_of(client, f"{HOME}/records?{asked}"))
    address, walked = unescape(found[47]), []
    for _ in range(5):
        body = page_of(client, address)
        walked.append(address.split("/record/")[1][:32])
        [address] = links(body, 'rel="next" data-key="j"')
    assert walked == rows[47:52]  # over the end of a page
    assert "Record 52 of 96 of this list" in SeenPage(body).text
    [back] = links(body, 'data-key="u"')
    assert walked[-1] in page_of(client, back)
    [before] = links(body, 'rel="prev" data-key="k"')
    assert rows[50] in before
    last = page_of(client, f"{HOME}/record/{rows[-1]}?{asked}")
    assert "Record 96 of 96 of this list" in SeenPage(last).text and 'rel="next"' not in last


def test_a_record_alone_stands_among_all(client: Client) -> None:
    key = json.loads(page_of(client, f"{HOME}/records.json?page=2"))["records"][0]["key"]
    assert f"Record 51 of {made_run.N_RECORDS}" in SeenPage(page_of(client, f"{HOME}/record/{key}")).text
    status, _, problem = client.ask(f"{HOME}/record/{key}?at=none")
    assert status == 404 and "expected a whole number from 1" in SeenPage(problem).text


def test_every_record_has_its_gold_answer_prompt_evidence_and_scores(client: Client) -> None:
    found = json.loads(page_of(client, f"{HOME}/records.json?perturbation=sentence_removal&words=book+0"))["records"]
    text = SeenPage(page_of(client, f"{HOME}/record/{found[0]['key']}")).text
    for words in ("Gold answer: Author 0", "Evidence Other 0", "Other is 0.", "Prompt user Who wrote book 0?"):
        assert words in text, words
    assert "contains ✓ 1" in text
    failed = json.loads(page_of(client, f"{HOME}/records.json?outcome=failed"))["records"][0]["key"]
    text = SeenPage(page_of(client, f"{HOME}/record/{failed}")).text
    for words in ("Gold answer: Author 7", "Evidence None:", "Prompt None is kept", "Failed: timeout."):
        assert words in text, words


def test_a_run_tells_what_it_took(tmp_path: Path) -> None:
    priced = made_run.made_run(tmp_path / "priced", n_answered=0, n_trials=3, with_scores=False)
    records = list(made_run.records_of(made_run.question(0)))[:3]
    with priced.writing() as store:
        store.append([(replace(one, cost=replace(one.cost, dollars=0.25)), made) for one, made in records], {})
    with serving(priced, imported(tmp_path / "free", answer_rows([1]))) as viewer:
        text, free = (SeenPage(page_of(Client(viewer), f"/run/{name}")).text for name in ("priced", "free"))
        record = SeenPage(page_of(Client(viewer), f"/run/priced/record/{records[0][0].trial.key}")).text
    # Each trial reads 20 tokens and writes the two of "Author 0".
    assert "Cost 60 tokens read and 6 written in 3 calls, 3 searches, 2.5 s." in text
    assert "plain single_retrieval 3 3 66 0.75 USD" in text
    assert "theirs imported 1 1 10 no price given" in free
    assert "20 tokens read, 2 written, 0.01 s, 0.25 USD" in record
