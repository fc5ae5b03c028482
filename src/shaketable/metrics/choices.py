"""Comparison questions: what they let an answer choose between, and which of it an answer chooses."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from shaketable.text.plain import fold, phrase
from shaketable.types import Question

Side = Literal["GOLD", "OTHER"]
"""How a candidate is written in a marked text; the rest of such a text is in lower case."""

ARTICLES = ("the ", "a ", "an ")
OF_TWO = re.compile(r"(?P<before>.*) or (?P<after>.*)")
PERSON = re.compile(r"\s*who\b", re.IGNORECASE)
LINKS = frozenset(("of", "the", "and", "de", "del", "la", "van", "von"))
"""Small words inside names."""
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
CLAUSE_END = re.compile(r"\b(?:while|whereas|but|although|though|and|which|who|with|since|because|as)\b|[,;:()]|\.\s")
MARK = re.compile(r"\b(?:GOLD|OTHER)\b")
NOT = r"(?:\b(?:not|never|neither|nor|rather than|instead of|other than|unlike|except|excluding)|n't)"
NEGATED = re.compile(
    rf"{NOT}\s+(?:(?!(?:than|as|be|only|just|merely|until|before|but)\b)\w+\s+){{0,3}}[^\w\s.,;:!?]*\s?(?:GOLD|OTHER)\b"
)
IDENTITY = re.compile(r"\b(?P<side>GOLD|OTHER)\b.*\b(?:is|was|as)\b.*\b(?P=side)\b")
"""`Vivaldi was the composer of The Four Seasons` tells which is meant and chooses nothing."""
OPENING = re.compile(r"(?:(?:the|it is|it's|the answer is|answer:)\s+)*\W*(?P<side>GOLD|OTHER)\s*(?:[^\w\s'-]|$)")
"""One of the two as the first words of an answer; what is behind it is no part of the sentence."""
UNDECIDED = frozenset({"both", "neither", "either", "same"})
ANSWER = re.compile(r"\banswer\b")
IS = re.compile(r"\bis\b|\bwould be\b|:")
YEAR = re.compile(r"(?<!\d)[12]\d{3}(?=\D)(?!\.\d)")
"""A year goes before the day and the month beside it."""
NUMBER = re.compile(r"(?<!\d)\d++(?:\.\d++)?(?=\D)")
"""A number at the very end may have been cut."""

TIME, AMOUNT = "time", "amount"
WORDS_OF = {
    (TIME, 1): "first earlier earliest older oldest elder before sooner",
    (TIME, -1): "later latest last younger youngest newer newest recent recently after second",
    (
        AMOUNT,
        1,
    ): "more most larger largest bigger biggest greater greatest higher highest taller tallest longer longest "
    "deeper deepest heavier heaviest harder hardest wider widest faster fastest farther farthest further furthest "
    "hotter warmer stronger better best larger",
    (AMOUNT, -1): "less least fewer fewest smaller smallest lower lowest shorter shortest shallower shallowest lighter "
    "lightest softer softest narrower slower slowest nearer closer colder weaker worse",
}
DIRECTIONS = {word: direction for direction, words in WORDS_OF.items() for word in words.split()}
"""What each comparing word measures, and 1 for the early or the large end of it."""
COMPARING = re.compile(rf"\b(?:{'|'.join(DIRECTIONS)})\b")
THAN = re.compile(r"\b(?:than|compared (?:to|with))\b")
BEFORE = re.compile(r"\b(?:before|after)\b")
TIMES_AS = re.compile(r"\b(?:twice|times) as \w+ as\b")
SMALL_WORDS = {
    "filler": "a an the is was are were be been it its this that these those to of in on at for by from and or as your "
    "you my query question answer document states said says indeed actually correct final here so therefore thus has "
    "have had",
    "asking": "which what who whom whose where when how is are was were do does did has have had two both between",
}
FILLERS, ASKING = (frozenset(words.split()) for words in SMALL_WORDS.values())
SHORT = 3
"""A sentence that says no more words than this beside the candidate gives it as the answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """A question that names two things and asks for one of them."""

    gold: tuple[str, ...]
    """Every name of the right one: accepted answers, the title of its document, its words in the question."""
    other: tuple[str, ...]
    direction: tuple[str, int] | None
    """What is compared and which end is asked for; None: the question asks for something else."""
    asked: frozenset[str]
    """Words of what is asked, without the two and without their kind (`river` in `Which river is longer`)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    is_right: bool
    reason: str


def find_choice(question: Question) -> Choice | None:
    """None: the question does not name two things of which an accepted answer is one."""
    options = _options(question)
    if options is None:
        return None
    names = [[option, *_titles(question, option, rival)] for option, rival in (options, options[::-1])]
    likeness = [max(_likeness(answer, name) for answer in question.answers for name in side) for side in names]
    n_offered = sum(any(_is_part(one, name) for name in [*names[0], *names[1]]) for one in question.answers)
    # `Known as the Iron Lady or the Grey Ghost, which ship …` offers two aliases, and no choice.
    if likeness[0] == likeness[1] or n_offered == 0 or 2 * n_offered < len(question.answers):
        return None
    gold, other = names if likeness[0] > likeness[1] else names[::-1]
    if PERSON.match(question.text):
        gold, other = ([*own, *_surnames(own, against)] for own, against in ((gold, other), (other, gold)))
    asked = _asked(question.text, options)
    directions = [DIRECTIONS[word] for word in asked if word in DIRECTIONS]
    # `Most recently` is about time, not about amount.
    directions.sort(key=lambda direction: direction[0] != TIME)
    return Choice(
        gold=tuple(dict.fromkeys([*question.answers, *gold])),
        other=tuple(dict.fromkeys(other)),
        direction=directions[0] if directions else None,
        asked=frozenset(asked),
    )


def choose(text: str, choice: Choice) -> Verdict:
    """Whether an answer chooses the right one: by its last `The answer is`, else by the first sentence that chooses."""
    marked = mark(text, choice.gold, choice.other)
    sentences = [sentence for sentence in SENTENCE_END.split(marked) if not sentence.rstrip().endswith("?")]
    final = [sentence for sentence in reversed(sentences) if _says_the_answer_is(sentence)]
    for side, reason in (
        *(_side(sentence, choice) for sentence in final),
        *((_by_than(sentence, choice), "by `than`") for sentence in sentences),
        (_by_number(sentences, choice), "by the numbers given"),
        *(_side(sentence, choice) for sentence in sentences),
    ):
        if side is not None:
            return Verdict(is_right=side == "GOLD", reason=reason)
    opening = OPENING.match(marked)
    if opening and _opposite(opening["side"]) not in marked:
        return Verdict(is_right=opening["side"] == "GOLD", reason="named first, and the other not at all")
    named = {"GOLD": "the right one", "OTHER": "the wrong one"}
    chosen = [named[side] for side in named if re.search(rf"\b{side}\b", marked)]
    return Verdict(is_right=False, reason=f"names {' and '.join(chosen)}, chooses none" if chosen else "names neither")


def mark(text: str, gold: Iterable[str], other: Iterable[str] = ()) -> str:
    """The folded text with GOLD and OTHER in place of the candidates' names, the longest first."""
    sides: list[tuple[str, Side]] = [(name, "GOLD") for name in _spellings(gold)]
    sides += [(name, "OTHER") for name in _spellings(other)]
    marked = fold(text)
    for name, side in sorted(sides, key=lambda pair: len(pair[0]), reverse=True):
        if pattern := phrase(name):
            marked = pattern.sub(side, marked)
    # Scripts without spaces: the marks are words of their own.
    return re.sub(r"(?<=[^\W_A-Z])(?=GOLD|OTHER)|(?<=GOLD|THER)(?=[^\W_A-Z])", " ", marked)


