"""A question and another wording → whether both mean the same, as far as a machine can tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from shaketable.errors import WeightsError
from shaketable.text import language
from shaketable.text.encoder import encoder
from shaketable.variations.gate.refusal import Refusal

ENCODER = "all-MiniLM-L6-v2"
MIN_SIMILARITY = 0.7
"""The study's bound for changes of style and of sentence type."""
DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
IN_A_WORD = re.compile(rf"{DIGITS.pattern}(?=[^\W\d])|(?<=[^\W\d]){DIGITS.pattern}")
NUMBER_WORDS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
"""`one` is often a pronoun, and larger numbers are mostly written in digits."""
ASKING = re.compile(
    r"\?|(?-i:\b(?:who(?:m|se)?|what|which|when|where|why|how)(?:'?s|'?d|'?re)?\b)"
    r"|(?-i:(?:^|[^\w\s]\s*)(?:Who(?:m|se)?|What|Which|When|Where|Why|How)\b)"
    r"|\b(?:whether|know|tell|wonder|curious|find out|learn|like you to)"
    r"|^\W*(?:(?:please|kindly|so|now|just|yo|hey|ok)\W+)*(?:name|find|explain|give|identify|state|list|say|describe|determine|"
    r"clarify|specify|provide|answer|complete|let)\b",
    re.IGNORECASE,
)
"""A question mark, a question word, the wish to know, or a command: `state` and `name` are often nouns elsewhere, and
a question word with a capital inside a sentence belongs to a name."""
WANTED = re.compile(r"\b(?:when|where|who(?:m|se)?|why|how (?:many|much))\b", re.IGNORECASE)
"""Words that say what kind of answer is wanted. `what` and `which` leave that to a noun, so they may stand for any."""
ALIKE = {"whom": "who", "whose": "who", "how much": "how many"}
ANSWERING = re.compile(
    r"\W*(?:yes|no|true|false)\b(?=[,.!:;]|$)|\W*(?:the|my|our|a) (?:\w+ )?answer\b.{0,80}?\b(?:is|was|are|would be)\b",
    re.IGNORECASE,
)
REFUSING = re.compile(
    r"\W*(?:i(?:'m| am) (?:sorry|unable|not able)|sorry\b|i (?:can(?:'|no)t|can not|won't|will not|must decline)|"
    r"as an ai\b|unfortunately)",
    re.IGNORECASE,
)
NAME_TAGS = ("NNP", "NNPS")
INNER_CAPITAL = re.compile(r"(?<=[a-z,] )[A-Z]\w{2,}")
SENTENCE_MARKS = frozenset(".?!:\"“'‘(")


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """What a wording must keep. Every check can be turned off."""

    min_similarity: float = MIN_SIMILARITY
    """Cosine of the two sentence vectors; 0: not measured."""
    keep_numbers: bool = True
    keep_names: bool = True
    """Each word of a name, in any letter case, and no other name."""
    asks: bool = True
    """A wording of a question must ask, and must not decline: models answer or refuse instead of rewording."""
    encoder: str = ENCODER
    pipeline: str = language.PIPELINE

    def judge(self, originals: Sequence[str], wordings: Sequence[str]) -> list[Judgement]:
        """One judgement for each pair; a wording depends on its own original alone."""
        try:
            similar, unmeasured = self._similarities(originals, wordings), None
        except WeightsError as error:
            # Nothing unmeasured is asked, and a study of thousands does not stop here.
            similar = [None] * len(originals)
            unmeasured = Refusal(
                kind="similarity_not_measured",
                text=f"similarity was not measured: {error} Or set min_similarity=0.",
            )
        return [
            Judgement(
                similarity=similarity,
                refused=(trouble := self._trouble(original, wording, similarity)) or unmeasured,
                is_unmeasured=trouble is None and unmeasured is not None,
            )
            for original, wording, similarity in zip(originals, wordings, similar, strict=True)
        ]

    def _similarities(self, originals: Sequence[str], wordings: Sequence[str]) -> list[float | None]:
        if self.min_similarity <= 0 or not originals:
            return [None] * len(originals)
        model = encoder(self.encoder)
        cosines = (model.embed(originals) * model.embed(wordings)).sum(axis=1)
        # The last digits of a sum depend on the batch, and a wording must not.
        return [round(float(cosine), 4) for cosine in cosines]

    def _trouble(self, original: str, wording: str, similarity: float | None) -> Refusal | None:
        if not wording.strip():
            return Refusal(kind="empty", text="empty")
        if wording.strip() == original.strip():
            return Refusal(kind="same_as_the_original", text="the same as the original")
        if self.asks and REFUSING.match(wording) and not REFUSING.match(original):
            return Refusal(kind="declines_instead_of_asking", text=f"it declines instead of asking: '{_cut(wording)}'")
        if self.asks and ANSWERING.match(wording) and not ANSWERING.match(original):
            return Refusal(kind="answers_instead_of_asking", text=f"it answers instead of asking: '{_cut(wording)}'")
        if self.asks and ASKING.search(original) and not ASKING.search(wording):
            return Refusal(kind="does_not_ask", text=f"it does not ask: '{_cut(wording)}'")
        if self.asks and (problem := _wanted_trouble(original, wording)):
            return problem
        if self.keep_numbers and (problem := _numbers_trouble(original, wording)):
            return problem
        if self.keep_names and (lost := lost_names(original, wording, self.pipeline)):
            return Refusal(kind="names_lost", text=f"names lost: {', '.join(lost)}")
        if self.keep_names and (added := added_names(original, wording)):
            return Refusal(kind="names_added", text=f"names added: {', '.join(added)}")
        if similarity is not None and similarity < self.min_similarity:
            return Refusal(
                kind="similarity_too_low",
                text=f"similarity {similarity:.2f} to the original, expected {self.min_similarity} or more",
            )
        return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    similarity: float | None
    """From −1 to 1; None: not measured, because nobody asked or the encoder is not at hand, which `refused` tells."""
    refused: Refusal | None
    """Why the wording is not accepted; None: accepted."""
    is_unmeasured: bool = False
    """Whether it is refused for this alone, that its similarity could not be measured."""


