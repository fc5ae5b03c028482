"""A direct question → the clause that a statement or a command can hold: `Where is Rome?` → `where Rome is`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from shaketable.text import language
from shaketable.variations.english.inflection import form, is_verb
from shaketable.variations.gate.reworded import Proposal

if TYPE_CHECKING:
    from spacy.tokens import Token

Shape = Literal["clause", "noun", "command", "whole"]

FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
WH_WORDS = frozenset({"who", "whom", "whose", "what", "which", "when", "where", "why", "how"})
AUXILIARIES = frozenset({
    "is", "are", "was", "were", "am", "'s", "'re", "do", "does", "did", "has", "have", "had", "can", "could", "will",
    "would", "should", "may", "might", "must", "shall",
})  # fmt: skip
COMMANDS = frozenset({
    "name", "give", "tell", "identify", "list", "find", "complete", "describe", "explain", "state", "define",
    "translate",
})  # fmt: skip
SHORT_FRONT = frozenset({"in", "on", "at", "during", "since", "by", "until"})
"""What a short phrase begins with that may follow the clause without a comma."""
OPEN_ENDS = frozenset({
    "like", "for", "called", "about", "made", "of", "used", "doing", "named", "from", "to", "with", "in", "on", "at",
    "by",
})  # fmt: skip
"""A `what is the …` that ends in one of these asks for more than the noun."""
PREDICATES = frozenset({"both", "from", "located", "situated", "based", "considered", "born", "known"})
"""What a predicate begins with, where the parser takes it for a part of the subject."""
ABBREVIATIONS = ("approx", "Bros", "Capt", "etc", "Gen", "Inc", "Prof", "Rev", "Sgt", "vs")
SENTENCE_END = re.compile(
    r"(?:(?<=[a-z\d)][a-z\d)][.?])|(?<=[A-Z][A-Z][.?])|(?<=[.?][\"”])|(?<=[\"”][.?]))"
    + "".join(rf"(?<!\b{word}\.)" for word in ABBREVIATIONS)
    + r"\s+(?=[\"“'A-Z])"
)
ISLANDS = frozenset({"relcl", "acl", "advcl", "conj", "csubj"})
"""Clauses that nothing moves out of."""
DO = frozenset({"do", "does", "did"})
AFTER_VERBS = frozenset({"IN", "RP", "TO", "DT", "PRP", "PRP$", "WRB", "RB", "VBG", ",", "CC"})
"""What stands behind a verb rather than inside a noun phrase."""
ADVERBS = frozenset({
    "first", "last", "ever", "also", "still", "both", "all", "never", "always", "often", "just", "not", "n't",
    "better", "best",
})  # fmt: skip
ADVERBIAL = frozenset({"when", "where", "why", "how"})
ARTICLES = frozenset({"the", "a", "an"})
DEFINITE = frozenset({"the", "his", "her", "its", "their", "another"})
ROLES = frozenset({
    "member", "part", "participant", "citizen", "native", "resident", "employee", "capital", "owner", "fan", "type",
    "kind",
})  # fmt: skip
MANY_WORDS = 6
"""A noun phrase longer than this does not go between `who` and `is`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Indirect:
    text: str
    """Without a mark at the end."""
    shape: Shape
    """A clause with its question word, a noun phrase, a command as it was, or the whole question unchanged."""
    lead: str = ""
    """The sentences before the question, with a space behind."""


def indirect(text: str, pipeline: str = language.PIPELINE) -> Indirect:
    """The last sentence of a text, turned; the sentences before it stay in front."""
    *before, asked = SENTENCE_END.split(tidy(text))
    opens_asking = tidy(text).partition(" ")[0].lower() in WH_WORDS
    if before and (opens_asking or any(sentence.rstrip('"”').endswith("?") for sentence in before)):
        return Indirect(text=tidy(text).rstrip(" ?.!"), shape="whole")
    asked = asked.rstrip(" ?.!")
    lead = "".join(f"{sentence} " for sentence in before)
    words = [word for word in language.parsed(asked, pipeline) if word.text.strip()]
    if not words:
        return Indirect(text=asked, shape="whole", lead=lead)
    turned, shape = _turned(words)
    return Indirect(text=turned or asked, shape=shape if turned else "whole", lead=lead)