def drop_negated(marked: str) -> str:
    """Without the candidates that stand after a `not`."""
    return NEGATED.sub(" ", marked)


# --- the question -----------------------------------------------------------------------------------


def _options(question: Question) -> tuple[str, str] | None:
    """The two things a question names, as it names them."""
    text = question.text
    titles = {title for title in question.gold_titles if fold(title) in fold(text)}
    # A title inside another is not a thing of its own.
    titles = {title for title in titles if not any(title != longer and title in longer for longer in titles)}
    if len(titles) == 2 and re.search(r"\b(?:or|and)\b", text):
        first, second = sorted(titles, key=lambda title: fold(text).index(fold(title)))
        return first, second
    split = OF_TWO.fullmatch(" ".join(text.split()).rstrip(" ?."))
    if not split:
        return None
    before, after = re.split(r"[,:]\s*", split["before"])[-1], split["after"].split(",")[0]
    if before == split["before"]:
        before = " ".join(reversed(_name(list(reversed(before.split()))))) or before
    return _bare(before), _bare(" ".join(_name(after.split())) or after)


def _name(words: Sequence[str]) -> list[str]:
    """The capital words at the beginning, with small ones between them."""
    n_named = 0
    for n_seen, word in enumerate(words, start=1):
        is_capital = word.lstrip("\"“'(")[:1].isupper() or word[:1].isdigit()
        if not is_capital and word not in LINKS:
            break
        n_named = n_seen if is_capital else n_named
    return list(words[:n_named])


