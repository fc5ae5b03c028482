"""The page that lays the answers of two runs, or of two systems, beside each other, and marks what changed."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from shaketable.errors import RunError
from shaketable.factors import judging_metric
from shaketable.report.word_diff import Change, word_diff
from shaketable.store import Run
from shaketable.store.answer_pairing import AnswerPair, AnswerPairing, Source, systems_of
from shaketable.store.explore import Explorer
from shaketable.viewer.addresses import PER_PAGE, link, pages_of, read_number
from shaketable.viewer.comparison import Side, read_side

N_KEPT = 4
"""Pairings that are not made again."""
CHOICES = {
    "changed": "changed",
    "broken": "turned wrong",
    "mended": "turned right",
    "same": "the same",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownPair:
    pair: AnswerPair
    runs: list[tuple[Change, str]] | None
    """Words of both answers that are kept, gone or new; None: they are the same."""
    words: str
    """What became of the answer."""
    links: tuple[str, str]
    """The records."""


class AnswerPairs:
    """One pairing for all who ask, made again when a run has other records or scores."""

    def __init__(self, runs: Mapping[str, Run], explorers: Mapping[str, Explorer]) -> None:
        self.runs, self.explorers = runs, explorers
        self._lock = threading.Lock()
        self._made: dict[tuple[object, ...], AnswerPairing] = {}

    def close(self) -> None:
        for pairing in self._made.values():
            pairing.close()

    def values(self, given: Mapping[str, str]) -> dict[str, Any]:
        """What the page shows."""
        sides = [read_side(self.runs, given.get(name, ""), name) for name in ("first", "second")]
        explorers = [self.explorers[side.run] for side in sides]
        both = [metric for metric in explorers[0].metrics if metric in explorers[1].metrics]
        judge = judging_metric(both, self.runs[sides[0].run].main_metric(both))
        page = read_number(given.get("page", "1"), "page")
        pairing = self._pairing(sides, explorers, judge)
        found = pairing.find(given.get("only"), given.get("words", ""), (page - 1) * PER_PAGE, PER_PAGE)
        return {
            "given": given,
            "found": found,
            "rows": [_show(pair, sides) for pair in found.rows],
            "judge": judge,
            "choices": {name: words for name, words in CHOICES.items() if judge or name in ("changed", "same")},
            "sides": [f"{side.run} · {side.system}" if side.system else side.run for side in sides],
            "same_run": sides[0] == sides[1],
            "pages": pages_of("/answers", given, found.n),
        }

    def _pairing(self, sides: Sequence[Side], explorers: Sequence[Explorer], judge: str | None) -> AnswerPairing:
        with self._lock:
            sources = [Source(records=one.run.records_path, index=one.index()) for one in explorers]
            seen = tuple(explorer.seen for explorer in explorers)
            key = (*sides, judge, *(source.index.path for source in sources), *seen)
            if key not in self._made:
                systems = _systems(sides, [systems_of(source.records) for source in sources])
                self._made[key] = AnswerPairing(sources[0], sources[1], systems, judge)
                while len(self._made) > N_KEPT:
                    # Not closed: somebody may still read it; its folder goes with it.
                    del self._made[next(iter(self._made))]
            return self._made[key]


def _systems(sides: Sequence[Side], known: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """The systems that are laid beside each other: those named, those that both runs have, or the only one of each."""
    for side, own in zip(sides, known, strict=True):
        if side.system and side.system not in own:
            raise RunError(f"Run '{side.run}' has no system '{side.system}'. Systems: {', '.join(own)}.")
    first, second = ([side.system] if side.system else list(own) for side, own in zip(sides, known, strict=True))
    if sides[0] == sides[1]:
        raise RunError("Both sides are the same. Choose another run, or two systems of one: run/system.")
    if len(first) == len(second) == 1:
        return [(first[0], second[0])]
    shared = [(name, name) for name in first if name in second]
    if not shared or sides[0].run == sides[1].run:
        told = "; ".join(f"{side.run}: {', '.join(own)}" for side, own in zip(sides, known, strict=True))
        raise RunError(f"It is not clear which systems to lay beside each other. Name them as run/system. {told}.")
    return shared


def _show(pair: AnswerPair, sides: Sequence[Side]) -> ShownPair:
    first, second = pair.first, pair.second
    is_told = first.value is not None and second.value is not None
    was, now = (first.value or 0.0) >= 1, (second.value or 0.0) >= 1
    words = "changed" if not is_told or was == now else "turned right" if now else "turned wrong"
    links = [
        link(f"/run/{quote(side.run, safe='')}", "record", one.key)
        for side, one in zip(sides, (first, second), strict=True)
    ]
    return ShownPair(
        pair=pair,
        runs=word_diff(first.text, second.text) if pair.is_changed else None,
        words=words,
        links=(links[0], links[1]),
    )
