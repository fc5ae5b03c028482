"""The verdict of a report: which headlines become cards, and in which order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from shaketable.report.charts.drawing import draw_svg
from shaketable.report.charts.spark import spark
from shaketable.report.section import Headline, Section

N_CARDS = 6
KICKERS = {
    "shaken": "Where it breaks",
    "ceiling": "Guideline",
    "heat": "Temperature",
    "factual_robustness": "Facts",
    "wording": "Wording",
    "decision": "Search",
    "confidence": "Over-confidence",
    "evidence": "Evidence",
    "outcome": "Searching",
    "variance_shares": "Together",
    "context_reliance": "Reliance",
    "choice": "Choice",
    "ranking": "Ranking",
    "dominance": "Temperature or evidence",
    "degradation": "Evidence",
    "onset": "Temperature",
    "amplification": "Evidence at high temperature",
    "variability": "Spread",
    "level": "Level",
}
"""The kinds of headline that make a card, the most important first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    kicker: str
    headline: Headline
    svg: Markup | None
    """None: there is no line to draw."""
    link: str | None
    """The figure or section that shows the evidence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class More:
    """What a section says beyond the cards."""

    question: str
    sentences: tuple[str, ...]


def make_cards(sections: Sequence[Section], targets: Collection[str]) -> tuple[list[Card], list[More]]:
    """A few headlines as cards, and what is left.

    Ceilings come first, at most two. Then the first of every kind before the second of any, claims before sentences
    that claim nothing, which stand last. Links go only to targets that the page has.
    """
    chosen = choose_headlines([headline for section in sections for headline in section.headlines])
    shown = {id(headline) for headline in chosen}
    left = [
        More(
            question=section.question,
            sentences=tuple(headline.text for headline in section.headlines if id(headline) not in shown),
        )
        for section in sections
    ]
    home = {id(headline): section.name for section in sections for headline in section.headlines}
    cards = [_card(headline, f"spark-{i}", home[id(headline)], targets) for i, headline in enumerate(chosen)]
    return cards, [more for more in left if more.sentences]


def choose_headlines(headlines: Sequence[Headline]) -> list[Headline]:
    order = [*KICKERS, *sorted({headline.kind for headline in headlines} - KICKERS.keys())]
    candidates = [headline for headline in headlines if headline.number]
    turns: dict[str, int] = {}
    ranked = []
    for headline in sorted(candidates, key=lambda headline: not headline.is_clear):
        turn = turns[headline.kind] = turns.get(headline.kind, -1) + 1
        is_first = headline.kind == "ceiling" and turn < 2 and headline.is_clear
        rank = (not is_first, not headline.is_clear, turn, order.index(headline.kind))
        ranked.append((rank, headline))
    best = sorted(ranked, key=lambda pair: pair[0])[:N_CARDS]
    best.sort(key=lambda pair: (not pair[1].is_clear, order.index(pair[1].kind), pair[0]))
    return [headline for _, headline in best]


def _card(headline: Headline, name: str, section: str, targets: Collection[str]) -> Card:
    return Card(
        kicker=f"{KICKERS.get(headline.kind, headline.kind.replace('_', ' ').capitalize())} · {headline.system}",
        headline=headline,
        svg=Markup(draw_svg(spark(headline.spark, headline.cell), name)) if len(headline.spark) > 1 else None,
        link=next((target for target in (*headline.links, section) if target in targets), None),
    )