def _titles(question: Question, option: str, rival: str) -> list[str]:
    """Titles of the documents that tell of an option, for options that are described: `the tower in Sumida`."""
    if any(_likeness(title, option) == 1 for title in question.gold_titles):
        return []
    own = _words(option) - _words(rival) - FILLERS
    against = _words(rival) - _words(option) - FILLERS
    titles = []
    for title in dict.fromkeys(question.gold_titles):
        told_words = _words(
            " ".join(
                [title, *(question.sentence(id).text for id in question.supporting if _is_of(question, id, title))]
            )
        )
        if own and len(own & told_words) / len(own) > len(against & told_words) / max(1, len(against)):
            titles.append(re.sub(r"\s*\(.*\)$", "", title))
    return titles


def _surnames(own: Sequence[str], against: Sequence[str]) -> list[str]:
    """The last words of names, which people are called by, where they tell the two apart."""
    called = [_bare(name).split() for name in own]
    last = [words[-1] for words in called if len(words) > 1 and all(word[0].isupper() for word in words)]
    return [word for word in last if not any(_words(word) & _words(name) for name in against)]


def _is_of(question: Question, sentence_id: str, title: str) -> bool:
    return any(
        sentence.id == sentence_id
        for document in question.documents
        if document.title == title
        for sentence in document.sentences
    )


def _asked(text: str, options: Sequence[str]) -> list[str]:
    """The words of what is asked: without the two things, question words and the kind of thing."""
    rest = fold(text)
    for option in options:
        rest = rest.replace(fold(option), " ")
    rest = re.sub(r"\b(?:which|what)\s+(?:of the\s+)?(?!is\b|was\b|has\b|had\b|are\b)\w+", " ", rest)
    return [word for word in re.findall(r"[a-z]+", rest) if word not in FILLERS | ASKING]


def _likeness(first: str, another: str) -> float:
    """Share of common words; 1: the same words."""
    left, right = _words(first), _words(another)
    return len(left & right) / len(left | right) if left | right else 0.0


def _is_part(part: str, another: str) -> bool:
    """Whether one name has most words of the other: `Greg Puciato` and `Gregory John "Greg" Puciato`."""
    left, right = _words(part), _words(another)
    return 2 * len(left & right) > min(len(left), len(right))


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", fold(_bare(text))))


def _bare(text: str) -> str:
    text = text.strip(" \"“”'?.")
    article = next((article for article in ARTICLES if text.lower().startswith(article)), "")
    return text[len(article) :]


def _spellings(names: Iterable[str]) -> list[str]:
    """Folded names without articles, and without what stands in brackets behind them."""
    bare = [fold(_bare(name)) for name in names]
    return [*bare, *(re.sub(r"\s*\(.*\)$", "", name) for name in bare if "(" in name)]


# --- the answer -------------------------------------------------------------------------------------


def _side(sentence: str, choice: Choice) -> tuple[Side | None, str]:
    """Which one a sentence chooses, and by what; None: it chooses none."""
    if decided := _by_than(sentence, choice):
        return decided, "by `than`"
    rest = drop_negated(sentence)
    sides = set(MARK.findall(rest))
    if len(sides) == 1:
        [side] = sides
        return _alone(rest, side, choice)
    if len(sides) == 2:
        return _of_both(rest, choice)
    return None, ""


def _by_than(sentence: str, choice: Choice) -> Side | None:
    """`X is larger than Y` chooses X where the larger one is asked for, and Y where the smaller one is."""
    for _, _, left, _ in _linked(sentence, TIMES_AS):
        return left
    for link, _, left, right in _linked(sentence, BEFORE):
        if choice.direction is not None and choice.direction[0] == TIME:
            return left if DIRECTIONS[link[0]] == choice.direction else right
    compared: re.Match[str] | None = None
    looked_from = -1
    for link, start, left, right in _linked(sentence, THAN):
        if start != looked_from:
            compared, looked_from = COMPARING.search(sentence, start), start
        if compared is None or compared.end() > link.start():
            continue
        measured, sign = DIRECTIONS[compared[0]]
        if choice.direction is not None and choice.direction[0] != measured:
            continue
        is_asked = choice.direction is None or choice.direction[1] == sign
        if re.search(NOT, sentence[start : compared.start()]):
            is_asked = not is_asked
        return left if is_asked else right
    return None


