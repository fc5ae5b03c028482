"""Pictures of single facts by entropy, breaking temperature and score, and of the score as a function."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import altair as alt

from shaketable.analyses.facts.factual_robustness import FactScore, FactualRobustness
from shaketable.facts.score import f, frs
from shaketable.report.charts.density import density
from shaketable.report.charts.layout import Axis, above
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.charts.scatter import scatter
from shaketable.report.charts.surface import field
from shaketable.report.known_facts import in_panels, name_dataset, name_system
from shaketable.report.section import Figure, Page
from shaketable.statistics.density import kernel_density

N_POINTS = 101
"""Of a density."""
STEPS = 20
"""Of a surface, along either axis."""


def robustness_figures(result: FactualRobustness, page: Page) -> tuple[Figure, ...]:
    facts = in_panels([fact for fact in result.facts if fact.score is not None], page)
    if not facts:
        return ()
    return (
        *(_scatter(facts, d, page, is_first=d == result.d[0]) for d in result.d),
        _density(facts, result.d[0], page),
        _surfaces(result.d),
    )


def score_of(fact: FactScore, d: float) -> float:
    """For any d, which entropy and breaking temperature give."""
    return frs(fact.entropy or 0.0, fact.breaking, d)


def _scatter(facts: Sequence[FactScore], d: float, page: Page, *, is_first: bool) -> Figure:
    marks = tuple(
        Mark(
            x=fact.entropy,
            value=score_of(fact, d),
            temperature=fact.breaking,
            series=name_system(fact.cell, page),
            panel=name_dataset(fact.cell),
            label=fact.question_id,
        )
        for fact in facts
    )
    titles = Titles(
        panel="Dataset",
        series="System",
        label="Question",
        x="Entropy at temperature 0",
        temperature="Breaking temperature",
        value=f"Factual robustness score (d = {d:g})",
        low="",
        high="",
        n="",
    )
    return Figure(
        name="robustness_scatter" if is_first else f"robustness_scatter_d{d:g}",
        title=f"Entropy and robustness of single facts, d = {d:g}",
        note="Each point is a known fact; those that never break score 1 and are ringed. The line on the right is the "
        "density of the others.",
        marks=marks,
        titles=titles,
        draw=partial(scatter, marks, titles, is_ringed=lambda mark: mark.temperature is None),
        is_on_page=is_first,
    )


def _density(facts: Sequence[FactScore], d: float, page: Page) -> Figure:
    marks = tuple(density_marks(facts, d, page))
    titles = Titles(
        panel="Dataset",
        series="System",
        x=f"Factual robustness score (d = {d:g})",
        value="Density of broken facts",
        label="Unbroken",
        low="",
        high="",
        n="Facts",
    )
    return Figure(
        name="robustness_density",
        title="How robustness is spread",
        note="Densities of the scores of broken facts; the spike at 1 is ten times as high as the share of unbroken "
        "ones.",
        marks=marks,
        titles=titles,
        draw=partial(density, marks, titles),
    )


def density_marks(facts: Sequence[FactScore], d: float, page: Page) -> list[Mark]:
    """Points of each density, whose area is the share of broken facts, and a spike for the unbroken ones; too few
    broken facts to smooth have no density."""
    groups: dict[tuple[str, str], list[FactScore]] = {}
    for fact in facts:
        groups.setdefault((name_dataset(fact.cell), name_system(fact.cell, page)), []).append(fact)
    systems = sorted({system for _, system in groups})
    places = [i / (N_POINTS - 1) for i in range(N_POINTS)]
    marks: list[Mark] = []
    for (dataset, system), own in groups.items():
        broken = [score_of(fact, d) for fact in own if fact.breaking is not None]
        share, n = len(broken) / len(own), len(own)
        heights = kernel_density(broken, places) or []
        marks += [
            Mark(x=x, value=share * height, series=system, panel=dataset, n=n)
            for x, height in zip(places, heights, strict=False)
        ]
        # Spikes of several systems would hide one another.
        at, words = 1 + 0.006 * systems.index(system), f"{100 * (1 - share):.0f} % unbroken"
        marks.append(Mark(x=at, value=10 * (1 - share), series=system, panel=dataset, n=n, label=words))
    return marks


def _surfaces(every_d: Sequence[float]) -> Figure:
    marks = tuple(surface_marks(every_d))
    return Figure(
        name="robustness_surfaces",
        title="The score as a function",
        caption="",
        note="f and the score over entropy and breaking temperature. They are formulas, the same for every run.",
        marks=marks,
        titles=_surface_titles("Value"),
        draw=partial(_draw_surfaces, marks),
        is_main=False,
    )


def surface_marks(every_d: Sequence[float]) -> list[Mark]:
    """Both values in the middle of each cell of a grid; entropy from 0 to 1, breaking temperatures from 0 to 2."""
    cells = [((i + 0.5) / STEPS, 2 * (j + 0.5) / STEPS) for i in range(STEPS) for j in range(STEPS)]
    return [
        Mark(x=entropy, y=breaking, value=formula(entropy, breaking, d), panel=f"d = {d:g}", series=name)
        for name, formula in (("f", f), ("FRS", frs))
        for d in every_d
        for entropy, breaking in cells
    ]


def _surface_titles(value: str) -> Titles:
    return Titles(
        panel="d", series="Formula", x="Entropy", y="Breaking temperature", value=value, low="", high="", n=""
    )


def _draw_surfaces(marks: Sequence[Mark]) -> alt.TopLevelMixin:
    domains = {"f": (-1.0, 3.0), "FRS": (0.0, 0.8)}
    return above(
        *(
            field([mark for mark in marks if mark.series == name], _surface_titles(name), axis=Axis(domain=domain))
            for name, domain in domains.items()
        )
    )
