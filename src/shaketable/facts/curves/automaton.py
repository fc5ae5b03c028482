"""Automata that read an answer character by character and say when it is correct.

Each follows one way of matching (see `metrics/contains.py` and `metrics/exact_match.py`). States are
hashable; two of them, `ACCEPTED` and `REJECTED`, are never left.
"""

from __future__ import annotations

import functools
import itertools
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Protocol

from shaketable.text.normalization import ARTICLES, casefold_strip, in_word, is_short, spaced, words

ACCEPTED = "accepted"
REJECTED = "rejected"
State = Hashable


class Automaton(Protocol):
    start: State
    characters: frozenset[str]
    """Those it tells apart; of all others, those of one kind (letter, sign, space) are alike."""

    def step(self, state: State, character: str) -> State: ...

    def is_correct(self, state: State) -> bool:
        """Whether the answer is correct if it ends here."""


class Spelling:
    """Several sequences as one tree that grows from node 0."""

    def __init__(self, sequences: Iterable[Sequence[Hashable]]) -> None:
        self.children: list[dict[Hashable, int]] = [{}]
        self.end_of: dict[int, Sequence[Hashable]] = {}
        """Node → the sequence that ends there."""
        for sequence in sequences:
            node = 0
            for symbol in sequence:
                if symbol not in self.children[node]:
                    self.children[node][symbol] = len(self.children)
                    self.children.append({})
                node = self.children[node][symbol]
            self.end_of[node] = sequence


class Patterns(Spelling):
    """Aho and Corasick's automaton: whether one of the sequences ends here, or how much of one stands here."""

    def __init__(self, sequences: Iterable[Sequence[Hashable]]) -> None:
        super().__init__(sequences)
        self.ends = [node in self.end_of for node in range(len(self.children))]
        self.back = [0] * len(self.children)
        waiting = list(self.children[0].values())
        for node in waiting:  # Grows while it is read: breadth first.
            for symbol, child in self.children[node].items():
                self.back[child] = self.step(self.back[node], symbol)
                self.ends[child] |= self.ends[self.back[child]]
                waiting.append(child)

    def step(self, node: int, symbol: Hashable) -> int:
        while node and symbol not in self.children[node]:
            node = self.back[node]
        return self.children[node].get(symbol, 0)


class Substring:
    """Correct once an accepted answer occurs, whatever its case."""

    def __init__(self, golds: Iterable[str]) -> None:
        folded = {gold.strip().casefold() for gold in golds} - {""}
        self.patterns = Patterns(sorted(folded))
        self.characters = _folding_to("".join(folded))
        self.start: State = 0 if folded else REJECTED

    def step(self, state: State, character: str) -> State:
        for folded in character.casefold():
            if not isinstance(state, int):
                return state
            state = self.patterns.step(state, folded)
            if self.patterns.ends[state]:
                return ACCEPTED
        return state

    def is_correct(self, state: State) -> bool:
        return state == ACCEPTED


class Whole:
    """Correct once an accepted answer, whatever its case, has stood with no part of a word before or behind it.

    A state is (whether the last character is part of a word, what is being spelled, whether an answer just ended);
    what is being spelled is pairs of an answer and how much of it has been read.
    """

    def __init__(self, golds: Iterable[str], *, at_start: bool = False) -> None:
        """`at_start`: at the beginning of the answer alone, leading blanks aside."""
        folded = frozenset(gold.strip().casefold() for gold in golds) - {""}
        self.characters = _folding_to("".join(folded))
        self.at_start = at_start
        self.beginnings = frozenset((gold, 0) for gold in folded)
        self.start: State = (False, self.beginnings if at_start else frozenset(), False) if folded else REJECTED

    def step(self, state: State, character: str) -> State:
        if self.at_start and state == self.start and character.isspace():
            return state
        for folded in character.casefold():
            if not isinstance(state, tuple):
                return state
            was_in_word, spelled, has_ended = state
            if has_ended and not in_word(folded):
                return ACCEPTED
            if not self.at_start and not was_in_word:
                spelled |= self.beginnings
            longer = frozenset((gold, n + 1) for gold, n in spelled if gold[n] == folded)
            ended = frozenset(pair for pair in longer if pair[1] == len(pair[0]))
            state = (in_word(folded), longer - ended, bool(ended))
            if self.at_start and not longer:
                return REJECTED
        return state

    def is_correct(self, state: State) -> bool:
        return state == ACCEPTED or (isinstance(state, tuple) and state[2])


