"""Report and viewer in a real browser: nothing breaks, nothing leaves the machine, nothing of a model's text runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import made_run
import pytest
from asked_viewer import follow, serving
from axe_findings import serious

from shaketable.stages.report import report
from shaketable.store import Run
from shaketable.viewer.server import LocalServer

HOME = "/run/made%20run"


class Watch:
    """What a page complained of, and whom it asked."""

    def __init__(self, page: Any) -> None:
        self.complaints: list[str] = []
        self.addresses: list[str] = []
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.addresses.append(request.url))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def is_quiet(self) -> bool:
        local = ("http://127.0.0.1:", "file://", "data:", "blob:")
        return not self.complaints and all(address.startswith(local) for address in self.addresses)


@pytest.fixture(scope="module")
def reported(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = made_run.made_run(tmp_path_factory.mktemp("reported") / "made run")
    run.write_scores([score for score in _scores(run) if score.metric == "contains"])
    made_run.analyzed(run)
    report(run)
    return run


def _scores(run: Run) -> Iterator[Any]:
    for record in run.store.records():
        yield from made_run.scores_of(record)


@pytest.fixture(scope="module")
def viewer(reported: Run) -> Iterator[LocalServer]:
    with serving(Run(reported.folder)) as viewer:
        yield viewer


@pytest.fixture(params=["light", "dark"])
def page(request: pytest.FixtureRequest, browser: Any) -> Iterator[Any]:
    yield from _page(browser, color_scheme=request.param)


@pytest.fixture
def light(browser: Any) -> Iterator[Any]:
    yield from _page(browser)


def _page(browser: Any, **settings: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True, **settings)
    context.set_default_timeout(60_000)  # a busy machine is slow at times
    page = context.new_page()
    page.watch = Watch(page)
    yield page
    context.close()


def address(run: Run) -> str:
    return (run.folder / "report.html").resolve().as_uri()


def draw_all(page: Any) -> int:
    """Scroll to every figure that is not folded, as a reader does."""
    figures = [figure for figure in page.query_selector_all("figure") if figure.is_visible()]
    for figure in figures:
        figure.scroll_into_view_if_needed()
        figure.wait_for_selector(".live svg")
    return len(figures)


# --- the report -----------------------------------------------------------------------------------


def test_the_report_draws_its_charts_offline_and_without_complaint(page: Any, reported: Run) -> None:
    page.goto(address(reported))
    assert draw_all(page) >= 3
    assert page.locator(".live .mark-line path").count() > 0
    assert page.evaluate("window.broken") is None
    assert page.watch.is_quiet(), page.watch.complaints
    assert serious(page) == []


def test_a_chart_answers_to_the_pointer_and_its_legend(light: Any, reported: Run) -> None:
    light.goto(address(reported))
    draw_all(light)
    figure = light.locator("figure").first
    figure.locator(".live .mark-symbol.role-mark path").first.hover(force=True)
    tooltip = light.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    assert "Temperature" in tooltip.inner_text() and "Questions" in tooltip.inner_text()
    faded = figure.locator(".live .mark-line.role-mark path[opacity='0.12']")
    assert faded.count() == 0
    figure.locator(".live .role-legend-symbol path").first.click(force=True)
    faded.first.wait_for(state="attached")
    assert light.evaluate("window.broken") is None
    assert light.watch.is_quiet(), light.watch.complaints


def test_figures_can_be_saved(light: Any, reported: Run, tmp_path: Path) -> None:
    light.goto(address(reported))
    draw_all(light)
    for words, begins in (("Download SVG", b"<svg"), ("Download PNG", b"\x89PNG"), ("Download CSV", b"")):
        with light.expect_download() as download:
            light.get_by_text(words).first.click()
        saved = tmp_path / download.value.suggested_filename
        download.value.save_as(saved)
        assert saved.read_bytes().startswith(begins) and saved.stat().st_size > 500


def test_the_report_prints_its_still_pictures_and_fits_a_phone(light: Any, reported: Run) -> None:
    light.goto(address(reported))
    draw_all(light)
    light.emulate_media(media="print")
    assert light.locator(".live").first.is_hidden() and light.locator(".still").first.is_visible()
    light.emulate_media(media="screen")
    light.set_viewport_size({"width": 390, "height": 844})
    assert light.evaluate("document.documentElement.scrollWidth") <= 390


# --- the viewer -----------------------------------------------------------------------------------


def test_every_page_of_the_viewer_is_quiet_and_accessible(page: Any, viewer: LocalServer) -> None:
    page.goto(viewer.address)
    pages = [viewer.address]
    for link in ("made run", "Records", "Questions"):
        pages.append(follow(page, page.get_by_role("link", name=link, exact=True).first))
    pages.append(follow(page, page.locator("tbody a").first))
    pages.append(follow(page, page.locator("a.square").first))
    assert len(set(pages)) == 6
    for one in pages:
        page.goto(one)
        assert serious(page) == [], one
        assert page.evaluate("window.broken") is None
    assert page.watch.is_quiet(), page.watch.complaints


def test_filters_filter_and_their_address_leads_back(light: Any, viewer: LocalServer) -> None:
    light.goto(viewer.address.rstrip("/") + HOME + "/records")
    everything = light.locator("#count").inner_text()
    with light.expect_navigation():
        light.locator("select[name=perturbation]").select_option("sentence_removal")
    fewer = light.locator("#count").inner_text()
    assert (everything, fewer) == ("288", "96")
    assert re.search(r"records\?perturbation=sentence_removal$", light.url)
    with light.expect_navigation():
        light.locator("select[name=sort]").select_option("contains")
    light.goto(light.url)
    assert light.locator("#count").inner_text() == "96"
    marks = light.locator("tbody td.n .mark").all_inner_texts()
    assert marks == sorted(marks, key=lambda mark: "1" in mark)


def test_the_keyboard_goes_everywhere(light: Any, viewer: LocalServer) -> None:
    light.goto(viewer.address.rstrip("/") + HOME + "/records")
    light.keyboard.press("Tab")
    assert light.evaluate("document.activeElement.textContent") == "Skip to the content"
    light.keyboard.press("Enter")
    light.locator("tbody a").first.focus()
    light.keyboard.press("ArrowDown")
    second = light.evaluate("document.activeElement.href")
    assert second == light.locator("tbody a").nth(1).evaluate("link => link.href")
    with light.expect_navigation():
        light.keyboard.press("Enter")
    assert light.url == second
    light.locator("h1.long").wait_for()


def test_the_reports_page_is_a_stranger_to_the_viewer(light: Any, viewer: LocalServer) -> None:
    light.goto(viewer.address.rstrip("/") + HOME + "/report")
    assert draw_all(light) >= 3
    assert light.evaluate("self.origin") == "null"
    assert light.watch.is_quiet(), light.watch.complaints


def test_hostile_answers_do_nothing(light: Any, viewer: LocalServer) -> None:
    for asked in ("model", "perturbation"):
        light.goto(f"{viewer.address.rstrip('/')}{HOME}/records?sort=temperature&order=down")
        light.locator("tbody a").nth(3).hover()
        with light.expect_navigation():
            light.locator(f"select[name={asked}]").select_option(index=2)
    for n in range(made_run.N_QUESTIONS):
        light.goto(
            f"{viewer.address.rstrip('/')}{HOME}/records?words=book {n}?&temperature=1.2&perturbation=sentence_removal"
        )
        follow(light, light.locator("tbody a").first)
        for detail in light.locator("details > summary").all():
            detail.click()
        assert light.evaluate("document.documentElement.scrollWidth") <= 1280
        assert light.evaluate("window.broken") is None
    assert light.watch.is_quiet(), light.watch.complaints


# --- a run on its way -----------------------------------------------------------------------------


def test_first_results_come_by_themselves(light: Any, tmp_path: Path) -> None:
    run = made_run.made_run(tmp_path / "run", n_answered=2, with_scores=False)
    with serving(run) as viewer, run.writing() as store:
        light.goto(f"{viewer.address}run/run")
        light.get_by_text("72 of 288 trials", exact=True).wait_for()
        assert "among the 72 records so far" in light.locator("[data-live] .lead").inner_text()
        store.append(list(made_run.records_of(made_run.question(2))), {})
        light.get_by_text("among the 108 records so far").wait_for()
        assert "min left" in light.locator("[data-rate]").inner_text()
        assert light.locator("progress").get_attribute("value") == "108"
        assert serious(light) == []
    assert light.evaluate("window.broken") is None


def test_the_command_to_go_on_with_can_be_copied(light: Any, tmp_path: Path) -> None:
    run = made_run.made_run(tmp_path / "run", n_answered=2, with_scores=False)
    light.context.grant_permissions(["clipboard-read", "clipboard-write"])
    with serving(run) as viewer:
        light.goto(f"{viewer.address}run/run")
        light.get_by_role("button", name="Copy").click()
        light.get_by_role("button", name="Copied").wait_for()
        assert light.evaluate("navigator.clipboard.readText()") == light.locator("#resume").inner_text()


def test_the_report_so_far_is_quiet_and_harmless(light: Any, tmp_path: Path) -> None:
    few = {"analyses": ["correctness"], "n_resamples": 99}
    run = made_run.made_run(tmp_path / "run", n_answered=4, with_scores=False, analyze=few)
    with serving(run) as viewer:
        light.goto(f"{viewer.address}run/run")
        follow(light, light.get_by_role("link", name="Read the report so far"))
        light.get_by_text("This run was interrupted: all results are partial.").wait_for()
        assert draw_all(light) >= 3
        assert light.evaluate("window.broken") is None
        assert light.watch.is_quiet(), light.watch.complaints
