"""`shaketable annotate`: rewrites and verdicts by people, through a real server process."""

from __future__ import annotations

import http.client
import json
import threading
from urllib.parse import urlsplit

import pytest
from annotating import QUESTIONS, REWRITES, annotating, load_questions, send, serving
from typer.testing import CliRunner

from shaketable import catalog
from shaketable.annotation.log import AnnotationLog, RewriteRow
from shaketable.annotation.tasks import Board, rewriting_tasks
from shaketable.cli.app import app
from shaketable.datasets.jsonl import load_jsonl


def call(*words):
    return CliRunner().invoke(app, ["annotate", *(str(word) for word in words)])


def entry(task_id, annotator, rewrite=None):
    return {"id": task_id, "annotator": annotator, "rewrite": rewrite or REWRITES[task_id]}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """One server for the tests that leave no entries behind."""
    folder = tmp_path_factory.mktemp("served")
    with serving(folder / "r.jsonl", rewriting_tasks(load_questions(folder))) as address:
        yield address


def test_nothing_acknowledged_is_lost_when_the_server_is_killed(tmp_path):
    """Ten people write at once, and the process is killed amid their work."""
    rows = [{"id": f"q{i}", "question": f"Where does river {i} end?", "answers": ["sea"]} for i in range(60)]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("--dataset", "jsonl", "--path", tmp_path / "q.jsonl", "--out", tmp_path / "r.jsonl")
    acknowledged = []
    with annotating(*words) as (process, address):

        def write(person):
            for i in range(60):
                try:
                    status, _ = send(address, "/entry", entry(f"q{i}", f"p{person}", f"mouth of number {i}, please"))
                except (OSError, http.client.HTTPException):
                    return
                if status == 200:
                    acknowledged.append((f"q{i}", f"p{person}"))
                if len(acknowledged) >= 40:
                    process.kill()

        people = [threading.Thread(target=write, args=(i,)) for i in range(10)]
        for one in people:
            one.start()
        for one in people:
            one.join()
    saved = [(row["id"], row["annotator"]) for row in map(json.loads, (tmp_path / "r.jsonl").read_text().splitlines())]
    assert 40 <= len(acknowledged) < 120
    assert set(acknowledged) <= set(saved)
    assert len(saved) == len(set(saved))
    assert max(sum(task == f"q{i}" for task, _ in saved) for i in range(60)) == 2
    again = AnnotationLog(tmp_path / "r.jsonl", RewriteRow)
    assert Board(rewriting_tasks(load_jsonl(str(tmp_path / "q.jsonl")).questions), again.rows).remarks == []


def test_the_file_loads_as_rewrites(tmp_path):
    questions, path = load_questions(tmp_path), tmp_path / "r.jsonl"
    with serving(path, rewriting_tasks(questions)) as address:
        for name in ("Ada", "Bo"):
            for task_id in REWRITES:
                assert send(address, "/entry", entry(task_id, name)) == (200, {"saved": True})
        assert "2 others have done" in send(address, "/entry", entry("jaws", "Cy"))[1]["hint"]
        assert "done this one already" in send(address, "/entry", entry("jaws", "ada"))[1]["hint"]
    variants = catalog.build("variation", f"rewrites(path={str(path)!r})").vary(questions)
    assert [[(v.text, v.provenance["annotator"], v.rejected) for v in of_one] for of_one in variants] == [
        [(REWRITES[row["id"]], "Ada", None), (REWRITES[row["id"]], "Bo", None)] for row in QUESTIONS
    ]


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (entry("jaws", "Ada", "who was director of movie jaws"), "the question itself"),
        (entry("jaws", "Ada", "  "), "Nothing is written yet"),
        (entry("jaws", "", "that shark film"), "Give a name"),
        (entry("shark", "Ada", "that shark film"), "no such task"),
        ({}, "Give a name"),
    ],
)
def test_what_cannot_be_taken_gets_a_hint(served, value, hint):
    status, said = send(served, "/entry", value)
    assert status == 422
    assert hint in said["hint"]


