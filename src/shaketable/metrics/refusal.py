"""Does the answer decline to answer?"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable.metrics.scoring import score_each
from shaketable.types import Measure, Question, Record, Score

NOT = r"(?:not|n't|never|in no way|nowhere)"
SOURCE = (
    r"(?:(?:provided |given |supplied |available |above |retrieved )?"
    r"(?:documents?|contexts?|passages?|texts?|articles?|evidence|sources?|information|excerpts?|paragraphs?)"
    r"(?: (?:provided|given|supplied|available|above|you (?:gave|provided)))?)"
)
TELLS = (
    r"(?:provide|mention|state|specify|say|contain|include|give|indicate|identify|tell|answer|reveal|discuss|"
    r"describe|address|list|name|explain|offer|disclose|clarify|refer|support|have|enough|sufficient)"
)
MARKS = r"[^\w\n]*"
"""What may stand around the words of a line. It stays on the line: a thousand lines without words are read once."""
# A reply of one's own begins a sentence or follows a connecting word. In a title, as in the song
# "I Don't Know How to Love Him", the same words follow something else.
OPENING = r"(?:^|[.!?;:,\n*—-]\s*|\b(?:but|sorry|and|so|because|therefore|however|that)\s+)"

PATTERNS = (
    # The evidence is silent.
    rf"\b{SOURCE} (?:do|does|did|is|are|was|were|has|have)(?: ?{NOT})(?: \w+){{0,2}} {TELLS}",
    rf"\b{SOURCE} (?:makes?|contains?|has|have|gives?|provides?|offers?|includes?) no (?:\w+ )?"
    r"(?:mention|information|details?|reference|answer|evidence|data|indication)",
    rf"\b(?:not|n't|never)(?: \w+)? (?:mentioned|provided|stated|specified|given|included|contained|found|available|"
    rf"indicated|identified|discussed|addressed|present|named|disclosed|listed)(?: \w+)?"
    rf" (?:in|by|within|from) (?:the |this |these |any |your )?(?:of the )?{SOURCE}\b",
    rf"\b(?:no|without any|lack of|insufficient|not enough) (?:\w+ )?"
    rf"(?:information|details?|evidence|mention|data|context|reference)\b.{{0,60}}\b"
    rf"(?:in|from|within|to|about|on|of|is|was|are|provided|available|given|regarding|that|for)\b.{{0,40}}"
    rf"(?:{SOURCE}|answer|determine|question|provided|available|given)",
    r"\b(?:is|are|was) (?:no|insufficient|not enough|not sufficient) "
    r"(?:\w+ )?(?:information|evidence|context|details?|data)\b",
    r"^(?:there is )?(?:insufficient|not enough|no) (?:relevant |available )?(?:information|evidence|context|data)\b",
    r"\bnot (?:have )?enough (?:information|context|evidence|details?|data)\b",
    r"\b(?:need|require) (?:more|additional|further) (?:information|context|details?)\b.{0,30}(?:answer|determine|$)",
    # It cannot be known.
    r"\b(?:can ?not|can't|could ?n[o']t|unable to|impossible to|not possible to|not able to|no way to) "
    r"(?:be )?(?:\w+ly )?(?:determined?|answer(?:ed)?|identify|identified|verify|verified|confirm(?:ed)?|"
    r"ascertain(?:ed)?|conclude|infer(?:red)?|establish(?:ed)?|"
    r"find (?:any|the|this|an|enough|information)|say (?:for|with) )",
    r"\b(?:answer|question|it) (?:can ?not|can't|could not) be (?:\w+ly )?"
    r"(?:determined|answered|found|known|inferred|given|deduced)",
    rf"^{MARKS}(?:the answer is |it is |it's |this is )?"
    rf"(?:unknown|unanswerable|undetermined|not (?:known|specified|stated|mentioned|provided|given|"
    rf"available|answerable|applicable|clear|sure|certain)|n/a|no answer|none given){MARKS}$",
    rf"{OPENING}(?:it is|it's|it remains) (?:unclear|unknown|not (?:clear|known|specified|stated))"
    r"(?: from| based| in|\W*$)",
    # I do not know.
    rf"{OPENING}i (?:do not|don't|dont|really don't|honestly don't) (?:actually |really )?know(?:\W*$|[.,;!]|"
    r" (?:the answer|who|what|which|when|where|why|whether|if|that|this|enough|about|of|anything)\b)",
    rf"{OPENING}i(?: am|'m) (?:not|un)(?: ?entirely| ?really)? ?(?:sure|certain|aware|familiar)\b",
    rf"{OPENING}i (?:have no|haven't any|don't have any|do not have any) (?:idea|clue|information|knowledge|record)",
    rf"{OPENING}i (?:do not|don't|did not|didn't) (?:currently )?(?:have|find|see) "
    r"(?:the |any |enough |access|sufficient |specific |reliable |real-time )",
    rf"{OPENING}i (?:can ?not|can't|could not|couldn't|am unable to|'m unable to|won't|will not) "
    r"(?:\w+ ){0,2}(?:answer|provide|help|assist|determine|find|give|tell|say|identify|access|comply|fulfill|verify)",
    rf"{OPENING}i(?: am|'m) (?:sorry|afraid|unable|not able|not in a position)"
    r"(?:,? (?:but|that|to|i|we)\b|[,.])",
    rf"{OPENING}(?:we|one) (?:do not|don't|can ?not|can't) (?:know|determine|tell|say|answer|conclude)\b",
    rf"^{MARKS}(?:my )?apologies\b|\bi apologi[sz]e\b",
    # The assistant speaks of itself.
    r"\bas an? (?:ai|artificial intelligence|(?:large )?language model|virtual assistant|chatbot)\b",
    rf"{OPENING}i(?: am|'m) (?:just |only )?an? (?:ai|artificial intelligence|(?:large )?language model)\b",
    r"\bmy (?:knowledge cutoff|training data) (?:does not|doesn't|do not|don't|only|is|was|ends)",
    # It asks back instead.
    r"\b(?:could|can|would) you (?:please )?(?:provide|clarify|specify|give|share|rephrase)\b",
    r"\bplease (?:provide|clarify|specify|supply|share)\b.{0,60}"
    r"\b(?:context|information|details?|documents?|question|passage|text)\b",
)


@functools.cache
def _refuses() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in PATTERNS), re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """1 if the answer declines, wholly or in part, else 0; lower is better where an answer can be found.

    An answer declines if its method says that it abstained, or if its words match one of the
    patterns for English: the evidence is silent, it cannot be known, I do not know, I am an
    assistant, please tell me more. An empty answer is not a refusal. None for a failed trial.
    """

    version: ClassVar[int] = 2
    numbers: ClassVar[tuple[Measure, ...]] = (
        Measure(name="refusal", unit="share", higher_is_better=False, title="Refused answers"),
    )
    reads_trace: ClassVar[bool] = False

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        return score_each(
            "refusal",
            records,
            questions,
            lambda answer, _: float(answer.abstained or refuses(answer.text)),
            needs_answers=False,
        )


def refuses(text: str) -> bool:
    """Whether a text contains a refusal; curly apostrophes count as plain ones, white space as one space or line break.

    Hot models write line breaks by the thousand, and each would be a place from which to look through the others.
    """
    lines = (" ".join(line.split()) for line in text.replace("’", "'").split("\n"))
    return _refuses().search("\n".join(filter(None, lines))) is not None
