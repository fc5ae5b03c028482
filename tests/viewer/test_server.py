import json
import re
import socket
import struct
import time
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import quote

import made_run
import pytest
from asked_viewer import Client, serving

from shaketable.analyses.evidence.correctness import Correctness, Level
from shaketable.errors import RunError
from shaketable.factors import Cell, System
from shaketable.stages.analyze import analyze
from shaketable.stages.report import sections_of
from shaketable.store import Run
from shaketable.types import Estimate, Finding, Findings
from shaketable.viewer.pages import RunSite
from shaketable.viewer.server import LOOPBACK, LocalServer

HOME = "/run/made%20run"
QUESTION = quote("q/0?&", safe="")


def key_of(client, **factors):
    asked = "&".join(f"{name}={quote(str(value))}" for name, value in factors.items())
    return json.loads(client.ask(f"{HOME}/records.json?{asked}")[2])["records"][0]["key"]


# --- who is answered ------------------------------------------------------------------------------


def test_it_listens_to_this_machine_alone(viewer):
    assert viewer.server_address[0] == LOOPBACK == "127.0.0.1"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "", "127.0.0.1"]
)
def test_another_name_for_this_server_is_refused(client, host):
    status, _, body = client.ask("/", Host=host.format(port=client.viewer.server_port))
    assert status == 403
    assert "made run" not in body


