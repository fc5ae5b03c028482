"""Grammar checkers: Harper itself, and LanguageTool's protocol against a server of our own."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs

import pytest

from shaketable.errors import ModelError
from shaketable.variations.english.grammar_checker import check, described


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Who is an director of the film?", "AnA"),
        ("Who is the the father?", "RepeatedWords"),
        ("When did he went?", "DidPast"),
    ],
)
def test_harper_names_the_rule(text, rule):
    assert [flag.rule for flag in check(text)] == [rule]


@pytest.mark.parametrize(
    "text", ["Who directed the film?", "who sang it", "Where was Nesrin Kadın born?", "Who knows Xqzt Vbnm?", ""]
)
def test_names_and_small_letters_are_no_errors_of_grammar(text):
    assert check(text) == []


def test_the_version_of_the_checker_is_known():
    assert described("harper").startswith("harper 0.")


class Server(BaseHTTPRequestHandler):
    """Answers as LanguageTool's `/v2/check` is documented: the second `the` is a match, a typo another."""

    def do_POST(self):
        text = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())["text"][0]
        matches = [
            {
                "message": "Possible typo",
                "offset": 0,
                "length": 3,
                "rule": {"id": "MORFOLOGIK", "category": {"id": "TYPOS"}},
            }
        ]
        if (place := text.find("the the")) >= 0:
            rule = {"id": "ENGLISH_WORD_REPEAT_RULE", "category": {"id": "GRAMMAR"}}
            matches.append({"message": "Repeated", "offset": place, "length": 7, "rule": rule})
        body = json.dumps({"matches": matches}).encode() if self.path == "/v2/check" else b"no"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def address():
    server = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_a_language_tool_server_is_asked_by_address(address):
    (flag,) = check("Who is the the father?", address)
    assert (flag.rule, flag.message, flag.text) == ("ENGLISH_WORD_REPEAT_RULE", "Repeated", "the the")
    assert check("Who is the father?", f"{address}/") == []


def test_offline_keeps_to_this_machine(address, monkeypatch):
    monkeypatch.setenv("SHAKETABLE_OFFLINE", "1")
    assert check("the the", address)
    with pytest.raises(ModelError, match="is not on this machine and SHAKETABLE_OFFLINE is set"):
        check("the the", "http://languagetool.example:8081")


def test_a_server_that_is_not_there_is_named():
    with pytest.raises(
        ModelError, match=r"LanguageTool server at http://127.0.0.1:9 could not be used: .* use checker='harper'"
    ):
        check("Who?", "http://127.0.0.1:9")
    with pytest.raises(ModelError, match=r"Unknown grammar checker 'harpr'. Use 'harper', or the address"):
        check("Who?", "harpr")
