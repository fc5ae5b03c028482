"""Is an accepted answer the one that was given, not merely mentioned?"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.metrics.choices import ASKING, Choice, Verdict, choose, drop_negated, find_choice, mark
from shaketable.metrics.scoring import score_each
from shaketable.text.normalization import YES_NO, contains_words
from shaketable.text.plain import bare, fold, occurs_whole, pieces
from shaketable.types import Measure, Question, Record, Score

LEADING = re.compile(r"\b(?P<word>yes|no)\b(?!\s+(?:information|mention|evidence|answer|one|longer)\b)")
DENIAL = re.compile(r"(?:\bnot|n't)\s+(?:both|from|in|located|of|on|the same|share|two)\b|\b(?:neither|different)\b")
CORRECTED = re.compile(
    r"(?:^|[.?!,;:\-–—])\s*(?:no,?(?:\s+wait,?)?|(?:oh,?\s+)?wait,?|sorry,?|correction:?|actually,?|or rather,?|"
    r"i meant?,?|scratch that[.,]?)\s+"
    r"(?:(?:it(?:['’]s| is| was)|the (?:correct |right )?answer is)\s+)?"
    r"(?P<other>(?-i:[A-Z0-9])[\w'’-]*(?:[ .]{1,2}[\w'’-]+){0,4})\s*(?=[.!,;\n]|$)",
    re.IGNORECASE,
)
"""`…, no, Rome`: another name or number behind a word of correction."""
FIRST = re.compile(
    r"\W*(?P<other>[A-Z0-9][\w'’-]*(?: (?:[A-Z0-9][\w'’-]*|of|the|de|van|von|and)){0,4})(?<=[^\W_]{4})[.!]\s+(?=\S)"
)
"""A name or number that is a sentence of its own, before others."""
FILLING = re.compile(
    r"(?:yes|no|sure|certainly|absolutely|okay|well|hello|thanks?|answer|correct|prof|capt|based|great|right|indeed)\b",
    re.IGNORECASE,
)
CALLED_WRONG = re.compile(
    r"\bGOLD\b(?: (?:is|was|are|were|would be|(?:is|was|are|were)n't)\b)(?:(?<=n't)| (?:(?!not only|not just)\w+ )?"
    r"(?:not\b(?! (?:only|just|merely))|never\b|wrong\b|incorrect\b|false\b|mistaken\b))"
    r"|\bGOLD (?:do|does|did|has|had|have|could|can|would|will)(?:n't| not)\b(?! (?:only|just|merely))(?!.*\buntil\b)"
    r"|\bGOLD\?\s*(?:no|nope|not|wrong)\b"
)
"""`Paris is wrong`, `Paris is not the capital`, `Paris? No`."""
MIDDLE = re.compile(r"(?P<first>[A-Z]\w+) [A-Z](?:\w+|\.) (?P<last>[A-Z]\w+)")
"""`John Fitzgerald Kennedy`, `John F. Kennedy`."""
YEAR = re.compile(r"[12][0-9]{3}")
NEGATIVE = re.compile(r"\b(?:not|never|no|without)\b|n't")
ALONE = re.compile(r"\W*(?:(?:the|it|is|was|answer|a|an|they|are|he|she|called|named)\W+)*GOLD\W*")
GIVEN = re.compile(r"(?:\b(?:is|was|are|were|called|named)\b|:)\W*(?:the\s+)?GOLD\W*$")
AGREEMENT = re.compile(r"\b(?:both|same|also|indeed|all)\b")


@dataclass(frozen=True, kw_only=True)
class Correct:
    """1 if the answer given is an accepted one, else 0; higher is better.

    A question that names two things and asks for one of them is answered right by the one chosen:
    "Saturn is larger than Jupiter" mentions Jupiter and chooses Saturn. A yes/no question is answered
    by the first `yes` or `no`, else by what the answer denies. Other questions count as in
    `contains` (whole words and numbers; case, accents, quotes, spaces, Markdown and thousands separators aside), less
    accepted answers that are denied, corrected, stand behind another answer, or are only repeated from the question.
    No model judges: the rules read English, and `explain` names the one that decided. None for a failed trial and
    for a question without accepted answers.
    """

    version: ClassVar[int] = 2
    numbers: ClassVar[tuple[Measure, ...]] = (
        Measure(name="correct", unit="share", higher_is_better=True, words="correctness", title="Correct answers"),
    )
    reads_trace: ClassVar[bool] = False
    needs_answers: ClassVar[bool] = True
    choices: Literal["chosen", "mentioned"] = "chosen"
    """`mentioned`: comparison questions count as other questions do."""
    yes_no: Literal["said", "mentioned"] = "said"
    """`mentioned`: the word anywhere in the answer."""
    negation: bool = True
    """False: an accepted answer counts after a `not`, and behind another answer, too."""
    in_question: Literal["asserted", "mentioned"] = "asserted"
    """What an accepted answer that stands in the question must be, to count (in a question with `or` it always counts),
    and whether a number does without a unit that the question names. With the other two `mentioned` as well and
    `negation` False, the metric is `contains`."""

    def __post_init__(self) -> None:
        if self.choices not in ("chosen", "mentioned"):
            raise ValueError(f"choices is {self.choices!r}, expected 'chosen' or 'mentioned'.")
        if self.yes_no not in ("said", "mentioned"):
            raise ValueError(f"yes_no is {self.yes_no!r}, expected 'said' or 'mentioned'.")
        if self.in_question not in ("asserted", "mentioned"):
            raise ValueError(f"in_question is {self.in_question!r}, expected 'asserted' or 'mentioned'.")

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        find = functools.cache(lambda id: self._choice(questions[id]))
        return score_each(
            "correct",
            records,
            questions,
            lambda answer, question: float(self._judge(answer.text, question, find(question.id)).is_right),
            needs_answers=self.needs_answers,
        )

    def explain(self, text: str, question: Question) -> Verdict:
        """Whether a text answers a question, and the rule that decided."""
        return self._judge(text, question, self._choice(question))

    def _choice(self, question: Question) -> Choice | None:
        return find_choice(question) if self.choices == "chosen" else None

    def _judge(self, text: str, question: Question, choice: Choice | None) -> Verdict:
        golds = {bare(gold) for gold in question.answers}
        if self.yes_no == "said" and golds <= YES_NO:
            return say(text, golds)
        return self._mention(text, question) if choice is None else choose(text, choice)

    def _mention(self, text: str, question: Question) -> Verdict:
        if self.negation:
            text = settle(text)
        golds = list(question.answers)
        if self.in_question == "asserted":
            golds = [name for gold in golds for name in _names(gold, question.text)]
        mentioned = [gold for gold in golds if occurs_whole(gold, text)]
        if not mentioned:
            return Verdict(is_right=False, reason="no accepted answer occurs")
        repeated = [gold for gold in mentioned if self.in_question == "asserted" and _is_repeated(gold, question)]
        other = [gold for gold in mentioned if gold not in repeated]
        if other and not (self.negation and is_denied(text, other, question.text)):
            return Verdict(is_right=True, reason=f"'{other[0]}' occurs")
        if other:
            return Verdict(is_right=False, reason=f"'{other[0]}' is denied, or something else is said first")
        if asserts(text, repeated) and not (self.negation and is_denied(text, repeated, question.text)):
            return Verdict(is_right=True, reason=f"'{repeated[0]}', which the question names, is given as the answer")
        return Verdict(is_right=False, reason=f"'{repeated[0]}' stands in the question and is not given as the answer")


def settle(text: str) -> str:
    """What an answer says once it has corrected itself: `Paris? No, Rome.` says Rome."""
    corrected = [found["other"] for found in CORRECTED.finditer(text)]
    return corrected[-1] if corrected else text


def is_denied(text: str, golds: Sequence[str], question: str) -> bool:
    """Whether accepted answers stand only where they are denied, or behind another answer that was given first."""
    first = FIRST.match(text)
    if first and not any(occurs_whole(gold, first["other"]) for gold in golds) and not FILLING.match(first["other"]):
        return True
    marked = mark(text, golds)
    if "GOLD" not in marked:
        return False
    marked = drop_negated(marked)
    if not NEGATIVE.search(fold(question)):
        marked = CALLED_WRONG.sub(" ", marked)
    return "GOLD" not in marked


def asserts(text: str, golds: Sequence[str]) -> bool:
    """Whether an answer that names a thing gives it as the answer: by itself, or at the end of `The answer is …`."""
    marked = mark(text, golds)
    return ALONE.fullmatch(marked) is not None or (marked.count("GOLD") == 1 and GIVEN.search(marked) is not None)


def _is_repeated(gold: str, question: Question) -> bool:
    """Whether an accepted answer stands in the question, which does not offer it as one of several."""
    asked = _stems(question.text)
    # An alias made of the question's words, in whatever order, where another accepted answer is not.
    spread = [name for name in question.answers if set(_stems(name)) - ASKING <= set(asked)]
    if " or " in fold(question.text) and 2 * len(spread) >= len(question.answers):
        return False
    return contains_words(_stems(gold), asked) or (gold in spread and len(spread) < len(question.answers))


def _stems(text: str) -> list[str]:
    return [_stem(piece) for piece in pieces(text)]


def _stem(piece: str) -> str:
    """A word without what its forms and spellings end with: `synthesised`, `synthesized`."""
    return piece if piece.isdigit() else piece[: max(4, len(piece) - 3)]


def _names(gold: str, question: str) -> tuple[str, ...]:
    """An accepted answer; its number alone where the question names the unit (`two parties`, `12 metres`); a name
    without the one in its middle."""
    number, *unit = pieces(gold) or [""]
    is_amount = number.replace(".", "").isdigit() and YEAR.fullmatch(number) is None
    is_named = is_amount and bool(unit) and set(unit) <= set(pieces(question))
    if is_named:
        return gold, number
    in_full = MIDDLE.fullmatch(gold)
    return (gold, f"{in_full['first']} {in_full['last']}") if in_full else (gold,)


def say(text: str, golds: set[str]) -> Verdict:
    """Yes or no by its word, else by words that deny or agree."""
    folded = fold(text)
    if leading := LEADING.search(folded):
        return Verdict(is_right=leading["word"] in golds, reason=f"says {leading['word']}")
    if DENIAL.search(folded):
        return Verdict(is_right="no" in golds, reason="denies")
    if AGREEMENT.search(folded):
        return Verdict(is_right="yes" in golds, reason="agrees")
    return Verdict(is_right=False, reason="says neither yes nor no")
