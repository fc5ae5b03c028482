"""The slider of the report, in a real browser: for the pointer, the keyboard, a screen reader and on paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import made_run
import pytest
from axe_findings import serious

from shaketable.stages.report import report
from shaketable.store import Run
from shaketable.types import Score


@pytest.fixture(scope="module")
def slid(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = made_run.made_run(tmp_path_factory.mktemp("slid") / "run")
    # Disturbed evidence costs everything at temperature 0, and nothing above.
    run.write_scores(
        [
            Score(
                key=record.trial.key,
                metric="contains",
                value=float(record.trial.perturbation == "unchanged" or record.trial.temperature > 0),
            )
            for record in run.store.records()
        ]
    )
    made_run.analyzed(run)
    report(run)
    return run


def test_the_slider_moves_the_forest_by_keyboard_and_says_what_it_is(browser: Any, slid: Run) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    complaints: list[str] = []
    page.on("console", lambda one: complaints.append(one.text) if one.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(Path(slid.folder, "report.html").resolve().as_uri())
    figure = page.locator("figure#evidence_drops_contains")
    figure.scroll_into_view_if_needed()
    slider = figure.locator(".controls").get_by_label("Temperature")
    slider.wait_for()
    assert slider.get_attribute("type") == "range"
    points = figure.locator(".live .mark-symbol.role-mark path")
    before = sorted(point.get_attribute("transform") for point in points.all())
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('#evidence_drops_contains .controls input').value === '0.6'")
    page.wait_for_timeout(300)
    after = sorted(point.get_attribute("transform") for point in points.all())
    # One temperature at a time: as many points, elsewhere.
    assert len(after) == len(before) and after != before
    assert complaints == []
    assert serious(page) == []
    page.emulate_media(media="print")
    assert figure.locator(".controls").is_hidden() and figure.locator(".still").is_visible()
    page.close()
