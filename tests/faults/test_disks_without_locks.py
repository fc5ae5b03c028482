"""A disk that refuses locks, as some of a network do: a library that stands before the system's own says so."""

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

from shaketable.stages.run import ask

REFUSING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
typedef int (*call)(int, int, ...);
static int refuse(const char *name, int file, int command, void *more) {
    if (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK) { errno = ENOLCK; return -1; }
    return ((call) dlsym(RTLD_NEXT, name))(file, command, more);
}
int fcntl(int file, int command, ...) {
    va_list rest; va_start(rest, command); void *more = va_arg(rest, void *); va_end(rest);
    return refuse("fcntl", file, command, more);
}
int fcntl64(int file, int command, ...) {
    va_list rest; va_start(rest, command); void *more = va_arg(rest, void *); va_end(rest);
    return refuse("fcntl64", file, command, more);
}
int flock(int file, int operation) { errno = ENOLCK; return -1; }
"""


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs a C compiler on Linux")
    folder = tmp_path_factory.mktemp("refusing")
    (folder / "refusing.c").write_text(REFUSING)
    library = folder / "refusing.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, folder / "refusing.c", "-ldl"], check=True)
    return library


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Closed as a run is at its end: nothing waits in its log."""
    folder = ask(small_study(tmp_path), tmp_path / "run").folder
    alter(folder, "PRAGMA user_version")
    return folder


def alter(run: Path, statement: str) -> None:
    connection = sqlite3.connect(run / "records.sqlite", isolation_level=None)
    connection.execute(statement)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def command(refusing: Path, *words: object) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "shaketable", *map(str, words)],
        env={**os.environ, "LD_PRELOAD": str(refusing)}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def test_a_run_is_verified_without_locks(refusing: Path, run: Path) -> None:
    code, told = command(refusing, "verify", run, "--json")
    verified = json.loads(told)
    assert code == 0 and verified["sound"] and not verified["has_locks"] and verified["n_records"] > 0


def test_damage_is_found_without_locks(refusing: Path, run: Path) -> None:
    alter(run, "UPDATE records SET answer = 'other' WHERE id = 1")
    (run / "study.toml").write_text((run / "study.toml").read_text() + "\n")
    code, told = command(refusing, "verify", run)
    assert code == 1 and "refuses locks" in told
    assert "does not match its checksum" in told and "study.toml was altered" in told


def test_a_log_that_waits_is_not_taken_for_damage(refusing: Path, run: Path) -> None:
    (run / "records.sqlite-wal").write_bytes(b"what was written last")
    code, told = command(refusing, "verify", run)
    assert code == 1 and "the disk refuses locks" in told and "lost" not in told


def test_nothing_is_written_without_locks(refusing: Path, run: Path) -> None:
    before = (run / "records.sqlite").read_bytes()
    code, told = command(refusing, "answer", run)
    assert code == 1 and "cannot be locked" in told and "Traceback" not in told
    assert (run / "records.sqlite").read_bytes() == before
