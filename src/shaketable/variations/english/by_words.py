"""Keywords and errors of grammar from small words alone: no parser, so that a light install has them too.

Rules drop, exchange or inflect function words, or give a noun or a verb another ending. Names, numbers, quotations and
the stems of all content words stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shaketable.text import lexicon
from shaketable.text.language import stop_words
from shaketable.variations.english.edits import Edit, Error
from shaketable.variations.english.known_words import IRREGULAR, plurals
from shaketable.variations.english.learner_errors import Kind
from shaketable.variations.english.plain_words import is_english, kept_places, opens_with_title
from shaketable.variations.english.prepositions import GOVERNED, MONTHS, WHICH
from shaketable.variations.english.question_words import ARTICLES, AUXILIARIES, BEING, DO, WH_WORDS
from shaketable.variations.english.search_box import (
    ENDS_OPEN,
    FIXED,
    LEADING_PREPOSITION,
    NEAR,
    NEGATIONS,
    PARTS,
    PRONOUNS,
    RELATED_NOUN,
    RELATION,
    SET_PHRASES,
    SPOKEN,
    TIMES,
    can_lose_words,
)

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
OTHER_NUMBER = {
    "is": "are", "are": "is", "was": "were", "were": "was", "has": "have", "does": "do",
}  # fmt: skip
PAST_FOR_PARTICIPLE = {
    "begun": "began", "broken": "broke", "chosen": "chose", "driven": "drove", "eaten": "ate", "fallen": "fell",
    "flown": "flew", "gone": "went", "spoken": "spoke", "stolen": "stole", "sung": "sang", "taken": "took",
    "thrown": "threw", "worn": "wore", "written": "wrote",
}  # fmt: skip
COMMANDS = frozenset({"name", "tell", "give", "find", "list", "state"})
STEM = 4
"""Letters by which a content word is known again in another form."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Word:
    text: str
    start: int
    end: int
    is_free: bool
    """Whether a rule may touch it: it belongs to no name and no quotation."""

    @property
    def small(self) -> str:
        return self.text.lower()


def words_in(text: str) -> list[Word]:
    kept = kept_places(text)
    spoken = SPOKEN.search(text)
    end = spoken.end() if spoken else len(text)
    return [
        Word(
            text=word[0],
            start=word.start(),
            end=word.end(),
            is_free=word.start() < end and not any(first <= word.start() < last for first, last in kept),
        )
        for word in WORD.finditer(text)
    ]


def lost_words(original: str, wording: str) -> list[str]:
    """Return the content words of an original that a wording does not have, in any form."""
    had = WORD.findall(wording.lower())
    return [
        word
        for word in dict.fromkeys(WORD.findall(original.lower()))
        if word not in stop_words() and not any(_is_form_of(word, other) for other in had)
    ]


def _is_form_of(word: str, other: str) -> bool:
    n_shared = 2 if word in IRREGULAR else min(max(STEM, len(word) - 3), len(word))
    return word == other or word[:n_shared] == other[:n_shared]


# --- keywords -------------------------------------------------------------------------------------


def keywords(text: str) -> str | None:
    """Return the question without articles, helping verbs and a needless question word; None: nothing can go."""
    asked = text.strip().rstrip("?!. ").strip()
    if not can_lose_words(asked):
        return None
    words = words_in(asked)
    dropped = _needless_opening(words, asked)
    dropped |= {place for place in range(len(words) - 1) if _can_go(words, place)}
    if not dropped:
        return None
    made, end = "", 0
    for place in sorted(dropped):
        made += asked[end : words[place].start]
        end = words[place].end
    made = LEADING_PREPOSITION.sub("", " ".join((made + asked[end:]).split()))
    return made[:1].lower() + made[1:] if words[0].is_free and 0 not in dropped else made


def _can_go(words: Sequence[Word], place: int) -> bool:
    word, after = words[place], words[place + 1].small
    before = words[place - 1].small if place else ""
    if not word.is_free or after in PRONOUNS | NEGATIONS | {"what"}:
        return False
    if word.small in ARTICLES:
        follows_part = before == "of" and place > 1 and words[place - 2].small in PARTS
        of_time = word.small != "the" and after in TIMES | SET_PHRASES
        return not (after in FIXED or follows_part or of_time or before in ("many", "such", "what", "half"))
    opens = place > 0 and words[0].small in WH_WORDS | {"in", "on", "at", "from", "by", "for"}
    if word.small in DO:
        return opens and place <= NEAR and before not in ("what", "who", "how")
    return word.small in BEING and opens and place <= NEAR and before in ("when", "where", "why")


def _needless_opening(words: Sequence[Word], asked: str) -> set[int]:
    """`What is the` before a noun that says what is wanted."""
    opens = len(words) > 3 and words[0].small in ("what", "who") and words[1].small in ("is", "are")
    if not opens or not RELATED_NOUN.match(asked) or not RELATION.search(asked) or ENDS_OPEN.search(asked):
        return set()
    return {0, 1}


# --- errors ---------------------------------------------------------------------------------------


