"""The page of `shaketable annotate` in a real browser."""

from __future__ import annotations

import json
import signal
from urllib.parse import urlsplit

import pytest
from annotating import REWRITES, annotating, load_questions, serving, write_questions

from shaketable.annotation.tasks import Task, rewriting_tasks

ID_OF = {"Jaws": "jaws", "Nile": "nile", "script": "xss"}


@pytest.fixture
def tab(browser):
    """Opens tabs that share nothing, each with the errors its page has met."""
    contexts = []

    def open_tab(address, name=None):
        contexts.append(browser.new_context())
        page = contexts[-1].new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("dialog", lambda dialog: page.errors.append(dialog.message))
        page.goto(address)
        if name:
            page.get_by_label("Your name").fill(name)
            page.keyboard.press("Enter")
            arrive(page, "#task")
        return page

    yield open_tab
    for context in contexts:
        assert not [error for page in context.pages for error in page.errors]
        context.close()


def shown(page):
    """The id of the question on the page."""
    text = page.locator("h1 bdi").inner_text()
    return next(task_id for word, task_id in ID_OF.items() if word in text)


def arrive(page, selector):
    """Waits for a page that shows it, and for the script of that page: a key that is pressed earlier is lost."""
    page.wait_for_selector(selector)
    page.wait_for_load_state()


def rewrite(page, text):
    page.get_by_label("Your rewrite").fill(text)
    page.keyboard.press("Control+Enter")


def saved(path):
    return [(row["annotator"], row["id"]) for row in map(json.loads, path.read_text("utf-8").splitlines())]


def test_two_people_reword_all_questions_at_once(tab, tmp_path):
    tasks, path = rewriting_tasks(load_questions(tmp_path)[1:]), tmp_path / "r.jsonl"
    with serving(path, tasks) as address:
        pages = {name: tab(address, name) for name in ("Ada", "Bo")}
        assert shown(pages["Ada"]) != shown(pages["Bo"])
        assert pages["Ada"].get_by_text("Keep the meaning").is_visible()
        for n in range(2):
            for page in pages.values():
                asked = shown(page)
                rewrite(page, REWRITES[asked])
                page.locator(f"[data-id={asked}]").wait_for(state="detached")
                arrive(page, "main")
            assert len(saved(path)) == 2 * (n + 1)
        pages["Bo"].get_by_text("All is done").wait_for()
        assert pages["Bo"].get_by_label("All together: 4 of 4 rewrites").get_attribute("value") == "4"
    assert sorted(saved(path)) == [(name, task_id) for name in ("Ada", "Bo") for task_id in ("nile", "xss")]


def test_a_near_copy_gets_a_hint_and_a_skipped_question_comes_back(tab, tmp_path):
    tasks, path = rewriting_tasks(load_questions(tmp_path)[:2]), tmp_path / "r.jsonl"
    with serving(path, tasks) as address:
        page = tab(address, "Ada")
        assert page.evaluate("document.activeElement.id") == "rewrite"
        rewrite(page, "who was the director of the movie Jaws")
        page.get_by_role("alert").filter(has_text="Say 'director', 'movie' in another way").wait_for()
        page.get_by_role("button", name="Skip for now").click()
        arrive(page, "[data-id=nile]")
        rewrite(page, REWRITES["nile"])
        arrive(page, "[data-id=jaws]")
        assert page.get_by_label("Your rewrite").input_value() == "who was the director of the movie Jaws"
    assert saved(path) == [("Ada", "nile")]


@pytest.mark.slow  # It starts two processes.
def test_an_open_page_outlives_a_server_that_is_killed(tab, tmp_path):
    path = tmp_path / "r.jsonl"
    words = ("--dataset", "jsonl", "--path", write_questions(tmp_path), "--out", path)
    with annotating(*words) as (process, address):
        page = tab(address, "Ada")
        rewrite(page, REWRITES["jaws"])
        arrive(page, "[data-id=nile]")
        process.kill()
        process.wait()
        rewrite(page, REWRITES["nile"])
        page.get_by_role("alert").filter(has_text="Not saved: the server does not answer").wait_for()
    assert saved(path) == [("Ada", "jaws")]
    with annotating(*words, "--port", urlsplit(address).port) as (process, _):
        page.get_by_role("button", name="Save").click()
        arrive(page, "[data-id=xss]")
        process.send_signal(signal.SIGINT)
        assert "2 of 6 entries are in" in process.stderr.read()
    assert saved(path) == [("Ada", "jaws"), ("Ada", "nile")]


def test_a_reviewer_judges_with_two_keys(tab, tmp_path):
    path = tmp_path / "reviews.jsonl"
    made = {"d1": "Whoo shot <b>Jaws</b>?", "d2": "Where's the Nile?"}
    tasks = [
        Task(id=i, question_id=i, question="What?", wording=text, variation="spelling") for i, text in made.items()
    ]
    with serving(path, tasks) as address:
        page = tab(f"{address}?annotator=Ada")
        assert page.locator("h2 bdi").inner_text() == "Whoo shot <b>Jaws</b>?"
        page.keyboard.press("r")
        arrive(page, "[data-id=d2]")
        page.keyboard.press("a")
        page.get_by_text("2 still wait for another person").wait_for()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(row["wording"], row["accepted"]) for row in rows] == [(made["d1"], False), (made["d2"], True)]


def test_every_field_and_button_has_a_name_and_nothing_overflows(tab, tmp_path):
    tasks = [Task(id="q", question_id="q", question="W" * 300, answers=("x" * 200,))]
    with serving(tmp_path / "r.jsonl", tasks) as address:
        page = tab(f"{address}?annotator=Ada")
        page.set_viewport_size({"width": 360, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        unnamed = "[...document.querySelectorAll('input, textarea, progress')].filter((e) => !e.labels.length).length"
        assert page.evaluate(unnamed) == 0
        light = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.emulate_media(color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
