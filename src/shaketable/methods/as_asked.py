"""The wording as it is: what a pipeline is asked, which answers in its own way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.methods.asking import converse, search, tell_found
from shaketable.prompts import Template
from shaketable.protocols import Steps
from shaketable.types import Answer, Message


@dataclass(frozen=True, kw_only=True)
class AsAsked:
    """No prompt around the question. The plan gives it to pipelines, whatever `cross.methods` says."""

    version: ClassVar[int] = 1
    prompts: ClassVar[tuple[Template, ...]] = ()

    evidence: Literal["none", "given", "own"] = "none"
    """`given`: passages of the study's retriever go with the question. `own`: the pipeline finds its own, and hands
    them over to be disturbed. A model that is no pipeline can take neither."""
    k: int = 5
    """Passages that are given."""

    @property
    def searches(self) -> bool:
        return self.evidence != "none"

    @property
    def wants(self) -> tuple[str, ...]:
        return ("passages",) if self.searches else ()

    @property
    def usual_calls(self) -> float:
        """Of the pipeline, which counts as a model; what it asks itself is its own affair. One that hands its evidence
        over is asked a second time with what came back."""
        return 2.0 if self.evidence == "own" else 1.0

    def answer(self, wording: str) -> Steps:
        messages = (Message(role="user", content=wording),)
        hits = (yield from search(wording, self.k)) if self.evidence == "given" else ()
        reply = yield from converse(messages, hits=hits)
        was_handed = False
        while reply.waits:
            was_handed = True
            hits = yield from tell_found(wording, reply.hits)
            reply = yield from converse(messages, hits=hits)
        if self.evidence != "given" and not was_handed and (reply.hits or self.evidence == "own"):
            hits = yield from tell_found(wording, reply.hits, is_handed_over=False)
        return Answer(text=reply.text.strip(), hits=hits)
