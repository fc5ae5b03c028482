"""The question in casual words: `hey, any idea where her dad was born?`"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from shaketable.prompts import REWORD_FORMALITY, Template
from shaketable.types import Json, Question
from shaketable.variations.english.casual import COMMON, Casual, casual, contracted
from shaketable.variations.english.casual_clauses import held_clause, is_past_twice
from shaketable.variations.english.casual_words import FRAMES, NAME_OPENERS, NOUN_FRAMES, OPENERS
from shaketable.variations.english.indirect import tidy
from shaketable.variations.english.plain_words import opens_with_title
from shaketable.variations.gate.proposals import Proposal
from shaketable.variations.gate.refusal import Refusal
from shaketable.variations.gate.reworded import Reworded

Strength = Literal["mild", "strong"]
ASKS = re.compile(r"\b(?:who|whom|whose|what|which|when|where|why|how)\b", re.IGNORECASE)
YES_OR_NO = re.compile(r"(?:is|are|was|were|do|does|did|has|have|had|can|could)\b", re.IGNORECASE)
AGAIN = re.compile(
    r"(?:who|what)'s (?:the\b|[A-Z])[^,]{4,45}$|who (?:directed|wrote|composed|produced|painted|invented) [^,]{2,60}$"
)
"""What somebody has forgotten, and `again` cannot be a part of."""
FORGETFUL = ("", "hey, ", "so ", "ok so ", "hmm, ")
NO_ORDER = re.compile(
    r"(?:what|which) (?!is|are|was|were|has|did|does|do)\w+ (?:the|a|an)\b|(?:what|which) (?:country|award|prize) [A-Z]"
    r"|(?:in|on|at|for|from|to|with|by|about|of|over|under|after|through|during|into) (?:which|what|whom|whose)\b"
)
"""`Which award the director won` is no order for a question of its own, and `in which` is too stiff."""
EMPTY = frozenset({
    "hey", "hi", "hello", "yo", "so", "ok", "okay", "alright", "well", "hmm", "um", "oh", "like", "just", "quick",
    "question", "one", "random", "curious", "btw", "again", "dude", "man", "there", "anyway", "please",
})  # fmt: skip
"""Words of openings and tags."""
SENTENCE = re.compile(
    r"(?-i:[a-z\d)\"”]{2})[.?!;]\s+\S|[.?!;]\s+(?:\w+ )?(?:who|what|which|when|where|how)\b", re.IGNORECASE
)
UNSURE = re.compile(
    r"\b(?:re|pre|un|co|non) [a-z]+ed\b|\b(?:is|are|was|were|do|does|did|of|by|the|played|for) who\b|[?!][\"”’']+$"
    r"|\b(?:is|was) from by$",
    re.IGNORECASE,
)
"""A prefix torn off, a clause for a person (`when was who wrote it born`), a mark of another question at the end."""


@dataclass(frozen=True, kw_only=True)
class Formality(Reworded):
    """Less formal: the question as people type it to a friend, with everyday words, contractions and looser order."""

    version: ClassVar[int] = 4
    prompts: ClassVar[tuple[Template, ...]] = (REWORD_FORMALITY,)

    strength: Strength = "strong"
    """Of the rules. `mild`: other words and contractions alone, nothing around the question."""

    def wordings(self, question: Question) -> Sequence[Proposal]:
        asked = re.sub(r"(?:[\s?]+\.?|(?<=[\w)][a-z\d)])\.)+$", "", tidy(question.text))
        if SENTENCE.search(asked) or not (ASKS.search(asked) or YES_OR_NO.match(asked)):
            return []
        if UNSURE.search(asked) or opens_with_title(asked):
            return []
        if ("," in asked and not COMMON.match(asked)) or is_past_twice(asked, self.pipeline):
            return []
        rng = self.dice(question)
        core = casual(asked, rng, self.pipeline)
        if self.strength == "mild":
            plain = Proposal(text=_sentence(contracted(core.text)) + "?", facts={"changes": list(core.changes)})
            return [plain] if core.changes else []
        is_changed = core.changes or contracted(core.text) != core.text
        direct = [self._opened(core, rng) for _ in range(2) if is_changed and not NO_ORDER.match(core.text)]
        framed = [made for _ in range(2) if (made := self._framed(core, rng))]
        first, second = (direct, framed) if core.n_words and rng.random() < 0.75 else (framed, direct)
        return [*first, *second]

    def checked(self, original: str, proposal: Proposal) -> Proposal:
        if "?" in original and "?" not in proposal.text:
            return _refused(proposal, "no_question_any_more", "it is no question any more")
        if only_opened(original, proposal.text):
            return _refused(proposal, "only_an_opening", "the question is untouched behind an opening")
        return proposal

    def _opened(self, core: Casual, rng: random.Random) -> Proposal:
        text = contracted(core.text)
        opener = rng.choice(OPENERS if text[:1].islower() else NAME_OPENERS)
        tag = " again" if AGAIN.match(text) and opener in FORGETFUL and rng.random() < 0.4 else ""
        changes: list[Json] = [*core.changes, *filter(None, (opener.strip(), tag.strip()))]
        if contracted(core.text) != core.text:
            changes.append("contraction")
        return Proposal(text=_typed(f"{opener}{text}{tag}?", rng), facts={"changes": changes})

    def _framed(self, core: Casual, rng: random.Random) -> Proposal | None:
        clause = held_clause(core.text, self.pipeline)
        if clause is None:
            return None
        opener, frame = rng.choice(OPENERS), rng.choice(FRAMES if clause.shape == "clause" else NOUN_FRAMES)
        held = clause.text if " or " in clause.text else re.sub(r"^whether\b", "if", clause.text)
        if held.startswith("why "):
            frame, held = "how come {}?", held.removeprefix("why ")
        changes: list[Json] = [*core.changes, frame, *filter(None, (opener.strip(),))]
        return Proposal(text=_typed(opener + frame.format(contracted(held)), rng), facts={"changes": changes})


def only_opened(original: str, wording: str) -> bool:
    """Whether nothing but words of an opening or of a tag were put around the words of the original."""
    before, after = (re.findall(r"\w+", text.casefold()) for text in (original, wording))
    return [word for word in after if word not in EMPTY] == [word for word in before if word not in EMPTY]


def _typed(text: str, rng: random.Random) -> str:
    """In small letters, as in a chat, or as a sentence."""
    return text if rng.random() < 0.7 else _sentence(text)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _refused(proposal: Proposal, kind: str, text: str) -> Proposal:
    return replace(proposal, refused=Refusal(kind=kind, text=text))