def framed(text: str, pipeline: str, openings: Sequence[str], frames: Mapping[Shape, str]) -> list[Proposal]:
    """The question after each opening, in the frame that fits what it could be turned into."""
    if not tidy(text).strip(" ?.!"):
        return []
    turned = indirect(text, pipeline)
    held = quoted(tidy(text).removeprefix(turned.lead)) if turned.shape == "whole" else turned.text
    return [
        Proposal(
            text=turned.lead + frames[turned.shape].format(opening=opening, text=held),
            facts={"rule": f"{turned.shape} after '{opening}'"},
        )
        for opening in openings
    ]


def tidy(text: str) -> str:
    """One line, and none of the marks that files leave: doubled quotes, a space before a question mark or `'s`."""
    text = " ".join(text.split())
    if text.startswith('"') and text.endswith(('?"', '."')):
        text = text[1:-1].replace('""', '"')
    return re.sub(r" (?=[?!.,;]|'(?:s|m|re|d|ve|ll)\b|n't\b)", "", text)


def quoted(text: str) -> str:
    """In quotation marks, of the other kind where it has some."""
    return f"“{text}”" if '"' in text else f'"{text}"'


# --- which kind of question -----------------------------------------------------------------------


def _turned(words: list[Token]) -> tuple[str | None, Shape]:
    first = words[0].lower_
    if first in COMMANDS and words[0].tag_ not in ("NNS", "VBD") and len(words) > 2 and words[1].lower_ != "of":
        return _joined(words, small=True), "command"
    if (start := _start(words)) is None:
        return _asked_in_place(words)
    front, main = words[:start], words[start:]
    if any(word.tag_ in FINITE for word in front) and front[0].tag_ not in ("IN", "WRB"):
        return None, "whole"  # Two statements with one mark.
    turned, shape = _turned_main(main)
    return (_with_front(turned, front) if turned and front else turned), shape


def _start(words: list[Token]) -> int | None:
    """Where the question proper begins: 0, or after a phrase in front; None: it asks where the answer would stand."""
    if _opens(words, 0):
        return 0
    for place, word in enumerate(words[:-1], 1):
        if word.text == "," and _opens(words, place):
            return place
    # In 2004 how many …: no comma, no verb, and the first word opens a phrase.
    if words[0].tag_ in ("IN", "TO") or words[0].lower_ in ("besides", "according", "following"):
        for place, word in enumerate(words):
            if word.tag_ in FINITE:
                return None
            if word.lower_ in WH_WORDS and place and words[place - 1].tag_ not in ("IN", "TO", "DT"):
                return place
    return None


def _opens(words: list[Token], place: int) -> bool:
    word, following = words[place], words[place + 1] if place + 1 < len(words) else None
    if word.lower_ in WH_WORDS:
        # `…, who played Tubbs` is a relative clause; `In Rome, who …` comes after no noun that it could describe.
        return place == 0 or not _is_relative(word)
    if following is None:
        return False
    if word.tag_ in ("IN", "TO", "RP") and following.lower_ in ("which", "what", "whose", "whom", "how"):
        return place == 0 or following.dep_ in ("det", "poss") or not _is_relative(following)
    return word.lower_ in AUXILIARIES and word.tag_ in FINITE | {"VB"} and place == 0


def _is_relative(word: Token) -> bool:
    return any(above.dep_ == "relcl" and above.head.i < word.i for above in (word, *word.ancestors))


def _turned_main(words: list[Token]) -> tuple[str | None, Shape]:
    verb = next((place for place, word in enumerate(words) if word.tag_ in FINITE), None)
    if words[0].lower_ in AUXILIARIES and words[0].lower_ not in WH_WORDS:
        return _inverted(words, 0, "whether "), "clause"
    if verb is None or verb == 0:
        return _joined(words, small=True), "clause"
    how_many_in = (
        verb > 1 and words[verb].lemma_ == "be" and [word.tag_ for word in words[verb + 1 : verb + 2]] == ["IN"]
    )
    if words[verb].lower_ not in AUXILIARIES or how_many_in or _asks_which(words, verb):
        return _joined(words, small=True), "clause"
    asked = _joined(words[:verb], small=True) + " "
    if verb == 1 and words[verb].lower_ in ("is", "are", "was", "were", "'s", "'re") and not _main_verb(words, verb):
        return _with_be(words)
    return _inverted(words, verb, asked), "clause"


