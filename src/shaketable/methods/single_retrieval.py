"""Retrieve once with the question, then answer from what was found (WR)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shaketable.methods.asking import document, generate, search
from shaketable.prompts import ANSWER_FROM_CONTEXT, Template
from shaketable.protocols import Steps
from shaketable.types import Answer


@dataclass(frozen=True, kw_only=True)
class SingleRetrieval:
    """One search, one generation. Titles are left out by default: they would give masked names away."""

    k: int = 5
    with_titles: bool = False

    version: ClassVar[int] = 1
    searches: ClassVar[bool] = True
    wants: ClassVar[tuple[str, ...]] = ()
    prompts: ClassVar[tuple[Template, ...]] = (ANSWER_FROM_CONTEXT,)

    def answer(self, wording: str) -> Steps:
        hits = yield from search(wording, self.k)
        evidence = document(hits, with_titles=self.with_titles)
        reply = yield from generate(ANSWER_FROM_CONTEXT.fill(document=evidence, question=wording))
        return Answer(text=reply.text.strip(), hits=hits)
