"""Reports in a real browser: on a phone each chart is drawn to the width that it has, on a desk as it was made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import every_form
import pytest
from axe_findings import serious
from seen_page import small_run

PHONE, TABLET, DESK = ({"width": width, "height": 844} for width in (390, 700, 1280))
SMALLEST = 9
"""Pixels of letters that can be read."""
FITS = """(figure) => {
    const box = figure.querySelector(".drawing"), svg = box.querySelector(".live svg");
    const [room, drawn] = [box.getBoundingClientRect(), svg.getBoundingClientRect()];
    const scale = drawn.width / svg.viewBox.baseVal.width;
    const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim());
    const sizes = texts.map((text) => scale * parseFloat(getComputedStyle(text).fontSize));
    const rects = texts.map((text) => text.getBoundingClientRect());
    return {
        room: room.width,
        scrolls: box.scrollWidth > box.clientWidth,
        left: Math.min(...rects.map((rect) => rect.left - room.left)),
        right: Math.max(drawn.right - room.left, ...rects.map((rect) => rect.right - room.left)),
        smallest: Math.min(...sizes),
        black: texts.filter((text) => !text.closest(".role-mark, [fill=currentColor]")).length,
        cut: texts.filter((text) => text.textContent.endsWith("…")).map((text) => text.textContent),
    };
}"""


@pytest.fixture(scope="module")
def file(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return every_form.write_page(tmp_path_factory.mktemp("forms") / "forms.html")


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport=PHONE)
    context.set_default_timeout(60_000)  # a busy machine is slow at times
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    yield page
    context.close()


def drawn(page: Any, form: str) -> list[tuple[str, dict[str, Any]]]:
    """Every figure, once it is drawn in a form, with what was measured of it."""
    measured = []
    for figure in page.query_selector_all("figure"):
        figure.scroll_into_view_if_needed()
        figure.wait_for_selector(f".live[data-form='{form}'] svg")
        page.evaluate("last")
        measured.append((figure.get_attribute("id"), figure.evaluate(FITS)))
    return measured


def test_every_form_of_chart_fits_a_phone(page: Any, file: Path) -> None:
    page.goto(file.resolve().as_uri())
    for name, chart in drawn(page, "358"):
        assert not chart["scrolls"], name
        assert chart["left"] >= -0.5 and chart["right"] <= chart["room"] + 0.5, (name, chart)
        assert chart["smallest"] >= SMALLEST, (name, chart)
        assert chart["cut"] == [] and chart["black"] == 0, (name, chart)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.complaints == []


def test_the_report_of_a_pipeline_fits_a_phone_and_all_of_it_is_reached(page: Any, tmp_path: Path) -> None:
    app = tmp_path / "app.py"
    app.write_text("def answer(question, contexts):\n    return contexts[0][:60] if contexts else ''\n", "utf-8")
    pipeline = f"pipeline(name='a function with a name of many words', python='{app}:answer')"
    run = small_run(tmp_path / "run", analyses=["correctness", "degradation"], models=[pipeline])
    page.goto((run.folder / "report.html").resolve().as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    for name, chart in drawn(page, "358"):
        assert not chart["scrolls"], name
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert serious(page) == []
    assert page.complaints == []


def test_a_chart_is_drawn_anew_when_its_width_changes_and_downloads_stay_as_made(browser: Any, file: Path) -> None:
    page = browser.new_page(viewport=DESK)
    page.goto(file.resolve().as_uri())
    figure = page.locator("figure#lines")
    wide = figure.locator(".live[data-form='wide'] svg")
    wide.wait_for()
    made = wide.get_attribute("viewBox")
    assert figure.locator(".zooms").is_visible()
    for size, form in ((PHONE, "358"), (TABLET, "652")):
        page.set_viewport_size(size)
        figure.locator(f".live[data-form='{form}'] svg").wait_for()
        page.evaluate("last")
        assert figure.locator(".live svg").count() == 1
        assert figure.locator(".live svg").bounding_box()["width"] <= float(form) + 0.5
        assert figure.locator(".zooms").is_hidden()
    with page.expect_download() as download:
        figure.get_by_text("Download SVG").click()
    saved = Path(download.value.path()).read_text("utf-8")
    still = figure.locator(".still svg").get_attribute("viewBox")
    assert f'viewBox="{still}"' in saved
    page.set_viewport_size(DESK)
    wide.wait_for()
    assert wide.get_attribute("viewBox") == made
    page.close()


def test_the_slider_of_a_chart_stays_one_slider_and_still_moves_it(browser: Any, file: Path) -> None:
    page = browser.new_page(viewport=DESK)
    page.goto(file.resolve().as_uri())
    figure = page.locator("figure#forest_slider")
    figure.scroll_into_view_if_needed()
    figure.locator(".live[data-form='wide'] svg").wait_for()
    page.set_viewport_size(PHONE)
    figure.locator(".live[data-form='358'] svg").wait_for()
    page.evaluate("last")
    assert figure.locator("input[type=range]").count() == 1
    figure.locator("input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('#forest_slider .controls input').value === '0.6'")
    assert figure.locator(".live svg").bounding_box()["width"] <= 358.5
    page.close()
