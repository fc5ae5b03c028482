"""Wordings are made once, stored, and read by whoever plans."""

import sqlite3
from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest
from made_studies import row, small_study, study_of, write_rows

from shaketable import catalog, errors
from shaketable.errors import PartError, RunError, StudyError
from shaketable.report.about import list_facts
from shaketable.stages import vary as stage
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.stages.run import run
from shaketable.stages.vary import vary
from shaketable.store import Run
from shaketable.store.verify import verify
from shaketable.types import STRENGTH, Making
from shaketable.variations.formality import Formality
from shaketable.variations.variant_set import write_variant_set

BY_MODEL = "formality(by='rewriting', min_similarity=0.0, max_span_rise=0.0, keep_numbers=False, keep_names=False)"
LIGHT = ("original", "spelling", "prefix_injection")
"""Variations that load no weights."""


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(stage, "BATCH", 2)


@pytest.fixture
def reworded(tmp_path, with_fake_parts):
    """A study of five questions that a model rewords, its run, and what the model was asked."""
    study = small_study(tmp_path, 5, variations=["original", BY_MODEL], methods=["closed_book"], models=["counting"])
    return study, Run.prepare(tmp_path / "run", study), with_fake_parts


def wordings_of(study, folder):
    return vary(study, plan(study).questions, folder)


def without_strength(variant):
    told = {name: value for name, value in variant.provenance.items() if name != STRENGTH}
    return replace(variant, provenance=told)


def asked_to_reword(parts):
    return [prompt for prompt in parts.prompts if "question" in prompt.messages[0].content.lower()]


# --- what is made ---------------------------------------------------------------------------------


def test_wordings_are_those_of_the_parts_question_by_question(tmp_path):
    study = small_study(tmp_path, 5, variations=list(LIGHT))
    made = [catalog.build("variation", text).vary(plan(study).questions) for text in LIGHT]
    wordings = wordings_of(study, Run.prepare(tmp_path / "run", study))
    assert tuple(map(without_strength, wordings)) == tuple(made[j][i][0] for i in range(5) for j in range(3))


def test_what_is_stored_comes_back_as_it_was_made(tmp_path, monkeypatch):
    study = small_study(tmp_path, 5, variations=[*LIGHT, "prefix_injection(m=1)"])  # No prefix is so short.
    folder = Run.prepare(tmp_path / "run", study)
    questions = plan(study).questions
    first = vary(study, questions, folder)
    assert any(variant.rejected for variant in first)
    assert any(variant.provenance for variant in first)
    monkeypatch.setattr(stage, "reword", lambda variation, questions: pytest.fail("asked again") if questions else ())
    assert vary(study, questions, folder) == first


def test_a_worded_plan_has_the_keys_of_its_wordings(tmp_path):
    study = small_study(tmp_path, 2, variations=list(LIGHT), temperatures=[0.0], repeats=1)
    draft = plan(study)
    assert draft.unworded == ("spelling", "prefix_injection")
    assert {variant.text for variant in draft.asked} == {question.text for question in draft.questions}
    planned = draft.worded(vary(study, draft.questions, Run.prepare(tmp_path / "run", study)))
    assert planned.unworded == ()
    assert len({trial.key for trial, _ in planned.trials()}) == planned.n_trials
    assert {trial.variant.text for trial, _ in planned.trials()} == {variant.text for variant in planned.asked}


def test_a_plan_without_its_wordings_is_not_answered(tmp_path):
    study = small_study(tmp_path, variations=["original", "spelling"])
    with (
        Run.prepare(tmp_path / "run", study).writing() as store,
        pytest.raises(RunError, match="The wordings by spelling are not made yet"),
    ):
        answer(plan(study), store)


def test_progress_counts_the_questions_of_each_variation(tmp_path):
    study = small_study(tmp_path, 5, variations=["original", "spelling"])
    ticks = []
    vary(study, plan(study).questions, Run.prepare(tmp_path / "run", study), ticks.append)
    told = [(tick.variation, tick.n_done, tick.n_questions) for tick in ticks]
    # What is at hand takes no time; what is made comes in batches of two.
    assert told == [("spelling", 0, 5), ("spelling", 2, 5), ("spelling", 4, 5), ("spelling", 5, 5)]


def test_a_question_without_a_wording_is_done_too(tmp_path):
    rewrites = write_rows(tmp_path / "r.jsonl", [{"id": "q0", "rewrite": "Book 0 is whose?"}])
    study = small_study(tmp_path, 2, variations=["original", f"rewrites(path={str(rewrites)!r})"])
    folder = Run.prepare(tmp_path / "run", study)
    with pytest.warns(UserWarning, match="has no rewrite of 1 of the 2 questions"):
        first = wordings_of(study, folder)
    assert [variant.text for variant in first] == ["Who wrote book 0?", "Book 0 is whose?", "Who wrote book 1?"]
    with folder.writing() as store:
        assert store.worded(f"rewrites(path={str(rewrites)!r})")["q1"].rewording.variants == ()


