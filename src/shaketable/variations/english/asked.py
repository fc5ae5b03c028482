"""The parts of a question: question word, verb, subject and predicate, as far as parser and shape agree on them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaketable.variations.english.inflection import form
from shaketable.variations.english.question_words import ADVERBIAL, AUXILIARIES, DO, FINITE, RELATIVE, WH_WORDS

if TYPE_CHECKING:
    from spacy.tokens import Token


NAMING = frozenset({"called", "known", "named"})
POINTING = frozenset({"this", "that", "these", "those"})
NEVER_PASSIVE = frozenset(
    {"appear", "arrive", "come", "die", "exist", "go", "happen", "live", "occur", "remain", "reside"}
)
"""Nobody was died."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Embedded:
    text: str
    is_noun: bool = False
    """Whether it is a noun phrase, without a question word."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A question whose question word comes first: `which film` `did` `he make`."""

    words: Sequence[Token]
    n_opening: int
    """How many words stand before the first verb that belongs to no relative clause; 0: answered by yes or no."""

    @property
    def opening(self) -> str:
        """The question word, with its noun or preposition."""
        return small(self.words[: self.n_opening]) or "whether"

    @property
    def verb(self) -> Token:
        return self.words[self.n_opening]

    @property
    def rest(self) -> Sequence[Token]:
        return self.words[self.n_opening + 1 :]

    @property
    def is_adverbial(self) -> bool:
        """Whether the question word cannot be the subject: `when`, `how long`, `in which`, but not `how many`."""
        first, second = self.words[0], self.words[1].lower_
        return first.tag_ in ("IN", "TO") or (first.lower_ in ADVERBIAL and second not in ("many", "much"))

    @property
    def unchanged(self) -> Embedded:
        return Embedded(text=small(self.words))

    def turned(self, n_subject: int) -> Embedded | None:
        """The verb behind its subject, which is so many words of the rest."""
        subject, after = self.rest[:n_subject], self.rest[n_subject:]
        if not is_closed(subject):
            return None
        verb = {"'s": "is", "'re": "are"}.get(self.verb.lower_, self.verb.lower_)
        return Embedded(text=" ".join(filter(None, (self.opening, joined(subject), verb, joined(after)))))


def helped_verb(asked: Asked) -> int | None:
    """The place in the rest of the verb that the auxiliary helps, as the parser has it."""
    head = asked.verb.head
    if asked.verb.dep_ not in ("aux", "auxpass") or head.dep_ in ("relcl", "acl"):
        return None
    return next((place for place, word in enumerate(asked.rest) if word.i == head.i), None)


def bare_verb(asked: Asked) -> int | None:
    """The verb behind `do` and its subject: the parser's, or the last word where it finds none."""
    helped, rest = helped_verb(asked), asked.rest
    if helped is not None or asked.opening == "who":
        return helped
    last = len(rest) - 1 - (rest[-1].lower_ == "out")
    bare = last > 0 and rest[last].tag_ in ("NN", "JJ", "VB", "VBP") and rest[last - 1].tag_[:2] in ("NN", "CD", "PO")
    others = any(
        word.tag_ in ("VB", "VBP", "VBD") and word.text.islower() and not is_inside(rest, place)
        for place, word in enumerate(rest[:last])
    )
    return last if bare and not others else None


def main_participle(asked: Asked, places: Sequence[int]) -> int | None:
    """The place where the predicate begins; None: no telling."""
    rest, helped, place = asked.rest, helped_verb(asked), places[-1]
    if any(word.lower_ in RELATIVE for word in rest[places[0] : place]):  # was built in the town where he settled
        return None
    if len(places) > 1 and place != len(rest) - 1:
        if helped != places[0]:
            return None
        place = places[0]
    if place > 2 and rest[place - 1].lower_ in ("and", "or") and place - 2 in places:  # born and raised
        place -= 2
    ends = all(word.tag_ in ("RP", "IN") for word in rest[place + 1 :])
    if not asked.is_adverbial and asked.n_opening == 1 and not ends and rest[place].lower_ not in NAMING:
        return None  # who was the man talking …: parsers see him talk.
    if asked.is_adverbial and rest[place].lower_ in NAMING and not ends:
        return None  # where is the town named after …
    is_past = rest[place].tag_ != "VBG"
    alone = len(places) == 1 and rest[0].tag_ != "PRP" and is_plain(rest[:place]) and (is_past or ends)
    final = places[-1] == len(rest) - 1 and is_past
    how_long = asked.words[0].lower_ == "how" and asked.n_opening > 1
    if not is_past and not ends and rest[place + 1].tag_ != "WRB":
        return None  # where was the man living in …: parsers see him live.
    sure = helped == place or ((alone or final) and not how_long)
    return before_adverbs(rest, place) if sure else None


def before_adverbs(words: Sequence[Token], place: int) -> int:
    """The place of the first of the adverbs and auxiliaries before a verb."""
    while place and (
        _is_adverb(words[place - 1])
        or words[place - 1].lower_ in ("be", "been", "being", "better", "best", "first", "last")
    ):
        place -= 1
    return place


def _is_adverb(word: Token) -> bool:
    """Taggers take many a name in small letters for one."""
    return word.tag_ in ("RB", "RBR", "RBS") and (word.is_stop or word.lower_.endswith("ly"))


