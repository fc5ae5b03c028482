"""What a server of pages sends back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Reply:
    body: bytes
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    policy: str | None = None
    """The content security policy; None: that of the server's own pages."""

    @classmethod
    def plain(cls, status: int, text: str) -> Reply:
        return cls(body=text.encode(), kind="text/plain; charset=utf-8", status=status)

    @classmethod
    def json(cls, value: Any, status: int = 200) -> Reply:
        body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        return cls(body=body, kind="application/json", status=status)