# --- how strong it is -----------------------------------------------------------------------------


def test_every_wording_has_its_strength_but_the_original(tmp_path):
    rewrites = write_rows(tmp_path / "r.jsonl", [{"id": f"q{i}", "rewrite": "Whose book?"} for i in range(5)])
    made = ["spelling", "prefix_injection(m=1)", f"rewrites(path={str(rewrites)!r})"]
    study = small_study(tmp_path, 5, variations=["original", *made])
    wordings = wordings_of(study, Run.prepare(tmp_path / "run", study))
    assert {variant.rejected is None for variant in wordings} == {True, False}
    for variant in wordings:
        assert (variant.strength is None) == (variant.variation == "original")
    people = {variant.strength.terms_kept for variant in wordings if variant.variation == made[2]}
    assert people == {1 / 4}  # book, of who, wrote, book and a number


def test_a_frozen_set_keeps_its_strengths_and_gets_those_that_it_lacks(tmp_path, monkeypatch):
    study = small_study(tmp_path, 2, variations=["spelling"])
    questions = plan(study).questions
    old = catalog.build("variation", "spelling").vary(questions)
    known = {"terms_kept": 0.125, "edit_distance": 0.0, "loss": 0.0, "reading_ease": 0.0, "meaning": 1.0}
    old[0] = [replace(old[0][0], provenance={STRENGTH: known})]
    write_variant_set(tmp_path / "set.jsonl", questions, {"spelling": old}, [])
    study = small_study(tmp_path, 2, variations=[f"frozen(path={str(tmp_path / 'set.jsonl')!r})"])
    first, second = wordings_of(study, Run.prepare(tmp_path / "run", study))
    assert first.strength.terms_kept == 0.125
    assert second.strength is not None and second.strength.edit_distance > 0


def test_strength_changes_no_key(tmp_path, monkeypatch):
    def keys(folder):
        study = small_study(tmp_path, 2, variations=["original", "spelling"])
        draft = plan(study)
        planned = draft.worded(vary(study, draft.questions, Run.prepare(tmp_path / folder, study)))
        return {trial.key for trial, _ in planned.trials()}, planned.fingerprint

    measured = keys("measured")
    monkeypatch.setattr(stage, "with_strength", lambda batch: batch)
    assert keys("not measured") == measured


def test_a_preview_measures_nothing(tmp_path, monkeypatch):
    rewrites = write_rows(tmp_path / "r.jsonl", [{"id": f"q{i}", "rewrite": "Whose book?"} for i in range(2)])
    study = small_study(tmp_path, 2, variations=["original", f"rewrites(path={str(rewrites)!r})"])
    monkeypatch.setattr(stage, "measure_strength", lambda originals, wordings: pytest.fail("measured"))
    assert [variant.strength for variant in plan(study).variants] == [None] * 4


def test_wordings_of_an_older_run_stay_without_strength(tmp_path, monkeypatch):
    study = small_study(tmp_path, 2, variations=["original", "spelling"])
    with monkeypatch.context() as before:
        before.setattr(stage, "with_strength", lambda batch: batch)
        old = wordings_of(study, Run.prepare(tmp_path / "run", study))
    assert wordings_of(study, Run.prepare(tmp_path / "run", study)) == old
    assert not any(variant.strength for variant in old)


# --- once -----------------------------------------------------------------------------------------


def test_a_model_is_asked_once_and_what_it_took_is_kept(reworded):
    study, folder, parts = reworded
    first = wordings_of(study, folder)
    assert len(parts.prompts) == 5
    assert wordings_of(study, folder) == first
    assert len(parts.prompts) == 5
    (effort,) = folder.summary().rewordings
    assert (effort.part, effort.n_questions) == (BY_MODEL, 5)
    assert effort.making == Making(n_attempts=5, n_calls=5, n_prompt_tokens=25, n_tokens=5, seconds=1.25)


