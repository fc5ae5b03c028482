"""The page of a comparison: what stands on it, and that nothing of a model's text becomes markup."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from axe_findings import serious
from made_answers import answer_rows, made_run
from seen_page import SeenPage

from shaketable.report.comparison.figures import make_figures
from shaketable.report.comparison.page import render_comparison
from shaketable.stages.compare import compare

SHORT, LONG = [0] * 20 + [1] * 4, [1] * 14 + [0] * 6 + [1] * 3 + [0]
"""Fourteen questions are gained, one is lost."""
HOSTILE = "<script>window.broken = 1</script> \u202e town000 & <img src=x onerror=alert(1)>"


def two_prompts(folder: Path) -> str:
    """Under two conditions; the second writes more."""
    rows = [
        {**row, "n_tokens": n_tokens + i % 5, "perturbation": evidence}
        for name, right, n_tokens in (("short", SHORT, 10), ("<b>long</b>", LONG, 30))
        for evidence in ("unchanged", "sentence_removal")
        for i, row in enumerate(answer_rows(right, method=name))
    ]
    for row in rows:
        if row["question_id"] == "q0" and row["method"] != "short":
            row["answer"] = HOSTILE
    return render_comparison(compare(made_run(folder, rows)))


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    return two_prompts(tmp_path_factory.mktemp("compared") / "prompts")


@pytest.fixture(scope="module")
def page(html: str) -> SeenPage:
    return SeenPage(html)


def test_the_verdict_has_its_number_its_evidence_and_the_questions_behind_it(page: SeenPage) -> None:
    assert "<b>long</b> is better than short." in page.text
    assert "54 points [" in page.text
    assert "24 questions under 2 conditions, 48 pairs" in page.text
    assert "Of 24 questions 14 have more correctness with <b>long</b>, 1 less, and 9 the same." in page.text
    assert "The difference over all questions is shown; it takes no more questions." in page.text


def test_what_an_answer_takes_stands_beside_its_quality(page: SeenPage) -> None:
    assert "An answer of <b>long</b> takes more tokens written than one of short: 20.0 more" in page.text
    assert re.search(r"correctness 17 % .* 71 % .* calls 1\.00 .* tokens written 11\.9 .* 31\.9", page.text)


def test_answers_stand_side_by_side_with_the_words_that_changed(html: str) -> None:
    assert "It is <del>Oslo.</del>" in " ".join(html.split())
    assert re.search(r"It is\s+<ins>town001, of course\.</ins>", html)


def test_nothing_of_an_answer_or_a_name_becomes_markup(html: str, page: SeenPage) -> None:
    assert "window.broken" in page.text and "<img" in page.text
    assert "<script>window.broken" not in html and "onerror=alert(1)>" not in html
    assert "b" not in page.tags or "<b>long</b>" not in html
    assert "[U+202E]" in html


def test_places_are_named_once_and_every_link_leads_to_one(page: SeenPage) -> None:
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    links = [link[1:] for link in page.values("href") if link.startswith("#")]
    assert len(links) > 8 and set(links) <= set(ids)


def test_what_is_not_shown_says_how_many_more_questions_would_decide_it(tmp_path: Path) -> None:
    other = [1 - mark if i in (3, 9) else mark for i, mark in enumerate(LONG)]
    first, second = (
        made_run(tmp_path / name, answer_rows(right)) for name, right in (("monday", LONG), ("friday", other))
    )
    page = SeenPage(render_comparison(compare(first, second)))
    assert "No difference in correctness is shown between monday and friday." in page.text
    assert re.search(
        r"To see a difference of 5 points it would need about [\d,]+ questions, if .+? allows. "
        r"That is about [\d,]+ more",
        page.text,
    )
    assert "Would likely have been seen" in page.text
    assert "Nothing: each question under each condition has a score on both sides." in page.text


def test_several_systems_of_two_runs_have_a_card_each_and_what_has_no_partner_is_told(tmp_path: Path) -> None:
    runs = [
        made_run(tmp_path / name, [*answer_rows(right, method="x"), *answer_rows(right[:20], method="y")])
        for name, right in (("a", SHORT), ("b", LONG[:22]))
    ]
    html = render_comparison(compare(*runs))
    page = SeenPage(html)
    assert html.count('<article class="card">') == 2
    assert "a → b" in page.text and "theirs · x: a → b" in page.text
    assert "Not compared: 2 pairs of a: the other side was not asked these questions" in page.text
    ids = page.values("id")
    assert len(ids) == len(set(ids))


def test_more_temperatures_than_fit_get_a_slider(tmp_path: Path) -> None:
    rows = [
        {**row, "answer": f"{row['answer']} {temperature}", "temperature": temperature, "perturbation": evidence}
        for name, right in (("short", SHORT), ("long", LONG))
        for temperature in (0.0, 0.5, 1.0, 1.5, 2.0)
        for evidence in ("unchanged", "sentence_removal")
        for row in answer_rows(right[12:], method=name)
    ]
    html = render_comparison(compare(made_run(tmp_path / "run", rows)))
    assert "temperature_shown" in html
    assert "10 numbers as a table" in html


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_a_browser_draws_it_and_nobody_is_shut_out(
    browser: Any, html: str, tmp_path: Path, scheme: str, width: int
) -> None:
    file = tmp_path / "page.html"
    file.write_text(html, "utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    context.set_default_timeout(60_000)
    shown = context.new_page()
    complaints: list[str] = []
    shown.on("pageerror", lambda error: complaints.append(str(error)))
    shown.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    shown.goto(file.as_uri())
    for figure in shown.query_selector_all("figure"):
        figure.scroll_into_view_if_needed()
        figure.wait_for_selector(".live svg")
    assert shown.evaluate("window.broken") is None
    assert complaints == []
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(shown) == []
    context.close()


def test_the_chart_of_conditions_draws_what_was_observed(tmp_path: Path) -> None:
    """Under one condition nothing differs, under the other six of 24 do: a drawn-together value would move both."""
    rows = [
        {**row, "perturbation": evidence, "method": name}
        for name, evidence, right in (
            ("x", "unchanged", [0] * 24),
            ("y", "unchanged", [0] * 24),
            ("x", "sentence_removal", [1] * 12 + [0] * 12),
            ("y", "sentence_removal", [1] * 6 + [0] * 18),
        )
        for row in answer_rows(right, method=name)
    ]
    told = compare(made_run(tmp_path / "run", rows))
    [figure] = [own for own in make_figures(told.compared[0], told, "") if own.name == "conditions"]
    by_value = {mark.x: (mark.value, mark.n) for mark in figure.marks}
    assert by_value == {"unchanged": (0.0, 24), "sentence removal": (-0.25, 24)}
    assert "observed difference" in figure.caption


def test_small_differences_of_effort_have_no_card_and_no_word(tmp_path: Path) -> None:
    def rows(name: str, seconds: float) -> list[dict[str, Any]]:
        return [{**row, "seconds": seconds, "n_tokens": 20} for row in answer_rows(SHORT, method=name)]

    told = compare(made_run(tmp_path / "run", [*rows("x", 0.5), *rows("y", 0.51)]))
    html = render_comparison(told)
    assert "Latency, seconds" not in html and "more seconds" not in html
    assert "No difference of 5 % or more in seconds is shown" in SeenPage(html).text
    slow = compare(made_run(tmp_path / "slow", [*rows("x", 0.5), *rows("y", 0.6)]))
    assert "Latency, seconds" in render_comparison(slow)
