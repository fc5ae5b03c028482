"""A server of Milvus (Milvus Lite's) in a process of its own, reached by its address alone, as a cluster would be."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import subprocess
import sys
import time

import pytest

from shaketable.errors import RetrieverDown
from shaketable.retrievers import milvus as milvus_module
from shaketable.retrievers.bm25 import Bm25
from shaketable.retrievers.milvus import Milvus
from shaketable.types import Query, Question

pytest.importorskip("milvus_lite")
WORDS = [a + b for a in ("bran", "dolk", "kirm", "lunt", "mosk") for b in ("at", "ek", "im", "of", "ud", "erk")]


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def server(folder, port):
    command = [sys.executable, "-m", "milvus_lite", "server", "--data-dir", str(folder), "--host", "127.0.0.1"]
    process = subprocess.Popen([*command, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            assert process.poll() is None, "The server ended."
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    rng = random.Random(4)
    lines = [json.dumps({"text": " ".join(rng.choices(WORDS, k=rng.randint(3, 30)))}) + "\n" for _ in range(600)]
    (tmp_path / "corpus.jsonl").write_text("".join(lines), "utf-8")
    return str(tmp_path / "corpus.jsonl")


def queries(n):
    rng = random.Random(9)
    texts = [" ".join(rng.choices(WORDS, k=4)) for _ in range(n)]
    return [Query(text=text, question=Question(id="q", text=text, answers=())) for text in texts]


def scores(found):
    return [[hit.score for hit in hits] for hits in found]


def test_a_load_that_the_servers_end_interrupts_goes_on_at_the_same_address(corpus, tmp_path, port, monkeypatch):
    monkeypatch.setattr(milvus_module, "ROWS_AT_ONCE", 50)
    address, asked = f"http://127.0.0.1:{port}", queries(20)
    part = Milvus(corpus=corpus, uri=address, timeout_seconds=20)
    with server(tmp_path / "data", port) as process:
        upsert, sent = part._client.upsert, []

        def counted(name, rows, **more):
            upsert(name, rows, **more)
            sent.append(rows[0]["row"])
            if len(sent) == 5:
                process.kill()
                process.wait()

        monkeypatch.setattr(part._client, "upsert", counted)
        with pytest.raises(RetrieverDown, match=f"{address} could not fill the collection.*run again"):
            part.search(asked, 10)
    with server(tmp_path / "data", port):
        resumed = []  # by the same part, which connects anew
        upsert_again = part._client.upsert
        monkeypatch.setattr(
            part._client, "upsert", lambda name, rows, **more: (resumed.extend(rows), upsert_again(name, rows, **more))
        )
        found = part.search(asked, 10)
        arrived = 600 - len({row["row"] for row in resumed})
        assert 0 < arrived <= 5 * 50, "What had arrived stays, and nothing else is taken for arrived."
        own = Bm25(corpus=corpus).search(asked, 10)
        for ours, theirs in zip(scores(own), scores(found), strict=True):
            # Milvus keeps Lucene's older factor k1 + 1, the same for all.
            assert theirs == pytest.approx([2.2 * score for score in ours], rel=1e-4)
        assert scores(Milvus(corpus=corpus, uri=address).search(asked, 10)) == scores(found)