def holds_a_title(words: Sequence[Token]) -> bool:
    """Whether a question in small letters has a clause of its own inside, as titles and lines of songs are."""
    if any(word.text[:1].isupper() for word in words[1:]):
        return False
    finite = [place for place, word in enumerate(words) if word.tag_ in FINITE or word.lower_ in AUXILIARIES]
    others = [
        place
        for place in finite[1:]
        if words[place].tag_ in FINITE and words[place - 1].lower_ != "and" and not is_inside(words, place)
    ]
    if finite and words[finite[0]].lower_ in DO:  # did the man who left return: taggers may take it for a finite form.
        others = [place for place in others if words[place].tag_ != "VBP" or place < len(words) - 2]
    speaks = any(
        word.lower_ in ("i", "me", "my") or (word.lower_ == "you" and before.lower_ not in AUXILIARIES)
        for before, word in itertools.pairwise(words)
    )
    return bool(others) or speaks


def is_participle(word: Token) -> bool:
    """Taggers take many for past tenses, but none of them for `fell`."""
    past = word.tag_ == "VBD" and form(word.lemma_, "VBN") == word.lower_
    if word.tag_ != "VBG" and word.lemma_ in NEVER_PASSIVE:
        return False
    return word.text.islower() and (past or word.tag_ in ("VBN", "VBG")) and word.text != "according"


def is_inside(words: Sequence[Token], place: int) -> bool:
    """Whether a verb belongs to a relative clause: a pronoun stands before it and no other verb between."""
    for word in reversed(words[:place]):
        if word.lower_ in RELATIVE:
            return True
        if word.tag_[:2] == "VB" and word.lower_ not in AUXILIARIES:
            return False
    return False


def is_relative(word: Token) -> bool:
    return any(above.dep_ == "relcl" and above.head.i < word.i for above in (word, *word.ancestors))


def asks_twice(words: Sequence[Token]) -> bool:
    """`who is it and what does he do`: the second question would keep its order."""
    return any(before.lower_ in ("and", "or") and word.lower_ in WH_WORDS for before, word in itertools.pairwise(words))


def asks_again(asked: Asked) -> bool:
    """Whether `do` comes later, so that the first verb was taken wrongly; titles have it too."""
    return any(
        word.lower_ in DO and before.tag_ != "TO" and (asked.opening != "who" or before.lower_ in WH_WORDS | {","})
        for before, word in itertools.pairwise(asked.words[asked.n_opening :])
    )


def dangles(words: Sequence[Token]) -> bool:
    """Whether the last word belongs to no noun phrase and to no relative clause."""
    verb = next((place for place in range(len(words) - 1, -1, -1) if words[place].tag_[:2] == "VB"), None)
    last = words[-1]
    loose = last.text.islower() and (last.tag_ in ("IN", "VBN", "VBG", "RP", "RB") or last.text.endswith("ed"))
    # the river where Rome is built a port of: the article opens what is asked for.
    ends_twice = (
        len(words) > 3
        and last.tag_ == "IN"
        and [word.tag_ for word in words[-3:-2]] == ["DT"]
        and words[-4].tag_[:2] == "VB"
    )
    stands = ends_twice and words[-4].lower_ not in AUXILIARIES
    return stands or (loose and (verb is None or not is_inside(words, verb)))


def is_plain(words: Sequence[Token]) -> bool:
    """One noun phrase without verbs, as far as one can see."""
    possessive = any(word.tag_ == "POS" for word in words[-4:])
    named = len(words) > 1 and words[0].tag_ == words[-2].tag_ == "NNP"
    if named and words[-1].text.islower() and words[-1].tag_ != "NNS":
        return False  # Hyde Park open
    if len(words) > 1 and words[-1].tag_ == "JJ" and words[-1].text.islower():
        return False  # the war complete
    return not any(
        word.tag_[:2] in ("VB", "MD")
        or word.lower_ == "both"
        or (place and word.tag_ == "JJ" and word.text.islower() and words[place - 1].tag_[:3] == "NNP")
        or word.lower_ in RELATIVE
        or (word.text in ",;:" and not possessive)
        or (place and word.text in ("the", "a", "an") and words[place - 1].tag_ not in ("IN", "TO", "CC", "PDT"))
        for place, word in enumerate(words)
    )


def is_closed(subject: Sequence[Token]) -> bool:
    """Whether each verb inside has its relative pronoun, so that none of them is the one outside."""
    n_verbs = sum(word.tag_ in FINITE for word in subject)
    n_relative = sum(word.lower_ in RELATIVE for word in subject)
    n_relative += sum(before.text == "and" and word.tag_ in FINITE for before, word in itertools.pairwise(subject))
    if subject[-1].tag_ in ("DT", "IN", "PRP$", "TO", "CC") and subject[-1].lower_ not in POINTING:
        return False  # the | student: taggers take the noun for the verb.
    return n_verbs <= n_relative and subject[-1].lower_ not in AUXILIARIES | RELATIVE | {"not", "n't"}


# --- words → text ---------------------------------------------------------------------------------


def joined(words: Sequence[Token]) -> str:
    """The words with their own spacing."""
    return "".join(word.text_with_ws for word in words).strip()


def small(words: Sequence[Token]) -> str:
    """Without the capital that begins a sentence."""
    text = joined(words)
    n_small = len(words[0].text) if words and words[0].lower_ in WH_WORDS else 1
    return text[:n_small].lower() + text[n_small:]
