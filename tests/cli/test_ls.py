"""One part explained: its settings, an example that can be built, and what it does to a real question."""

from __future__ import annotations

import json
import tomllib

import pytest
from typer.testing import CliRunner

from shaketable import catalog
from shaketable.cli.app import app
from shaketable.cli.part_pages import EXAMPLES, LINES, _whole, describe_part
from shaketable.cli.setting_words import settings_of
from shaketable.cli.usual_settings import EVERYWHERE, OF_PART

KINDS = [kind for kind in catalog.KINDS if kind != "section"]
EVERY = [(kind, name) for kind in KINDS for name in catalog.known(kind)]
"""Every part there is."""


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def explained(name):
    result = call("ls", name, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize(("kind", "name"), EVERY, ids=lambda value: value)
def test_every_setting_of_every_part_has_a_meaning(kind, name):
    part = catalog.find(kind, name)
    assert [setting.name for setting in settings_of(kind, part) if not _whole(part, name, setting).about] == []


@pytest.mark.parametrize(("kind", "name"), EVERY, ids=lambda value: value)
def test_no_two_settings_of_a_part_share_a_sentence_and_each_tells_of_itself(kind, name):
    part = catalog.find(kind, name)
    abouts = [_whole(part, name, setting).about for setting in settings_of(kind, part)]
    assert len(set(abouts)) == len(abouts)
    # A sentence of a docstring would begin with another subject, or speak of settings by their names.
    names = {setting.name for setting in settings_of(kind, part)}
    if kind in ("dataset", "analysis"):
        assert [about for about in abouts if any(f"`{other}`" in about for other in names)] == []


def test_no_meaning_is_of_a_setting_that_is_gone():
    known = {
        f"{name}.{setting.name}" for kind, name in EVERY for setting in settings_of(kind, catalog.find(kind, name))
    }
    assert [key for key in OF_PART if key not in known] == []
    assert [key for key in EVERYWHERE if not any(name.endswith(f".{key}") for name in known)] == []


@pytest.mark.parametrize(("kind", "name"), [pair for pair in EVERY if pair[0] in LINES], ids=lambda value: value)
def test_the_example_of_every_part_can_be_built(kind, name):
    from shaketable.cli.part_pages import _example

    table, line = next(iter(tomllib.loads(_example(kind, name, EXAMPLES.get(name, name))).items()))
    [text] = next(iter(line.values()))[-1:]
    assert table in ("cross", "score", "analyze")
    if kind == "analysis":
        assert catalog.bind("analysis", text)
    else:
        assert catalog.build(kind, text)


def test_a_perturbation_shows_what_goes():
    [page] = explained("sentence_removal")
    assert page["kind"] == "perturbations"
    assert page["example"] == '[cross]\nperturbations = ["unchanged", "sentence_removal"]'
    assert page["settings"][0]["name"] == "mode"
    assert [line for line in page["effect"]["lines"] if line.startswith("- ")] == [
        "- Mary Shelley is buried in the town of Bournemouth on the south coast of England."
    ]


def test_settings_in_brackets_change_what_is_shown():
    [plain], [rare] = explained("word_reordering"), explained("word_reordering(p=0.1)")
    assert plain["effect"]["lines"] != rare["effect"]["lines"]
    assert rare["example"].endswith('"word_reordering(p=0.1)"]')


def test_a_variation_shows_the_question_and_its_wording():
    [page] = explained("prefix_injection")
    assert page["effect"]["question"].endswith("?")
    assert "{+" in page["effect"]["lines"][0]


def test_a_metric_scores_a_right_and_a_wrong_answer():
    [page] = explained("token_f1")
    assert page["effect"]["lines"][1] == "  “Bournemouth” → token_f1 1.00"
    assert page["effect"]["lines"][-1] == "  “Atlantis” → token_f1 0.00"


def test_a_method_shows_its_steps_and_its_prompt():
    [page] = explained("single_retrieval")
    first, second, last = page["effect"]["lines"]
    assert first.startswith("  1. search for")
    assert second.startswith("  2. ask the model:\n       Answer the query")
    assert last == "  answer: Bournemouth"
    assert page["prompts"] == ["prompt"]


@pytest.mark.parametrize("name", catalog.known("method"))
def test_every_method_can_be_shown(name):
    [page] = explained(name)
    assert page["effect"]["lines"], page


@pytest.mark.parametrize(
    ("name", "direction"), [("formality", "Less formal, never more"), ("readability", "Harder to read")]
)
def test_a_name_that_leaves_the_direction_open_says_it_first(name, direction):
    from shaketable.report.wording_words import name_rewording, name_way

    about = {row["name"]: row["about"] for row in json.loads(call("ls", "variations", "--json").stdout)}
    assert about[name].startswith(direction)
    words = {"formality": "more casual", "readability": "harder to read"}[name]
    assert name_way(name) == name_rewording(name) == f"{name} ({words})"
    assert name_way(f"{name}(by='smollm2')") == f"{name} (by: smollm2) ({words})"


def test_a_part_that_is_missing_a_package_says_which(monkeypatch):
    def missing(text):
        raise ImportError("No module named 'spacy'", name="spacy.tokens")

    monkeypatch.setattr("shaketable.cli.part_effects._perturbed", missing)
    [page] = explained("entity_masking")
    assert page["effect"]["problem"] == (
        "it needs the package spacy, which is not installed: pip install 'shaketable[all]'."
    )
    assert "not shown here: it needs the package spacy" in call("ls", "entity_masking").stdout


def test_a_dataset_shows_a_first_question_as_it_is_read(tmp_path):
    [built_in], [table], [squad] = explained("builtin"), explained("csv"), explained("squad")
    assert (
        built_in["effect"]["question"].startswith("In which town")
        and "  accepted answers: Bournemouth" in (built_in["effect"]["lines"])
    )
    assert table["effect"]["lines"][-1] == "  tags: level = easy, n_facts = 0"
    assert "ls \"squad(path='FILE')\"" in squad["effect"]["problem"]
    (tmp_path / "own.csv").write_text("question,answer\nWho is it?,Ann\n")
    [own] = explained(f"csv(path='{tmp_path / 'own.csv'}')")
    assert own["effect"]["question"] == "Who is it?" and own["effect"]["lines"][0] == "  accepted answers: Ann"


@pytest.mark.parametrize("name", ["openai", "smollm2", "transformers"])
def test_a_model_shows_what_it_would_be_asked_and_is_not_built(name):
    [page] = explained(name)
    assert page["effect"]["lines"][0].startswith("  by the method closed_book:\n       user: Answer the query")


def test_an_analysis_tells_what_a_run_must_have():
    assert explained("ranking")[0]["effect"]["lines"] == [
        "  two perturbations beside 'unchanged'",
        "  two sampling temperatures",
    ]
    for name in catalog.known("analysis"):
        effect = describe_part("analysis", name).effect
        assert effect is not None and effect.lines


def test_the_list_is_of_names_and_purposes_and_fits_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = call("ls", "variations").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 3 * len(catalog.known("variation")) + 2
    assert not any("seed=" in line for line in lines)


def test_only_near_names_are_suggested():
    far = call("ls", "temperature")
    assert far.exit_code == 2 and "Did you mean" not in far.stderr
    assert "Did you mean 'formality'?" in call("ls", "formalty").stderr
    assert "shaketable docs parts" in far.stderr


def test_people_read_the_same():
    shown = call("ls", "sentence_removal").stdout
    for words in ("sentence_removal  perturbation", "setting", "In a study:", "What it does to the evidence"):
        assert words in shown


def test_a_part_that_needs_settings_is_explained_without_being_built():
    [page] = explained("frozen")
    assert (page["effect"], page["settings"][0]["default"]) == (None, None)
    assert "frozen(path='variants.jsonl')" in page["example"]


def test_a_study_that_ships_is_shown():
    assert 'name = "demo"' in call("ls", "demo").stdout


def test_a_wrong_name_is_told_with_the_nearest():
    result = call("ls", "tokenf1")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: There is no component and no kind 'tokenf1'. Did you mean 'token_f1'?")
    assert "Did you mean 'metrics'?" in call("ls", "metricss").stderr


def test_wrong_settings_are_told():
    assert "word_reordering has no setting 'q'" in call("ls", "word_reordering(q=1)").stderr


def test_an_analysis_with_the_name_of_a_study_is_told_beside_it():
    assert call("ls", "factual_robustness").stdout.endswith(
        "analysis of that name: shaketable ls 'factual_robustness()'.\n"
    )
    assert call("ls", "factual_robustness()").stdout.startswith("factual_robustness  analysis")
    assert "of that name" not in call("ls", "demo").stdout
