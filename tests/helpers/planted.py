"""A new user's files and endpoint with planted weaknesses: typos and missing evidence break it, nothing else.

The endpoint speaks OpenAI's protocol. It answers from the evidence in its prompt, needs the name of the ship and the
property spelled as in its documents, and words its answers differently at temperatures above 0 without changing what
they say.
"""

from __future__ import annotations

import contextlib
import csv
import json
import random
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PROPERTIES = {
    # what a question calls it: question, sentence of the document
    "captain": ("Who is the captain of the {name}?", "The captain of the ferry is {value}."),
    "harbor": ("Which harbor is the home of the {name}?", "Its home is the harbor of {value}."),
    "launch": ("In which year was the {name} launched?", "Shipwrights launched the vessel in {value}."),
    "length": ("What is the length of the {name} in meters?", "From bow to stern its length is {value} meters."),
}
WORDED = ("{}.", "It is {}.", "{}, according to the document.", "The answer is {}.")
UNKNOWN = ("I do not know.", "That is not in the documents.", "I cannot tell from this.", "The context does not say.")
BEGINNINGS, ENDINGS = ("Mar", "Tol", "Ves", "Kin", "Bra", "Orl", "Fen", "Sul", "Dag", "Hib"), ("anta", "ovic", "ulen")
APP = '''"""A small RAG app: the passages that share the most words with the question, and a model that reads them."""
import json, os, re, urllib.request
from pathlib import Path

DOCS = [file.read_text() for file in sorted((Path(__file__).parent / "docs").glob("*.txt"))]

def words(text):
    return set(re.findall(r"[a-z]+", text.lower()))

def answer(question, disturb=None, temperature=0.0, seed=0):
    passages = sorted(DOCS, key=lambda text: -len(words(question) & words(text)))[:4]
    passages = disturb(passages) if disturb else passages
    prompt = "Answer from the context.\\n\\n" + "\\n\\n".join(passages) + "\\n\\nQuestion: " + question
    body = {"model": "ferry-1", "temperature": temperature, "seed": seed,
            "messages": [{"role": "user", "content": prompt}]}
    request = urllib.request.Request(os.environ["FERRY_URL"] + "/chat/completions", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["choices"][0]["message"]["content"]
'''


@dataclass
class Planted:
    """The endpoint's knowledge of how to read its documents: (ship, property) → value."""

    facts: dict[tuple[str, str], str] = field(default_factory=dict)
    forgotten: set[tuple[str, str]] = field(default_factory=set)
    """What a worse release no longer reads."""
    url: str = ""
    n_calls: int = 0

    def answer(self, prompt: str, temperature: float, seed: int) -> str:
        lines = reversed(prompt.splitlines())
        question = next((line for line in lines if line.startswith(("Question:", "Query:"))), "")
        context = prompt.replace(question, "") if question else ""
        rng = random.Random(f"{seed} {prompt}") if temperature else random.Random(0)
        asked = [
            key
            for key in self.facts
            if re.search(rf"\b{key[0]}\b", question) and re.search(rf"\b{key[1]}", question, re.IGNORECASE)
        ]
        value = self.facts[asked[0]] if len(asked) == 1 and asked[0] not in self.forgotten else None
        if value is None or not re.search(rf"\b{value}\b", context) or asked[0][0] not in context:
            return rng.choice(UNKNOWN)
        return rng.choice(WORDED).format(value)


def write_project(folder: Path, n_ships: int = 100, n_questions: int = 80) -> Planted:
    """Write `docs/` with one document for each ship, `questions.csv` and `app.py`."""
    rng = random.Random(5)
    names = sorted({f"{a}{b}{c}" for a in BEGINNINGS for b in ENDINGS for c in ("", "ra", "st", "mo")})
    planted = Planted()
    (folder / "docs").mkdir()
    rows = []
    for i, name in enumerate(rng.sample(names, n_ships)):
        values = {
            "captain": f"{rng.choice(BEGINNINGS)}ek {rng.choice(BEGINNINGS)}son{'abcdefghij'[i % 10]}",
            "harbor": f"{rng.choice(BEGINNINGS)}port{'klmnopqrst'[i // 10]}",
            "launch": str(1870 + i),
            "length": str(31 + 2 * i),
        }
        sentences = [f"The {name} is a ferry.", *(PROPERTIES[key][1].format(value=values[key]) for key in PROPERTIES)]
        (folder / "docs" / f"{name.lower()}.txt").write_text(" ".join(sentences) + "\n", "utf-8")
        planted.facts |= {(name, key): value for key, value in values.items()}
        kind = list(PROPERTIES)[i % len(PROPERTIES)]
        rows.append((PROPERTIES[kind][0].format(name=name), values[kind]))
    with (folder / "questions.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("question", "answer"), *rows[:n_questions]])
    (folder / "app.py").write_text(APP, "utf-8")
    return planted


@contextlib.contextmanager
def serving(planted: Planted) -> Iterator[str]:
    """Serve the endpoint on loopback; yields its base address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send({"object": "list", "data": [{"id": "ferry-1", "object": "model", "owned_by": "tests"}]})

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            planted.n_calls += 1
            prompt = "\n\n".join(message["content"] for message in asked["messages"])
            text = planted.answer(prompt, asked.get("temperature") or 0.0, asked.get("seed") or 0)
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(text.split())}
            self._send(
                {"id": "x", "object": "chat.completion", "model": "ferry-1", "choices": [choice], "usage": usage}
            )

        def _send(self, value: object) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    planted.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield planted.url
    finally:
        server.shutdown()
        server.server_close()