def test_only_the_page_of_the_server_may_write(served):
    port = urlsplit(served).port
    good = entry("jaws", "Mallory")
    assert send(served, "/entry", good, Origin="https://evil.example")[0] == 403
    assert send(served, "/entry", good, Origin="null")[0] == 403
    assert send(served, "/entry", good, Host=f"evil.example:{port}")[0] == 403
    assert send(served, "/entry", good, Origin=f"http://127.0.0.1:{port + 1}")[0] == 403
    assert send(served, "/nowhere", good)[0] == 422
    assert send(served, "/entry", b"[1, 2]")[0] == 400
    assert send(served, "/entry", b"{" * 60_000)[0] == 400
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", "/entry", headers={"Origin": served.rstrip("/"), "Content-Length": "70000"})
    assert connection.getresponse().status == 413


def test_a_page_keeps_names_and_questions_as_text(served):
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(served).port)
    connection.request("GET", "/?annotator=%3Cb%3EAda%3C/b%3E")
    reply = connection.getresponse()
    page = reply.read().decode()
    assert "&lt;b&gt;Ada" in page
    assert "<b>Ada" not in page
    assert "script-src 'self'" in reply.headers["Content-Security-Policy"]
    for path, status in (("/static/annotation/annotation.js", 200), ("/static/../annotation.py", 404), ("/x", 404)):
        connection.request("GET", path)
        reply = connection.getresponse()
        reply.read()
        assert reply.status == status, path


# --- the command's words --------------------------------------------------------------------------


def reviews(tmp_path, *verdicts):
    path = tmp_path / "reviews.jsonl"
    rows = [
        {"id": f"w{i}", "question_id": f"q{i}", "question": "Who?", "variation": "formality", "wording": "Yo, who?",
         "annotator": name, "accepted": accepted}
        for i, pair in enumerate(verdicts)
        for name, accepted in zip(("Ada", "Bo"), pair, strict=False)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_agreement_is_told_with_interval_and_n(tmp_path):
    path = reviews(tmp_path, *[(True, True)] * 6, (True, False), (False, False))
    result = call("--agreement", path)
    assert result.exit_code == 0, result.output
    # By hand: 7 of 8 agree; by chance (7 · 6 + 1 · 2) / 64 = 0.6875; kappa (0.875 - 0.6875) / 0.3125 = 0.6.
    assert "Ada and Bo agree: 0.875 [" in result.stdout
    assert "Cohen's kappa: 0.600" in result.stdout
    assert "n = 8" in result.stdout
    (found,) = json.loads(call("--agreement", path, "--json").stdout)["agreements"]
    assert (found["share"]["value"], found["kappa"]["n"]) == (0.875, 8)


def test_agreement_of_one_person_is_none(tmp_path):
    result = call("--agreement", reviews(tmp_path, (True,), (False,)))
    assert "No wording was judged by two people yet" in result.stderr
    assert json.loads(call("--agreement", reviews(tmp_path, (True,)), "--json").stdout)["agreements"] == []


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ((), "Give --out FILE"),
        (("--out", "r.jsonl", "--json"), "--json goes with --agreement"),
        (("--agreement", "r.jsonl", "--out", "s.jsonl"), "Leave out --out"),
        (("--review", "v.jsonl", "--path", "q.jsonl", "--out", "r.jsonl"), "not both"),
        (("--review", "nowhere.jsonl", "--out", "r.jsonl"), "nowhere.jsonl cannot be read"),
        (("--dataset", "squat", "--out", "r.jsonl"), "Did you mean 'squad'?"),
    ],
)
def test_wrong_words_are_named(tmp_path, monkeypatch, words, wrong):
    monkeypatch.chdir(tmp_path)
    result = call(*words)
    assert result.exit_code == 2
    assert wrong in result.stderr
    assert not list(tmp_path.iterdir())
