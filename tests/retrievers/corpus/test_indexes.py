from __future__ import annotations

import multiprocessing
import os
import signal
import time

import pytest

from shaketable.retrievers.corpus.indexes import BLOCK, N_BLOCKS, damage, kept, open_index, with_news

CORPUS = "0123456789abcdef"


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path))


def build(folder):
    (folder / "numbers.bin").write_bytes(bytes(range(256)) * (BLOCK * N_BLOCKS // 256 + 9))
    (folder / "inner").mkdir()
    (folder / "inner" / "empty").touch()
    return {"n_passages": 3}


def never(folder):
    raise AssertionError("It was built again.")


def test_an_index_is_built_once_and_says_what_it_holds(caplog):
    caplog.set_level("INFO")
    folder, holds = open_index("test", CORPUS, {"k1": 1.2}, build)
    assert holds == {"n_passages": 3}
    assert "It holds 3 passages" in caplog.text
    assert open_index("test", CORPUS, {"k1": 1.2}, never) == (folder, holds)
    other, _ = open_index("test", CORPUS, {"k1": 1.3}, build)
    assert other != folder


@pytest.mark.parametrize(
    "harm",
    [
        lambda folder: (folder / "numbers.bin").write_bytes(b"short"),
        lambda folder: (folder / "numbers.bin").unlink(),
        lambda folder: (folder / "manifest.json").write_text("{"),
        lambda folder: (folder / "manifest.json").write_text("{}"),
        lambda folder: os.truncate(folder / "numbers.bin", 100),
        lambda folder: flip(folder / "numbers.bin", 0),
        lambda folder: flip(folder / "numbers.bin", -1),
    ],
)
def test_a_damaged_index_is_built_again_and_says_so(harm, caplog):
    folder, _ = open_index("test", CORPUS, {}, build)
    harm(folder)
    assert damage(folder, {"corpus": CORPUS, "settings": {}})
    assert open_index("test", CORPUS, {}, build)[0] == folder
    assert "is damaged" in caplog.text
    assert damage(folder, {"corpus": CORPUS, "settings": {}}) is None


def flip(file, place):
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)


def test_long_work_is_told_every_few_seconds(monkeypatch, caplog):
    caplog.set_level("INFO")
    seconds = iter(range(0, 1000, 6))
    monkeypatch.setattr("time.monotonic", lambda: next(seconds))
    assert list(with_news(range(3000), "Indexing")) == list(range(3000))
    # Asked after each thousand, 6 seconds apart; 10 must have passed.
    assert caplog.messages == ["Indexing: 2,000 of 3,000 passages in 12 s"]
    caplog.clear()
    assert len(list(with_news(iter(range(3000)), "Reading"))) == 3000
    assert caplog.messages == ["Reading: 2,000 passages in 12 s"]


def test_indexes_are_counted(tmp_path):
    assert kept() == (tmp_path / "indexes", 0, 0)
    folder, _ = open_index("test", CORPUS, {"k1": 1.2}, build)
    open_index("test", CORPUS, {"k1": 1.3}, build)
    where, n, n_bytes = kept()
    assert (where, n) == (tmp_path / "indexes", 2)
    assert n_bytes == 2 * sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def test_a_build_that_fails_leaves_nothing(tmp_path):
    def fails(folder):
        build(folder)
        raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        open_index("test", CORPUS, {}, fails)
    assert [file for file in tmp_path.rglob("*") if file.is_file() and file.suffix != ".lock"] == []


def slow_build(folder):
    build(folder)
    (folder.parent / "started").touch()
    time.sleep(60)
    return {}


def test_a_killed_build_is_not_taken_for_an_index(tmp_path):
    process = multiprocessing.get_context("fork").Process(target=open_index, args=("test", CORPUS, {}, slow_build))
    process.start()
    started = tmp_path / "indexes" / CORPUS / "started"
    while not started.exists():
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert list(started.parent.glob(".test-*"))
    folder, holds = open_index("test", CORPUS, {}, build)
    assert holds == {"n_passages": 3}
    assert not list(started.parent.glob(".test-*")), "What the killed build left is cleared away."
    assert damage(folder, {"corpus": CORPUS, "settings": {}}) is None
