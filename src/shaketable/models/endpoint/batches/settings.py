"""The settings of the part that shape its batches, checked."""

from __future__ import annotations

import math
from typing import Protocol

from shaketable.models.endpoint.request import Dialect
from shaketable.types import Json, Prompt


class BatchSettings(Dialect, Protocol):
    def body(self, prompt: Prompt) -> dict[str, Json]:
        """The body of a prompt's request."""

    @property
    def batch_price(self) -> float: ...
    @property
    def batch_window(self) -> str: ...
    @property
    def batch_requests(self) -> int: ...
    @property
    def batch_megabytes(self) -> float: ...
    @property
    def batch_poll_seconds(self) -> float: ...
    @property
    def attempts(self) -> int: ...
    @property
    def timeout_seconds(self) -> float: ...


def refuse_batches(settings: BatchSettings) -> None:
    if not 0 <= settings.batch_price < math.inf:
        raise ValueError(
            f"batch_price is {settings.batch_price}; expected the share of the prices that a batch costs, such as 0.5."
        )
    for name, value in (
        ("batch_requests", settings.batch_requests),
        ("batch_megabytes", settings.batch_megabytes),
        ("batch_poll_seconds", settings.batch_poll_seconds),
    ):
        if not 0 < value < math.inf:
            raise ValueError(f"{name} is {value}; it must be above 0.")