def errors_in(text: str) -> dict[Kind, list[Error]]:
    """Return the errors of learners that could be made, by kind; kinds without any are not there."""
    words = words_in(text)
    has_names = any(word.text[:1].isupper() for word in words[1:])
    asks = bool(words) and (
        {word.small for word in words} & WH_WORDS or words[0].small in AUXILIARIES | COMMANDS or text.endswith("?")
    )
    if not asks or not is_english(text) or opens_with_title(text):
        return {}
    found: dict[Kind, list[Error]] = {
        "article": list(_articles(words)) if has_names else [],
        "number": list(_numbers(words)),
        "preposition": list(_prepositions(words)),
        "agreement": list(_agreements(words)),
        "tense": list(_tenses(words)),
        "verb_form": list(_verb_forms(words)),
    }
    return {kind: errors for kind, errors in found.items() if errors}


def _exchanged(rule: str, word: Word, text: str) -> Error:
    kept = text.capitalize() if word.text[:1].isupper() else text
    return Error(rule=rule, edits=(Edit(start=word.start, end=word.end, text=kept),))


def _articles(words: Sequence[Word]) -> Iterator[Error]:
    for place, word in enumerate(words[:-1]):
        following, before = words[place + 1], words[place - 1].small if place else ""
        if not (word.is_free and following.is_free) or word.text not in ARTICLES or not following.text.islower():
            continue
        if following.small in FIXED | TIMES | stop_words() or before in ("last", "next", "past", "many", "such"):
            continue
        # `which award the singer got`: two nouns would meet.
        if place and before not in stop_words():
            continue
        yield Error(rule="article_missing", edits=(Edit(start=word.start, end=following.start, text=""),))
        if word.text == "an" and following.text[0] in "aeio":
            yield _exchanged("a_for_an", word, "a")


def _numbers(words: Sequence[Word]) -> Iterator[Error]:
    for place, word in enumerate(words):
        counted = [one.small for one in words[max(0, place - 2) : place]] == ["how", "many"]
        singular = next((one for one in _singulars(word.text) if one in lexicon.load().entries["noun"]), None)
        if word.is_free and counted and singular:
            yield _exchanged("singular_for_plural", word, singular)


def _singulars(word: str) -> list[str]:
    possible = (word[:-3] + "y", word[:-2], word[:-1])
    return [one for one in possible if len(one) > 2 and word in plurals(one)]


def _prepositions(words: Sequence[Word]) -> Iterator[Error]:
    for place, word in enumerate(words[:-1]):
        if not word.is_free:
            continue
        before, following = words[place - 1].text if place else "", words[place + 1]
        noun = words[place + 2].small if place + 2 < len(words) else ""
        wrongs: tuple[str, ...] = ()
        if governed := GOVERNED.get(f"{before} {word.text}"):
            wrongs = (governed,)
        elif word.small in ("in", "on") and following.small in ("which", "what"):
            wrongs = WHICH.get(noun, ())
        elif word.text == "in" and re.fullmatch(r"1\d{3}|20\d\d", following.text):
            wrongs = ("at", "on")
        elif word.text in ("in", "on") and following.text in MONTHS:
            wrongs = ("in", "on")
        yield from (_exchanged("preposition", word, wrong) for wrong in wrongs if wrong != word.small)


def _agreements(words: Sequence[Word]) -> Iterator[Error]:
    """The first verb; with `you` and `they` either number may be meant."""
    verb = next((word for word in words[1:5] if word.small in OTHER_NUMBER or word.small in AUXILIARIES), None)
    if verb is None or verb.small not in OTHER_NUMBER or not verb.is_free:
        return
    following = next((word.small for word in words if word.start > verb.start), "")
    if following not in PRONOUNS | NEGATIONS and not any(word.small in ("and", "or") for word in words):
        yield _exchanged("agreement", verb, OTHER_NUMBER[verb.small])


def _tenses(words: Sequence[Word]) -> Iterator[Error]:
    """`When did Mozart die` → `When did Mozart died`: a verb at the end, behind a name."""
    if len(words) < 4 or words[1].small != "did" or not words[-1].is_free:
        return
    last, before = words[-1], words[-2]
    known = lexicon.load()
    is_verb = last.text in known.entries["verb"] and (last.text == "die" or not known.is_irregular(last.text, "verb"))
    if is_verb and before.text[:1].isupper() and not before.is_free and last.text not in IRREGULAR:
        yield _exchanged("past_after_did", last, _past(last.text))


def _past(verb: str) -> str:
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if re.search(r"[^aeiou]y$", verb) else f"{verb}ed"


def _verb_forms(words: Sequence[Word]) -> Iterator[Error]:
    """`was written` → `was wrote`."""
    has_helper = False
    for word in words:
        if has_helper and word.is_free and word.text in PAST_FOR_PARTICIPLE:
            yield _exchanged("past_for_participle", word, PAST_FOR_PARTICIPLE[word.text])
        has_helper = has_helper or word.small in BEING | {"has", "have", "had", "been"}
