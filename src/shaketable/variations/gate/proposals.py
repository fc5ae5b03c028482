"""Wordings that are proposed, by rules in order or in a model's reply, and what came of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from shaketable.text.normalization import without_surrogates
from shaketable.types import Completion, Failure, Json, Making, Question, RefusedReply
from shaketable.variations.gate.feedback import feedback_on
from shaketable.variations.gate.refusal import Refusal
from shaketable.variations.gate.replies import REMARK, wording_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    text: str
    facts: dict[str, Json] = field(default_factory=dict)
    """How it was made: the rule, the model, what a checker said."""
    refused: Refusal | None = None
    """Why it is not accepted; None: nothing was found against it so far."""
    similarity: float | None = None
    """To the original; None: not measured."""
    is_unmeasured: bool = False
    """Whether it is refused because its similarity could not be measured."""
    reply: Completion | Failure | None = None
    """What the model gave; None: a rule made it."""
    about: str = ""
    """What the conversation named before, which the wording need not name again."""

    @property
    def understood(self) -> str:
        """As the gate reads it."""
        return f"About {self.about}: {self.text}" if self.about else self.text


Propose = Callable[[Sequence[Question], Sequence[Sequence[Proposal]]], Sequence[Proposal | None]]
"""The questions without an accepted wording, and what was refused of each → the next; None: there is no other."""


def in_order(wordings: Callable[[Question], Sequence[Proposal]]) -> Propose:
    """Rules give all their wordings of a question at once."""
    known: dict[str, Sequence[Proposal]] = {}

    def propose(questions: Sequence[Question], tried: Sequence[Sequence[Proposal]]) -> list[Proposal | None]:
        for question in questions:
            if question.id not in known:
                known[question.id] = wordings(question)
        return [
            known[question.id][len(before)] if len(before) < len(known[question.id]) else None
            for question, before in zip(questions, tried, strict=True)
        ]

    return propose


def proposal_in(reply: Completion | Failure, facts: dict[str, Json]) -> Proposal:
    """What a model replied, as a proposal."""
    if isinstance(reply, Failure):
        refused = Refusal(kind="model_failed", text=f"the model failed: {reply.kind}: {reply.message}")
        return Proposal(text="", facts=facts, refused=refused, reply=reply)
    whole = without_surrogates(reply.text)
    text = wording_of(whole)
    return Proposal(
        text=text,
        facts=facts if text == whole else {**facts, "reply": whole},
        refused=_trouble(reply, whole, text),
        reply=reply,
    )


def _trouble(reply: Completion, whole: str, text: str) -> Refusal | None:
    # What is cut off below the wording is a remark.
    if reply.finish_reason == "length" and wording_of(f"{whole}…") != text:
        return Refusal(kind="reply_cut_off", text="the reply was cut off")
    if remark := REMARK.search(text):
        return Refusal(kind="talks_about_the_task", text=f"it talks about the task: '{remark[0].strip()}'")
    return None


def refused_reply(proposal: Proposal) -> RefusedReply:
    """What its model is reminded of, and told about it."""
    text = without_surrogates(proposal.reply.text).strip() if isinstance(proposal.reply, Completion) else ""
    return RefusedReply(text=text, feedback="" if proposal.refused is None else feedback_on(proposal.refused))


def making_of(tried: Sequence[Proposal]) -> Making:
    """What the attempts took."""
    replies = [proposal.reply for proposal in tried if proposal.reply is not None]
    completions = [reply for reply in replies if isinstance(reply, Completion)]
    return Making(
        n_attempts=len(tried),
        n_calls=len(replies),
        n_failures=len(replies) - len(completions),
        n_prompt_tokens=sum(reply.n_prompt_tokens for reply in completions),
        n_tokens=sum(reply.n_tokens for reply in completions),
        seconds=sum(reply.seconds for reply in completions),
    )


def may_retry(last: Proposal) -> bool:
    """Whether it failed for a reason that may pass."""
    return last.is_unmeasured or (isinstance(last.reply, Failure) and last.reply.may_retry)
