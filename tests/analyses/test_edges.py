"""At the edges of a study every analysis gives a result that says what it cannot say, and a section tells it."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator

import pytest
from edge_tables import EDGES
from made_page import made_page
from made_wordings import Compass

from shaketable import catalog
from shaketable.analyses.evidence.guidelines import guidelines
from shaketable.analyses.evidence.heat_ceilings import ONE_TEMPERATURE
from shaketable.analyses.wording import vectors
from shaketable.report.page import make_section
from shaketable.stages.report import draw
from shaketable.store.findings_file import load_findings, write_findings
from shaketable.types import Estimate, Finding

ANALYSES = sorted(catalog.known("analysis"))


@pytest.fixture(autouse=True)
def _by_hand(monkeypatch):
    monkeypatch.setattr(vectors, "encoder", lambda name: Compass())


def values_in(value: object) -> Iterator[object]:
    """Everything that a result holds."""
    yield value
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from values_in(getattr(value, field.name))
    elif isinstance(value, tuple):
        for one in value:
            yield from values_in(one)


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("name", ANALYSES)
def test_an_analysis_says_what_it_cannot_say(name, edge, tmp_path):
    tables = EDGES[edge]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = catalog.find("analysis", name)(tables)
        page = made_page(tables, result)
        section = make_section(Finding(analysis=name, result=result), page)
    for value in values_in(result):
        if isinstance(value, Estimate):
            assert value.value is not None or value.reason, value
            assert (value.low is None) == (value.high is None)
        assert not isinstance(value, float) or abs(value) < float("inf"), "not measured is None"
    findings = dataclasses.replace(page.findings, findings=(Finding(analysis=name, result=result),))
    write_findings(tmp_path, findings, "", None)
    assert load_findings(tmp_path).findings == findings
    words = [headline.text for headline in section.headlines] + [*section.caveats, *section.notes]
    assert not any(odd in text for text in words for odd in ("nan", "None", "inf ", "−0 ")), words


@pytest.mark.parametrize(
    "edge",
    ["one question", "two questions", "one question, asked once", "all right", "all wrong", "all failed", "no scores"],
)
def test_nothing_is_claimed_where_questions_are_few_or_all_agree(edge):
    tables = EDGES[edge]()
    page = made_page(tables, *(catalog.find("analysis", name)(tables) for name in ANALYSES))
    assert page.claims.shown == ()


@pytest.mark.slow
@pytest.mark.parametrize("edge", EDGES)
def test_all_pictures_are_drawn(edge):
    tables = EDGES[edge]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(made_page(tables, *(catalog.find("analysis", name)(tables) for name in ANALYSES)))


def test_one_temperature_tells_nothing_of_how_hot_a_system_may_run():
    ceilings = guidelines(EDGES["one temperature"]()).ceilings
    assert {(own.ceiling.value, own.ceiling.reason) for own in ceilings} == {(None, ONE_TEMPERATURE)}
