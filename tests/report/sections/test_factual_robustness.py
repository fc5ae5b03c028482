from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest
from made_facts import fact_rows, fact_tables, known, made_curve, made_facts, scan, table_of
from made_page import made_page

from shaketable.analyses.facts.factual_robustness import factual_robustness
from shaketable.facts.score import f, frs
from shaketable.report.drawing import draw_figure
from shaketable.report.section import Section
from shaketable.report.sections.factual_robustness import section
from shaketable.report.sections.robustness_figures import surface_marks
from shaketable.types import Curve, Scan

UNKNOWN = {"low": (0.0,) * 40, "high": (1.0,) * 40, "value": (None,) * 40}


def made(
    table: pl.DataFrame, curves: Sequence[Curve] = (), *, d: tuple[int, ...] = (1, 50), strategy: str = "full"
) -> Section:
    tables = fact_tables(table, curves, scan=Scan(strategy=strategy), n_resamples=99)
    result = factual_robustness(tables, d=d)
    return section(result, made_page(tables, result))


def worked() -> pl.DataFrame:
    """Section 6.3 of the specification: scores .733333, .671458 and 1."""
    return table_of(
        fact_rows("a", scores=known(0.10), shares=scan(1.0)),
        fact_rows("b", scores=known(0.25), shares=scan(0.6)),
        fact_rows("c", scores=known(0.70), shares=scan(None)),
        fact_rows("wrong", scores=known(0.70, right=0.0)),
    )


def test_a_system_is_said_to_hold_a_share_of_what_it_knows_and_that_is_its_card() -> None:
    (headline,) = made(worked(), d=(1,)).headlines
    assert headline.sentence == (
        "smollm2 holds 33 % [0, 100] of the facts it knows at every temperature tried; its robustness score is 0.802 "
        "[0.0473, 1.00]."
    )
    assert headline.detail == "It knows 75 % [25, 100] of the questions asked (3 known facts of 4 questions)."
    assert (headline.kind, headline.number, headline.interval) == ("factual_robustness", "33 %", "[0, 100]")


def test_the_hardest_punishment_of_entropy_is_told_beside_the_mildest() -> None:
    assert "when entropy is punished hardest (d = 50)." in made(worked()).headlines[0].sentence


def test_a_system_that_knows_nothing_is_told_so() -> None:
    (headline,) = made(table_of(fact_rows("q", scores=known(0.1, right=0.0)))).headlines
    assert headline.sentence == "smollm2 knows none of the questions asked, so there is no known fact to scan."
    assert headline.detail == "Known: right at temperature 0 by exact_match (n = 1 question)."


def test_where_no_break_is_known_nothing_is_said_and_no_card_made() -> None:
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.1)) for i in range(3)))
    curves = [made_curve(f"smollm2/builtin/q{i}/0", 9.0, **UNKNOWN) for i in range(3)]
    (headline,) = made(table, curves, strategy="none").headlines
    assert headline.sentence == "Nothing can be said of how firmly smollm2 holds the facts it knows."
    assert headline.detail == (
        "Of none of 3 questions is it known where it breaks: the curve leaves open where it breaks."
    )
    assert headline.number == ""


def test_undecided_facts_are_counted_in_the_sentence() -> None:
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.0)) for i in range(3)))
    curves = [made_curve("smollm2/builtin/q0/0", 2.0)]
    curves += [made_curve(f"smollm2/builtin/q{i}/0", 9.0, **UNKNOWN) for i in (1, 2)]
    assert "; where it breaks is not known of 2 more)." in made(table, curves, strategy="none").headlines[0].detail


def test_a_firmer_system_and_the_rank_correlation_are_told() -> None:
    first, *_, gap, same, rank = made(made_facts(models=("a", "b", "c"), n=30)).headlines
    assert first.system == "a"
    assert gap.sentence.startswith("c holds the facts that all systems know more firmly than ")
    assert same.sentence.startswith("That b and c hold the facts that all know unlike is not shown: ")
    assert same.detail.startswith("An effect of ") and not same.is_clear
    assert gap.sentence.endswith(" more robustness score.") and gap.number == ""
    assert rank.sentence.startswith("Over 3 systems accuracy and robustness have a rank correlation of ")


TWO = made_facts(models=("smollm2", "gpt"), datasets=("squad", "triviaqa"), n=20)