def _asks_which(words: list[Token], verb: int) -> bool:
    """`which city was the capital`: either noun could be the subject, and this order reads better."""
    return words[0].lower_ == "which" and words[verb].lemma_ == "be" and _main_verb(words, verb) is None and verb > 1


# --- word order -----------------------------------------------------------------------------------


def _with_be(words: list[Token]) -> tuple[str | None, Shape]:
    """`what is the …`, `who was …`, `where are …`: the noun alone, or the noun before the verb."""
    asked, rest = words[0], words[2:]
    if not rest:
        return _joined(words, small=True), "clause"
    if asked.lower_ == "when" and [word.lower_ for word in rest[:3]] in (
        ["the", "last", "time"],
        ["the", "first", "time"],
    ):
        return _joined(rest), "noun"
    if len(rest) > 1 and (rest[-1].lower_ in OPEN_ENDS or rest[-1].tag_ == "VBN") and _ends_open(words):
        return _inverted(words, 1, f"{asked.lower_} "), "clause"
    definite = rest[0].lower_ in DEFINITE or any(word.tag_ == "POS" for word in rest[:4])
    if asked.lower_ == "what" and definite and rest[0].lower_ not in ("a", "an"):
        return _joined(rest, small=True), "noun"
    subject = _subject_end(words, 1)
    if asked.lower_ in ("who", "what", "which") and (subject is None or subject - 1 > MANY_WORDS):
        return _joined(words, small=True), "clause"
    if rest[0].tag_ in ("VBN", "VBG", "JJ", "JJR", "JJS", "RBR", "RBS", "IN") and asked.lower_ in ("who", "what"):
        return _joined(words, small=True), "clause"
    return _inverted(words, 1, f"{asked.lower_} "), "clause"


def _inverted(words: list[Token], verb: int, asked: str) -> str | None:
    """The auxiliary goes behind its subject, or into the main verb when it is `do`."""
    auxiliary, main = words[verb], _main_verb(words, verb)
    negated = verb + 1 < len(words) and words[verb + 1].lower_ in ("not", "n't")
    if verb + 1 < len(words) and words[verb + 1].lower_ in ("or", "and"):  # does or did
        return None
    if auxiliary.lower_ in DO and not negated:
        if main is None:  # The main verb itself: who did it, who does the voice.
            return _joined(words, small=True) if len(words) - verb < 3 or words[0].lower_ == "who" else None
        return asked + _inflected(words, verb, main)
    carried = [auxiliary, words[verb + 1]] if negated else [auxiliary]
    rest = verb + len(carried)
    place = _before_adverbs(words, main) if main is not None else _subject_end(words, verb)
    if place is None and len(words) > rest + 2 and words[-1].lower_ in OPEN_ENDS and not _is_relative(words[-1]):
        place = _open_end(words, rest)
    if place is None and not verb and any(word.lower_ == "and" for word in words):
        place = _predicate(words, rest)
    if place is None and words[0].tag_ == "IN":
        if any(word.tag_[:2] == "VB" for word in words[rest:]):
            return None
        place = len(words)
    if place is None or place <= rest:
        # Nothing stands between: the question word is the subject.
        return _joined(words, small=True) if (verb and words[0].lower_ not in ADVERBIAL) or verb > 1 else None
    if not verb and place < len(words) and words[place].lower_ in ("and", "or", ","):
        place = len(words)
    if place >= len(words) and (not verb or words[-1].lower_ in OPEN_ENDS):
        place = _open_end(words, rest) if verb else _predicate(words, rest)
        if place is None:
            return None
    if place == len(words) > rest + 2 * MANY_WORDS:
        return None
    if words[place - 1].lower_ in AUXILIARIES or (place < len(words) and words[place].lower_ in AUXILIARIES):
        return None
    moved = " ".join(_in_full(word) for word in carried)
    return " ".join(filter(None, (asked + _joined(words[rest:place]), moved, _joined(words[place:])))).replace(
        " ,", ","
    )


def _main_verb(words: list[Token], verb: int) -> int | None:
    """The place of the verb that an auxiliary helps."""
    auxiliary = words[verb]
    place = _helped(words, verb)
    if auxiliary.lower_ in DO or auxiliary.tag_ == "MD":
        # The subject stands between, so the word behind `did` is no verb, whatever the parser says.
        if place is None or (auxiliary.lower_ in DO and place == verb + 1):
            place = _bare_verb(words, verb + 2)
        # could the broadcast be streamed: the first is a noun.
        return (
            place + 1
            if place is not None and [word.lower_ for word in words[place + 1 : place + 2]] == ["be"]
            else place
        )
    return _participle(words, verb) if place is None else place


