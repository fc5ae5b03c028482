"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from shaketable.text.whole_file import UNFINISHED, beside, write_whole

WRITING = """
import sys
from pathlib import Path
from shaketable.text.whole_file import write_whole
for n in range(300):
    write_whole(Path(sys.argv[1]), sys.argv[2] * 5000)
"""
KILLED = """
import os, signal, sys
from pathlib import Path
from shaketable.text.whole_file import beside
with beside(Path(sys.argv[1])):
    os.kill(os.getpid(), signal.SIGKILL)
"""
WATCHED = """
import sys
from pathlib import Path
from shaketable.text.whole_file import write_whole
listed = []
sys.addaudithook(lambda event, found: listed.append(found[0]) if event in ("os.listdir", "os.scandir") else None)
for n in range(20):
    write_whole(Path(sys.argv[1]) / f"file{n % 4}", "one")
print(len(listed))
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_fails_leaves_what_was_there_and_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_whole(file, "one")
    with pytest.raises(ZeroDivisionError), beside(file) as temporary:
        assert UNFINISHED.fullmatch(temporary.name)
        temporary.write_text("two")
        raise ZeroDivisionError
    assert file.read_text() == "one" and names(tmp_path) == ["file"]
    write_whole(file, b"three", settled=True)
    assert file.read_text() == "three" and names(tmp_path) == ["file"]


def test_it_is_as_closed_as_its_folder_from_its_beginning(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        for folder_mode, mode in ((0o700, 0o600), (0o755, 0o644)):
            tmp_path.chmod(folder_mode)
            with beside(tmp_path / "file") as temporary:
                assert stat.S_IMODE(temporary.stat().st_mode) == mode
    finally:
        os.umask(before)


def test_processes_that_write_one_file_at_once_leave_one_of_their_files(tmp_path: Path) -> None:
    file = tmp_path / "file"
    writing = [subprocess.Popen([sys.executable, "-c", WRITING, str(file), letter]) for letter in "abc"]
    assert [process.wait(timeout=60) for process in writing] == [0, 0, 0]
    assert file.read_text() in [letter * 5000 for letter in "abc"]
    assert names(tmp_path) == ["file"]


def test_what_a_killed_process_left_is_removed_and_what_another_writes_stays(tmp_path: Path) -> None:
    file = tmp_path / "file"
    subprocess.run([sys.executable, "-c", KILLED, str(file)], check=False)
    [left] = names(tmp_path)
    (tmp_path / f"{left}.x.parts").mkdir()
    (tmp_path / "file.old.tmp").touch()  # Somebody's own.
    with beside(file) as other:
        write_whole(file, "one")
        assert names(tmp_path) == sorted(["file", "file.old.tmp", other.name])


def test_a_process_looks_once_for_what_was_left_and_removes_it_from_all_files_it_writes(tmp_path: Path) -> None:
    for name in ("file0", "file3", "another"):
        subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / name)], check=False)
    [_, _, of_another] = sorted(names(tmp_path), key=lambda name: name.startswith("another"))
    looks = subprocess.run([sys.executable, "-c", WATCHED, str(tmp_path)], check=True, capture_output=True, text=True)
    assert int(looks.stdout) == 1 + 2  # And for the parts of each that is removed.
    assert names(tmp_path) == [of_another, "file0", "file1", "file2", "file3"]


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    for name in ("n" * 255, "é" * 127):
        write_whole(tmp_path / name, "one")
    assert len(names(tmp_path)) == 2