def test_an_interrupted_and_resumed_run_rewords_nothing_again(reworded, monkeypatch):
    study, folder, parts = reworded
    monkeypatch.setattr("shaketable.stages.scheduler.WINDOW", 8)

    def interrupted(made, planned):
        with made.writing() as store:
            answer(planned, store, stop)

    def stop(tick):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(study, folder.folder, answering=interrupted)
    assert len(asked_to_reword(parts)) == 5
    before = {record.trial.key: record.trial.variant for record in folder.store.records()}
    assert len(before) == 8
    finished = run(study, folder.folder)
    assert len(asked_to_reword(parts)) == 5
    after = {record.trial.key: record.trial.variant for record in finished.store.records()}
    assert before.items() <= after.items()
    assert len(after) == 5 * 2 * 4
    assert {variant.text for variant in after.values()} == {variant.text for variant in wordings_of(study, folder)}


def test_rewording_that_was_interrupted_goes_on_where_it_stopped(reworded):
    study, folder, parts = reworded
    parts.down[:] = ["interrupt", "3"]
    with pytest.raises(KeyboardInterrupt):
        wordings_of(study, folder)
    with folder.writing() as store:
        kept = store.worded(BY_MODEL)
    in_order = [question.id for question in plan(study).questions]
    assert set(kept) == set(in_order[:2])
    parts.down.clear()
    parts.prompts.clear()
    by_model = [variant for variant in wordings_of(study, folder) if variant.variation == BY_MODEL]
    assert len(parts.prompts) == 3
    assert [variant.question_id for variant in by_model] == in_order
    assert by_model[:2] == [kept[question_id].rewording.variants[0] for question_id in in_order[:2]]


def test_a_question_that_changed_is_reworded_alone(reworded, tmp_path):
    study, folder, parts = reworded
    first = wordings_of(study, folder)
    write_rows(
        tmp_path / "questions.jsonl", [row(i, **({"question": "Whose is book 3?"} if i == 3 else {})) for i in range(5)]
    )
    parts.prompts.clear()
    again = wordings_of(study, folder)
    assert ["Whose is book 3?" in prompt.messages[0].content for prompt in parts.prompts] == [True]
    changed = [(before, after) for before, after in zip(first, again, strict=True) if before != after]
    assert [(before.question_id, after.variation) for before, after in changed] == [
        ("q3", "original"),
        ("q3", BY_MODEL),
    ]


# --- when a model fails ---------------------------------------------------------------------------


def test_what_failed_for_a_passing_reason_is_tried_again_and_both_count(reworded):
    study, folder, parts = reworded
    parts.down[:] = ["busy", "book 2?"]
    first = plan(study).worded(wordings_of(study, folder))
    assert [(variant.question_id, variant.rejected) for variant in first.rejected] == [
        ("q2", "the model failed: busy: no")
    ]
    with folder.writing() as store:
        store.add_rejected(first.rejected)
    assert [count.n for count in folder.rejected()] == [1]
    parts.down.clear()
    parts.prompts.clear()
    again = plan(study).worded(wordings_of(study, folder))
    assert len(parts.prompts) == 1
    assert not again.rejected
    assert not Run(folder.folder).rejected()
    (effort,) = folder.summary().rewordings
    # Four at once, one five times in vain and once more.
    assert (effort.making.n_attempts, effort.making.n_calls, effort.making.n_failures) == (10, 10, 5)


def test_what_failed_for_good_is_not_tried_again(reworded):
    study, folder, parts = reworded
    parts.down[:] = ["refused", "book 2?"]
    first = wordings_of(study, folder)
    parts.down.clear()
    parts.prompts.clear()
    assert wordings_of(study, folder) == first
    assert not parts.prompts


def test_a_model_that_never_replies_stops_the_run_before_anything_is_kept(reworded):
    study, folder, parts = reworded
    parts.down[:] = ["refused", "book"]
    with pytest.raises(RunError, match="none of 2 questions was reworded: the model failed: refused: no"):
        wordings_of(study, folder)
    with folder.writing() as store:
        assert store.worded(BY_MODEL) == {}
    assert len(parts.prompts) == 2 * 5


