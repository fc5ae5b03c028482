"""What the page says of strength: a mild wording without effect is told apart from a strong one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from drawn import draw
from made_page import made_page
from made_wordings import reworded_variants, tables_of, trial

from shaketable.analyses.wording.wording_accuracy import wording_accuracy
from shaketable.analyses.wording.wording_strength import wording_strength
from shaketable.report.section import Section
from shaketable.report.sections.wording_accuracy import section as accuracy_section
from shaketable.report.sections.wording_strength import section
from shaketable.types import Strength, Variant

N = 20


def kept(share: float | None) -> Strength:
    return Strength(terms_kept=share, edit_distance=0.25, loss=0.5, reading_ease=-10.0, meaning=0.9)


def trials(**right: int) -> list[dict[str, Any]]:
    """The original always right, a rewording in so many of 20 questions."""
    return [
        trial(f"q{i}", name, correct=float(i < n)) for name, n in {"original": N, **right}.items() for i in range(N)
    ]


def tell(variants: list[Variant], **right: int) -> Section:
    tables = replace(tables_of(trials(**right)), read_wordings=lambda: {"squad": variants})
    result = wording_strength(tables)
    return section(result, made_page(tables, result))


def made(**shares: float | None) -> list[Variant]:
    return [variant for name, share in shares.items() for variant in reworded_variants(name, [kept(share)] * N)]


def test_what_is_not_shown_is_called_mild_or_strong() -> None:
    (headline,) = tell(
        made(grammar=0.95, readability=0.5, formality=0.75), grammar=N, readability=N, formality=N
    ).headlines
    assert headline.sentence.startswith(
        "Not shown to change the correctness of m on squad: grammar, which is mild (keeps 95 %"
    )
    assert "; formality (more casual), which is moderate (keeps 75 %" in headline.sentence
    assert "; readability (harder to read), which is strong (keeps 50 %" in headline.sentence
    assert headline.detail.startswith("A mild wording tests little")
    assert not headline.is_clear


def test_a_strong_wording_without_effect_is_not_excused() -> None:
    (headline,) = tell(made(readability=0.5), readability=N).headlines
    assert "mild" not in headline.text


def test_what_is_shown_stands_apart_with_its_change() -> None:
    (headline,) = tell(made(grammar=0.95, spelling=0.4), grammar=N, spelling=2).headlines
    assert "spelling" not in headline.sentence and "grammar, which is mild" in headline.sentence
    assert "Shown: 90 points less [" in headline.detail
    assert "by spelling, which is strong (keeps 40 %" in headline.detail
    assert headline.is_clear


def test_where_all_are_shown_no_wording_is_excused() -> None:
    (headline,) = tell(made(spelling=0.95), spelling=2).headlines
    assert headline.sentence == "Every rewording is shown to change the correctness of m on squad."
    assert headline.detail.startswith("90 points less [")


def test_the_table_has_strength_refusals_and_change_in_one_line() -> None:
    refused = replace(made(grammar=0.5)[0], text="no", rejected="no", provenance={"refusal": "names_lost"})
    table = tell([*made(grammar=0.95), refused], grammar=N).tables[0]
    (row,) = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert (row["Asked"], row["Wordings"], row["Refused"]) == ("grammar", 21, "1: names lost (1)")
    assert str(row["Search terms kept"]).startswith("95 %") and str(row["Words changed"]).startswith("25 %")
    assert str(row["Change of loss, nats a token"]).startswith("0.500")
    assert str(row["Change of reading ease"]).startswith("−10.0")
    assert str(row["Cosine to the original"]).startswith("0.900")
    assert str(row["Change of correctness"]).startswith("0 points [") and row["Verdict"] == "not shown"


def test_a_variation_that_was_always_refused_is_in_the_table() -> None:
    never = [replace(variant, rejected="no") for variant in made(keywords=0.5)]
    rows = tell([*made(grammar=0.95), *never], grammar=N).tables[0].rows
    assert [row[0] for row in rows if row[2] == "keywords"] == ["–"]


def test_an_older_run_says_that_nothing_was_measured() -> None:
    old = [replace(variant, provenance={}) for variant in made(grammar=0.95)]
    told = tell(old, grammar=N)
    assert told.headlines == () and told.figures == ()
    assert told.notes[0].startswith("Strength was not measured: the wordings were made before")
    (row,) = told.tables[0].rows
    assert row.count("not measured") == 5 and str(row[-2]).startswith("0 points [")


def test_the_cost_of_a_wording_that_is_not_shown_has_its_strength_beside_it() -> None:
    tables = replace(tables_of(trials(grammar=N)), read_wordings=lambda: {"squad": made(grammar=0.95)})
    accuracy = wording_accuracy(tables)
    (alone,) = accuracy_section(accuracy, made_page(tables, accuracy)).headlines
    (beside,) = accuracy_section(accuracy, made_page(tables, accuracy, wording_strength(tables))).headlines
    assert "search terms" not in alone.detail
    assert "] of the search terms." in beside.detail and "It keeps 95 % [" in beside.detail


def test_the_picture_has_a_mark_for_each_rewording_at_the_terms_it_loses() -> None:
    (figure,) = tell(made(grammar=0.95, spelling=0.4), grammar=N, spelling=2).figures
    assert {mark.series: round(float(mark.x or 0), 2) for mark in figure.marks} == {"grammar": 0.05, "spelling": 0.6}
    drawn = draw(figure.draw())
    assert drawn.count("rule") == 2 and drawn.count("symbol") == 2
    assert {"grammar", "spelling", "Share of search terms lost"} <= set(drawn.texts)
