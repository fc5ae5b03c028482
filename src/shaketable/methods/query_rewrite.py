"""Rewrite, retrieve, read: the model writes the query, then answers from what it finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from shaketable.methods.asking import FROM_CONTEXT, Layout, document, generate, note, search
from shaketable.methods.prompted import OWN, Prompted
from shaketable.prompts import ANSWER_FROM_CONTEXT, REWRITE_QUERY, Template
from shaketable.prompts.own import Replaceable
from shaketable.protocols import Steps
from shaketable.types import Answer, Effort

FOR_QUERY = Replaceable(template=REWRITE_QUERY, slots={"question": "question"}, use="the request for a search query")


@dataclass(frozen=True, kw_only=True)
class QueryRewrite(Prompted):
    """Ma et al., arXiv 2305.14283, with a prompt in place of their trained rewriter."""

    query_prompt: str | None = field(default=None, metadata=OWN)
    """As `prompt`, which asks for the answer, for the search query."""
    k: int = 5
    with_titles: bool = False
    joined: bool = False
    """One passage follows the other after a space, as published; else an empty line stands between them."""
    query_tokens: int = 32
    layout: Layout = "chat"
    """`plain` asks by one text that goes on, for models without a chat template."""

    version: ClassVar[int] = 2
    searches: ClassVar[bool] = True
    wants: ClassVar[tuple[str, ...]] = ()
    prompts: ClassVar[tuple[Template, ...]] = (REWRITE_QUERY, ANSWER_FROM_CONTEXT)

    def replaceable(self) -> Mapping[str, Replaceable]:
        return {"prompt": FROM_CONTEXT, "query_prompt": FOR_QUERY}

    def answer(self, wording: str) -> Steps:
        reply = yield from generate(
            self.fill("query_prompt", question=wording), self.layout, max_tokens=self.query_tokens
        )
        query = next(iter(reply.text.strip().splitlines()), "").strip(" \"'")
        yield from note("query_rewrite", query=query, used=bool(query))
        hits = yield from search(query or wording, self.k)
        evidence = document(hits, with_titles=self.with_titles, joined=self.joined)
        reply = yield from generate(self.fill("prompt", context=evidence, question=wording), self.layout)
        return Answer(text=reply.text.strip(), hits=hits)

    def at_most(self, max_tokens: int) -> Effort:
        return Effort(n_calls=2, n_tokens=self.query_tokens + max_tokens, n_passages=self.k)