def test_the_score_is_laid_out_as_in_the_study() -> None:
    tables = fact_tables(TWO, n_resamples=99)
    result = factual_robustness(tables, d=(1, 50))
    table = section(result, made_page(tables)).tables[0]
    assert (table.title, table.columns) == ("Mean score of known facts", ("d", "gpt", "smollm2"))
    assert [row[0] for row in table.rows] == ["1", "50"]
    (pooled,) = [
        mean.score
        for mean in result.scores
        if (mean.d, mean.cell.dataset, mean.is_capped) == (1, None, True)
        and mean.cell.system is not None
        and mean.cell.system.model == "gpt"
    ]
    assert str(table.rows[0][1]).startswith(f"{pooled.value:.3f} [")


def test_scores_by_dataset_and_on_shared_facts_have_their_own_tables() -> None:
    tables = {table.title: table for table in made(TWO).tables}
    assert list(tables) == [
        "Mean score of known facts",
        "On the facts that all systems know",
        "Known, and never broken",
        "By dataset",
    ]
    assert tables["By dataset"].columns[1:] == (
        "gpt · squad",
        "gpt · triviaqa",
        "smollm2 · squad",
        "smollm2 · triviaqa",
    )
    assert tables["By dataset"].is_folded
    assert [row[:3] for row in tables["Known, and never broken"].rows[:2]] == [
        ("gpt", "squad", "known of all asked"),
        ("gpt", "squad", "unbroken of the known"),
    ]


def test_curves_have_a_table_and_caveats_of_their_own() -> None:
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.1), shares=scan(None)) for i in range(2)))
    curves = [made_curve("smollm2/builtin/q0/0", 2.5), made_curve("smollm2/builtin/q1/0", 9.0)]
    of_facts = made(table, curves)
    assert "Beyond temperature 2, by the curves" in [table.title for table in of_facts.tables]
    assert any("end before their fact breaks" in caveat for caveat in of_facts.caveats)
    assert any("each curve's own error" in caveat for caveat in of_facts.caveats)


def test_without_facts_there_is_nothing() -> None:
    nothing = made(TWO.clear())
    assert not nothing.has_block
    assert (nothing.figures, nothing.caveats) == ((), ())


def test_points_of_the_pictures_have_the_score_of_their_d() -> None:
    figures = {figure.name: figure for figure in made(TWO).figures}
    assert list(figures) == [
        "robustness_scatter",
        "robustness_scatter_d50",
        "robustness_density",
        "robustness_surfaces",
    ]
    assert [name for name, figure in figures.items() if not figure.is_on_page] == ["robustness_scatter_d50"]
    marks = figures["robustness_scatter_d50"].marks
    assert {(mark.panel, mark.series) for mark in marks} == {
        (dataset, system) for dataset in ("squad", "triviaqa") for system in ("gpt", "smollm2")
    }
    for mark in marks:
        assert isinstance(mark.x, float)
        assert mark.value == frs(mark.x, mark.temperature, 50)


def test_the_area_of_a_density_is_the_share_of_broken_facts_and_the_rest_is_the_spike() -> None:
    marks = made(TWO).figures[2].marks
    for panel, series in {(mark.panel, mark.series) for mark in marks}:
        here = [mark for mark in marks if (mark.panel, mark.series) == (panel, series)]
        *curve, spike = here
        unbroken = (spike.value or 0.0) / 10
        assert spike.label == f"{100 * unbroken:.0f} % unbroken"
        assert sum(mark.value or 0.0 for mark in curve) / 100 == pytest.approx(1 - unbroken, abs=0.03)


def test_surfaces_show_the_formulas_at_the_middle_of_each_cell() -> None:
    marks = surface_marks((1, 5))
    assert len(marks) == 2 * 2 * 20 * 20
    at = {mark.series: mark.value for mark in marks if (mark.panel, mark.x, mark.y) == ("d = 5", 0.525, 1.05)}
    assert at == {"f": f(0.525, 1.05, 5), "FRS": frs(0.525, 1.05, 5)}


@pytest.mark.slow
def test_every_picture_can_be_drawn_and_told() -> None:
    for figure in made(TWO).figures:
        drawing = draw_figure(figure)
        assert drawing.svg.startswith("<svg")
        assert drawing.csv.splitlines()[0] == ",".join(figure.titles.columns().values())
        assert len(drawing.csv.splitlines()) == len(figure.marks) + 1
        assert len(drawing.table.rows) == min(len(figure.marks), 400)
        assert drawing.figure.note.endswith("rows, the CSV all.") == (len(figure.marks) > 400)
