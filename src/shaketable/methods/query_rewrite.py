"""Rewrite, retrieve, read: the model writes the query, then answers from what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shaketable.methods.asking import Layout, document, generate, note, search
from shaketable.prompts import ANSWER_FROM_CONTEXT, REWRITE_QUERY, Template
from shaketable.protocols import Steps
from shaketable.types import Answer, Effort


@dataclass(frozen=True, kw_only=True)
class QueryRewrite:
    """Ma et al., arXiv 2305.14283, with a prompt in place of their trained rewriter."""

    k: int = 5
    with_titles: bool = False
    query_tokens: int = 32
    layout: Layout = "chat"
    """`plain` asks by one text that goes on, for models without a chat template."""

    version: ClassVar[int] = 1
    searches: ClassVar[bool] = True
    wants: ClassVar[tuple[str, ...]] = ()
    prompts: ClassVar[tuple[Template, ...]] = (REWRITE_QUERY, ANSWER_FROM_CONTEXT)

    def answer(self, wording: str) -> Steps:
        reply = yield from generate(REWRITE_QUERY.fill(question=wording), self.layout, max_tokens=self.query_tokens)
        query = next(iter(reply.text.strip().splitlines()), "").strip(" \"'")
        yield from note("query_rewrite", query=query, used=bool(query))
        hits = yield from search(query or wording, self.k)
        evidence = document(hits, with_titles=self.with_titles)
        reply = yield from generate(ANSWER_FROM_CONTEXT.fill(document=evidence, question=wording), self.layout)
        return Answer(text=reply.text.strip(), hits=hits)

    def at_most(self, max_tokens: int) -> Effort:
        return Effort(n_calls=2, n_tokens=self.query_tokens + max_tokens, n_passages=self.k)