def _helped(words: list[Token], verb: int) -> int | None:
    """As the parser has it."""
    auxiliary, head = words[verb], words[verb].head
    if auxiliary.dep_ not in ("aux", "auxpass") or head.i < auxiliary.i or head.tag_ not in _forms_after(auxiliary):
        return None
    return next(
        (place for place, word in enumerate(words) if word.i == head.i and word.dep_ not in ("relcl", "acl")), None
    )


def _bare_verb(words: list[Token], start: int) -> int | None:
    """The likeliest verb in its basic form, behind a subject."""
    likely = [place for place in range(start, len(words)) if _may_be_verb(words, place)]
    if likely:
        return max(likely, key=lambda place: (_verb_likeness(words[place]), place))
    # Taggers that miss capitals take `tim hortons open` for a noun.
    ends = (*words[start + 1 :], None)
    for place, following in zip(range(start, len(words)), ends, strict=True):
        word, before = words[place], words[place - 1]
        if (
            (following is None or following.tag_ in AFTER_VERBS)
            and before.tag_ not in ("TO", "MD", "DT", "IN", "JJ", "JJR", "JJS", "PRP$", "POS")
            and before.lower_ not in AUXILIARIES
            and word.text.islower()
            and is_verb(word.lower_)
        ):
            return place
    return None


def _participle(words: list[Token], verb: int) -> int | None:
    """Parsers take `When was the bank bought by …` for `the bank that was bought`, and there is nothing left to say."""
    last, rest = words[-1], words[verb + 2 :]
    adverbial = words[0].lower_ in ADVERBIAL or words[0].tag_ == "IN"
    if (adverbial or verb > 1) and len(rest) > 1 and _is_spare(rest):
        return len(words) - (3 if words[-2].lower_ == "and" and words[-3].tag_ == "VBN" else 1)
    if len(rest) > 1 and last.tag_ in ("IN", "RP") and words[-2].tag_ == "VBN" and not _is_relative(words[-2]):
        return len(words) - 2
    for place in range(verb + 2, len(words)) if adverbial and (verb == 1 or words[0].tag_ == "IN") else ():
        word, before = words[place], words[place - 1]
        if word.tag_ == "VBN" and word.dep_ == "acl" and before.tag_[:2] == "NN" and not _is_relative(word.head):
            return place
    return None


def _is_spare(words: list[Token]) -> bool:
    """Whether the last verb is left over when each relative clause has had one: `that published Vogue founded`."""
    *others, last = words
    if last.tag_ not in ("VBN", "VBD") or others[-1].lower_ in AUXILIARIES | {"be", "been"}:
        return False
    n_relative = sum(
        word.tag_ in ("WDT", "WP", "WRB") or (word.lower_ == "that" and word.tag_ != "DT") for word in others
    )
    n_verbs = sum(word.tag_ in FINITE for word in others)
    return n_verbs >= n_relative if n_relative else last.tag_ == "VBN" or not _is_relative(last)


def _forms_after(auxiliary: Token) -> tuple[str, ...]:
    """Taggers miss by one form, not by two: `did` stands before no participle."""
    return ("VB", "VBP", "VBD") if auxiliary.lower_ in DO else ("VB", "VBP", "VBD", "VBN", "VBG")


def _may_be_verb(words: list[Token], place: int) -> bool:
    word, before = words[place], words[place - 1]
    if not word.text.islower() or before.tag_ in ("TO", "MD", "DT", "JJ") or before.lower_ in AUXILIARIES:
        return False
    if word.lower_ in AUXILIARIES - {"have", "do"} or (before.tag_ == "IN" and word.tag_ != "VB"):
        return False
    # Taggers take `set` and `split` for past tenses, and short verbs at the end for nouns.
    return word.tag_ in ("VB", "VBP") or (
        word.tag_ in (("VBD", "VBN", "NN", "JJ") if place >= len(words) - 3 else ("VBD", "VBN"))
        and is_verb(word.lower_)
    )


