"""Which words English has, by the lexicon that ships and the rules of inflection: no package is needed."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator

from shaketable.text import lexicon
from shaketable.text.language import stop_words

FORMS = """
    arose arisen awoke awoken ate eaten beat beaten became begun began bent bet bit bitten bled blew blown bound born
    borne bore bought bred brought broke broken built burnt burst came caught chose chosen clung crept cut dealt did
    done dove drank drawn dreamt drew driven drove drunk dug fallen fed fell felt fled flew flown flung forbade
    forbidden forgave forgiven forgot forgotten fought found froze frozen gave given gone got gotten grew ground grown
    had heard held hid hidden hit hung hurt kept knelt knew known laid lain lay leapt learnt led left lent let lit lost
    made meant met mistook mown overcame paid proved proven put quit ran rang read rid ridden rode risen rose rung said
    sang sank sat saw sawn seen sent set sewn shaken shed shone shook shot shown shrank shrunk shut slain slept slew
    slid slit slung snuck sold sought sown spat sped spent spilt split spoke spoken sprang spread sprung spun stank
    stole stolen stood strewn stricken strode strove struck strung stuck stung stunk sung sunk swam swept swollen swore
    sworn swum swung taken taught thought threw thrown told took tore torn trod trodden understood undid undone upset
    went wept withdrew woke woken won wore worn wound wove woven written wrote wrung
    children men women people feet teeth geese mice lice oxen dice lives wives knives leaves wolves shelves halves
    selves thieves loaves calves scarves hooves elves criteria phenomena data media bacteria crises theses hypotheses
    analyses bases axes oases diagnoses cacti fungi nuclei radii stimuli alumni indices matrices vertices appendices
    better best worse worst further furthest farther farthest older oldest elder eldest more most less least
    is are was were am been being has does i me my mine we us our ours you your yours he him his she her hers it its
    they them their theirs who whom whose what which when where why how this that these those one two three four five
    six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty
    forty fifty sixty seventy eighty ninety hundred thousand million billion until unto onto into upon within without
    versus per via amid among amongst beside besides etc email emails online website websites internet app apps blog
    login logged username password smartphone laptop wifi okay hello
"""
IRREGULAR = frozenset(FORMS.split())
"""Forms that no rule gives, and words that a dictionary of nouns, verbs, adjectives and adverbs leaves out."""


def is_word(word: str) -> bool:
    """Return whether English has a word of this spelling, in small letters; names are none."""
    return word in _known()


def is_common(word: str) -> bool:
    """Return whether it is a word that people meet in texts, in any of its forms."""
    return word in _common()


def plurals(noun: str) -> tuple[str, ...]:
    if re.search(r"(?:s|x|z|ch|sh)$", noun):
        return (f"{noun}es",)
    if re.search(r"[^aeiou]y$", noun):
        return (f"{noun[:-1]}ies",)
    return (f"{noun}s", f"{noun}es") if noun.endswith("o") else (f"{noun}s",)


@functools.cache
def _known() -> frozenset[str]:
    entries = lexicon.load().entries
    return _with_forms({part: list(words) for part, words in entries.items()})


@functools.cache
def _common() -> frozenset[str]:
    known = lexicon.load()
    return _with_forms({part: known.lemmas(part) for part in known.entries})


def _with_forms(words: dict[lexicon.PartOfSpeech, Iterable[str]]) -> frozenset[str]:
    found = set(stop_words() | IRREGULAR)
    for part, lemmas in words.items():
        for lemma in lemmas:
            found.add(lemma)
            found.update(_forms(part, lemma))
    return frozenset(found)


def _forms(part: lexicon.PartOfSpeech, lemma: str) -> Iterator[str]:
    """Regular ones; with a last letter that is doubled and without."""
    if part == "noun":
        yield from plurals(lemma)
    elif part in ("verb", "adj"):
        endings = ("ed", "ing", "er", "ers") if part == "verb" else ("er", "est", "ly")
        if part == "verb":
            yield from plurals(lemma)
        for ending in endings:
            yield f"{lemma}{ending}"
            if lemma.endswith("e"):
                yield f"{lemma[:-1]}{ending}"
            elif re.search(r"[^aeiou]y$", lemma) and ending != "ing":
                yield f"{lemma[:-1]}i{ending}"
            elif re.search(r"[aeiou][^aeiouwxy]$", lemma):
                yield f"{lemma}{lemma[-1]}{ending}"
