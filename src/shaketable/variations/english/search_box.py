"""A question → the words of it that people type into a search box, in their order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shaketable.text import language
from shaketable.variations.english.plain_words import OPENING, is_english, kept_places, opens_with_title
from shaketable.variations.english.question_words import ARTICLES, BEING, DO, FINITE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spacy.tokens import Token

QUESTION_WORD = re.compile(r"\b(?:who(?:m|se)?|what|which|when|where|why|how)\b", re.IGNORECASE)
ASKS_FOR_ONE_OF = re.compile(r"\b(?:same|both|or)\b")
"""Without a question word, what is left of a question of yes or no still asks with one of these."""
DONE_TO = frozenset({
    "based", "born", "built", "buried", "created", "directed", "educated", "established", "filmed", "formed", "found",
    "founded", "headquartered", "held", "known", "licensed", "located", "named", "nicknamed", "opened", "produced",
    "published", "recorded", "released", "set", "situated", "used", "written",
})  # fmt: skip
"""Participles that are not taken for an active past without their verb: `king murdered in 1327` would be."""
NOUN_TAGS = ("NN", "NNS")
OPENING_TAGS = (*NOUN_TAGS, "DT", "PRP$", "CD", "``", "''")
"""Of words that a noun phrase may begin with, and of the marks of a quotation."""
NEGATIONS = frozenset({"not", "never", "n't", "'t", "’t"})
CIRCUMSTANCES = frozenset({
    "when", "where", "why", "year", "date", "month", "day", "decade", "century", "city", "country", "state", "county",
})  # fmt: skip
"""What is no subject before `did`, whatever the parser says."""
PRONOUNS = frozenset(
    {"it", "he", "she", "they", "there", "that", "which", "this", "these", "i", "you", "we", "who", "one"}
)
"""Words beside which a verb is not left out."""
FIXED = frozenset({"same", "other", "latter", "former", "few", "lot", "little", "result", "most", "least"})
"""Words that need their article; but `the same country` does not."""
RELATED_NOUN = re.compile(r"\w+(?: \w+|['’]s) (?:(?:the|an?|another) |[A-Z][^?]*?['’]s? [a-z])")
RELATION = re.compile(r"\b(?:of|for|at|in|between|by|from|to)\b|['’]s\b")
PLACE = re.compile(r"Where (?:is|was) the (?:place|origin|location|birthplace|source)\b", re.IGNORECASE)
TWO_SENTENCES = re.compile(r"(?:[a-z]{4}|[A-Z]{2}|[\"”’'])[.?!] [A-Z]|[?!] \(")
ENDS_OPEN = re.compile(r"\b(?:of|for|at|in|by|from|to|with|on|as|about|into|under|after|called|named|like)\W*$")
LEADING_PREPOSITION = re.compile(
    r"^(?:in|on|at) (?=(?:which|what)\b)(?!(?:\S+ ){1,7}(?:is|are|was|were|do|does|did)\b)", re.IGNORECASE
)
"""Without a verb behind it, nobody misses it."""
PARTS = frozenset({"many", "most", "some", "one", "all", "which", "each", "none", "both", "half", "any", "few", "two"})
"""Of which they are: `many of the ships`."""
SET_PHRASES = frozenset({"cappella", "capella", "priori", "posteriori", "fortiori", "la", "propos"})
"""What `a` belongs to."""
TIMES = frozenset({"second", "minute", "hour", "day", "night", "week", "month", "year", "decade", "century", "while"})
"""What needs its `a`: `a month before`, `twice a day`."""
SPOKEN = re.compile(
    r"\b(?:lines?|words|phrase|lyrics?|motto|slogan|saying|proverb|quotation)\b[:,]? "
    r"(?!(?:of|in|on|for|from|to|by|at|between|that|which|who|is|are|was|were|used|spoken|written|associated|and|or)\b)",
    re.IGNORECASE,
)
"""What follows may be a quotation without its marks."""
TO_COME = re.compile(r"\b(?:is|are|was|were) to [a-z]+", re.IGNORECASE)
YES_OR_NO = BEING | DO | {"has", "have", "had", "can", "could"}
NEAR = 4
LONG_SUBJECT = 6
"""Words before a verb without which a reader would not find the end of the subject."""


def can_lose_words(asked: str) -> bool:
    """Return whether it is one English question whose words are not those of a title."""
    return (
        is_english(asked)
        and not (opens_with_title(asked) or TO_COME.search(asked) or TWO_SENTENCES.search(asked))
        and bool(QUESTION_WORD.search(asked) or ASKS_FOR_ONE_OF.search(asked))
    )


def keywords(text: str, pipeline: str = language.PIPELINE) -> str | None:
    """None: not all of what is asked would be left, or nothing can be left out."""
    asked = text.strip().rstrip("?!. ").strip()
    if not can_lose_words(asked):
        return None
    words = [word for word in language.parsed(asked, pipeline) if not word.is_space]
    spoken = SPOKEN.search(asked)
    end = spoken.end() if spoken else len(asked)
    kept = [*kept_places(asked), (end, len(asked))]
    # In small letters a title may stand anywhere.
    n_sure = 3 if asked == asked.lower() else len(words)
    dropped = {place for place in range(min(n_sure, len(words) - 1)) if _is_dropped(words, place, kept)}
    if n_sure == 3 and 1 not in dropped:
        dropped = set()
    needless = _needless_question(words, asked)
    if all(words[place].idx < end for place in needless):
        dropped |= needless
    if not dropped:
        return None
    made = "".join(word.text_with_ws for place, word in enumerate(words) if place not in dropped)
    made = LEADING_PREPOSITION.sub("", " ".join(made.split()))
    # What opens the query now may be a name: `To Kill a Mockingbird`.
    return made if 0 in dropped else _small(made)


def _is_dropped(words: Sequence[Token], place: int, kept: Sequence[tuple[int, int]]) -> bool:
    word, following = words[place], words[place + 1]
    before = words[place - 1].lower_ if place else ""
    if any(start <= word.idx < end for start, end in kept) or not word.text.isalpha() or not word.whitespace_:
        return False
    if following.lower_ in PRONOUNS | {"what"} or following.lower_ in NEGATIONS:
        return False
    if place == 0 and word.lower_ in YES_OR_NO and any(one.lower_ in ("both", "same") for one in words):
        return False  # A statement would be left.
    if word.lower_ in ARTICLES:
        if _needs_article(words, place):
            return False
        opens = place == 0 and following.text.islower()
        is_fixed = following.lower_ in FIXED and not (following.lower_ == "same" and following.dep_ == "amod")
        return (opens or word.text.islower()) and not is_fixed and before not in ("many", "such", "what", "half")
    # After a bare `what` or `how` the next noun would be taken for its own: `how old`.
    is_bare = before in ("what", "who", "how")
    if word.lower_ in DO | BEING and _is_parted(words, place):
        return False
    if word.lower_ in DO:
        # Behind a longer noun phrase it shows where the subject begins.
        return place <= NEAR and ((word.dep_ == "aux" and not is_bare) or before in CIRCUMSTANCES)
    leans = before in PRONOUNS and (place > 1 or before not in ("who", "which"))
    return word.lower_ in BEING and not leans and _is_needless_being(words, place, is_bare)


def _needs_article(words: Sequence[Token], place: int) -> bool:
    """`a cappella`, `a month before`, `…, a professor`, `many of the`, and where a clause begins without a pronoun."""
    word, before, after = words[place], words[max(place - 2, 0) : place], words[place + 1 : place + 7]
    if before and (
        (place > 2 and before[-1].tag_ in NOUN_TAGS) or (before[0].lower_ in PARTS and before[-1].lower_ == "of")
    ):
        return True  # the man the king sent
    if word.lower_ != "the":
        of_time = any(one.lower_ in TIMES for one in after[:2])
        is_end = place + 3 == len(words) and words[-1].tag_ == "IN"  # an example of
        return (
            of_time
            or is_end
            or after[0].lower_ in SET_PHRASES
            or (before[-1:] != [] and before[-1].text == "," and place + 2 == len(words))
        )
    # the river Tower Bridge crosses
    names = next((i for i, one in enumerate(after) if one.text[:1].isupper()), 0)
    verb = next((one for one in after[names + 1 :] if one.text.islower()), None)
    is_noun = names and all(one.tag_[:2] in ("NN", "JJ", "CD") for one in after[:names])
    is_last = verb is not None and verb.i == words[-1].i and verb.tag_ != "VBN"
    return bool(is_noun) and verb is not None and (is_last or verb.tag_ in FINITE)


def _is_parted(words: Sequence[Token], place: int) -> bool:
    """Whether a clause of its own stands beside the verb, as in `did the man who left die`."""
    word = words[place]
    between = [one for one in words if word.i < one.i < word.head.i]
    is_inverted = any(QUESTION_WORD.fullmatch(one.text) for one in words[:place])
    beside = [*words[2:place], *(words[place + 1 :] if is_inverted else ())]
    return any(one.tag_ in ("VBD", "VBZ", ",") for one in between) or any(
        one.tag_ in ("WDT", "WP", "WP$", "WRB") or one.lower_ == "that" or one.dep_ == "relcl" for one in beside
    )


def _is_needless_being(words: Sequence[Token], place: int, is_bare: bool) -> bool:
    word, following, before = words[place], words[place + 1], words[place - 1].lower_ if place else ""
    opens_noun = following.tag_ in OPENING_TAGS or following.text[:1].isupper()
    is_inverted = any(QUESTION_WORD.fullmatch(one.text) for one in words[:2]) and before not in ("when", "where", "why")
    if opens_noun and is_inverted and word.dep_ in ("ROOT", "aux"):
        return False
    if is_bare:
        if before == "who" and word.lower_ in ("was", "were"):  # The tense tells who is meant.
            return False
        return before != "how" and (following.tag_ in ("JJR", "VBG") or following.lower_ == "born")
    if word.dep_ == "auxpass":
        # Inside a long sentence the verb of a clause shows where it ends.
        is_clause = word.head.dep_ in ("relcl", "advcl", "ccomp")
        is_last = word.head.dep_ == "ROOT" or (word.head.i >= words[-1].i - 1 and not is_clause)
        after = next((one.lower_ for one in words if one.i == word.head.i + 1), "")
        return is_last and (word.head.lower_ in DONE_TO or after == "by")
    if word.dep_ == "aux":
        return word.head.dep_ == "ROOT"
    return word.dep_ == "ROOT" and place <= LONG_SUBJECT


def _needless_question(words: Sequence[Token], asked: str) -> set[int]:
    """The places of `What is` in `What is the capital of`, and of `Which` before a subject: the noun says it all."""
    first, second = words[0].lower_, words[1] if len(words) > 1 else None
    if second is None or len(words) < 4:
        return set()
    if first == "who" and second.lower_ in ("was", "were"):
        return set()
    if first in ("what", "who") and second.lower_ in BEING | {"'s", "’s"}:
        others = {child.dep_ for child in second.children} & {"advcl", "ccomp", "xcomp", "acomp"}
        others |= {word.lower_ for word in words} & {"called"}  # the name is asked for
        alone = second.dep_ == "ROOT" and not others and RELATED_NOUN.match(asked)
        is_fixed = words[2].lower_ in ARTICLES and _needs_article(words, 2)
        return (
            _opening(words)
            if alone and not is_fixed and RELATION.search(asked) and not ENDS_OPEN.search(asked)
            else set()
        )
    if PLACE.match(asked):
        return _opening(words)
    heads = [word for word in words if word.dep_ in ("nsubj", "nsubjpass") and word.head.dep_ == "ROOT"]
    if first not in ("what", "which") or len(heads) != 1 or words[0].head != heads[0] or heads[0].tag_ not in NOUN_TAGS:
        return set()
    is_sure = not any(word.tag_ == "POS" for word in words[: heads[0].i]) and not any(w.lower_ in DO for w in words)
    if not is_sure or second.lower_ in PRONOUNS | {"of"} or ENDS_OPEN.search(asked):
        return set()
    verbs = [i for i, word in enumerate(words) if word.lower_ in BEING and "ROOT" in (word.dep_, word.head.dep_)]
    # With a verb of its own, what is left would be a statement.
    if not verbs or not all(i + 1 < len(words) and _is_needless_being(words, i, is_bare=False) for i in verbs):
        return set()
    is_kept = any(words[i + 1].lower_ in NEGATIONS or _is_parted(words[1:], i - 1) for i in verbs)
    return set() if is_kept else {0, *verbs}


def _opening(words: Sequence[Token]) -> set[int]:
    return {0, 1, 2} if words[2].lower_ in ARTICLES else {0, 1}


def _small(text: str) -> str:
    first = text.split(" ", 1)[0]
    return text[:1].lower() + text[1:] if first.lower() in OPENING else text
