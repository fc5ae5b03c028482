"""An endpoint with batches in the layout of OpenAI's: files, batches whose states advance, and calls, which it answers
by the same function. It keeps account of what was paid."""

from __future__ import annotations

import email.parser
import email.policy
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from stand_in_endpoint import Reply, said

from shaketable.models.openai import Openai

ENDED = ("completed", "failed", "expired", "cancelled")


def asked(body: dict[str, Any]) -> str:
    return body["prompt"] if "prompt" in body else "\n".join(message["content"] for message in body["messages"])


def by_what_is_asked(body: dict[str, Any]) -> Reply:
    """The same text whenever the same is asked; after two of its own sentences, an end."""
    text = asked(body)
    mark = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:8]
    n = text.count("Zog")
    words = f"So the answer is: {mark}." if n == 2 else f"Zog {n} knows {mark}."
    if "prompt" in body:
        content = {"choices": [{"text": f" {words}", "finish_reason": "stop"}]}
        return 200, {}, {**content, "usage": {"prompt_tokens": 100, "completion_tokens": 10}, "model": "stand-in-2"}
    return said(words)


@dataclass
class Batch:
    id: str
    lines: list[dict[str, Any]]
    shown: dict[str, Any]
    """As the endpoint shows it."""
    n_looks: int = 0