def numbers(text: str) -> Counter[str]:
    """The numbers of a text, in digits; those from two to twelve also when they are written as words."""
    # Tokenizers may put a space behind the mark in 8.95 and 30,000.
    joined = re.sub(r"(?<=\d)(\. (?=\d)|, (?=\d{3}(?!\d)))", lambda mark: mark[0][0], text)
    found = Counter(number.replace(",", "") for number in DIGITS.findall(joined))
    found.update(NUMBER_WORDS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in NUMBER_WORDS)
    return found


def lost_names(original: str, wording: str, pipeline: str = language.PIPELINE) -> list[str]:
    """The words of names that a wording no longer has, in order."""
    kept = set(re.findall(r"\w+", wording.casefold()))
    words = [word for word in language.parsed(original, pipeline) if not word.is_space]
    names = [
        word.text
        for before, word in zip([None, *words], words, strict=False)
        # A capital inside a sentence makes a name too: taggers take Jaws for a plural.
        if word.text[:1].isupper()
        and len(word.text) > 1
        and (word.tag_ in NAME_TAGS or (before is not None and before.text not in SENTENCE_MARKS))
    ]
    return [name for name in dict.fromkeys(names) if not set(re.findall(r"\w+", name.casefold())) <= kept]


def added_names(original: str, wording: str) -> list[str]:
    """Words with a capital inside a sentence that the original does not have: a fact, or the answer itself."""
    had = set(re.findall(r"\w+", original.casefold()))
    return [name for name in dict.fromkeys(INNER_CAPITAL.findall(wording)) if name.casefold() not in had]


def _numbers_trouble(original: str, wording: str) -> Refusal | None:
    before, after = numbers(original), numbers(wording)
    if lost := before - after:
        return Refusal(kind="numbers_lost", text=f"numbers lost: {', '.join(sorted(lost))}")
    # A digit inside a word, such as `0f`, is an error of spelling.
    if added := numbers(IN_A_WORD.sub("", wording)) - before:
        return Refusal(kind="numbers_added", text=f"numbers added: {', '.join(sorted(added))}")
    return None


def _wanted_trouble(original: str, wording: str) -> Refusal | None:
    """A wording that wants another kind of answer alone; one without such a word may ask in other ways."""
    before, after = (
        {ALIKE.get(word.lower(), word.lower()) for word in WANTED.findall(text)} for text in (original, wording)
    )
    if before and after and not before & after:
        return Refusal(
            kind="asks_for_another_kind_of_answer",
            text=f"it asks '{min(after)}' where the original asks '{min(before)}'",
        )
    return None


def _cut(text: str, width: int = 60) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"
