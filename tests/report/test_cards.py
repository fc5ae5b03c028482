from __future__ import annotations

from dataclasses import replace

from shaketable.factors import Cell
from shaketable.report.cards import N_CARDS, choose_headlines, make_cards
from shaketable.report.charts.marks import Point
from shaketable.report.section import Headline, Section


def headline(kind: str, *, is_clear: bool = True, number: str = "1", **more: object) -> Headline:
    made = Headline(kind=kind, cell=Cell(), system="smollm2", sentence=f"About {kind}.", number=number)
    return replace(made, is_clear=is_clear, **more)  # type: ignore[arg-type]


def section(*headlines: Headline, name: str = "told") -> Section:
    return Section(chapter="evidence", name=name, title="", question="What is told?", headlines=headlines)


def kinds(*headlines: Headline) -> list[str]:
    return [chosen.kind for chosen in choose_headlines(headlines)]


def test_a_ceiling_comes_first_and_there_are_at_most_six() -> None:
    some = [headline(kind) for kind in ("level", "variability", "onset", "evidence", "heat", "ranking", "ceiling")]
    assert kinds(*some) == ["ceiling", "heat", "evidence", "ranking", "onset", "variability"]
    assert len(kinds(*some)) == N_CARDS


def test_at_most_two_ceilings_are_preferred_and_the_first_of_every_kind_comes_before_the_second_of_any() -> None:
    chosen = kinds(*[headline("ceiling")] * 4, *[headline("heat")] * 3, headline("evidence"), headline("ranking"))
    assert chosen == ["ceiling", "ceiling", "heat", "heat", "evidence", "ranking"]


def test_a_card_rather_claims_something() -> None:
    others = [headline(kind) for kind in ("ceiling", "heat", "evidence", "dominance", "onset", "variability")]
    assert "ranking" not in kinds(*others, headline("ranking", is_clear=False))
    assert "ranking" in kinds(*others, headline("ranking"))


def test_a_sentence_without_a_number_is_no_card_and_is_told_below() -> None:
    cards, more = make_cards([section(headline("heat"), headline("noise", number=""))], set())
    assert [card.kicker for card in cards] == ["Temperature · smollm2"]
    assert [(told.question, told.sentences) for told in more] == [("What is told?", ("About noise.",))]


def test_a_card_links_to_its_figure_or_its_section_and_only_to_what_the_page_has() -> None:
    told = [section(headline("ceiling", links=("score_by_temperature_contains",)), name="guidelines")]
    assert make_cards(told, set())[0][0].link is None
    assert make_cards(told, {"guidelines"})[0][0].link == "guidelines"
    targets = {"guidelines", "score_by_temperature_contains"}
    assert make_cards(told, targets)[0][0].link == "score_by_temperature_contains"


def test_a_kind_of_its_own_has_a_card_too() -> None:
    (card,) = make_cards([section(headline("sheer_luck"))], set())[0]
    assert card.kicker == "Sheer luck · smollm2"


def test_a_line_of_two_temperatures_is_drawn_and_a_single_point_is_not() -> None:
    points = tuple(Point(temperature=t, value=0.5, low=0.4, high=0.6) for t in (0.0, 1.0))
    drawn, bare = (
        make_cards([section(headline("heat", spark=spark))], set())[0][0].svg for spark in (points, points[:1])
    )
    assert drawn is not None and drawn.startswith("<svg")
    assert bare is None
