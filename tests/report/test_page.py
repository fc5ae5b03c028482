"""The page of a run: what stands on it, and what a browser may do with it. Runs are real, their model is scripted."""

from __future__ import annotations

import csv
import dataclasses
import re

import pytest
from seen_page import COOL, FAILING, SeenPage, see, small_run

from shaketable.report.about import BANNERS
from shaketable.report.cards import choose_headlines
from shaketable.report.page import group_caveats
from shaketable.stages.report import page_of, render, report, sections_of
from shaketable.store import Run
from shaketable.store.sealing.files import write_sealed
from shaketable.types import NotApplied

EVIDENCE = ["correctness", "variability", "degradation", "equivalence", "ranking", "dominance", "amplification"]


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    analyses = [*EVIDENCE, "cases", "guidelines"]
    return small_run(tmp_path_factory.mktemp("evidence") / "run", analyses=analyses, models=[COOL, FAILING])


@pytest.fixture(scope="module")
def page(run) -> SeenPage:
    return see(run)


def test_the_page_tells_what_stood_on_the_table(page, run):
    summary = run.summary()
    assert f"{summary.done:,} of {summary.trials:,} answered, {summary.failed:,} failed" in page.text
    assert "temperature 0 to 2 (3 values)" in page.text
    assert "evidence unchanged, sentence removal, word reordering" in page.text


def test_every_headline_and_caveat_of_every_section_is_on_the_page(page, run):
    sections = sections_of(run, run.findings())
    assert len(sections) >= len(EVIDENCE)
    for section in sections:
        for headline in section.headlines:
            assert " ".join(headline.sentence.split()) in page.text
            assert " ".join(headline.detail.split()) in page.text
    for _, caveats in group_caveats(page_of(run, run.findings()), sections):
        for caveat in caveats:
            assert caveat in page.text


def test_every_section_with_words_or_tables_has_an_id_that_is_there_once(page, run):
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {"degradation", "equivalence", "ranking", "guidelines"} <= set(ids)


def test_what_is_missing_is_shown_with_its_reasons(page, run):
    assert run.summary().failed > 0
    assert f"{run.summary().failed:,} trials failed" in page.text
    assert "The script says ERROR here." in page.text


def test_the_page_loads_nothing_and_forbids_foreign_scripts(page):
    policy = next(value for value in page.values("content") if "default-src" in value)
    assert "default-src 'none'" in policy
    assert re.search(r"script-src ('sha256-[A-Za-z0-9+/=]+' ){2};", policy)
    assert page.tags.count("script") == 2 + page.values("type").count("application/json")
    assert not page.values("src")
    assert "link" not in page.tags
    assert all(href.startswith(("#", "data:")) for href in page.values("href"))


def test_every_link_within_the_page_has_its_target(page):
    targets = {href[1:] for href in page.values("href") if href.startswith("#")}
    assert targets <= set(page.values("id"))


def test_every_figure_has_a_text_alternative_a_table_and_downloads(page):
    n = page.tags.count("figure")
    assert n >= 5
    assert page.text.count("numbers as a table") == n
    assert page.text.count("Download CSV") == page.text.count("Download SVG") == page.text.count("Download PNG") == n
    assert page.values("type").count("application/json") == n
    assert sum("n = " in label and "questions" in label for label in page.values("aria-label")) >= n


def test_figures_are_written_as_svg_png_and_csv(run):
    folder = run.folder / "figures"
    names = {file.stem for file in folder.glob("*.svg")}
    assert "score_by_temperature_rougeL" in names
    for name in names:
        assert (folder / f"{name}.svg").read_text().startswith("<svg")
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        with (folder / f"{name}.csv").open() as file:
            assert len(list(csv.DictReader(file))) > 0


def test_there_are_at_most_six_cards_and_what_claims_something_comes_first(page, run):
    assert 1 <= page.values("class").count("card") <= 6
    chosen = choose_headlines([own for section in sections_of(run, run.findings()) for own in section.headlines])
    assert [own.is_clear for own in chosen] == sorted((own.is_clear for own in chosen), reverse=True)


def test_a_finished_run_has_no_banner_and_nothing_missing(tmp_path):
    whole = small_run(tmp_path / "run", analyses=["correctness"], perturbations=["unchanged"], temperatures=[0.0])
    seen = see(whole)
    assert not any(title in seen.text for title, _ in BANNERS.values())
    assert "Nothing: each of the 16 planned trials has an answer" in seen.text


@pytest.mark.parametrize(("verdict", "is_said"), [("correct", True), ("incorrect", False)])
def test_a_judge_at_odds_with_correct_is_named_first(tmp_path, verdict, is_said):
    judge = f"judge(model=\"scripted(replies=('VERDICT: {verdict}',))\")"
    judged = small_run(
        tmp_path / "run",
        analyses=["correctness"],
        score=["correct", judge],
        models=["scripted(replies=('Quince jam',))"],
        perturbations=["unchanged"],
        temperatures=[0.0],
    )
    text = see(judged).text
    warning = text.find(
        "The judge and the metric correct disagree on 16 of 16 answers (100%): 16 are right for the judge"
    )
    assert (warning >= 0) is is_said
    if is_said:
        assert warning < text.index("Nothing: each of the 16 planned trials has an answer")


def test_chapters_that_the_run_does_not_support_are_absent(tmp_path):
    bare = small_run(tmp_path / "run", analyses=["judge_agreement"], perturbations=["unchanged"], temperatures=[0.0])
    ids = see(bare).values("id")
    assert {"missing", "method"} <= set(ids)
    assert not {"wording", "facts", "together", "dice"} & set(ids)
    assert "#dice" not in see(bare).values("href")


def test_a_run_with_failures_says_how_to_go_on(page, run):
    assert f"shaketable run {run.folder}/study.toml --out {run.folder}" in page.text


def test_findings_of_an_older_version_are_made_anew_for_the_page(tmp_path):
    small = small_run(tmp_path / "run", analyses=["degradation"], perturbations=["unchanged", "sentence_removal"])
    before = see(small).text
    write_sealed(small.folder / "findings.json", '{"made_from": "x", "asked": null, "findings": []}')
    assert not small.has_current_findings()
    report(small)
    assert see(small).text == before


def test_hostile_text_stays_text(tmp_path):
    hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)> javascript:alert(2)"
    run = small_run(tmp_path / "run", analyses=["correctness"], models=[f"scripted(replies={(hostile,)!r})"])
    seen = see(run)
    assert "alert(1)" in seen.text  # as an answer, as the name of a model, and in the study
    assert seen.tags.count("script") == 2 + seen.values("type").count("application/json")
    assert "img" not in seen.tags
    assert "onerror" not in dict(seen.attributes)
    assert not any("javascript:" in href for href in seen.values("href"))


def test_a_system_that_temperature_did_not_reach_has_a_banner_a_mark_in_its_panels_and_claims_nothing(run):
    flat = NotApplied(model=COOL, method="single_retrieval", reason="it says so")
    page = page_of(run, dataclasses.replace(run.findings(), not_applied=(flat,)))
    sections = sections_of(run, page.findings)
    seen = SeenPage(render(run, page, sections, []))
    assert f"Temperature was not applied by {COOL} · single_retrieval: it says so." in seen.text
    panels = {mark.panel for section in sections for figure in section.figures for mark in figure.marks}
    assert f"{COOL} · temperature not applied" in panels and FAILING in panels
    own = [headline for section in sections for headline in section.headlines if headline.system == COOL]
    claims = [headline for headline in own if headline.kind in ("heat", "evidence", "degradation", "variability")]
    assert claims and not any(headline.is_clear for headline in claims)
