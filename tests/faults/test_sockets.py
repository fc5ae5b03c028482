"""Without a network nothing is asked for: no socket is opened, and no name is looked up."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from made_studies import row, small_study, write_rows

from shaketable import weights
from shaketable.errors import ModelError
from shaketable.models.endpoint.access import Access
from shaketable.retrievers.milvus import Milvus
from shaketable.store import Run

WATCHING = """
import json, socket, sys
seen = []

def watch(event, given):
    if event == "socket.__new__" and given[1] in (socket.AF_INET, socket.AF_INET6):
        seen.append(event)
    elif event in ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo",
                   "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"):
        seen.append(f"{event} {given[:2]}")

sys.addaudithook(watch)
from shaketable.cli import main
codes = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["shaketable", *words]
    try:
        main()
    except SystemExit as end:
        codes.append(end.code or 0)
n_seen, reached = len(seen), list(seen)
socket.socket().close()
assert len(seen) == n_seen + 1, "nothing is watched"
print(json.dumps({"codes": codes, "seen": reached}))
"""
"""Runs commands one after the other and tells what they opened; then opens a socket itself, to see that it is told."""


def watch_commands(*commands: list[object], home: Path) -> tuple[list[int], list[str], str]:
    """Exit codes, what was opened, and what was said."""
    words = json.dumps([[str(word) for word in command] for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", WATCHING, words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "SHAKETABLE_OFFLINE": "1", "SHAKETABLE_HOME": str(home)},
    )
    told = json.loads(done.stdout.splitlines()[-1])
    return told["codes"], told["seen"], " ".join(done.stderr.split())


def write_study(path: Path, model: str) -> Path:
    write_rows(path.with_suffix(".jsonl"), [row(0), row(1)])
    path.write_text(
        f"name = 'small'\n[dataset]\nname = 'jsonl'\npath = '{path.with_suffix('.jsonl')}'\n"
        f'[cross]\nmodels = ["""{model}"""]\n[score]\nmetrics = ["correct"]\n'
    )
    return path


def test_a_study_is_answered_and_scored_without_a_socket_and_an_endpoint_elsewhere_is_refused(tmp_path: Path) -> None:
    run = Run.prepare(tmp_path / "run", dataclasses.replace(small_study(tmp_path), metrics=("correct",))).folder
    elsewhere = "openai(model='any', base_url='https://models.invalid/v1')"
    codes, seen, told = watch_commands(
        ["answer", run, "--max-failures", "100%"],
        ["score", run],
        ["verify", run],
        ["export", run, "--out", tmp_path / "records.csv"],
        ["run", write_study(tmp_path / "elsewhere.toml", elsewhere), "--out", tmp_path / "none"],
        ["doctor", "--endpoint", elsewhere],
        home=tmp_path / "home",
    )
    assert codes == [0, 0, 0, 0, 2, 1], told
    assert seen == []
    assert told.count("models.invalid and SHAKETABLE_OFFLINE is set") == 2


def test_nothing_is_sent_elsewhere_by_whatever_way_an_endpoint_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHAKETABLE_OFFLINE", "1")
    with pytest.raises(ModelError, match="SHAKETABLE_OFFLINE is set"):
        _ = Access(endpoint="https://api.openai.com/v1", key_variable="OPENAI_API_KEY", headers={}).key
    assert "SHAKETABLE_OFFLINE is set" in str(Milvus(uri="http://10.0.0.7:19530").lacks())
    assert Milvus(uri="http://127.0.0.1:19530").lacks() is None


@pytest.mark.parametrize(
    ("address", "is_here"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://[::1]:8000", True),
        ("http://localhost", True),
        ("http://a.localhost:1", True),
        ("http://localhost.example.com", False),
        ("http://127.0.0.1.example.com", False),
        ("https://user:127.0.0.1@example.com", False),
        ("http://10.0.0.1", False),
        ("nonsense", False),
    ],
)
def test_addresses_on_this_machine_are_told_from_others(address: str, is_here: bool) -> None:
    assert weights.is_on_this_machine(address) is is_here


@pytest.mark.parametrize("offline", ["0", "1"])
def test_libraries_are_told_to_stay_offline_before_they_are_loaded(offline: str) -> None:
    code = "import os, shaketable; print(os.environ.get('HF_HUB_OFFLINE'), os.environ['RAY_USAGE_STATS_ENABLED'])"
    clean = {name: value for name, value in os.environ.items() if name not in ("HF_HUB_OFFLINE", "NO_PROXY")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**clean, "SHAKETABLE_OFFLINE": offline},
    )
    assert done.stdout.split() == [{"0": "None", "1": "1"}[offline], "0"]


@pytest.mark.weights
@pytest.mark.parametrize("code", ["language.pipeline()", "inflection.form('go', 'VBD')"])
def test_reading_english_opens_no_socket_and_leaves_the_client_for_downloads_as_it_is(code: str) -> None:
    watching = (
        "import socket, sys\nseen = []\n"
        "sys.addaudithook(lambda event, given: seen.append(given) if event == 'socket.__new__' else None)\n"
        f"from shaketable.text import language\nfrom shaketable.variations.english import inflection\n{code}\n"
        "from urllib3.util import connection\nprint(seen, connection.HAS_IPV6 == socket.has_ipv6)"
    )
    done = subprocess.run([sys.executable, "-c", watching], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "True"]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.weights
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace, which sees what C code opens too, is not here")
def test_the_demo_opens_no_socket_once_its_weights_are_there(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    watching = ["strace", "-qq", "-f", "--seccomp-bpf", "-e", "trace=socket,connect,bind,sendto", "-o", str(trace)]
    command = [sys.executable, "-c", "from shaketable.cli import main; main()"]
    online = {name: value for name, value in os.environ.items() if name != "SHAKETABLE_OFFLINE"}
    for words in (["demo", "--out", str(tmp_path / "run")], ["doctor"]):
        subprocess.run([*watching, *command, *words], check=True, capture_output=True, env=online)
        calls = re.findall(r"^.*\b(?:socket|connect|bind|sendto)\(.*$", trace.read_text(), re.MULTILINE)
        assert [call for call in calls if "AF_INET" in call] == []