def _verb_likeness(word: Token) -> int:
    if word.tag_ not in ("VB", "VBP"):
        return 0
    return 1 + int(not _is_relative(word)) + int(word.dep_ == "ROOT")


def _subject_end(words: list[Token], verb: int) -> int | None:
    """The place after the subject that stands behind the verb."""
    if verb + 1 < len(words) and words[verb + 1].lower_ == "there":
        return verb + 2
    places = {word.i: place for place, word in enumerate(words)}
    if any(child.dep_ in ("nsubj", "nsubjpass") and child.i < words[verb].i for child in words[verb].children):
        return None
    for child in words[verb].children:
        if child.dep_ in ("nsubj", "nsubjpass", "csubj", "attr") and child.i > words[verb].i:
            end = places.get(child.right_edge.i, len(words) - 1) + 1
            # Not between X and -rays, World and '.
            while end < len(words) and not words[end - 1].whitespace_ and words[end].text != ",":
                end += 1
            return None if end < len(words) and words[end].lower_ == "of" else end
    return None


def _before_adverbs(words: list[Token], main: int) -> int:
    """The place of the first adverb before the main verb, or of the verb."""
    while words[main - 1].lower_ in ADVERBS or (words[main - 1].tag_ == "RB" and words[main - 1].lower_.endswith("ly")):
        main -= 1
    while words[main - 1].dep_ in ("aux", "auxpass") and words[main - 1].tag_ not in FINITE:
        main -= 1
    return main


def _ends_open(words: list[Token]) -> bool:
    """Whether the last word belongs to the question, not to a clause inside it: `… that he is a member of`."""
    if not _is_relative(words[-1]):
        return True
    place = _open_end(words, 2)
    return words[-2].lower_ in ROLES and place is not None and words[place - 1].lower_ not in AUXILIARIES


def _open_end(words: list[Token], rest: int) -> int | None:
    """Where `a member of`, `part of`, `like` or `called` begins at the end of a question."""
    place = len(words) - 1
    while place > rest + 1 and words[place].tag_ == "IN":
        place -= 1
    if words[place].tag_ == "VBN":
        return None if _is_relative(words[place]) else place
    if words[place].tag_ == "JJ":
        return place
    if words[place].lower_ not in ROLES and words[place - 1].lower_ not in ARTICLES:
        return min(place + 1, len(words) - 1)
    while place > rest + 1 and words[place - 1].tag_ in ("DT", "JJ", "JJR", "JJS"):
        place -= 1
    return place if place > rest else None


def _predicate(words: list[Token], rest: int) -> int | None:
    """Where the predicate begins in `both A and B from the same country`, which parsers read as one noun phrase."""
    joined = next((place for place in range(len(words) - 1, rest, -1) if words[place].lower_ == "and"), rest)
    places = [place for place in range(joined + 2, len(words)) if words[place].text.islower()]
    strong = [place for place in places if words[place].lower_ in PREDICATES]
    weak = [
        place
        for place in places
        if words[place].lower_ in ("a", "an") or "same" in [word.lower_ for word in words[place + 1 : place + 3]]
    ]
    return next(iter(strong or weak), None)


def _inflected(words: list[Token], verb: int, main: int) -> str:
    """`did … write and sign` → `… wrote and signed`."""
    tag = {"did": "VBD", "does": "VBZ", "do": "VBP"}[words[verb].lower_]
    # What does A and B have in common: people write it, and nobody says `A and B has`.
    if tag == "VBZ" and [word.lower_ for word in words[-2:]] == ["in", "common"]:
        tag = "VBP"
    while [word.text for word in words[main + 1 : main + 2]] == ["-"] and main + 2 < len(words):  # re-establish
        main += 2
    also = {word.i for word in words[main].conjuncts if word.tag_ == "VB" and word.i > words[main].i}
    changed = {
        place: form(word.lower_, tag) if word.tag_ != "VBD" else word.lower_
        for place, word in enumerate(words)
        if place == main or (word.i in also and words[place - 1].lower_ != "to")
    }
    return _joined(words[verb + 1 :], {place - verb - 1: text for place, text in changed.items()})