@dataclass
class BatchEndpoint:
    """`tamper` may change the output and error lines of a batch, which are handed over shuffled."""

    answer: Callable[[dict[str, Any]], Reply] = by_what_is_asked
    states: tuple[str, ...] = ("validating", "in_progress", "finalizing", "completed")
    """One after the other, a step for each look at a batch."""
    n_before_expiry: int | None = None
    """Requests that a batch comes to before it expires; None: all."""
    refuse: Callable[[Batch], list[dict[str, Any]]] = lambda batch: []
    """Why a batch is not taken; empty: it is."""
    at: Callable[[str], None] = lambda event: None
    """Hears of uploaded, created, polled, downloading and downloaded, before the client does."""
    respond: Callable[[str, str], Reply | None] = lambda method, path: None
    """Answers a request in the endpoint's place, where it likes."""
    tamper: Callable[[list[str], list[str]], tuple[list[str], list[str]]] = lambda output, errors: (output, errors)
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, Batch] = field(default_factory=dict)
    paid: Counter[str] = field(default_factory=Counter)
    """Body of a request → how often it was answered in a batch."""
    paid_calls: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                self._reply(self.rfile.read(int(self.headers.get("content-length") or 0)))

            def do_GET(self) -> None:
                self._reply(b"")

            def _reply(self, content: bytes) -> None:
                status, headers, body = endpoint.handle(self.command, self.path, dict(self.headers), content)
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                try:
                    self.send_response(status)
                    for name, value in {"content-type": "application/json", **headers}.items():
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data[: len(data) // 2])
                    self.wfile.flush()
                    if isinstance(body, bytes):
                        endpoint.at("downloaded")
                    self.wfile.write(data[len(data) // 2 :])
                except OSError:  # the client is gone
                    self.close_connection = True

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def model(self, **settings: Any) -> Openai:
        usual = {"model": "stand-in", "base_url": self.url, "batch": True, "batch_poll_seconds": 0.01}
        return Openai(**{**usual, **settings})

    # --- what it is asked -----------------------------------------------------------------------

    def handle(self, method: str, address: str, headers: dict[str, str], content: bytes) -> Reply:
        path, query = urlsplit(address).path.removeprefix("/v1"), parse_qs(urlsplit(address).query)
        if (own := self.respond(method, path)) is not None:
            return own
        if method == "POST" and path in ("/chat/completions", "/completions"):
            body = json.loads(content)
            with self._lock:
                self.paid_calls.append(body)
            return self.answer(body)
        with self._lock:
            if path == "/files":
                return 200, {}, self._upload(headers, content)
            if path.startswith("/files/") and path.endswith("/content"):
                self.at("downloading")
                return 200, {"content-type": "application/octet-stream"}, self.files[path.split("/")[2]]
            if path == "/batches" and method == "POST":
                return 200, {}, self._create(json.loads(content))
            if path == "/batches":
                return 200, {}, self._list(query)
            if path.startswith("/batches/") and path.split("/")[2] in self.batches:
                return 200, {}, self._look(self.batches[path.split("/")[2]])
        return 404, {}, {"error": {"message": f"there is no {path}"}}

    def _upload(self, headers: dict[str, str], content: bytes) -> dict[str, Any]:
        kind = next(value for name, value in headers.items() if name.lower() == "content-type")
        parser = email.parser.BytesParser(policy=email.policy.HTTP)
        parts = {
            part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
            for part in parser.parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + content).iter_parts()
        }
        assert parts["purpose"] == b"batch"
        name = self._keep(parts["file"])
        self.at("uploaded")
        return {"id": name, "object": "file", "bytes": len(parts["file"]), "purpose": "batch"}

    def _keep(self, content: bytes) -> str:
        name = f"file-{len(self.files) + 1}"
        self.files[name] = content
        return name

    def _create(self, given: dict[str, Any]) -> dict[str, Any]:
        lines = [json.loads(line) for line in self.files[given["input_file_id"]].splitlines()]
        assert {(line["method"], line["url"]) for line in lines} == {("POST", given["endpoint"])}
        assert len({line["custom_id"] for line in lines}) == len(lines)
        name, now = f"batch_{len(self.batches) + 1}", int(time.time())
        shown = {"id": name, "object": "batch", "status": self.states[0], "created_at": now, "expires_at": now + 86_400}
        batch = Batch(id=name, lines=lines, shown={**given, **shown})
        self.batches[name] = batch
        self.at("created")
        return batch.shown

    def _list(self, query: dict[str, list[str]]) -> dict[str, Any]:
        newest = [batch.shown for batch in reversed(self.batches.values())]
        start = next((n + 1 for n, shown in enumerate(newest) if [shown["id"]] == query.get("after")), 0)
        page = newest[start : start + 2]  # Small pages, so that clients have to turn them.
        has_more = start + 2 < len(newest)
        return {"object": "list", "data": page, "has_more": has_more, "last_id": page[-1]["id"] if page else None}

    def _look(self, batch: Batch) -> dict[str, Any]:
        batch.n_looks += 1
        if batch.shown["status"] not in ENDED:
            batch.shown["status"] = self.states[min(batch.n_looks, len(self.states) - 1)]
            if batch.shown["status"] == "in_progress" and (errors := self.refuse(batch)):
                batch.shown |= {"status": "failed", "errors": {"object": "list", "data": errors}}
            elif batch.shown["status"] in ENDED:
                self._end(batch)
        self.at("polled")
        return batch.shown

    def _end(self, batch: Batch) -> None:
        """Answers are paid here, and nowhere else; requests that fail are not."""
        output, errors = [], []
        for n, line in enumerate(batch.lines):
            reply: dict[str, Any] = {"id": f"{batch.id}_{n}", "custom_id": line["custom_id"], "error": None}
            if self.n_before_expiry is not None and n >= self.n_before_expiry:
                batch.shown["status"] = "expired"
                error = {"code": "batch_expired", "message": "This request was not executed in time."}
                errors.append(json.dumps({**reply, "response": None, "error": error}))
                continue
            status, _, content = self.answer(line["body"])
            text = json.dumps({**reply, "response": {"status_code": status, "request_id": "r", "body": content}})
            (output if status == 200 else errors).append(text)
            if status == 200:
                self.paid[json.dumps(line["body"], sort_keys=True)] += 1
        counts = {"total": len(batch.lines), "completed": len(output), "failed": len(errors)}
        output, errors = self.tamper(sorted(output, key=_shuffled), errors)
        for name, lines in (("output_file_id", output), ("error_file_id", errors)):
            if lines:
                batch.shown[name] = self._keep("\n".join(lines).encode())
        batch.shown |= {"request_counts": counts, f"{batch.shown['status']}_at": batch.shown["created_at"] + 60}


def _shuffled(line: str) -> str:
    return hashlib.sha256(line.encode()).hexdigest()