def test_its_own_names_are_answered(client):
    for name in client.viewer.names:
        assert client.ask("/", Host=name)[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_sent_to_it(client, method):
    assert client.ask(HOME, method)[0] == 501


def test_a_port_that_is_taken_is_told(viewer, run):
    with pytest.raises(RunError, match=rf"Port {viewer.server_port} .* Give another with --port"):
        LocalServer(RunSite([run]), port=viewer.server_port)


# --- clients that go away, and addresses that are none --------------------------------------------


def speak(port: int, request: bytes) -> bytes:
    """What comes back of anything at all."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        line.sendall(request)
        line.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: line.recv(65536), b""))


@pytest.mark.parametrize("address", ["http://[::1/", "http://[x]/", "//[", "http://[::1/?a=b"])
def test_an_address_that_is_none_is_answered(viewer, address, capfd):
    host = f"127.0.0.1:{viewer.server_port}"
    reply = speak(viewer.server_port, f"GET {address} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert re.match(rb"HTTP/1.1 (400|404) ", reply)
    assert capfd.readouterr().err == ""


def test_clients_that_break_off_print_nothing_and_others_are_answered(viewer, client, capfd):
    request = f"GET {HOME} HTTP/1.1\r\nHost: 127.0.0.1:{viewer.server_port}\r\n\r\n".encode()
    for sent in (request, request[:20], request * 20, b"\x00\xff" * 50, b""):
        for _ in range(4):
            with socket.create_connection(("127.0.0.1", viewer.server_port)) as line:
                # To linger for no time is to reset the connection.
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                line.sendall(sent)
    assert client.ask(HOME)[0] == 200
    time.sleep(0.3)
    assert capfd.readouterr().err == ""


def test_another_mistake_is_told_in_a_line_that_steers_no_terminal(viewer, capfd):
    try:
        raise ValueError("odd\n\x1b[2J" + "x" * 5000)
    except ValueError:
        viewer.handle_error(None, ("127.0.0.1", 1))
    [line] = capfd.readouterr().err.splitlines()
    assert line.startswith("A request could not be answered: ValueError: odd [U+001B][2Jx") and len(line) < 400


# --- what can be read -----------------------------------------------------------------------------

OUTSIDE = [
    "/../../../../etc/passwd",
    "/static/../../../../etc/passwd",
    "/static/%2e%2e/%2e%2e/store/run.py",
    "/static/..%2f..%2f..%2fetc%2fpasswd",
    "/static/viewer/../report.html",
    "/static//etc/passwd",
    "/static/report.html",
    "/static/viewer/",
    "/static/",
    HOME + "/../../etc/passwd",
    HOME + "/report/../study.toml",
    HOME + "/study.toml",
    HOME + "/records.sqlite",
    HOME + "/figures/",
    HOME + "/record/..%2f..%2fstudy.toml",
    HOME + "/question/..%2f..%2f..%2fetc%2fpasswd",
    "/run/..%2f..%2f..%2fetc",
    "/run/..",
    "/run/%00",
    "//etc/passwd",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_address_leads_to_another_file(client, path):
    status, _, body = client.ask(path)
    assert status == 404
    assert "root:" not in body and "import" not in body and "SQLite" not in body


def test_a_report_that_leads_out_of_the_folder_is_not_served(tmp_path):
    secret = tmp_path / "secret.html"
    secret.write_text("a secret")
    few = {"analyses": ["correctness"], "n_resamples": 99}
    run = made_run.made_run(tmp_path / "run", with_scores=False, analyze=few)
    (run.folder / "report.html").symlink_to(secret)
    with serving(run) as viewer:
        status, _, body = Client(viewer).ask("/run/run/report")
    assert status == 404
    assert "a secret" not in body and "is a link" in body


def test_a_report_runs_as_a_stranger(tmp_path):
    run = made_run.made_run(tmp_path / "run", with_scores=False)
    (run.folder / "report.html").write_text("<p>the report</p>")
    with serving(run) as viewer:
        status, headers, body = Client(viewer).ask("/run/run/report")
    assert (status, body) == (200, "<p>the report</p>")
    policy = headers["Content-Security-Policy"]
    assert "sandbox allow-scripts allow-downloads" in policy and "allow-same-origin" not in policy
    assert "default-src 'none'" in policy and "unsafe-eval" not in policy


def test_every_page_forbids_scripts_from_data(client):
    for path in ("/", HOME, f"{HOME}/records", f"{HOME}/nothing"):
        _, headers, body = client.ask(path)
        scripts = re.search(r"script-src ([^;]*)", headers["Content-Security-Policy"]).group(1)
        assert scripts == "'self'"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "<script>" not in body


def test_a_head_has_no_body(client):
    status, headers, body = client.ask(HOME, "HEAD")
    assert (status, body) == (200, "")
    assert int(headers["Content-Length"]) > 1000


# --- pages ----------------------------------------------------------------------------------------


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.words.append(data)


def pages(client):
    wrong = key_of(client, perturbation="sentence_removal", temperature="1.2", model=made_run.MODELS[1])
    yield from ("/", HOME, f"{HOME}/records", f"{HOME}/records?sort=length&order=down&page=2", f"{HOME}/questions")
    yield from (f"{HOME}/question/{QUESTION}", f"{HOME}/record/{wrong}")
    yield f"{HOME}/record/{key_of(client, outcome='failed')}"


def test_every_page_shows_hostile_texts_as_texts(client):
    for path in pages(client):
        status, _, body = client.ask(path)
        found = Tags(body)
        assert status == 200, path
        assert found.tags.count("script") == 1, path
        assert not {"img", "iframe", "object"} & set(found.tags), path
        assert not [name for name, _ in found.attributes if name.startswith("on")], path
        links = [value for name, value in found.attributes if name in ("href", "src", "action")]
        assert all(link.startswith(("/", "#", "data:,", "http://127.0.0.1")) for link in links), path
        assert "\x00" not in body and "\u202e" not in body, path


def test_what_cannot_be_seen_is_named(client):
    turned, empty = (
        "".join(Tags(client.ask(f"{HOME}/records?words={words}")[2]).words) for words in ("turned", "nothing")
    )
    assert "before [U+202E]turned round[U+2066] after" in turned
    assert "nothing[U+0000]here" in empty


def test_a_record_shows_its_trace_with_gold_hits_and_shaded_tokens(client):
    body = client.ask(f"{HOME}/record/{key_of(client, perturbation='unchanged', temperature='0', question='q/0?&')}")[2]
    assert "★ gold" in body and "Gold 0" in body
    assert re.search(r'<span class="c0" title="99 %">Author </span>', body)
    assert "Fragility curve" in body and "<svg" in body
    disturbed = client.ask(f"{HOME}/record/{key_of(client, perturbation='sentence_removal', question='q/0?&')}")[2]
    assert "<del>Gold is 0.</del>" in disturbed
    assert "★ gold" not in disturbed


def test_the_grid_tells_right_from_wrong_in_signs(client):
    body = client.ask(f"{HOME}/question/{QUESTION}")[2]
    squares = re.findall(r'class="square (\w+)"[^>]*>(.)</a>', body)
    # By the rule of `made_run.record`, question 0: two of three temperatures right, for all evidence and models.
    assert squares.count(("m10", "✓")) == 2 * 3 * 2
    assert squares.count(("m0", "✗")) == 2 * 3
    failed = client.ask(f"{HOME}/question/{quote('q/7?&<', safe='')}")[2]
    assert "square failed" in failed


def test_what_is_not_there_says_so(client):
    for path, words in (
        (f"{HOME}/record/nothing", "no record"),
        (f"{HOME}/question/nothing", "no question"),
        (f"{HOME}/records?sort=nothing", "Nothing is called"),
        (f"{HOME}/records?page=-1", "whole number"),
        (f"{HOME}/records?page=99999999999999999999", "whole number"),
    ):
        status, _, body = client.ask(path)
        assert status == 404
        assert words in body


def test_runs_stand_side_by_side(tmp_path):
    def found(*levels):
        result = Correctness(metric="contains", levels=levels, evidence_drops=(), heat_drops=())
        return Findings(findings=(Finding(analysis="correctness", result=result),))

    def level(value, high=0.6, perturbation="unchanged"):
        return Level(
            cell=Cell(
                dataset="builtin",
                system=System(model="plain", method="closed_book"),
                variation="original",
                perturbation=perturbation,
                temperature=0.6,
            ),
            metric="contains",
            mean=Estimate(value=value, low=0.4, high=high, level=0.95, n=8, how="by hand", unit="share"),
            sd_runs=None,
            variance_runs=None,
            sd_questions=None,
            n_missing=0,
        )

    runs = [made_run.made_run(tmp_path / name / "made run") for name in ("a", "b")]
    runs[0].write_findings(found(level(0.5), level(0.25, perturbation="sentence_removal")))
    runs[1].write_findings(found(level(0.75, high=0.875)))
    with serving(*runs) as viewer:
        client = Client(viewer)
        words = " ".join(" ".join(Tags(client.ask("/")[2]).words).split())
        assert client.ask("/run/made%20run-2")[0] == 200
    assert "Temperature made run plain made run-2 plain unchanged" in words
    assert "unchanged original 0.6 50 % [40 %, 60 %] n = 8 75 % [40 %, 87.5 %] n = 8" in words
    assert "sentence removal original 0.6 25 % [40 %, 60 %] n = 8 –" in words


# --- a run on its way -----------------------------------------------------------------------------


def test_a_run_that_has_not_begun_has_a_page(tmp_path):
    whole = made_run.made_run(tmp_path / "whole", with_scores=False)
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "study.toml").write_text(whole.study_text)
    (tmp_path / "new" / ".lock").touch()
    with serving(Run(tmp_path / "new")) as viewer:
        client = Client(viewer)
        status, _, body = client.ask("/run/new")
        assert status == 200 and "empty" in body
        assert json.loads(client.ask("/run/new/progress.json")[2])["state"] == "empty"
        for page in ("records", "report"):
            status, _, body = client.ask(f"/run/new/{page}")
            assert status == 404 and "no records" in body


def test_a_run_that_is_starting_says_so(tmp_path):
    run = made_run.made_run(tmp_path / "run", n_answered=0, with_scores=False)
    with serving(run) as viewer:
        client = Client(viewer)
        assert json.loads(client.ask("/run/run/progress.json")[2])["state"] == "empty"
        with run.writing():
            body = client.ask("/run/run")[2]
            status, _, report = client.ask("/run/run/report")
    assert "planning" in body and "288 trials are planned, and none is answered yet." in body
    assert status == 404 and "no answers yet" in report


def test_an_interrupted_run_has_the_command_to_go_on_with(tmp_path):
    run = made_run.made_run(tmp_path / "a run", n_answered=2, with_scores=False)
    with serving(run) as viewer:
        body = Client(viewer).ask("/run/a%20run")[2]
    folder = f"{tmp_path}/a run"
    words = "".join(Tags(body).words)
    assert f"shaketable run '{folder}/study.toml' --out '{folder}'" in words
    assert "216 of 288 trials are left." in words and "Read the report so far" in words


def test_a_run_that_is_going_shows_its_progress_and_first_results(tmp_path):
    run = made_run.made_run(tmp_path / "run", n_trials=1000, with_scores=False)
    with serving(run) as viewer, run.writing():
        client = Client(viewer)
        progress = json.loads(client.ask("/run/run/progress.json")[2])
        body = client.ask("/run/run")[2]
    n_failed = 3 * 2 * 2  # evidence, models, repeats of the question that fails when hot
    assert progress == {
        "state": "running", "trials": 1000, "done": made_run.N_RECORDS - n_failed, "failed": n_failed,
        "missing": 1000 - made_run.N_RECORDS, "n_tokens": progress["n_tokens"],
    }  # fmt: skip
    assert "First results" in body and "Partial" in body
    assert "100 %" in body and "n = 16" in body


def test_a_finished_run_says_what_was_found_with_the_headlines_of_its_report(tmp_path):
    analyses = ["correctness", "variability"]
    run = made_run.made_run(tmp_path / "run", analyze={"analyses": analyses, "n_resamples": 99})
    analyze(run, analyses)
    sections = sections_of(run, run.findings())
    assert any(section.headlines and not section.sentences for section in sections)
    with serving(run) as viewer:
        words = " ".join("".join(Tags(Client(viewer).ask("/run/run")[2]).words).split())
    assert "What was found" in words
    for section in sections:
        assert (section.question in words) is bool(section.headlines)
        for headline in section.headlines:
            assert headline.text in words


def test_a_list_names_perturbations_in_words(client):
    body = client.ask(f"{HOME}/records")[2]
    assert '<td data-column="Perturbation">sentence removal</td>' in body
    assert '<option value="sentence_removal">sentence removal</option>' in body


def test_records_are_filtered_by_the_tags_of_their_questions(tmp_path, monkeypatch):
    untagged = made_run.question

    def question(n):
        return replace(untagged(n), tags={"continent": ("Europe", "<b>Asia</b>")[n % 2]})

    monkeypatch.setattr(made_run, "question", question)
    with serving(made_run.made_run(tmp_path / "run")) as viewer:
        client = Client(viewer)
        body = client.ask("/run/run/records?tag.continent=Europe")[2]
        assert '<select name="tag.continent">' in body and '<option value="Europe" selected>Europe</option>' in body
        assert f">{made_run.N_RECORDS // 2}</b> records" in body
        assert "at=1&amp;tag.continent=Europe" in body and "<b>Asia" not in body
        asked = json.loads(client.ask(f"/run/run/records.json?tag.continent={quote('<b>Asia</b>')}")[2])
        assert asked["n"] == made_run.N_RECORDS // 2
