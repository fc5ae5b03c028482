"""A page as a browser would find it, and small real runs whose pages are looked at."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from shaketable.stages.run import run
from shaketable.store import Run
from shaketable.study import parse_study

REPLIES = ("The Danube", "yes", "I do not know.", "Marie Curie was born in 1867", "no")
COOL = f"scripted(replies={REPLIES!r})"
FAILING = f"scripted(replies={(*REPLIES[:3], 'ERROR')!r})"


class SeenPage(HTMLParser):
    """Tags, ids, links and the visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        if not self.tags or self.tags[-1] != "script":
            self.words.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self.tags.append("after script")

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def values(self, name: str) -> list[str]:
        return [value or "" for attribute, value in self.attributes if attribute == name]


def see(run: Run) -> SeenPage:
    return SeenPage((run.folder / "report.html").read_text("utf-8"))


def small_run(
    folder: Path, *, analyses: list[str], score: list[str] | None = None, limit: int = 8, **cross: Any
) -> Run:
    """A real run of a scripted model over built-in questions, answered, scored, analyzed and reported."""
    tables = {
        "name": "small",
        "seed": 3,
        "dataset": {"name": "builtin", "balance": {"by": ["type"]}, "limit": limit},
        "cross": {
            "models": [COOL],
            "perturbations": ["unchanged", "sentence_removal", "word_reordering"],
            "temperatures": [0.0, 1.0, 2.0],
            "repeats": 2,
            **cross,
        },
        "generation": {"max_tokens": 8},
        "score": {"metrics": score or ["rouge", "contains"]},
        "analyze": {"analyses": analyses, "n_resamples": 60},
    }
    return run(parse_study(tables, "test"), folder)
