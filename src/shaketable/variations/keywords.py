"""The question as it is typed into a search box: `when director of film Jaws born`"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from shaketable.prompts import REWORD_KEYWORDS, Template
from shaketable.types import Question
from shaketable.variations.english import by_words
from shaketable.variations.english.indirect import tidy
from shaketable.variations.english.search_box import keywords
from shaketable.variations.gate.proposals import Proposal
from shaketable.variations.gate.refusal import Refusal
from shaketable.variations.gate.reworded import Reworded


@dataclass(frozen=True, kw_only=True)
class Keywords(Reworded):
    """A query of keywords: articles, helping verbs and the question mark are gone, and the question word where a noun
    says what is wanted."""

    version: ClassVar[int] = 2
    prompts: ClassVar[tuple[Template, ...]] = (REWORD_KEYWORDS,)
    asks: ClassVar[bool] = False
    is_natural: ClassVar[bool] = False
    works_by_words: ClassVar[bool] = True

    def wordings(self, question: Question) -> Sequence[Proposal]:
        tidied = tidy(question.text)
        text = by_words.keywords(tidied) if self.by_words else keywords(tidied, self.pipeline)
        return [Proposal(text=text, facts={"rule": "function words dropped"})] if text else []

    def checked(self, original: str, proposal: Proposal) -> Proposal:
        if proposal.text.rstrip().endswith("?"):
            refused = Refusal(kind="asks_in_a_sentence", text="it has a question mark, expected keywords")
        elif len(_words(proposal.text)) >= len(_words(original)):
            refused = Refusal(kind="no_shorter", text="it is no shorter than the original")
        else:
            return proposal
        return replace(proposal, refused=refused)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)