class Words:
    """Correct once the words of an accepted answer stand in a row: a match ends where its last word ends.

    A state is (matched words, place in the current word, marks). The marks are accents that stand behind the last
    letter, in canonical order: `normalize.words` orders them, so they are read only when no more can follow.
    """

    def __init__(self, golds: Iterable[str]) -> None:
        sequences = sorted({tuple(words(gold)) for gold in golds} - {()})
        self.patterns = Patterns(sequences)
        every_word = {word for sequence in sequences for word in sequence} | ARTICLES
        self.spelling = Spelling(sorted(every_word))
        self.below: dict[int, set[str]] = {}
        for word in every_word:
            node = 0
            for character in word:
                node = self.spelling.children[node][character]
                self.below.setdefault(node, set()).add(word)
        alphabet = set("".join(every_word))
        spelled = (c for letter in alphabet for c in _same_in_words().get(letter, ()) if alphabet >= set(word_fold(c)))
        self.characters = frozenset(alphabet).union(spelled, _same_in_words()[" "])
        self.n_marks = max(map(_n_marks, every_word))
        """Behind one letter of an accepted answer, at most: a word with more is none of them."""
        self.start: State = (0, 0, "") if sequences else REJECTED

    def step(self, state: State, character: str) -> State:
        for folded in word_fold(character):
            if not isinstance(state, tuple):
                return state
            if unicodedata.combining(folded):
                state = self._mark(state, folded)
                continue
            matched, node = self._settle(*state)
            state = self._end_word(matched, node) if folded.isspace() else (*self._spell(matched, node, folded), "")
        return state

    def is_correct(self, state: State) -> bool:
        return state == ACCEPTED or (isinstance(state, tuple) and self._end_word(*self._settle(*state)) == ACCEPTED)

    def _mark(self, state: tuple[int, int, str], mark: str) -> State:
        matched, node, marks = state
        ordered = "".join(sorted(marks + mark, key=unicodedata.combining))
        if node >= 0 and len(ordered) <= self.n_marks:
            return (matched, node, ordered)
        return (*self._spell(matched, -1, mark), "")

    def _settle(self, matched: int, node: int, marks: str) -> tuple[int, int]:
        for mark in marks:
            matched, node = self._spell(matched, node, mark)
        return matched, node

    def _end_word(self, matched: int, node: int) -> State:
        word = self.spelling.end_of.get(node)
        if node == 0 or word in ARTICLES:
            return (matched, 0, "")
        reached = self.patterns.step(matched, word)
        return ACCEPTED if self.patterns.ends[reached] else (reached, 0, "")

    def _spell(self, matched: int, node: int, character: str) -> tuple[int, int]:
        child = self.spelling.children[node].get(character, -1) if node >= 0 else -1
        below = self.below.get(child, set())
        # What was matched before no longer counts when no word that may come of this depends on it.
        counts = any(
            word in ARTICLES or self.patterns.step(matched, word) != self.patterns.step(0, word) for word in below
        )
        return (matched if counts else 0, child)


class Start:
    """Correct if the answer, leading blanks aside, begins with an accepted answer, whatever its case."""

    def __init__(self, golds: Iterable[str]) -> None:
        folded = {gold.strip().casefold() for gold in golds} - {""}
        self.spelling = Spelling(sorted(folded))
        self.characters = _folding_to("".join(folded))
        self.start: State = 0 if folded else REJECTED

    def step(self, state: State, character: str) -> State:
        if state == 0 and character.isspace():
            return state
        for folded in character.casefold():
            if not isinstance(state, int):
                return state
            state = self.spelling.children[state].get(folded, REJECTED)
            if state in self.spelling.end_of:
                return ACCEPTED
        return state

    def is_correct(self, state: State) -> bool:
        return state == ACCEPTED


class Exact:
    """Correct if the answer is an accepted answer: case, outer blanks and one final full stop aside.

    A state is (place in the spelling or -1, whether a whole answer with nothing but blanks behind it was read).
    """

    def __init__(self, golds: Iterable[str]) -> None:
        bare = {casefold_strip(gold) for gold in golds}
        whole = {f"{gold}." for gold in bare} | {gold for gold in bare if not gold.endswith(".")}
        self.spelling = Spelling(sorted(whole))
        self.characters = _folding_to("".join(whole))
        self.start: State = (0, False) if whole else REJECTED

    def step(self, state: State, character: str) -> State:
        if not isinstance(state, tuple) or (state == (0, False) and character.isspace()):
            return state
        node, done = state
        done = character.isspace() and (done or node in self.spelling.end_of)
        for folded in character.casefold():
            node = self.spelling.children[node].get(folded, -1) if node >= 0 else -1
        return (node, done) if done or node >= 0 else REJECTED

    def is_correct(self, state: State) -> bool:
        return isinstance(state, tuple) and (state[1] or state[0] in self.spelling.end_of)


