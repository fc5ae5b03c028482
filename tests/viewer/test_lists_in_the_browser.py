"""Lists in a real browser: filters act at once, keys move, the way back leads back, and no word pushes a column out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import made_run
import pytest
from asked_viewer import follow, serving
from axe_findings import serious
from disagreeing import disagreeing_run

from shaketable.stages.analyze import analyze
from shaketable.stages.report import report
from shaketable.store import Run
from shaketable.types import Question
from shaketable.viewer.server import LocalServer

WORD = "Donaudampfschifffahrt" * 20
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("lists")
    two = [disagreeing_run(folder / "old"), disagreeing_run(folder / "new", model="later")]
    for run in two:
        analyze(run, ["correctness"])
    return [*two, wordy_run(folder)]


def wordy_run(folder: Path) -> Run:
    """A word of more than 400 characters in question, gold answer, answer, evidence and the names of parts."""
    own = made_run.question

    def question(n: int) -> Question:
        made = own(n)
        documents = tuple(
            replace(
                document,
                title=f"{document.title} {WORD}",
                sentences=tuple(replace(sentence, text=f"{sentence.text} {WORD}") for sentence in document.sentences),
            )
            for document in made.documents
        )
        return replace(made, text=f"{WORD} {n}?", documents=documents, answers=(*made.answers, WORD))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(made_run, "HOSTILE", (WORD,))
        patch.setattr(made_run, "MODELS", ("plain", f"model{WORD}"))
        patch.setattr(made_run, "PERTURBATIONS", ("unchanged", "sentence_removal", f"odd{WORD}"))
        patch.setattr(made_run, "question", question)
        run = made_run.made_run(folder / f"wordy-{WORD[:150]}")
        judged = [one for record in run.store.records() for one in made_run.scores_of(record)]
        run.write_scores([score for score in judged if score.metric == "contains"])
        made_run.analyzed(run)
    report(run)
    return run


@pytest.fixture(scope="module")
def viewer(browser: Any, runs: list[Run]) -> Iterator[LocalServer]:
    with serving(*runs) as viewer:
        yield viewer


@pytest.fixture(params=["light", "dark"])
def page(request: pytest.FixtureRequest, browser: Any) -> Iterator[Any]:
    yield from opened(browser, color_scheme=request.param)


@pytest.fixture
def light(browser: Any) -> Iterator[Any]:
    yield from opened(browser)


def opened(browser: Any, **settings: Any) -> Iterator[Any]:
    context = browser.new_context(viewport=DESK, **settings)
    context.set_default_timeout(60_000)  # a busy machine is slow at times
    page = context.new_page()
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda message: page.complaints.append(message.text) if message.type == "error" else None)
    yield page
    assert page.complaints == []
    context.close()


def wait_for_count(page: Any, n: int) -> None:
    page.locator("#count", has_text=re.compile(rf"^{n}$")).wait_for()


# --- filters --------------------------------------------------------------------------------------


def test_a_filter_acts_at_once_and_the_way_back_leads_back(light: Any, viewer: LocalServer) -> None:
    light.goto(f"{viewer.address}run/old/records")
    assert light.get_by_role("button", name="Show").is_hidden()
    light.get_by_label("Outcome").select_option("wrong")
    wait_for_count(light, 5)
    light.get_by_label("Repeats").select_option("flip")
    wait_for_count(light, 1)
    assert light.url.endswith("records?outcome=wrong&repeats=flip")
    light.go_back()
    wait_for_count(light, 5)
    assert light.get_by_label("Repeats").input_value() == ""
    light.go_back()
    wait_for_count(light, 12)
    light.go_forward()
    wait_for_count(light, 5)
    assert light.get_by_label("Outcome").input_value() == "wrong"


def test_words_are_found_while_they_are_typed(light: Any, viewer: LocalServer) -> None:
    light.goto(f"{viewer.address}run/old/records")
    light.keyboard.press("/")
    light.keyboard.type("place 3jk")  # j and k are letters in a field
    wait_for_count(light, 0)
    light.keyboard.press("Backspace")
    light.keyboard.press("Backspace")
    wait_for_count(light, 2)
    assert light.evaluate("document.activeElement.name") == "words"
    assert light.url.endswith("records?words=place+3")
    light.reload()
    wait_for_count(light, 2)


def test_without_scripts_a_button_does_the_same(browser: Any, viewer: LocalServer) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{viewer.address}run/old/records")
    page.get_by_label("Outcome").select_option("empty")
    follow(page, page.get_by_role("button", name="Show"))
    assert page.locator("#count").inner_text() == "2"
    sorted_by_answer = follow(page, page.get_by_role("link", name="Answer", exact=True))
    assert "outcome=empty" in sorted_by_answer and "sort=answer" in sorted_by_answer
    context.close()


# --- keys -----------------------------------------------------------------------------------------


def test_keys_lead_from_record_to_record_and_back(light: Any, viewer: LocalServer) -> None:
    light.goto(f"{viewer.address}run/old/records?outcome=right&sort=n_tokens&order=down")
    for key in ("j", "j", "k", "j"):
        light.keyboard.press(key)
    with light.expect_navigation():
        light.keyboard.press("Enter")
    light.get_by_text("Record 2 of 5 of this list").wait_for()
    assert light.locator("kbd").first.is_visible()
    for key, place in (("j", 3), ("j", 4), ("k", 3)):
        with light.expect_navigation():
            light.keyboard.press(key)
        light.get_by_text(f"Record {place} of 5 of this list").wait_for()
    with light.expect_navigation():
        light.keyboard.press("u")
    wait_for_count(light, 5)
    assert light.locator("th[aria-sort=descending]").inner_text().startswith("Tokens")


# --- two runs -------------------------------------------------------------------------------------


def test_two_runs_stand_side_by_side(light: Any, viewer: LocalServer) -> None:
    light.goto(viewer.address)
    light.get_by_label("First").select_option("old/theirs · imported")
    light.get_by_label("Second").select_option("new/later · imported")
    follow(light, light.get_by_role("button", name="Answers side by side"))
    wait_for_count(light, 12)
    light.locator("select[name=only]").select_option("changed")
    wait_for_count(light, 0)
    light.locator("select[name=only]").select_option("same")
    wait_for_count(light, 12)
    light.keyboard.press("j")
    with light.expect_navigation():
        light.keyboard.press("Enter")
    light.get_by_text("Record 1 of 12").wait_for()


# --- long words, phones ---------------------------------------------------------------------------


def pages_of(viewer: LocalServer, run: Run) -> dict[str, str]:
    base, name = viewer.address.rstrip("/"), run.folder.name
    store = run.store
    key = next(one.trial.key for one in store.records() if one.trial.perturbation == f"odd{WORD}")
    home = f"{base}/run/{name}"
    return {
        "runs": f"{base}/",
        "run": home,
        "records": f"{home}/records?sort=answer",
        "record": f"{home}/record/{key}?outcome=wrong",
        "questions": f"{home}/questions",
        "question": f"{home}/question/q%2F1%3F%26%3C",
        "answers": f"{base}/answers?first={name}/plain · single_retrieval · gold"
        f"&second={name}/model{WORD} · single_retrieval · gold",
        "report": (run.folder / "report.html").resolve().as_uri(),
    }


WIDE = """() => [...document.querySelectorAll(".table")]
    .filter((table) => table.clientWidth && table.scrollWidth > table.clientWidth + 1)
    .map((table) => `${table.ariaLabel}: ${table.scrollWidth} in ${table.clientWidth}`)"""

CUT = """() => [...document.querySelectorAll(".drawing")]
    .filter((box) => box.clientWidth && box.scrollWidth > box.clientWidth + 1)
    .map((box) => `${box.ariaLabel}: ${box.scrollWidth} in ${box.clientWidth}`)"""


def test_no_word_pushes_a_column_out_and_every_page_fits_a_phone(
    page: Any, viewer: LocalServer, runs: list[Run]
) -> None:
    for name, address in pages_of(viewer, runs[2]).items():
        page.set_viewport_size(DESK)
        page.goto(address)
        page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth") <= DESK["width"], name
        if name in ("records", "record", "answers", "questions", "question"):
            assert page.evaluate(WIDE) == [], name
        page.set_viewport_size(PHONE)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name
        if name != "report":  # whose charts are drawn when they come into sight
            assert page.evaluate(CUT) == [], name
        if name in ("runs", "records", "answers", "questions"):  # rows are stacked
            assert page.evaluate(WIDE) == [], name
        if name != "report":
            assert serious(page) == [], name


def test_the_reports_cases_keep_their_columns_beside_one_another(light: Any, runs: list[Run]) -> None:
    light.goto((runs[2].folder / "report.html").resolve().as_uri())
    for table in light.locator(".example .table").all():
        width = table.evaluate("(one) => [one.scrollWidth, one.clientWidth]")
        assert width[0] <= width[1] + 1
    assert light.locator(".example .answers").count() > 0
