from __future__ import annotations

import csv
import re
import tomllib
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from stand_in_run import EXAMPLE, MODELS, StandInRun, all_findings, complete, findings, score_table

from shaketable.analyses.evidence.correctness import correctness
from shaketable.report.cards import N_CARDS, draw_cards
from shaketable.report.case import CaseAnswer, case_of
from shaketable.report.cases import cases_of
from shaketable.report.content import cell, example, extreme_systems, not_applied, word_diff
from shaketable.report.old_blocks import Block, Cell, make_blocks
from shaketable.report.old_figures import draw_figures
from shaketable.stages.report import report
from shaketable.stages.run import run
from shaketable.store.examples import ExampleAnswer
from shaketable.study import parse_study
from shaketable.types import OldFinding

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
        if not self.tags or self.tags[-1] != "script":
            self.words.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self.tags.append("after script")

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


@pytest.fixture
def blank_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real ones are drawn for `written` and `full`; elsewhere they would only take time."""
    monkeypatch.setattr("shaketable.report.old_figures.draw_svg", lambda *_: "<svg></svg>")
    monkeypatch.setattr("shaketable.report.old_figures.draw_png", lambda *_: b"")


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
    for words in ("no reply within 120 s", "nothing_to_mask", "answer_cut_off", "failed: timeout", "out of turns"):
        assert words in page.text
    assert "5 answers are empty, and count as wrong" in page.text


def test_the_page_loads_nothing_and_forbids_foreign_scripts(written: Path, page: Page) -> None:
    policy = next(value for value in page.values("content") if "default-src" in value)
    assert "default-src 'none'" in policy
    assert re.search(r"script-src ('sha256-[A-Za-z0-9+/=]+' ){2};", policy)
    assert page.tags.count("script") == 2 + page.values("type").count("application/json")
    assert not page.values("src")
    assert "link" not in page.tags
    assert all(href.startswith(("#", "data:")) for href in page.values("href"))


def test_every_link_within_the_page_has_its_target(page: Page) -> None:
    targets = {href[1:] for href in page.values("href") if href.startswith("#")}
    assert targets <= set(page.values("id"))
    assert len(page.values("id")) == len(set(page.values("id")))


def test_every_figure_has_a_text_alternative_a_table_and_downloads(full_page: Page) -> None:
    page = full_page
    n = page.tags.count("figure")
    assert n == 3 * 2 + 2 * 2  # three kinds for two metrics, and boxes for each system and type
    assert page.text.count("numbers as a table") == n
    assert page.text.count("Download CSV") == page.text.count("Download SVG") == page.text.count("Download PNG") == n
    assert page.values("type").count("application/json") == n
    assert sum("n = " in label and "questions" in label for label in page.values("aria-label")) >= n


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
    answer = ExampleAnswer(temperature=0.0, repeat=0, perturbation=HOSTILE, text=HOSTILE, correct=0.0)
    words = ("question", "wording", "evidence_before", "evidence_after", "perturbation")
    example = replace(EXAMPLE, **dict.fromkeys(words, HOSTILE), gold=(HOSTILE,), answers=(answer,))
    run = StandInRun(
        tmp_path, [], study_text=HOSTILE, shown=[example], changes={"study": HOSTILE, "models": (HOSTILE,)}
    )
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


@pytest.mark.usefixtures("blank_pictures")
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


# --- what every analysis adds ---------------------------------------------------------------------

FLAT = "openai(model='gpt-4o')"


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return score_table(16)


@pytest.fixture(scope="module")
def everything(table: pl.DataFrame) -> list[OldFinding]:
    return all_findings(table, not_applied=((FLAT, "single_retrieval"),))


@pytest.fixture(scope="module")
def full(everything: list[OldFinding], table: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report(StandInRun(tmp_path_factory.mktemp("full"), everything, table=table))


@pytest.fixture(scope="module")
def full_page(full: Path) -> Page:
    return Page(full.read_text(encoding="utf-8"))


def blocks(findings: list[OldFinding]) -> dict[str, Block]:
    return {block.name: block for block in make_blocks(findings)}


def found_by(findings: list[OldFinding], analysis: str) -> OldFinding:
    return next(finding for finding in findings if finding.analysis == analysis)


def test_every_sentence_and_caveat_of_every_analysis_is_on_the_page(
    full_page: Page, everything: list[OldFinding]
) -> None:
    for finding in everything:
        for text in (*finding.sentences, *finding.caveats):
            assert " ".join(text.split()) in full_page.text, finding.analysis


def test_every_block_is_linked_to_by_an_id_that_is_there_once(full_page: Page) -> None:
    ids = full_page.values("id")
    assert len(ids) == len(set(ids))
    assert {"guidelines", "dominance", "variability", "degradation", "equivalence", "ranking"} <= set(ids)
    assert {href[1:] for href in full_page.values("href") if href.startswith("#")} <= set(ids)


@pytest.mark.usefixtures("blank_pictures")
def test_a_block_without_its_analysis_is_absent(everything: list[OldFinding], tmp_path: Path) -> None:
    some = [one for one in everything if one.analysis in ("correctness", "ranking")]
    page = Page(report(StandInRun(tmp_path, some, shown=[])).read_text(encoding="utf-8"))
    assert "ranking" in page.values("id")
    assert not {"guidelines", "dominance", "equivalence", "degradation", "examples"} & set(page.values("id"))


def test_the_first_card_is_a_ceiling_and_there_are_at_most_six(everything: list[OldFinding]) -> None:
    cards, more = draw_cards(everything, set())
    assert cards[0].kicker == "Guideline · smollm2"
    assert cards[0].number.startswith("≤ ")
    assert 3 <= len(cards) <= N_CARDS
    told = [sentence for one in more for sentence in one.sentences]
    every = [sentence for finding in everything for sentence in finding.sentences]
    assert len(told) + len(cards) == len(every)


def test_a_model_that_ignores_its_temperature_gets_no_card(everything: list[OldFinding]) -> None:
    assert all("smollm2" in card.kicker for card in draw_cards(everything, set())[0])


def test_a_card_rather_claims_something(everything: list[OldFinding]) -> None:
    ranking = found_by(everything, "ranking")
    unsure = replace(ranking, rows=tuple({**row, "verdict": "no change shown"} for row in ranking.rows))
    sure = replace(ranking, rows=tuple({**row, "verdict": "reversal"} for row in ranking.rows))
    others = [one for one in everything if one.analysis != "ranking"]
    kickers = [[card.kicker for card in draw_cards([*others, one], set())[0]] for one in (unsure, sure)]
    assert "Ranking · smollm2" not in kickers[0]
    assert "Ranking · smollm2" in kickers[1]


def test_a_card_links_only_to_what_the_page_has(everything: list[OldFinding]) -> None:
    assert all(card.link is None for card in draw_cards(everything, set())[0])
    assert draw_cards(everything, {"guidelines"})[0][0].link == "guidelines"
    figure = "score_by_temperature_contains"
    assert draw_cards(everything, {"guidelines", figure})[0][0].link == figure


def test_temperature_not_applied_is_a_banner_and_a_mark_in_every_panel(full_page: Page, full: Path) -> None:
    assert full_page.values("class").count("banner") == 2  # failures on top, this one in the chapter
    assert f"Temperature was not applied by {FLAT}" in full_page.text
    figures = full.parent / "figures"
    assert "temperature not applied" in (figures / "score_by_temperature_contains.svg").read_text()
    assert "temperature not applied" in (figures / "variation_by_temperature_token_f1.svg").read_text()


def test_only_the_named_model_is_taken_for_ignoring_its_temperature(everything: list[OldFinding]) -> None:
    assert list(not_applied(everything)) == [f"{FLAT} · single_retrieval"]
    assert not_applied(findings(n_questions=2)) == {}


def test_a_ceiling_is_drawn_for_its_metric_and_system_alone(full: Path, everything: list[OldFinding]) -> None:
    (ceiling,) = [
        row["value"]
        for row in found_by(everything, "guidelines").rows
        if row["decides"] and row["next_temperature"] is not None and row["value"] is not None
    ]
    figures = full.parent / "figures"
    # One system has a ceiling; its two panels, one for each type, are marked.
    assert (figures / "score_by_temperature_contains.svg").read_text().count(f">ceiling {ceiling:g}<") == 2
    assert "ceiling" not in (figures / "score_by_temperature_token_f1.svg").read_text()


def test_the_figure_table_has_its_columns_and_redraws_the_figures(full: Path, everything: list[OldFinding]) -> None:
    with (full.parent / "figures" / "figure_table.csv").open() as file:
        reader = csv.DictReader(file)
        rows = list(reader)
    names = ["model", "qtype", "context", "T", "n", "mean", "sd_runs", "sd_questions", "cv", "baseline_cv"]
    assert reader.fieldnames == names
    assert len(rows) == len(MODELS) * 2 * 4 * 6  # types, kinds of evidence, temperatures
    means = {(row["model"], row["qtype"], row["context"], float(row["T"])): float(row["mean"]) for row in rows}
    drawn = [
        row
        for row in found_by(everything, "correctness").rows
        if row["metric"] == "contains" and row["contrast"] is None and row["type"]
    ]
    assert len(drawn) == len(means)
    for row in drawn:
        place = row["system"], row["type"], row["perturbation"], row["temperature"]
        assert means[place] == pytest.approx(row["value"])


def test_boxes_are_drawn_for_each_system_and_type(full: Path) -> None:
    stems = {path.stem for path in (full.parent / "figures").glob("score_boxes_*.png")}
    assert "score_boxes_contains_smollm2_bridge" in stems
    assert len(stems) == 4
    assert len({path.stem for path in (full.parent / "figures").glob("score_boxes_*.svg")}) == 4


def test_boxes_hold_the_mean_of_each_question_over_its_runs(full: Path, table: pl.DataFrame) -> None:
    text = (full.parent / "figures" / "score_boxes_contains_smollm2_bridge.csv").read_text()
    rows = list(csv.DictReader(text.splitlines()))
    assert {row["temperature"] for row in rows} == {"0.4", "2.0"}  # 0.4 is nearest to 0.6 and cooler than 0.8
    assert len(rows) == 8 * 4 * 2  # questions of the type, kinds of evidence, temperatures
    one = next(row for row in rows if row["temperature"] == "0.4")
    runs = table.filter(
        metric="contains",
        model="smollm2",
        question_id=one["question_id"],
        perturbation=one["perturbation"],
        temperature=0.4,
    )["value"].to_list()
    assert float(one["value"]) == pytest.approx(sum(runs) / 3)


@pytest.mark.usefixtures("blank_pictures")
def test_of_many_systems_the_page_shows_boxes_of_those_that_heat_moves_most_and_least() -> None:
    table = score_table(4, models={"steady": (2.0, 9.0), "a": (2.0, 1.0), "melting": (3.0, 0.2)})
    table = table.filter(metric="contains")
    found = [correctness(table, n_resamples=20)]
    assert extreme_systems(found) == ["melting", "steady"]
    boxes = [figure for figure in draw_figures(found, table) if figure.name.startswith("score_boxes")]
    assert len(boxes) == 6
    assert {figure.name.split("_")[3] for figure in boxes if figure.is_on_page} == {"melting", "steady"}


@pytest.mark.usefixtures("blank_pictures")
def test_deviation_bands_are_drawn_and_tabled_when_asked_for(everything: list[OldFinding], table: pl.DataFrame) -> None:
    finding = found_by(everything, "correctness")
    rows = tuple(row for row in finding.rows if row["metric"] == "token_f1" and row["contrast"] is None)
    figure, *_ = draw_figures([replace(finding, rows=rows)], table.clear(), "sd")
    assert "± the standard deviation between runs" in figure.note
    row = figure.rows[-1]
    assert row["high"] - row["value"] == pytest.approx(row["sd_runs"])


def test_equivalence_is_told_in_words_for_each_disturbance_and_temperature(everything: list[OldFinding]) -> None:
    finding = found_by(everything, "equivalence")
    pooled, by_type = blocks(everything)["equivalence"].matrices
    assert pooled.columns == ["0", "0.4", "0.8", "1.2", "1.6", "2"]
    assert [len(lines) for _, lines in pooled.groups] == [3, 3]
    assert by_type.is_folded and len(by_type.groups) == 4
    cells = [one for _, lines in pooled.groups for _, line in lines for one in line]
    words = [row["verdict"] for row in finding.rows if row["type"] is None]
    assert sorted(one.mark.split()[1] for one in cells) == sorted(words)


def test_degradation_tells_shift_interval_adjusted_p_and_the_whole_answer(everything: list[OldFinding]) -> None:
    row = next(row for row in found_by(everything, "degradation").rows if row["type"] is None)
    (_, lines), *_ = blocks(everything)["degradation"].matrices[0].groups
    name, (first, *_, last) = lines[0]
    assert name == str(row["perturbation"]).replace("_", " ")
    assert first.mark == ("▼ worse" if row["verdict"] == "yes" else "○ not shown")
    assert first.lines[0] == f"{100 * row['value']:.0f} points"
    assert first.lines[2].startswith("p ")
    assert last == Cell(last.kind, last.mark, (f"{row['n_shown']} of 6",))


def test_ranks_pairs_and_taus_are_shown(everything: list[OldFinding]) -> None:
    block = blocks(everything)["ranking"]
    assert {one.mark for _, lines in block.matrices[0].groups for _, line in lines for one in line} <= {
        "rank 1",
        "rank 2",
        "rank 3",
    }
    pairs, taus = block.tables
    assert len(pairs.rows) == 2 * 3 * 3  # systems, all and two types, pairs of three disturbances
    assert {row["between"] for row in taus.rows} == {f"0 and {t}" for t in ("0.4", "0.8", "1.2", "1.6", "2")}


def test_cases_are_shown_with_both_evidences_answers_and_tags(
    everything: list[OldFinding], table: pl.DataFrame
) -> None:
    shown = cases_of(everything, StandInRun(Path(), table=table).store, table.filter(metric="contains"))
    assert len(shown) > 4
    first = shown[0]
    assert first.evidence_before == EXAMPLE.evidence_before
    assert first.evidence_after == EXAMPLE.evidence_after
    assert len(first.answers) == 2 * 3
    wrong = [answer for answer in first.answers if answer.correct == 0]
    assert wrong and all(answer.tags == ("wrong",) for answer in wrong)
    disturbances = [case.perturbation for case in shown[:3]]
    assert len(set(disturbances)) > 1


def test_failure_tags_stand_beside_the_answers_and_failed_trials_say_so() -> None:
    answers = (
        CaseAnswer(temperature=0.0, perturbation="typos", text="x", correct=0.0, tags=("refusal", "wrong")),
        CaseAnswer(temperature=0.0, perturbation="typos", text="", correct=None, failure="timeout"),
    )
    ((_, ((first, second),)),) = example(replace(case_of(EXAMPLE), answers=answers))["lines"]
    assert first["tags"] == ("refusal",)  # wrong is what the mark says
    assert second["failure"] == "timeout"


@pytest.mark.usefixtures("blank_pictures")
def test_without_cases_the_examples_of_the_run_are_shown(everything: list[OldFinding], tmp_path: Path) -> None:
    some = [one for one in everything if one.analysis == "correctness"]
    page = Page(report(StandInRun(tmp_path, some)).read_text(encoding="utf-8"))
    assert EXAMPLE.question in page.text


@pytest.mark.usefixtures("blank_pictures")
def test_a_real_run_of_a_scripted_model_is_reported_whole(tmp_path: Path) -> None:
    study = parse_study(tomllib.loads(STUDY), "test")
    made = run(study, tmp_path / "run")
    page = Page((tmp_path / "run" / "report.html").read_text(encoding="utf-8"))
    assert {"dice", "evidence", "guidelines", "equivalence", "examples"} <= set(page.values("id"))
    case = next(row for row in found_by(made.findings(), "cases").rows if row["value"] and row["value"] > 0)
    question = next(one for one in made.store.questions() if one.id == case["question_id"])
    assert question.text in page.text
    assert "del" in page.tags
    assert "refusal" in page.text


STUDY = """
name = "scripted"
seed = 3

