from __future__ import annotations

import csv
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from stand_in_run import EXAMPLE, StandInRun, complete, findings

from shaketable.stages.report import report
from shaketable.stages.report_content import cell, word_diff

HOSTILE = "</script><script>alert('x')</script><img src=x onerror=alert(1)> javascript:alert(2)"


class Page(HTMLParser):
    """What a browser would find: tags, ids, links and the visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def values(self, name: str) -> list[str]:
        return [value or "" for attribute, value in self.attributes if attribute == name]


@pytest.fixture(scope="module")
def found() -> list[Any]:
    return list(findings(n_questions=16))


@pytest.fixture(scope="module")
def written(found: list[Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report(StandInRun(tmp_path_factory.mktemp("run"), found))


@pytest.fixture(scope="module")
def page(written: Path) -> Page:
    return Page(written.read_text(encoding="utf-8"))


def test_the_page_tells_what_stood_on_the_table(page: Page) -> None:
    assert "6,900 of 6,912 answered, 12 failed" in page.text
    assert "temperature 0 to 2 in 6 steps" in page.text
    assert "2 March 2026, 09:14 to 10:02" in page.text


def test_every_sentence_of_the_findings_is_on_the_page(page: Page, found: list[Any]) -> None:
    for finding in found:
        for row in finding.rows:
            if row["sentence"]:
                assert row["sentence"] in page.text
                assert row["detail"] in page.text


def test_what_is_missing_is_shown_with_its_reasons(page: Page) -> None:
    for words in ("no reply within 120 s", "nothing_to_mask", "failed: timeout"):
        assert words in page.text


def test_the_page_loads_nothing_and_forbids_foreign_scripts(written: Path, page: Page) -> None:
    policy = next(value for value in page.values("content") if "default-src" in value)
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]+'", policy)
    assert page.tags.count("script") == 1
    assert not page.values("src")
    assert "link" not in page.tags
    assert all(href.startswith(("#", "data:")) for href in page.values("href"))


def test_every_link_within_the_page_has_its_target(page: Page) -> None:
    targets = {href[1:] for href in page.values("href") if href.startswith("#")}
    assert targets <= set(page.values("id"))
    assert len(page.values("id")) == len(set(page.values("id")))


def test_every_figure_has_a_text_alternative_a_table_and_downloads(page: Page) -> None:
    n = page.tags.count("figure")
    assert n == 6
    assert page.text.count("numbers as a table") == n
    assert page.text.count("Download CSV") == page.text.count("Download SVG") == n
    assert sum("Mean" in label or "intervals" in label for label in page.values("aria-label")) >= n


def test_figures_are_written_as_svg_png_and_csv(written: Path, found: list[Any]) -> None:
    folder = written.parent / "figures"
    assert (folder / "score_by_temperature_contains.svg").read_text().startswith("<svg")
    assert (folder / "score_by_temperature_contains.png").read_bytes().startswith(b"\x89PNG")
    with (folder / "score_by_temperature_contains.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 4 * 6 * 2
    exact = {row["value"] for row in found[0].rows}
    assert {float(row["value"]) for row in rows} <= exact


def test_hostile_text_stays_text(found: list[Any], tmp_path: Path) -> None:
    answers = [{"temperature": 0.0, "repeat": 0, "perturbation": HOSTILE, "text": HOSTILE, "correct": False}]
    words = ("question", "wording", "evidence_before", "evidence_after", "perturbation")
    example = EXAMPLE | dict.fromkeys(words, HOSTILE) | {"gold": [HOSTILE], "answers": answers}
    run = StandInRun(tmp_path, [], study_text=HOSTILE, shown=[example], changes={"study": HOSTILE, "models": [HOSTILE]})
    text = report(run).read_text(encoding="utf-8")
    page = Page(text)
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert "onerror" not in dict(page.attributes)
    assert not any("javascript:" in href for href in page.values("href"))
    assert text.count("</script>") == 1


def test_chapters_that_the_run_does_not_support_are_absent(tmp_path: Path) -> None:
    page = Page(report(StandInRun(tmp_path, [], shown=[])).read_text(encoding="utf-8"))
    ids = page.values("id")
    assert {"missing", "method"} <= set(ids)
    assert not {"verdict", "dice", "evidence"} & set(ids)
    assert "#dice" not in page.values("href")


def test_without_variability_the_rest_stands(found: list[Any], tmp_path: Path) -> None:
    slim = replace(found[0], rows=tuple(row for row in found[0].rows if row["metric"] == "contains"))
    page = Page(report(StandInRun(tmp_path, [slim], shown=[])).read_text(encoding="utf-8"))
    assert page.tags.count("figure") == 2
    assert "stability baseline" not in page.text


def test_a_finished_run_has_no_banner_and_nothing_missing(tmp_path: Path) -> None:
    page = Page(report(complete(StandInRun(tmp_path, []))).read_text(encoding="utf-8"))
    assert "banner" not in page.values("class")
    assert "Nothing: each of the 6,912 planned trials has an answer" in page.text


@pytest.mark.parametrize("state", ["interrupted", "empty", "finished_with_failures"])
def test_a_run_that_can_go_on_says_how(state: str, tmp_path: Path) -> None:
    run = StandInRun(tmp_path / "my run", [], state=state, changes={"finished": None, "done": 5000, "missing": 1912})
    run.folder.mkdir()
    page = Page(report(run).read_text(encoding="utf-8"))
    assert f"shaketable run '{run.folder}/study.toml' --out '{run.folder}'" in page.text


def test_a_running_run_is_marked_as_partial(tmp_path: Path) -> None:
    page = Page(
        report(StandInRun(tmp_path, [], state="running", changes={"finished": None})).read_text(encoding="utf-8")
    )
    assert "all results are partial" in page.text
    assert "shaketable run" not in page.text


def test_a_diff_keeps_removes_and_adds_words() -> None:
    runs = word_diff("Ann lives in Paris now.", "Ann lives in Rome now.")
    assert runs == [("kept", "Ann lives in"), ("gone", "Paris"), ("new", "Rome"), ("kept", "now.")]


def test_numbers_are_written_for_people() -> None:
    assert cell(0.12345, "share") == "12.3 %"
    assert cell(0.98765, "score") == "0.988"
    assert cell(12345, "") == "12,345"
    assert cell(None, "share") == "–"
