"""Accept, reject or go on: judges every next token of a prefix at once."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Literal

import numpy as np

from shaketable.facts.curves.automaton import (
    ACCEPTED,
    MATCHES,
    REJECTED,
    Automaton,
    FirstLine,
    State,
    after,
    is_correct,
)
from shaketable.facts.curves.vocabulary import LETTER, REPLACEMENT, SIGN, SPACE, Vocabulary, decode, kind

ACCEPT, REJECT, UNDECIDED = range(3)
Match = Literal["substring", "token", "startswith", "exact"]
Prefix = tuple[int, int]
"""All that counts of a text so far: the automaton's state, and the unfinished character at its end."""

_ACCEPTED, _REJECTED = range(2)
_STAND_INS = {LETTER: "\ue000\ue001\ue002", SIGN: "☃☄☎☏", SPACE: "\u2004\u2005\u2006"}
"""For each kind, characters to try as the one that stands for all that occur in no accepted answer."""
_FAR = np.int32(1 << 20)
_N_AT_ONCE = 32
"""States from which the vocabulary is read at once."""


class Predicate:
    """Whether an answer is correct, as `contains` or `exact_match` would score the finished text.

    The automaton becomes a table over its states and the classes of characters it can tell apart.
    Reading all tokens from the start state is one pass over the vocabulary; for another state only
    the tokens are read again that begin differently from there.
    """

    def __init__(
        self, golds: Sequence[str], vocabulary: Vocabulary, match: Match = "substring", cut_at_newline: bool = False
    ) -> None:
        """With `cut_at_newline` the text before the first line break is the answer."""
        if match not in MATCHES:
            raise ValueError(f"match is {match!r}, expected one of {', '.join(MATCHES)}.")
        self.golds, self.vocabulary = tuple(golds), vocabulary
        self.match, self.cut_at_newline = match, cut_at_newline
        rule = MATCHES[match](golds)
        self.automaton: Automaton = FirstLine(rule) if cut_at_newline else rule
        self._tabulate()
        self._read_from_start()
        self._read = {self.start[0]: (np.zeros(0, np.int64), np.zeros(0, np.int32))}
        self._judged: dict[tuple[Prefix, int], np.ndarray] = {}
        self.least_tokens = self._least_tokens()
        """For each state: no fewer further tokens can make the answer correct."""

    @property
    def start(self) -> Prefix:
        return (self._ids[self.automaton.start], 0)

    # --- judging -------------------------------------------------------------------------------

    def judge(self, prefix: Prefix, n_left: int) -> np.ndarray:
        """ACCEPT, REJECT or UNDECIDED for each token as the next one, with `n_left` tokens to follow it."""
        if (prefix, n_left) not in self._judged:
            self._judged[prefix, n_left] = self._judge(prefix, n_left)
        return self._judged[prefix, n_left]

    def verdict(self, prefix: Prefix, n_left: int) -> int:
        """ACCEPT: every continuation is correct; REJECT: none can be; UNDECIDED: both may happen."""
        return int(self._verdicts(np.array([prefix[0]]), np.array([prefix[1]]), n_left)[0])

    def is_correct(self, prefix: Prefix) -> bool:
        """If the answer ends here; an unfinished character is a replacement mark then."""
        state, pending = prefix
        return bool(self._correct[self._replaced(state) if pending else state])

    def after(self, prefix: Prefix, token: int) -> Prefix:
        state, pending = prefix
        text, rest = decode(self.vocabulary.pendings[pending] + self.vocabulary.tokens[token])
        for character in text:
            state = int(self.table[state, self._class_of(character)])
        return (state, self.vocabulary.pending_id(rest))

    def _judge(self, prefix: Prefix, n_left: int) -> np.ndarray:
        vocabulary = self.vocabulary
        states, pendings = self._next(prefix)
        every_state = np.arange(len(self.table))
        verdicts = self._verdicts(every_state, np.zeros_like(every_state), n_left)[states]
        ragged = np.flatnonzero(pendings)
        verdicts[ragged] = self._verdicts(states[ragged], pendings[ragged], n_left)
        verdicts[vocabulary.end_ids] = ACCEPT if self.is_correct(prefix) else REJECT
        return np.asarray(verdicts)

    def _verdicts(self, states: np.ndarray, pendings: np.ndarray, n_left: int) -> np.ndarray:
        if n_left == 0:
            ended = np.where(pendings > 0, self.table[states, self._class_of(REPLACEMENT)], states)
            return np.where(self._correct[ended], ACCEPT, REJECT).astype(np.int8)
        verdicts = np.where(self._distances(states, pendings) > n_left, REJECT, UNDECIDED)
        return np.where(states == _ACCEPTED, ACCEPT, verdicts).astype(np.int8)

    # --- the table -----------------------------------------------------------------------------

    def _tabulate(self) -> None:
        """States × classes of characters → states, for all states that can be reached."""
        vocabulary, automaton = self.vocabulary, self.automaton
        alone = automaton.characters
        stand_ins = [next(c for c in _STAND_INS[k] if c not in alone) for k in (LETTER, SIGN, SPACE)]
        readers = stand_ins + sorted(alone)
        self._classes = {character: number for number, character in enumerate(readers) if number > SPACE}
        self._ids: dict[State, int] = {ACCEPTED: _ACCEPTED, REJECTED: _REJECTED}
        self._ids.setdefault(automaton.start, len(self._ids))
        states = list(self._ids)
        rows = []
        for state in states:  # Grows while it is read.
            row = []
            for character in readers:
                reached = after(automaton, state, character)
                if reached not in self._ids:
                    self._ids[reached] = len(states)
                    states.append(reached)
                row.append(self._ids[reached])
            rows.append(row)
        self.table = np.array(rows, dtype=np.int32)
        self._correct = np.array([is_correct(automaton, state) for state in states])
        self._class_of_place = vocabulary.kinds.astype(np.int32)
        for character, number in self._classes.items():
            if character in vocabulary.characters:
                self._class_of_place[vocabulary.characters[character]] = number

    def _class_of(self, character: str) -> int:
        return self._classes.get(character, kind(character))

    def _replaced(self, state: int) -> int:
        return int(self.table[state, self._class_of(REPLACEMENT)])

    # --- reading the vocabulary ----------------------------------------------------------------

    def _read_from_start(self) -> None:
        vocabulary = self.vocabulary
        n_classes = self.table.shape[1]
        flat = self.table.ravel()
        states = np.full(len(vocabulary.order), self._ids[self.automaton.start], dtype=np.int32)
        self._trail = [states]
        """The state of each token's text, cut after 0, 1, 2 ... characters; longest tokens first."""
        for column in vocabulary.columns:
            states = flat[states[: len(column)] * n_classes + self._class_of_place[column]]
            self._trail.append(states)
        last = np.empty(len(vocabulary.order), dtype=np.int32)
        for depth, states in enumerate(self._trail):
            n_longer = len(vocabulary.columns[depth]) if depth < len(vocabulary.columns) else 0
            last[n_longer : len(states)] = states[n_longer:]
        self._from_start = np.empty_like(last)
        self._from_start[vocabulary.order] = last
        self._start_counts = np.bincount(self._from_start[vocabulary.pending == 0], minlength=len(self.table))

    def _differences(self, state: int) -> tuple[np.ndarray, np.ndarray]:
        """The tokens that lead elsewhere from this state than from the start, and where they lead."""
        if state not in self._read:
            self._read_from([state])
        return self._read[state]

    def _read_from(self, froms: list[int]) -> None:
        vocabulary = self.vocabulary
        n_classes = self.table.shape[1]
        flat = self.table.ravel()
        unread = vocabulary.order[vocabulary.lengths == 0]
        first_classes = self.table[:, self._class_of_place]
        sources, firsts = np.nonzero(first_classes[froms] != first_classes[self.start[0]])
        starts, ends = vocabulary.first_starts[firsts], vocabulary.first_starts[firsts + 1]
        live = vocabulary.by_first[_ranges(starts, ends)]
        source = states = np.repeat(np.array(froms, dtype=np.int32)[sources], ends - starts)
        edges = [(np.repeat(froms, len(unread)), np.tile(unread, len(froms)), np.repeat(froms, len(unread)))]
        for depth, column in enumerate(vocabulary.columns):
            if not live.size:
                break
            states = flat[states * n_classes + self._class_of_place[column[live]]]
            differ = states != self._trail[depth + 1][live]
            live, source, states = live[differ], source[differ], states[differ]
            done = (vocabulary.lengths[live] == depth + 1) | (states <= _REJECTED)
            edges.append((source[done], vocabulary.order[live[done]], states[done]))
            live, source, states = live[~done], source[~done], states[~done]
        source, tokens, states = (np.concatenate(part) for part in zip(*edges, strict=True))
        for state in froms:
            own = np.flatnonzero(source == state)
            self._read[state] = tokens[own], states[own]

    def _next(self, prefix: Prefix) -> tuple[np.ndarray, np.ndarray]:
        """State and unfinished character after each token."""
        vocabulary, (state, pending) = self.vocabulary, prefix
        tokens, ends = self._differences(self._replaced(state) if pending else state)
        states = self._from_start.copy()
        states[tokens] = ends
        states, pendings = states[: vocabulary.n], vocabulary.pending[: vocabulary.n].copy()
        if pending:
            for token in (*vocabulary.continuing, *vocabulary.empty):
                states[token], pendings[token] = self.after(prefix, int(token))
        return states, pendings

    # --- the distance to a correct answer ------------------------------------------------------

    def _least_tokens(self) -> np.ndarray:
        """Breadth-first over the vocabulary. A lower bound where tokens end inside characters, else exact."""
        n, ragged = len(self.table), self.vocabulary.ragged
        inner = range(_REJECTED + 1, n)
        unknown = [state for state in inner if state not in self._read]
        for start in range(0, len(unknown), _N_AT_ONCE):
            self._read_from(unknown[start : start + _N_AT_ONCE])
        reached = np.zeros((n, n), dtype=bool)
        """After one token that ends with a whole character."""
        pairs, owners = [np.zeros(0, np.int64)], []
        for state in inner:
            tokens, ends = self._differences(state)
            whole = self.vocabulary.pending[tokens] == 0
            counts = self._start_counts - np.bincount(self._from_start[tokens[whole]], minlength=n)
            reached[state] = counts + np.bincount(ends[whole], minlength=n) > 0
            states = self._from_start[ragged]
            states[self.vocabulary.ragged_place[tokens[~whole]]] = ends[~whole]
            pairs.append(np.unique(states.astype(np.int64) << 32 | self.vocabulary.pending[ragged]))
            owners.append(np.full(len(pairs[-1]), state))
        unfinished, owner = np.concatenate(pairs), np.concatenate([*owners, np.zeros(0, np.int64)])
        self.least_tokens = np.where(self._correct, 0, _FAR).astype(np.int32)
        while True:
            nearest = np.where(reached, self.least_tokens, _FAR).min(axis=1)
            np.minimum.at(nearest, owner, self._distances(unfinished >> 32, unfinished & 0xFFFFFFFF))
            shorter = np.minimum(self.least_tokens, nearest + 1)
            if (shorter == self.least_tokens).all():
                return np.asarray(shorter)
            self.least_tokens = shorter

    def _distances(self, states: np.ndarray, pendings: np.ndarray) -> np.ndarray:
        """As `least_tokens`; an unfinished character may become any of those it can begin, at no cost."""
        distances: np.ndarray = self.least_tokens[states]
        unfinished = np.flatnonzero(pendings)
        if not unfinished.size:
            return distances
        nearest = self.least_tokens[self.table[:, self._always_possible]].min(axis=1)
        distances[unfinished] = nearest[states[unfinished]]
        for pending, classes in self._begun.items():
            own = np.flatnonzero(pendings == pending)
            after = self.least_tokens[self.table[states[own]][:, classes]].min(axis=1, initial=_FAR)
            distances[own] = np.minimum(distances[own], after)
        return distances

    @functools.cached_property
    def _always_possible(self) -> list[int]:
        return [LETTER, SIGN, SPACE, self._class_of(REPLACEMENT)]

    @functools.cached_property
    def _begun(self) -> dict[int, list[int]]:
        """Unfinished character → the classes of the characters told apart that begin so."""
        begun: dict[int, list[int]] = {}
        for character, number in self._classes.items():
            whole = character.encode("utf-8", "surrogatepass")
            for length in range(1, len(whole)):
                begun.setdefault(self.vocabulary.pending_id(whole[:length]), []).append(number)
        return begun


def _ranges(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """All numbers of all ranges, one range after the other."""
    lengths = ends - starts
    return np.asarray(np.arange(lengths.sum()) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths))