class Either:
    """Correct where one of two automata says so."""

    def __init__(self, first: Automaton, second: Automaton) -> None:
        self.first, self.second = first, second
        self.characters = first.characters | second.characters
        self.start: State = self._join(first.start, second.start)

    def step(self, state: State, character: str) -> State:
        if not isinstance(state, tuple):
            return state
        return self._join(self.first.step(state[0], character), self.second.step(state[1], character))

    def is_correct(self, state: State) -> bool:
        if not isinstance(state, tuple):
            return state == ACCEPTED
        return self.first.is_correct(state[0]) or self.second.is_correct(state[1])

    def _join(self, first: State, other: State) -> State:
        if ACCEPTED in (first, other):
            return ACCEPTED
        return REJECTED if first == other == REJECTED else (first, other)


class FirstLine:
    """What another automaton says of the text before the first line break."""

    def __init__(self, inner: Automaton) -> None:
        self.inner, self.start = inner, inner.start
        self.characters = inner.characters | {"\n"}

    def step(self, state: State, character: str) -> State:
        if character == "\n" and state not in (ACCEPTED, REJECTED):
            return ACCEPTED if self.inner.is_correct(state) else REJECTED
        return self.inner.step(state, character)

    def is_correct(self, state: State) -> bool:
        return self.inner.is_correct(state)


def after(rule: Automaton, state: State, text: str) -> State:
    for character in text:
        if state in (ACCEPTED, REJECTED):
            return state
        state = rule.step(state, character)
    return state


def is_correct(rule: Automaton, state: State) -> bool:
    """If the answer ends here."""
    return state == ACCEPTED or (state != REJECTED and rule.is_correct(state))


def word_fold(character: str) -> str:
    """One character as `normalize.words` sees it, the order of accents aside."""
    return spaced(unicodedata.normalize("NFD", character))


def _n_marks(word: str) -> int:
    """Accents in a row, at most."""
    runs = itertools.groupby(word, key=lambda c: unicodedata.combining(c) > 0)
    return max((len(list(run)) for is_mark, run in runs if is_mark), default=0)


def _folding_to(alphabet: str) -> frozenset[str]:
    return frozenset(alphabet).union(*(_same_in_case().get(letter, ()) for letter in alphabet))


_N_CHARACTERS = 0x30000
"""No character beyond these planes changes when folded."""


@functools.cache
def _same_in_case() -> Mapping[str, list[str]]:
    """Folded character → the other characters whose folding holds it."""
    return _inverse((c, f) for c in map(chr, range(_N_CHARACTERS)) if (f := c.casefold()) != c)


@functools.cache
def _same_in_words() -> Mapping[str, list[str]]:
    """As above for words; under the space, the characters that are part sign and part letter, such as `≠`."""
    folds = ((c, f) for c in map(chr, range(_N_CHARACTERS)) if (f := word_fold(c)) != c and not f.isspace())
    return {" ": [], **_inverse(folds)}


def _inverse(folds: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    inverse: dict[str, list[str]] = {}
    for character, folded in folds:
        for letter in set(folded):
            inverse.setdefault(letter, []).append(character)
    return inverse


def contains(golds: Sequence[str]) -> Automaton:
    """As `Contains(match='substring')`: characters, but a short gold such as `no` is a word of its own."""
    return _by_length(golds, Substring, Whole)


def begins(golds: Sequence[str]) -> Automaton:
    """As `Contains(match='startswith')`, by the same rule."""
    return _by_length(golds, Start, functools.partial(Whole, at_start=True))


def _by_length(
    golds: Sequence[str], of_long: Callable[[Sequence[str]], Automaton], of_short: Callable[[Sequence[str]], Automaton]
) -> Automaton:
    short = [gold for gold in golds if is_short(gold)]
    long = [gold for gold in golds if not is_short(gold)]
    if not short:
        return of_long(long)
    return Either(of_long(long), of_short(short)) if long else of_short(short)


MATCHES: dict[str, Callable[[Sequence[str]], Automaton]] = {
    "substring": contains,
    "token": Words,
    "startswith": begins,
    "exact": Exact,
}
