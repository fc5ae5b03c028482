"""The question as the next one of a conversation: after some words about Jaws, `Who directed it?`"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from shaketable.prompts import REWORD_FOLLOW_UP, Template
from shaketable.types import HISTORY, Json, Question
from shaketable.variations.english.indirect import tidy
from shaketable.variations.english.topic import find_topic, point_at_topic
from shaketable.variations.gate.proposals import Proposal
from shaketable.variations.gate.refusal import Refusal
from shaketable.variations.gate.reworded import Reworded

OPENINGS = (
    ("I want to ask you something about {topic}.", "Sure. What would you like to know about {topic}?"),
    ("Do you know {topic}?", "Yes. What would you like to know?"),
    ("I have a question about {topic}.", "Of course, go ahead."),
    ("I was just reading about {topic}.", "Interesting! Is there something that you would like to know about it?"),
)
"""What the user said, and what the assistant replied: they name the topic, and tell nothing about it."""
FIRST_WORDS = ("", "", "So, ")


@dataclass(frozen=True, kw_only=True)
class FollowUp(Reworded):
    """A question that only points at what the conversation named before: the model reads both, a search reads the
    question alone.

    Rules reword questions about one thing where it is sure which word points at it, a small share of most datasets;
    a model (`by`) rewords every question that is about one thing.
    """

    version: ClassVar[int] = 1
    prompts: ClassVar[tuple[Template, ...]] = (REWORD_FOLLOW_UP,)
    is_natural: ClassVar[bool] = False
    """The gate reads it with its topic before it, which nobody says."""

    def wordings(self, question: Question) -> Sequence[Proposal]:
        if (pointing := point_at_topic(tidy(question.text))) is None:
            return []
        rng = self.dice(question)
        made = []
        for opening in rng.sample(OPENINGS, len(OPENINGS)):
            first = rng.choice(FIRST_WORDS)
            text = first + pointing.text[:1].lower() + pointing.text[1:] if first else pointing.text
            facts: dict[str, Json] = {"rule": f"points at '{pointing.topic}'"}
            made.append(_after(opening, pointing.topic, Proposal(text=text, facts=facts)))
        return made

    def checked(self, original: str, proposal: Proposal) -> Proposal:
        if (topic := find_topic(tidy(original))) is None or topic.casefold() not in proposal.text.casefold():
            return proposal
        refused = Refusal(kind="names_the_topic", text=f"it names {topic}, expected a word that points at it")
        return replace(proposal, refused=refused)

    def slots(self, question: Question) -> dict[str, str]:
        return {**super().slots(question), "topic": find_topic(tidy(question.text)) or question.text}

    def _asked(self, questions: Sequence[Question], tried: Sequence[Sequence[Proposal]]) -> Sequence[Proposal | None]:
        topics = [find_topic(tidy(question.text)) for question in questions]
        about = [i for i, topic in enumerate(topics) if topic]
        replies = iter(super()._asked([questions[i] for i in about], [tried[i] for i in about]))
        made: list[Proposal | None] = []
        for question, topic in zip(questions, topics, strict=True):
            proposal = next(replies) if topic else None
            opening = self.dice(question).choice(OPENINGS)
            made.append(_after(opening, topic, proposal) if topic and proposal else None)
        return made


def _after(opening: tuple[str, str], topic: str, proposal: Proposal) -> Proposal:
    """A wording after the turns that name its topic; the gate reads it with the topic in front."""
    roles = ("user", "assistant")
    said: list[Json] = [
        {"role": role, "content": line.format(topic=topic)} for role, line in zip(roles, opening, strict=True)
    ]
    return replace(proposal, facts={**proposal.facts, HISTORY: said}, about=topic)