[dataset]
name = "builtin"
balance = { by = ["type"] }
limit = 8

[cross]
models = ["scripted(replies=('It is Paris, or Chicago, or yes.', 'I cannot say.', 'Berlin', 'no'))"]
perturbations = ["unchanged", "sentence_removal", "sentence_replacement"]
temperatures = [0.0, 0.5, 1.0, 2.0]
repeats = 3

[score]
metrics = ["contains", "token_f1", "refusal"]

[analyze]
analyses = [
    "correctness", "variability", "degradation(metric='token_f1', n_resamples=50)",
    "equivalence(metric='token_f1', n_resamples=50)", "ranking(metric='token_f1', n_resamples=50)",
    "dominance(metric='token_f1', n_resamples=50)", "amplification(metric='token_f1', n_resamples=50)",
    "cases(metric='token_f1')", "guidelines(metric='token_f1', n_resamples=50)",
]
"""


# --- words ----------------------------------------------------------------------------------------


def test_a_diff_keeps_removes_and_adds_words() -> None:
    runs = word_diff("Ann lives in Paris now.", "Ann lives in Rome now.")
    assert runs == [("kept", "Ann lives in"), ("gone", "Paris"), ("new", "Rome"), ("kept", "now.")]


def test_numbers_are_written_for_people() -> None:
    assert cell(0.12345, "share") == "12.3 %"
    assert cell(0.98765, "score") == "0.988"
    assert cell(12345, "") == "12,345"
    assert cell(None, "share") == "–"