def _linked(sentence: str, link: re.Pattern[str]) -> Iterator[tuple[re.Match[str], int, Side, Side]]:
    """Each link between the two, where the last candidate before it begins, that one, and the first one after."""
    marks = list(MARK.finditer(sentence))
    starts = [found.start() for found in marks]
    for found in link.finditer(sentence):
        before, after = bisect.bisect(starts, found.start()), bisect.bisect(starts, found.end() - 1)
        if before and after < len(marks) and marks[before - 1][0] != marks[after][0]:
            left: Side = "GOLD" if marks[before - 1][0] == "GOLD" else "OTHER"
            yield found, starts[before - 1], left, _opposite(left)


def _says_the_answer_is(sentence: str) -> bool:
    answer = ANSWER.search(sentence)
    return answer is not None and IS.search(sentence, answer.end()) is not None


def _alone(sentence: str, side: Side, choice: Choice) -> tuple[Side | None, str]:
    """A sentence that names one of the two chooses it when it is about what is asked, or says nothing else."""
    words = re.findall(r"\w+", MARK.sub(" ", sentence))
    if UNDECIDED.intersection(words):
        return None, ""
    signs = {DIRECTIONS[word][1] for word in words if _measures(word, choice)}
    if choice.direction is not None and signs == {-choice.direction[1]}:
        return _opposite(side), "the other is said to have less of what is asked"
    if signs or choice.asked.intersection(words):
        return side, "named alone, with what is asked"
    if IDENTITY.search(sentence):
        return None, ""
    if _says_the_answer_is(sentence) or len([word for word in words if word not in FILLERS]) <= SHORT:
        return side, "named alone"
    return None, ""


def _of_both(sentence: str, choice: Choice) -> tuple[Side | None, str]:
    """A sentence that names both chooses the one whose clause alone has what is asked."""
    signs: dict[str, set[int]] = {}
    for clause in CLAUSE_END.split(sentence):
        sides = set(MARK.findall(clause or ""))
        if len(sides) == 1:
            directions = {DIRECTIONS[word][1] for word in re.findall(r"\w+", clause) if _measures(word, choice)}
            signs.setdefault(sides.pop(), set()).update(directions)
    clear = [side for side, directions in signs.items() if len(directions) == 1]
    if choice.direction is None or len(set(MARK.findall(sentence))) < 2 or len(clear) != 1:
        return None, ""
    is_asked = signs[clear[0]] == {choice.direction[1]}
    return ("GOLD" if (clear[0] == "GOLD") == is_asked else "OTHER"), "its clause has what is asked"


def _by_number(sentences: Sequence[str], choice: Choice) -> Side | None:
    """The one with the better number, where both have one: `Vivaldi was born in 1678, and Haydn in 1732`.

    Words go before numbers: who calls 120 larger than 143 has chosen 120.
    """
    numbers: dict[str, float] = {}
    for sentence in sentences:
        if choice.direction is None or _of_both(sentence, choice)[0] is not None:
            return None
        sides, given = MARK.findall(sentence), NUMBER.findall(sentence)
        if "respectively" in sentence and len(sides) == len(given):
            numbers = {**dict(zip(sides, map(float, given), strict=True)), **numbers}
        for piece in re.split(r"(?=\bGOLD\b|\bOTHER\b)", sentence):
            side = MARK.match(piece)
            first = (choice.direction[0] == TIME and YEAR.search(piece)) or NUMBER.search(piece)
            if side and first:
                numbers.setdefault(side[0], float(first[0]))
    if choice.direction is None or len(numbers) < 2 or numbers["GOLD"] == numbers["OTHER"]:
        return None
    measured, sign = choice.direction
    larger: Side = "GOLD" if numbers["GOLD"] > numbers["OTHER"] else "OTHER"
    wants_larger = sign == (-1 if measured == TIME else 1)
    return larger if wants_larger else _opposite(larger)


def _measures(word: str, choice: Choice) -> bool:
    return choice.direction is not None and word in DIRECTIONS and DIRECTIONS[word][0] == choice.direction[0]


def _opposite(side: str) -> Side:
    return "OTHER" if side == "GOLD" else "GOLD"