def test_a_model_that_lacks_its_key_is_named_before_it_is_asked(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    study = small_study(tmp_path, variations=["spelling", "formality(by=\"openai(model='m')\")"])
    with pytest.raises(StudyError, match=r"cross.variations: .*OPENAI_API_KEY"):
        wordings_of(study, Run.prepare(tmp_path / "run", study))


def test_half_a_character_in_a_reply_is_mended(tmp_path, with_fake_parts):
    part = BY_MODEL.replace("rewriting", "half_emoji")
    study = small_study(tmp_path, 1, variations=[part])
    (variant,) = wordings_of(study, Run.prepare(tmp_path / "run", study))
    assert variant.text == "Paris ?"


def test_a_variation_that_forgets_a_question_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(Formality, "reword", lambda self, questions: [])
    study = small_study(tmp_path, variations=["formality"])
    with pytest.raises(PartError, match="formality returned wordings of 0 questions for 2"):
        wordings_of(study, Run.prepare(tmp_path / "run", study))


# --- two versions -----------------------------------------------------------------------------------


def test_a_finished_wording_is_kept_when_its_maker_changes(reworded, monkeypatch):
    study, folder, parts = reworded
    first = wordings_of(study, folder)
    monkeypatch.setattr(Formality, "version", 99)
    with pytest.warns(UserWarning, match="are those that this run began with"):
        assert wordings_of(study, folder) == first
    assert len(parts.prompts) == 5


def test_wordings_of_two_versions_are_never_mixed(reworded, monkeypatch):
    study, folder, parts = reworded
    parts.down[:] = ["interrupt", "3"]
    with pytest.raises(KeyboardInterrupt):
        wordings_of(study, folder)
    parts.down.clear()
    parts.prompts.clear()
    monkeypatch.setattr(Formality, "version", 99)
    with pytest.raises(RunError, match=r"holds 2 wordings by formality.*, and 3 are missing: the variation"):
        wordings_of(study, folder)
    assert not parts.prompts


def test_a_file_of_wordings_that_changed_is_told_and_the_run_asks_what_it_asked(tmp_path):
    rewrites = write_rows(tmp_path / "r.jsonl", [{"id": "q0", "rewrite": "Book 0 is whose?"}])
    study = small_study(tmp_path, 1, variations=[f"rewrites(path={str(rewrites)!r})"])
    folder = Run.prepare(tmp_path / "run", study)
    first = wordings_of(study, folder)
    write_rows(rewrites, [{"id": "q0", "rewrite": "Whose is it?"}])
    with pytest.warns(UserWarning, match="its file changed since"):
        assert wordings_of(study, folder) == first


# --- the file -----------------------------------------------------------------------------------------


def aged(folder):
    """The run as version 4 of the format had it: without wordings."""
    with sqlite3.connect(folder.records_path) as connection:
        connection.executescript(
            "DROP TABLE rewordings; DROP TABLE wordings; ALTER TABLE records DROP COLUMN dollars; "
            "ALTER TABLE records DROP COLUMN reused; DROP TABLE seals; DROP TABLE underway; PRAGMA user_version = 4;"
        )
    folder.records_path.with_suffix(".seal").unlink()


def test_a_run_of_an_older_format_keeps_what_a_model_worded(reworded):
    study, folder, parts = reworded
    finished = run(study, folder.folder)
    first = wordings_of(study, folder)
    keys = finished.store.keys()
    aged(folder)
    parts.prompts.clear()
    again = run(study, folder.folder)
    assert again.store.keys() == keys
    assert not parts.prompts
    assert wordings_of(study, folder) == first
    # Nobody counted what they took.
    assert again.summary().rewordings == ()


@pytest.mark.slow
def test_a_run_of_an_older_format_is_reworded_by_rules_once_and_its_answers_stay(tmp_path):
    study = small_study(tmp_path, 3, variations=list(LIGHT), models=["scripted"])
    finished = run(study, tmp_path / "run")
    first = wordings_of(study, finished)
    keys = finished.store.keys()
    aged(finished)
    again = run(study, tmp_path / "run")
    assert again.store.keys() == keys
    assert wordings_of(study, again) == first


def test_an_altered_wording_is_found(tmp_path):
    study = study_of(write_rows(tmp_path / "q.jsonl", [row(0)]), variations=["original", "spelling"])
    folder = Run.prepare(tmp_path / "run", study)
    wordings_of(study, folder)
    with folder.writing() as store:
        assert verify(store).problems == ()
    with sqlite3.connect(folder.records_path) as connection:
        connection.execute("UPDATE wordings SET wording = 'Who?' WHERE part = 'spelling'")
    with folder.writing() as store:
        assert verify(store).problems == (
            "wordings of q0 by spelling: their content does not match their checksum",
            "wordings: rows do not match their seal: some were altered, or the seal was",
        )


# --- which check they passed ----------------------------------------------------------------------


def test_a_run_says_which_wordings_were_checked_by_rules(tmp_path, monkeypatch):
    monkeypatch.setattr(errors, "is_installed", lambda module: False)
    study = small_study(tmp_path, 3, variations=["original", "disfluency", "spelling"])
    folder = Run.prepare(tmp_path / "run", study)
    wordings_of(study, folder)
    summary = folder.summary()
    assert summary.wording_checks == (("disfluency", "rules"),)
    scores = pl.DataFrame({name: [None] for name in ("temperature", "perturbation", "variation")})
    facts = dict(list_facts(summary, scores, SimpleNamespace(given=True, systems=(), system=str)))
    assert facts["Paraphrases"].startswith("disfluency: checked by rules")
