"""Long texts that many records share: prompts, evidence and its hits, each kept once by its digest."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shaketable.errors import StoreError
from shaketable.identity import canonical, digest_text
from shaketable.store.database import Database

N_REMEMBERED = 4096
"""Shared values that are not worked out or read again."""


class SharedTexts(Database):
    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        super().__init__(path, read_only=read_only)
        self._known_texts: set[str] = set()
        self._digests: OrderedDict[int, tuple[object, str]] = OrderedDict()
        self._values: OrderedDict[str, Any] = OrderedDict()

    def _keep(self, value: object, texts: dict[str, str]) -> str:
        """The digest of a shared value. Many records share one object, so its digest is worked out once."""
        remembered = self._digests.get(id(value))
        if remembered and remembered[0] is value and (remembered[1] in self._known_texts or remembered[1] in texts):
            return remembered[1]
        body = canonical(value)
        name = digest_text(body)
        if name not in self._known_texts:
            texts[name] = body
        self._digests[id(value)] = (value, name)
        if len(self._digests) > N_REMEMBERED:
            self._digests.popitem(last=False)
        return name

    def _fetch(self, name: str, unpack: Callable[[Any], Any]) -> Any:
        """A shared value. Records that follow one another often share it, so it is read once for many."""
        if name not in self._values:
            self._values[name] = unpack(self.shared_text(name))
            if len(self._values) > N_REMEMBERED:
                self._values.popitem(last=False)
        return self._values[name]

    def shared_text(self, name: str) -> Any:
        """The JSON of a value that many records share, by its digest."""
        found = self.rows("SELECT body FROM texts WHERE digest = ?", name)
        if not found:
            raise StoreError(
                f"{self.path}: the text {name} that a record refers to is missing. "
                f"Run: shaketable verify {self.path.parent}."
            )
        return json.loads(found[0][0])
