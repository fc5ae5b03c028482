"""`shaketable vary`: one question as a diff, a whole set frozen in a file."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.cli.varying import format_strength
from shaketable.stages.plan import plan
from shaketable.store import Run
from shaketable.study import load_study
from shaketable.types import Strength
from shaketable.variations.variant_set import load_variant_set


def call(*words):
    return CliRunner().invoke(app, ["vary", *(str(word) for word in words)])


@pytest.fixture
def questions(tmp_path):
    rows = [{"id": f"q{i}", "question": f"Who wrote book {i}?", "answers": ["x"]} for i in range(4)]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "q.jsonl"


def test_one_question_is_shown_as_a_diff():
    result = call("prefix_injection(prefixes=('Quick question:',))", "Who wrote it?")
    assert result.exit_code == 0, result.output
    assert "{+Quick question:+} Who wrote it?" in result.stdout
    assert "prefix: Quick question:" in result.stdout


@pytest.mark.weights
def test_a_rule_made_wording_says_its_rule_and_similarity():
    result = call("imperative", "Who directed Jaws?")
    assert result.exit_code == 0, result.output
    assert "[-Jaws?-]" in result.stdout
    assert "{+Jaws.+}" in result.stdout
    assert "rule: clause in" in result.stdout
    assert "similarity: 0." in result.stdout


def test_a_wording_is_shown_with_its_strength():
    result = call("prefix_injection(prefixes=('Quick question:',))", "Who wrote it?")
    shown = " ".join(result.stdout.split())
    # Two words before three; who and wrote are both still there.
    assert "strength: keeps 100 % of the search terms · 40 % of the words changed" in shown
    assert "'terms_kept'" not in shown


def test_a_strength_that_is_not_all_measured_says_why():
    partly = Strength(terms_kept=0.5, edit_distance=0.25, reading_ease=-12.4, reason="no weights")
    told = (
        "keeps 50 % of the search terms · 25 % of the words changed · reading ease −12 · not all measured: no weights"
    )
    assert format_strength(partly) == told


def test_json_has_every_wording():
    result = call("original", "Who wrote it?", "--also", "prefix_injection", "--json")
    shown = json.loads(result.stdout)
    assert [variant["variation"] for variant in shown["variants"]] == ["original", "prefix_injection"]
    assert shown["variations"]["original"] == {"made": 1, "accepted": 1, "rejected": 0, "reasons": {}}


def test_a_set_is_frozen_for_a_study(questions, tmp_path):
    file = tmp_path / "sets" / "variants.jsonl"
    words = ("original", "--also", "prefix_injection(m=1)", "--dataset", "jsonl", "--path", questions, "--limit", 3)
    result = call(*words, "--out", file)
    assert result.exit_code == 0, result.output
    assert "original: 3 wordings, 3 accepted." in result.output
    assert "prefix_injection(m=1): 3 wordings, 0 accepted; left out: nothing to add (3)." in result.output
    assert f"frozen(path='{file}')" in result.output
    frozen = load_variant_set(file)
    assert [one.variant.question_id for one in frozen] == ["q0", "q0", "q1", "q1", "q2", "q2"]
    before = file.read_bytes()
    assert call(*words, "--out", file).exit_code == 0
    assert file.read_bytes() == before


def test_what_a_file_leaves_out_is_said(questions, tmp_path):
    (tmp_path / "r.jsonl").write_text('{"id": "q9", "rewrite": "9?"}\n')
    result = call(f"rewrites(path={str(tmp_path / 'r.jsonl')!r})", "--dataset", "jsonl", "--path", questions)
    assert result.exit_code == 0, result.output
    assert "Note: r.jsonl has rewrites of 1 questions that are not asked, such as 'q9'." in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("formalty", "Who?"), "Unknown variation 'formalty'. Did you mean 'formality'?"),
        (("original", "Who?", "--path", "x.jsonl"), "Give a question or a dataset's --path, not both."),
        (("original", "Who?", "--also", "original"), "'original' is named twice. Name each variation once."),
    ],
)
def test_wrong_words_are_named(words, message):
    result = call(*words)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_a_study_gives_its_own_sample_and_its_variations(questions, tmp_path):
    """A study takes a sample; the first questions of the file would be other ones."""
    file, study = tmp_path / "variants.jsonl", tmp_path / "study.toml"
    study.write_text(
        "name = 'frozen'\n[dataset]\nname = 'jsonl'\npath = 'none'\n"
        "[cross]\nmodels = ['scripted']\nmethods = ['closed_book']\n"
        "variations = ['original', 'prefix_injection(m=1)']\n"
    )
    words = ("--study", study, "--limit", 2, "--set", f"dataset.path={questions}")
    result = call(*words, "--out", file)
    assert result.exit_code == 0, result.output
    asked = load_study(study, [f"dataset.path={questions}"], 2)
    planned = plan(replace(asked, variations=(f"frozen(path='{file}')",)))
    assert [variant.variation for variant in planned.variants] == 2 * ["original", "prefix_injection(m=1)"]
    assert {variant.question_id for variant in planned.variants} == {question.id for question in planned.questions}


def test_without_a_name_and_a_study_nothing_is_guessed():
    result = call()
    assert result.exit_code == 2
    assert "Name a variation" in result.output


# --- a run's wordings --------------------------------------------------------------------------------

BY_MODEL = "formality(by='rewriting', min_similarity=0.0, max_span_rise=0.0, keep_numbers=False, keep_names=False)"


@pytest.fixture
def study(questions, tmp_path, with_fake_parts):
    """A study whose questions a model rewords, another way each time."""
    file = tmp_path / "study.toml"
    file.write_text(
        f'name = "s"\n[dataset]\nname = "jsonl"\npath = {str(questions)!r}\n[cross]\nmodels = ["counting"]\n'
        f'methods = ["closed_book"]\nvariations = ["original", "{BY_MODEL}"]\n[generation]\nmax_tokens = 8\n'
    )
    return file


def test_the_wordings_of_a_run_are_made_kept_asked_and_frozen(study, tmp_path, with_fake_parts):
    folder, file = tmp_path / "run", tmp_path / "variants.jsonl"
    result = call("--study", study, "--run", folder)
    assert result.exit_code == 0, result.output
    assert f"{BY_MODEL}: 4 wordings, 4 accepted." in result.output
    assert f"Kept in {folder}. Go on with: shaketable answer {folder}" in result.output
    assert len(with_fake_parts.prompts) == 4
    answered = CliRunner().invoke(app, ["answer", str(folder), "--json"])
    assert answered.exit_code == 0, answered.output
    (effort,) = json.loads(answered.stdout)["rewordings"]
    assert (effort["n_questions"], effort["making"]["n_calls"], effort["making"]["n_failures"]) == (4, 4, 0)
    with_fake_parts.prompts.clear()
    assert call("--run", folder, "--out", file).exit_code == 0
    assert not with_fake_parts.prompts
    asked = {record.trial.variant.text for record in Run(folder).store.records()}
    assert {frozen.variant.text for frozen in load_variant_set(file)} == asked


def test_a_run_has_the_variations_of_its_study(study, tmp_path):
    result = call("spelling", "--run", tmp_path / "run")
    assert result.exit_code == 2
    assert "Name a variation, or give a --run, not both." in result.output


def test_a_run_that_is_interrupted_while_it_rewords_says_how_to_go_on(study, tmp_path, with_fake_parts):
    with_fake_parts.down[:] = ["interrupt", "0"]
    result = CliRunner().invoke(app, ["run", str(study), "--out", str(tmp_path / "run")])
    assert result.exit_code == 130
    assert "Interrupted; every finished wording is kept. Go on with: shaketable run " in result.output


def test_rewording_tells_how_far_it_is(study, tmp_path):
    result = CliRunner().invoke(app, ["run", str(study), "--out", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    assert f"reworded 4 of 4 questions by {BY_MODEL}\n" in result.output


def frozen_texts(file):
    return [frozen.variant.text for frozen in load_variant_set(file)]


@pytest.fixture
def interrupted(questions, tmp_path, with_fake_parts, monkeypatch):
    """A set of four wordings by a model, interrupted after two of them, and what the model was asked."""
    monkeypatch.setattr("shaketable.stages.vary.BATCH", 1)
    file = tmp_path / "variants.jsonl"
    words = (BY_MODEL, "--dataset", "jsonl", "--path", questions, "--out", file)
    with_fake_parts.down[:] = ["interrupt", "2"]
    result = call(*words)
    with_fake_parts.down.clear()
    return words, file, with_fake_parts, result


def test_a_set_that_is_interrupted_keeps_what_was_paid_for(interrupted):
    words, file, parts, result = interrupted
    assert result.exit_code == 130
    assert f"every finished wording is kept in {file}.part" in " ".join(result.output.split())
    assert not file.exists()
    n_asked = len(parts.prompts)
    assert call(*words).exit_code == 0
    assert len(parts.prompts) - n_asked == 2
    assert len(frozen_texts(file)) == 4
    assert not file.with_name("variants.jsonl.part").exists()


def test_a_resumed_set_holds_the_wordings_that_were_kept(interrupted):
    words, file, _, _ = interrupted
    lines = file.with_name("variants.jsonl.part").read_text().split("\n")
    kept = [json.loads(line)["text"] for line in lines if line]
    call(*words)
    assert len(kept) == 2 and frozen_texts(file)[:2] == kept


def test_a_line_that_was_cut_off_is_made_again(interrupted):
    words, file, parts, _ = interrupted
    journal = file.with_name("variants.jsonl.part")
    journal.write_bytes(journal.read_bytes()[:-40])
    n_asked = len(parts.prompts)
    assert call(*words).exit_code == 0
    assert len(parts.prompts) - n_asked == 3
    assert len(frozen_texts(file)) == 4


def test_wordings_of_another_variation_are_not_taken_for_these(interrupted):
    words, file, parts, _ = interrupted
    n_asked = len(parts.prompts)
    assert call(BY_MODEL.replace("keep_names=False", "keep_names=False, seed=1"), *words[1:]).exit_code == 0
    assert len(parts.prompts) - n_asked == 4
    assert len(frozen_texts(file)) == 4
