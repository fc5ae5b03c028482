"""The page on which people reword questions or judge wordings: it writes one file, and answers this machine alone."""

from __future__ import annotations

import json
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, cast

from shaketable.annotation.log import AnnotationLog
from shaketable.annotation.tasks import MAX_CHARACTERS, REVIEWING, REWRITING, Board, Refused, Task, entry_of
from shaketable.report.templates import environment
from shaketable.text.unseen import visible
from shaketable.viewer.reply import Reply
from shaketable.viewer.server import Handler

FILES = {
    "report.css": "text/css",
    "annotation/annotation.css": "text/css",
    "annotation/annotation.js": "text/javascript",
}
MAX_BYTES = 65_536
"""Of what a page sends."""


class AnnotationHandler(Handler):
    """Takes what the page of an `AnnotationSite` sends."""

    def do_POST(self) -> None:  # noqa: N802 (the name that the standard library calls)
        reply = self._posted()
        # Of what was refused, something may be left unread on the line.
        self.close_connection = self.close_connection or reply.status >= 400
        self._send(reply)

    def _posted(self) -> Reply:
        names = self.server.names
        if self.headers.get("Host", "") not in names:
            return _hint(403, f"This server answers to {' and '.join(names)} alone.")
        # A browser says whose page sends; another site's page must not write here.
        if self.headers.get("Origin", "") not in [f"http://{name}" for name in names]:
            return _hint(403, "Only the page of this server may write here.")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and len(length) < 9 and int(length) <= MAX_BYTES):
            return _hint(413, f"Nothing longer than {MAX_BYTES:,} bytes is taken.")
        try:
            given = json.loads(self.read_body(int(length)))
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            return _hint(400, "Expected one JSON object.")
        site = cast(AnnotationSite, self.server.site)
        try:
            return site.take(self.path, given)
        except Refused as refused:
            return _hint(422, str(refused))
        except OSError as error:
            return _hint(500, f"Not saved: {error.strerror or error}. Your text stays here; try again.")
        except Exception:
            sys.stderr.write(visible(traceback.format_exc()))
            return _hint(500, "Not saved. The terminal says more. Your text stays here.")


class AnnotationSite:
    """Pages and entries of all people at once; one thread at a time."""

    def __init__(self, tasks: Sequence[Task], log: AnnotationLog) -> None:
        self.board = Board(tasks, log.rows)
        self._log = log
        self._guidelines = REWRITING if tasks[0].wording is None else REVIEWING
        self._lock = threading.Lock()

    def close(self) -> None:
        self._log.close()

    def reply(self, steps: Sequence[str], given: Mapping[str, str]) -> Reply:
        match list(steps):
            case []:
                return self._page(given.get("annotator"))
            case ["static", *path] if (name := "/".join(path)) in FILES:
                source, _, _ = environment.loader.get_source(environment, name)  # type: ignore[union-attr]
                return Reply(body=source.encode(), kind=f"{FILES[name]}; charset=utf-8")
        return self.problem(404, "There is no such page.")

    def problem(self, status: int, text: str) -> Reply:
        return self._rendered({"name": None, "hint": text}, status)

    def take(self, path: str, given: Mapping[str, Any]) -> Reply:
        """An entry, saved when this returns; or a task that its person does not want now."""
        with self._lock:
            who = self.board.sign_in(str(given.get("annotator", "")))
            task_id = str(given.get("id", ""))
            refusal = self.board.refusal(who, task_id)
            if refusal:
                raise Refused(refusal)
            match path:
                case "/skip":
                    self.board.skip(who, task_id)
                case "/entry":
                    self._log.append(entry_of(self.board.tasks[task_id], self.board.names[who], given))
                    self.board.add(who, task_id)
                case _:
                    raise Refused("There is no such page.")
        return Reply.json({"saved": path == "/entry"})

    def _page(self, name: str | None) -> Reply:
        if name is None:
            return self._rendered({"name": None, "hint": None})
        with self._lock:
            try:
                who = self.board.sign_in(name)
            except Refused as refused:
                return self._rendered({"name": None, "hint": str(refused)}, 422)
            task, progress = self.board.next_task(who), self.board.progress(who)
            return self._rendered({"name": self.board.names[who], "task": task, "progress": progress})

    def _rendered(self, values: Mapping[str, Any], status: int = 200) -> Reply:
        text = environment.get_template("annotation/page.html").render(
            values,
            guidelines=self._guidelines,
            is_review=self._guidelines is REVIEWING,
            max_characters=MAX_CHARACTERS,
            n=len(self.board.tasks),
            file=self._log.path.name,
        )
        return Reply(body=text.encode(), status=status)


def _hint(status: int, text: str) -> Reply:
    return Reply.json({"hint": text}, status)
