"""Records of a stranger whose tables do something: views without end, triggers that delete, values made as they are
read. Every command that opens the run refuses it before it reads a row."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from made_studies import small_study

from shaketable.errors import LayoutError
from shaketable.stages.run import ask
from shaketable.stages.verify import verify
from shaketable.store import RecordStore, Run
from shaketable.study import format_study

ENDLESS = (
    "ALTER TABLE records RENAME TO kept; CREATE VIEW records AS WITH RECURSIVE n(x) AS "
    "(SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT kept.* FROM kept, n;"
)
TRAPS = {
    "endless view": ENDLESS,
    "endless view, older version": f"{ENDLESS} PRAGMA user_version = 6;",
    "heavy view": (
        "ALTER TABLE texts RENAME TO kept; "
        "CREATE VIEW texts AS SELECT digest, hex(zeroblob(200000000)) AS body FROM kept;"
    ),
    "view beside": "CREATE VIEW other AS SELECT 1;",
    "deleting trigger": "CREATE TRIGGER gone AFTER INSERT ON records BEGIN DELETE FROM records; END;",
    "trigger on meta": "CREATE TRIGGER gone AFTER UPDATE ON meta BEGIN DELETE FROM records; END;",
    "generated column": "ALTER TABLE texts ADD COLUMN heavy TEXT GENERATED ALWAYS AS (hex(zeroblob(200000000)));",
    "virtual table": "CREATE VIRTUAL TABLE other USING fts5(body);",
    "table beside": "CREATE TABLE other (id);",
    "index on what is computed": "CREATE INDEX other ON texts (lower(body));",
    "unique index": "DROP INDEX records_by_variant; CREATE UNIQUE INDEX records_by_variant ON records (variant, key);",
    "check": (
        "ALTER TABLE meta RENAME TO kept; CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL, "
        "CHECK (length(value) < 9)) STRICT;"
    ),
    "older version": "PRAGMA user_version = 5;",
    "no version": "PRAGMA user_version = 0;",
}
COMMANDS = """
import json, sys
from typer.testing import CliRunner
from shaketable.cli.app import app
ended = []
for words in json.loads(sys.argv[1]):
    result = CliRunner().invoke(app, words)
    ended.append([words[0], result.exit_code, " ".join(result.output.split()), repr(result.exception)])
print(json.dumps(ended))
"""
SECONDS = 100
"""For all commands together; each endless one would take them all."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    run = ask(small_study(folder), folder / "run")
    (folder / "study.toml").write_text(format_study(run.study))
    return run.folder


def trapped(finished: Path, folder: Path, trap: str) -> Path:
    shutil.copytree(finished, folder)
    connection = sqlite3.connect(folder / "records.sqlite")
    connection.executescript(TRAPS[trap])
    connection.close()
    return folder


@pytest.mark.parametrize("trap", TRAPS)
def test_records_of_another_layout_are_never_opened(tmp_path: Path, finished: Path, trap: str) -> None:
    run = trapped(finished, tmp_path / "run", trap)
    before = (run / "records.sqlite").read_bytes()
    for read_only in (True, False):
        with pytest.raises(LayoutError, match="another layout"):
            RecordStore(run / "records.sqlite", read_only=read_only)
    (problem,) = verify(Run(run)).problems
    assert "another layout" in problem
    assert (run / "records.sqlite").read_bytes() == before


@pytest.mark.parametrize("trap", ["endless view", "deleting trigger"])
def test_every_command_refuses_a_trap_in_time(tmp_path: Path, finished: Path, trap: str) -> None:
    run = str(trapped(finished, tmp_path / "run", trap))
    commands = [
        *(["answer", run], ["score", run], ["analyze", run], ["report", run], ["verify", run], ["card", run]),
        *(["check", run, "--max-drop", "0.1"], ["show", run, "q1"], ["explain", run, "q1"]),
        *(["export", run, "--out", str(tmp_path / "o.csv")], ["compare", str(finished), run]),
        ["merge", str(finished), run, "--out", str(tmp_path / "joined")],
        ["run", str(finished.parent / "study.toml"), "--out", run],
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, json.dumps(commands)],
        capture_output=True, text=True, timeout=SECONDS, check=True, cwd=tmp_path, env={**os.environ, "COLUMNS": "999"},
    )  # fmt: skip
    for command, code, told, error in json.loads(done.stdout):
        assert code in (1, 2) and "another layout" in told, (command, told, error)


def test_a_run_as_it_was_written_is_opened(finished: Path) -> None:
    assert verify(Run(finished)).problems == ()
