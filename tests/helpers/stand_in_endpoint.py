"""An endpoint in the layout of OpenAI's that says what each test needs."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from shaketable.models.openai import Openai

Reply = tuple[int, dict[str, str], Any]
"""Status, headers, and a body: text as it is, or a value to be sent as JSON."""


class ManyAtOnce(ThreadingHTTPServer):
    """Takes hundreds of connections at once; five, as it is by default, are refused on a busy machine."""

    request_queue_size = 512


class StandIn:
    """Answers every request with what `reply(body, n)` returns, n counting requests from 1."""

    def __init__(self) -> None:
        self.reply: Callable[[dict[str, Any], int], Reply] = lambda body, n: said("Paris.")
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.arrivals: list[float] = []
        self.n_at_once = self.most_at_once = 0
        self._counting = threading.Lock()
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with stand_in._counting:
                    stand_in.requests.append(body)
                    stand_in.paths.append(self.path)
                    stand_in.headers.append({name.lower(): value for name, value in self.headers.items()})
                    stand_in.arrivals.append(time.monotonic())
                    number = len(stand_in.requests)
                    stand_in.n_at_once += 1
                    stand_in.most_at_once = max(stand_in.most_at_once, stand_in.n_at_once)
                status, headers, content = stand_in.reply(body, number)
                with stand_in._counting:
                    stand_in.n_at_once -= 1
                data = (content if isinstance(content, str) else json.dumps(content)).encode()
                self.send_response(status)
                for name, value in {"content-type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                with contextlib.suppress(BrokenPipeError):  # the client gave up waiting
                    self.wfile.write(data)

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = ManyAtOnce(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def model(self, **settings: Any) -> Openai:
        return Openai(**{"model": "stand-in", "base_url": self.url, **settings})


def said(text: str | None, finish: str = "stop", message: Any = None, choice: Any = None, **reply: Any) -> Reply:
    choices = [{"finish_reason": finish, "message": {"content": text, **(message or {})}, **(choice or {})}]
    usage = {"prompt_tokens": 11, "completion_tokens": 7}
    return 200, {}, {"choices": choices, "usage": usage, "model": "stand-in-2", "system_fingerprint": "fp", **reply}
