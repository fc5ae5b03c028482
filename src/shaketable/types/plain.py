"""What other values are made of: plain JSON, and messages of a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
NOTHING: Mapping[str, Any] = MappingProxyType({})
Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    role: Role
    content: str