def _asked_in_place(words: list[Token]) -> tuple[str | None, Shape]:
    """`Rome lies on which river` → `which river Rome lies on`."""
    for place in range(len(words) - 1, -1, -1):
        word = words[place]
        if word.lower_ not in WH_WORDS or (_is_relative(word) and word.dep_ not in ("det", "advmod", "poss")):
            continue
        if place and word.lower_ in ("who", "which", "where", "when") and words[place - 1].text in (",", "and"):
            continue
        if place and word.lower_ == "whose" and words[place - 1].tag_[:2] == "NN":
            continue
        if place and words[place - 1].lower_ in ("and", "or"):
            return None, "whole"
        top = word
        while top.head.i > top.i and top.head.tag_[:2] in ("NN", "JJ", "CD", "RB") and top.dep_ != "ROOT":
            top = top.head
        above = [top, *top.ancestors]
        if (
            any(one.dep_ in ISLANDS or (one.dep_ == "pcomp" and one.pos_ == "VERB") for one in above[:-1])
            or top.dep_ == "ROOT"
            or (top.dep_ == "nsubj" and top.head.dep_ in ("ccomp", "xcomp"))
            or any(one.dep_ == "csubj" for one in words[:place])
        ):
            return None, "whole"  # Nothing moves out of a clause inside the clause.
        end = _phrase_end(words, place, top)
        phrase, before, after = words[place:end], words[:place], words[end:]
        if not any(one.tag_ in FINITE for one in before):
            if len(before) < 2 or before[-1].tag_ != "IN":
                return None, "whole"
            # The record for which event is …: the preposition comes along.
            phrase, before = [before[-1], *phrase], before[:-1]
        # Nobody says `what they are both`.
        if (after and after[0].text == ",") or len(phrase) > MANY_WORDS or before[-1].lower_ in ("both", "all"):
            return None, "whole"
        return " ".join(
            filter(None, (_joined(phrase, small=True), _joined(before, small=True), _joined(after)))
        ), "clause"
    if words[0].sent.root.tag_[:2] == "NN" and (words[0].lower_ == "the" or words[0].tag_ in ("NN", "NNS")):
        article = "" if words[0].tag_ != "NN" else "the "
        return article + _joined(words, small=True), "noun"
    return None, "whole"


def _phrase_end(words: list[Token], place: int, top: Token) -> int:
    """`which family of birds`, `what film directed by Ford`, but not `what action with the toy`."""
    places = {word.i: here for here, word in enumerate(words)}
    end = places.get(top.i, place) + 1
    for child in top.rights:
        if top.i == words[place].i or not (child.dep_ in ("acl", "relcl") or child.lower_ == "of"):
            break
        end = places.get(child.right_edge.i, end - 1) + 1
    while (
        end < len(words) and end <= place + 4 and top.i == words[place].i and top.lower_ in ("which", "what", "whose")
    ):
        if words[end].tag_[:2] not in ("NN", "JJ", "CD"):
            break
        end += 1
    return end


# --- words → text ---------------------------------------------------------------------------------


def _with_front(clause: str, front: list[Token]) -> str:
    """The phrase that stood in front follows, after a comma unless it is short."""
    kept = front[:-1] if front[-1].text == "," else front
    plain = len(kept) <= 4 and kept[0].lower_ in SHORT_FRONT
    return f"{clause}{' ' if plain else ', '}{_joined(kept, small=True)}"


def _joined(words: list[Token], changed: dict[int, str] | None = None, *, small: bool = False) -> str:
    """The words with their own spacing; `small`: the first loses its capital unless it is a name."""
    texts = [(changed or {}).get(place, word.text) + word.whitespace_ for place, word in enumerate(words)]
    if small and texts and words[0].i == 0 and not _is_name(words[0]):
        texts[0] = texts[0][:1].lower() + texts[0][1:]
    return "".join(texts).strip()


def _is_name(word: Token) -> bool:
    if word.lower_ in WH_WORDS | ARTICLES | AUXILIARIES or word.tag_ in ("DT", "IN", "PRP$", "WRB", "WP", "WDT"):
        return False
    return word.tag_ in ("NNP", "NNPS") or word.text.isupper() or word.lower_ == "i"


def _in_full(word: Token) -> str:
    if word.lower_ == "'s":
        return "has" if word.lemma_ == "have" or (word.head.tag_ == "VBN" and word.dep_ == "aux") else "is"
    full: str = {"'re": "are", "n't": "not", "wo": "will", "ca": "can"}.get(word.lower_, word.lower_)
    return full
