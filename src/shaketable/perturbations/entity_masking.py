"""Replace named entities by `[MASK]` in the sentences that carry the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from shaketable.perturbations.altered import MASK, Target, choose_targets, replay, rewrite
from shaketable.text import language
from shaketable.types import Edit, Evidence, Hit, Question

Scope = Literal["all_plus_title", "title_only", "all"]
Unit = Literal["span", "token"]
Range = tuple[int, int]
"""First character, character after the last."""


@dataclass(frozen=True, kw_only=True)
class EntityMasking:
    """`ner` of TempPerturb-Eval (arXiv 2512.01183), which masks entities "with emphasis" on the page title.

    Read here as: the entities that the pipeline finds, and every mention of the title with or without its
    parenthetical suffix. A sentence with neither gets its capitalized words masked, the first excepted.
    """

    version: ClassVar[int] = 2
    packages: ClassVar[tuple[str, ...]] = language.PACKAGES

    scope: Scope = "all_plus_title"
    """`title_only`: mentions of the title, and entities that share a word with it. `all`: entities alone."""
    unit: Unit = "span"
    """`token`: one mask for each word of a span."""
    pipeline: str = language.PIPELINE

    def __post_init__(self) -> None:
        for setting, value, allowed in (("scope", self.scope, get_args(Scope)), ("unit", self.unit, get_args(Unit))):
            if value not in allowed:
                raise ValueError(f"{setting} is {value!r}, expected one of {', '.join(allowed)}")

    def lacks(self) -> str | None:
        return language.lacks(self.pipeline)

    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        chosen = [choose_targets(question, own) for question, own in zip(questions, hits, strict=True)]
        texts = list(dict.fromkeys(target.sentence.text for targets, _ in chosen for target in targets))
        spans = language.entities_of_each(texts, self.pipeline) if texts else []
        entities = {text: [(start, end) for start, end, _ in own] for text, own in zip(texts, spans, strict=True)}
        evidence = []
        for own, (targets, flags) in zip(hits, chosen, strict=True):
            edits, own_flags = self._masked(targets, entities)
            evidence.append(Evidence(hits=replay(own, edits), edits=edits, flags=(*flags, *own_flags)))
        return evidence

    def _masked(
        self, targets: Sequence[Target], entities: Mapping[str, Sequence[Range]]
    ) -> tuple[tuple[Edit, ...], list[str]]:
        edits: list[Edit] = []
        flags: list[str] = []
        for target in targets:
            text = target.sentence.text
            spans = self._spans(target, entities[text])
            runs = [] if spans else _capitalized_runs(text)
            if spans or runs:
                edits.append(rewrite(target, _mask(text, spans or runs, self.unit), "capitalized_runs" if runs else ""))
            if runs and not flags:
                flags.append("capitalized_runs")
        if len(edits) < len(targets):
            flags.append("partly_masked" if edits else "nothing_to_mask")
        return tuple(edits), flags

    def _spans(self, target: Target, entities: Sequence[Range]) -> list[Range]:
        text, title = target.sentence.text, target.title
        match self.scope:
            case "all_plus_title":
                return [*entities, *_mentions(title, text)]
            case "title_only":
                related = [(start, end) for start, end in entities if _words(text[start:end]) & _words(title)]
                return [*related, *_mentions(title, text)]
            case "all":
                return list(entities)


def _mentions(title: str, text: str) -> list[Range]:
    """Where the text says the title. Whole words only, or the novel "It" would be masked inside "with"."""
    short = re.sub(r"\s*\([^()]*\)\s*$", "", title)
    names = {name for name in (title.strip(), short.strip()) if name}
    return [
        match.span()
        for name in sorted(names)
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
    ]


def _words(text: str) -> set[str]:
    """The words that carry meaning, in small letters."""
    return set(re.findall(r"\w+", text.lower())) - language.stop_words()


def _capitalized_runs(text: str) -> list[Range]:
    """Neighboring words with a capital; the first word of a sentence has one anyway and does not count."""
    runs: list[Range] = []
    for word in list(re.finditer(r"\w+(?:['’.-]\w+)*", text))[1:]:
        if not word.group()[0].isupper():
            continue
        if runs and text[runs[-1][1] : word.start()].isspace():
            runs[-1] = (runs[-1][0], word.end())
        else:
            runs.append(word.span())
    return runs


def _mask(text: str, spans: Iterable[Range], unit: Unit) -> str:
    for start, end in reversed(_merged(spans)):
        masks = re.sub(r"\S+", MASK, text[start:end]) if unit == "token" else MASK
        text = text[:start] + masks + text[end:]
    return text


def _merged(spans: Iterable[Range]) -> list[Range]:
    """The spans from left to right, overlapping ones as one."""
    merged: list[Range] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
