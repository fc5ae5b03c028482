"""The cache of answers: what is found is what was put there, or nothing."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaketable.errors import StoreError, StudyError
from shaketable.store.answer_cache import A_ROW, AnswerCache
from shaketable.store.user_cache import (
    cache_path,
    cache_size,
    clear_cache,
    is_switched_on,
    most_bytes,
    open_cache,
)


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    for name in ("SHAKETABLE_CACHE", "SHAKETABLE_CACHE_MB"):
        monkeypatch.delenv(name, raising=False)


def opened(path: Path, most: int = 10**6) -> AnswerCache:
    return AnswerCache(path, most)


def test_what_was_put_there_is_found_and_nothing_else(tmp_path):
    cache = opened(tmp_path / "c.sqlite")
    cache.add({"a": b"one", "b": "zwei ü".encode()})
    assert cache.find(["a", "b", "c"]) == {"a": b"one", "b": "zwei ü".encode()}
    assert cache.n_known(["a", "b", "c"]) == 2
    assert opened(tmp_path / "c.sqlite").find(["b"]) == {"b": "zwei ü".encode()}


def test_the_newest_answer_of_a_name_counts(tmp_path):
    cache = opened(tmp_path / "c.sqlite")
    cache.add({"a": b"one"})
    cache.add({"a": b"two"})
    assert cache.find(["a"]) == {"a": b"two"}
    assert sizes(tmp_path / "c.sqlite")[0] == 1


def test_many_names_are_found_at_once(tmp_path):
    cache = opened(tmp_path / "c.sqlite")
    bodies = {str(n): str(n).encode() for n in range(1234)}
    cache.add(bodies)
    assert cache.find([*bodies, "x"]) == bodies


def sizes(path: Path) -> tuple[int, int]:
    """As the file counts them, and counted anew."""
    with sqlite3.connect(path) as connection:
        counted = connection.execute("SELECT COUNT(*), COALESCE(SUM(size), 0) FROM answers").fetchone()
        assert connection.execute("SELECT n, n_bytes FROM totals").fetchone() == counted
    return counted


def test_the_oldest_give_way_where_there_is_no_room(tmp_path):
    body = os.urandom(1000)
    cache = opened(tmp_path / "c.sqlite", most=5 * (1000 + A_ROW + 20))
    for n in range(8):
        cache.add({str(n): body})
    assert sorted(cache.find([str(n) for n in range(8)])) == ["3", "4", "5", "6", "7"]
    assert sizes(tmp_path / "c.sqlite")[1] <= cache.most_bytes


def test_an_answer_that_is_larger_than_the_cache_is_not_kept(tmp_path):
    cache = opened(tmp_path / "c.sqlite", most=500)
    cache.add({"a": os.urandom(1000)})
    assert (cache.find(["a"]), sizes(tmp_path / "c.sqlite")) == ({}, (0, 0))


# --- damage -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "c.sqlite"
    cache = AnswerCache(path, 10**6)
    cache.add({f"name {n}": f"answer {n}".encode() * 9 for n in range(5)})
    cache.close()
    return path


@settings(max_examples=100)
@given(data=st.data())
def test_a_flipped_byte_is_a_miss_or_nothing_and_never_another_answer(tmp_path_factory, sound, data):
    content = bytearray(sound.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.mktemp("flipped") / "c.sqlite"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cache = opened(path)
        bodies = cache.find([f"name {n}" for n in range(5)])
        cache.close()
    assert all(body == name.replace("name", "answer").encode() * 9 for name, body in bodies.items())


def test_an_altered_answer_is_told_and_not_used(tmp_path):
    cache = opened(tmp_path / "c.sqlite")
    cache.add({"a": b"one", "b": b"two"})
    with sqlite3.connect(tmp_path / "c.sqlite") as connection:
        connection.execute("UPDATE answers SET body = (SELECT body FROM answers WHERE name = 'b') WHERE name = 'a'")
    with pytest.warns(UserWarning, match=r"1 answers in .* do not match their checksums; they are asked again"):
        assert cache.find(["a", "b"]) == {"b": b"two"}
    cache.add({"a": b"one"})
    assert cache.find(["a"]) == {"a": b"one"}


def test_a_file_that_is_no_cache_is_told_left_alone_and_done_without(tmp_path):
    (tmp_path / "c.sqlite").write_bytes(b"not a database" * 100)
    with pytest.warns(UserWarning, match=r"cannot be used: file is not a database. All is asked. Empty it with"):
        cache = opened(tmp_path / "c.sqlite")
    cache.add({"a": b"one"})
    assert (cache.find(["a"]), cache.n_known(["a"])) == ({}, 0)
    assert (tmp_path / "c.sqlite").read_bytes().startswith(b"not a database")


def test_a_database_of_something_else_is_left_alone(tmp_path):
    cache_path().parent.mkdir()
    with sqlite3.connect(cache_path()) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.warns(UserWarning, match="not one of Shaketable's caches"):
        opened(cache_path())
    for call in (cache_size, clear_cache):
        with pytest.raises(StoreError, match="not one of Shaketable's caches"):
            call()


# --- several processes ------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from shaketable.store.answer_cache import AnswerCache

cache = AnswerCache(Path(sys.argv[1]), 10**7)
for n in range(60):
    cache.add({f"{sys.argv[2]} {n}": f"{sys.argv[2]} says {n}".encode(), "both": sys.argv[2].encode()})
    assert cache.find([f"{sys.argv[2]} {n}"]) == {f"{sys.argv[2]} {n}": f"{sys.argv[2]} says {n}".encode()}
"""


