"""A writer shuts out other writers, and nobody who only looks shuts out a writer."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from shaketable.errors import RunError
from shaketable.store.lock import hold_lock, is_locked

LOOKING = """
import sys, time
from pathlib import Path
from shaketable.store.lock import is_locked
print("looking", flush=True)
while True:
    is_locked(Path(sys.argv[1]))
    time.sleep(0.0005)
"""


def test_only_one_may_write(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    with hold_lock(tmp_path):
        assert is_locked(tmp_path)
        start = time.perf_counter()
        with pytest.raises(RunError, match="Another process is writing"), hold_lock(tmp_path):
            pass
        assert time.perf_counter() - start > 0.15
    assert not is_locked(tmp_path)


def test_who_looks_all_the_time_shuts_out_nobody(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()
    looking = subprocess.Popen([sys.executable, "-c", LOOKING, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert looking.stdout is not None and looking.stdout.readline() == "looking\n"
        for _ in range(400):
            assert not is_locked(tmp_path)
            with hold_lock(tmp_path):
                pass
            time.sleep(0.001)
    finally:
        looking.kill()
        looking.communicate()
