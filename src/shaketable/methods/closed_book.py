"""No retrieval (NR): the model answers from what it knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shaketable.methods.asking import generate
from shaketable.prompts import ANSWER_CLOSED_BOOK, Template
from shaketable.protocols import Steps
from shaketable.types import Answer


@dataclass(frozen=True, kw_only=True)
class ClosedBook:
    """Ask once, without evidence."""

    version: ClassVar[int] = 1
    searches: ClassVar[bool] = False
    wants: ClassVar[tuple[str, ...]] = ()
    prompts: ClassVar[tuple[Template, ...]] = (ANSWER_CLOSED_BOOK,)

    def answer(self, wording: str) -> Steps:
        reply = yield from generate(ANSWER_CLOSED_BOOK.fill(question=wording))
        return Answer(text=reply.text.strip())