def test_two_processes_at_once_lose_nothing(tmp_path):
    path = tmp_path / "c.sqlite"
    writers = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", WRITER, str(path), name], stderr=subprocess.PIPE)
        for name in ("one", "two")
    ]
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert writer.returncode == 0, errors.decode()
    cache = opened(path)
    names = [f"{name} {n}" for name in ("one", "two") for n in range(60)]
    assert cache.find(names) == {name: name.replace(" ", " says ").encode() for name in names}
    assert cache.find(["both"])["both"] in (b"one", b"two")
    assert sizes(path)[0] == 121


# --- switches, size, and who may read ---------------------------------------------------------------


def test_it_is_off_until_it_is_switched_on_and_an_option_goes_before_that(monkeypatch):
    with open_cache() as off, open_cache(True) as asked:
        assert (off, asked is not None) == (None, True)
    monkeypatch.setenv("SHAKETABLE_CACHE", "1")
    with open_cache() as switched, open_cache(False) as refused:
        assert (switched is not None, refused) == (True, None)


@pytest.mark.parametrize("value", ["yes", "2", "/tmp/cache"])
def test_a_switch_that_is_neither_is_named(monkeypatch, value):
    monkeypatch.setenv("SHAKETABLE_CACHE", value)
    with pytest.raises(StudyError, match=f"SHAKETABLE_CACHE is '{value}'; set it to 1 to share .*, or to 0"):
        is_switched_on()


@pytest.mark.parametrize("value", ["0", "-3", "1.5", "a lot", "²"])
def test_a_size_that_is_none_is_named(monkeypatch, value):
    monkeypatch.setenv("SHAKETABLE_CACHE_MB", value)
    with pytest.raises(StudyError, match="give the most megabytes of the cache as a whole number, such as 500"):
        most_bytes()


def test_nobody_else_may_read_it(tmp_path):
    cache_path().parent.mkdir()
    cache_path().touch(0o644)
    with open_cache(True) as cache:
        cache.add({"a": b"one"})
        files = [*cache_path().parent.iterdir()]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_it_is_emptied_also_where_it_cannot_be_read():
    with open_cache(True) as cache:
        cache.add({"a": b"one"})
        assert cache_size().n_answers == 1
        clear_cache()
        assert (cache_size().n_answers, cache_size().n_bytes, cache.find(["a"])) == (0, 0, {})
    cache_path().write_bytes(b"broken" * 1000)
    with pytest.raises(StoreError, match=r"cannot be read: file is not a database\. Empty it with: shaketable cache"):
        cache_size()
    clear_cache()
    assert cache_size().n_answers == 0
