from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import ruled
from ruled import QUESTION, RIGHT, WRONG, make_run, row

from shaketable import catalog
from shaketable.errors import StudyError
from shaketable.report.shown_explanation import show_explanation
from shaketable.stages.explain import explain
from shaketable.stages.explaining.explained_now import current_explanations
from shaketable.stages.report import report
from shaketable.stages.run import ask
from shaketable.store import Run
from shaketable.store.explanation_file import load_explanations
from shaketable.store.explanations import Explanation
from shaketable.study import parse_study

REMOVAL = ("removal",)


@pytest.fixture(autouse=True)
def with_rules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    own = catalog.known
    monkeypatch.setattr(catalog, "known", lambda kind: {**own(kind), **ruled.CATALOG.get(kind, {})})
    yield
    ruled.n_calls.clear()


def numbers(explanation: Explanation, ids: tuple[str, ...] | None) -> list[int] | None:
    places = [sentence.id for sentence in explanation.sentences]
    return None if ids is None else [places.index(id) + 1 for id in ids]


def words(explanation: Explanation) -> str:
    return " ".join(show_explanation(explanation).lines)


# --- evidence -------------------------------------------------------------------------------------


def test_of_two_sentences_that_are_both_needed_each_turns_the_answer_and_both_keep_it(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "birch and elm")
    told = explain(run, "q1", by=REMOVAL, wordings="none")
    removal, alone = told.by("removal"), told.by("alone")
    assert removal is not None and alone is not None
    assert (told.answer.text, told.answer.is_right, told.judged_by) == (RIGHT, True, "contains")
    assert numbers(told, removal.sentences) == [2] and [numbers(told, other) for other in removal.others] == [[5]]
    assert removal.answer is not None and (removal.answer.text, removal.answer.is_right) == (WRONG, False)
    assert (numbers(told, alone.sentences), alone.certainty) == ([2, 5], "smallest")
    assert "Without sentence 2 the answer turns wrong; likewise without sentence 5." in words(told)
    assert "Sentences 2 and 5 alone give the right answer. It is a smallest one" in words(told)
    assert [sentence.is_supporting for sentence in told.sentences] == [False, True, False, False, True, False]
    assert "By the dataset" not in words(told)
    assert told.n_calls == sum(ruled.n_calls) == removal.n_asked + alone.n_asked + 1


def test_where_either_of_two_sentences_is_enough_both_must_go(tmp_path: Path) -> None:
    told = explain(make_run(tmp_path / "run", "birch or elm"), "q1", by=REMOVAL, wordings="none")
    removal, alone = told.by("removal"), told.by("alone")
    assert removal is not None and (numbers(told, removal.sentences), removal.certainty) == ([2, 5], "smallest")
    assert alone is not None and numbers(told, alone.sentences) == [2]


def test_candidate_sets_are_asked_together(tmp_path: Path) -> None:
    explain(make_run(tmp_path / "run", "birch or elm"), "q1", by=REMOVAL, wordings="none")
    assert max(ruled.n_calls) > 10  # The fifteen pairs.


def test_a_wrong_answer_is_told_and_what_makes_it_right_is_looked_for(tmp_path: Path) -> None:
    told = explain(make_run(tmp_path / "run", "not cedar"), "q1", by=REMOVAL, wordings="none")
    removal, alone = told.by("removal"), told.by("alone")
    assert told.answer.is_right is False
    assert removal is not None and numbers(told, removal.sentences) == [3]
    assert removal.answer is not None and removal.answer.text == RIGHT
    assert alone is not None and alone.sentences == ()
    assert "The answer is wrong already" in words(told) and "Without sentence 3 the answer turns right" in words(told)
    assert "By the dataset sentence 3 is no fact that the right answer rests on." in words(told)


def test_an_answer_that_needs_no_evidence_says_so(tmp_path: Path) -> None:
    told = explain(make_run(tmp_path / "run", "garden"), "q1", by=REMOVAL, wordings="none")
    removal, alone = told.by("removal"), told.by("alone")
    assert removal is not None and (removal.sentences, removal.certainty) == (None, "none")
    assert "nothing turns the answer: all sets of the 6 sentences were tried." in words(told)
    assert alone is not None and alone.sentences == () and "No sentence is needed" in words(told)


def test_a_replacement_is_a_sentence_of_the_record_that_is_no_evidence(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "birch and elm", retrievers=["gold"])
    told = explain(run, "q1", by=("replacement",), wordings="none")
    replacement = told.by("replacement")
    assert [sentence.text for sentence in told.sentences] == [ruled.SENTENCES[1], ruled.SENTENCES[4]]
    assert replacement is not None and numbers(told, replacement.sentences) == [1]
    (edit,) = replacement.edits
    assert edit.before == ruled.SENTENCES[1] and edit.after in {ruled.SENTENCES[i] for i in (0, 2, 3, 5)}


def test_the_limit_of_calls_is_never_passed_and_what_it_leaves_open_is_told(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "birch or elm")
    for max_calls in (1, 3, 8, 20):
        ruled.n_calls.clear()
        told = explain(run, "q1", by=REMOVAL, wordings="run", max_calls=max_calls)
        assert told.n_calls == sum(ruled.n_calls) <= max_calls
    removal = explain(run, "q1", by=REMOVAL, wordings="none", max_calls=8).by("removal")
    assert removal is not None and removal.certainty in ("unfinished", "not_found")


def test_calls_that_are_left_prove_what_was_left_open(tmp_path: Path) -> None:
    """Of 49 calls a third is for taking away, which finds three sentences without all fifteen pairs; what the other
    searches leave is enough for these."""
    told = explain(make_run(tmp_path / "run", "birch or elm or fir"), "q1", by=REMOVAL, wordings="run", max_calls=50)
    removal = told.by("removal")
    assert removal is not None and (numbers(told, removal.sentences), removal.certainty) == ([2, 5, 6], "smallest")
    assert removal.n_asked > 49 // 3 and told.n_calls <= 50


def test_sets_that_fail_are_counted_and_never_taken_for_a_flip(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "None if not alder else birch")
    told = explain(run, "q1", by=REMOVAL, wordings="none")
    removal = told.by("removal")
    assert removal is not None and numbers(told, removal.sentences) == [2] and removal.n_untold
    assert "brought no answer that can be judged, and do not count as tried" in words(told)


def test_after_several_searches_what_is_left_alone_is_alone_indeed(tmp_path: Path) -> None:
    """Without the alder the second search brings a fir; that is right too, but it was no evidence of this answer."""
    run = make_run(tmp_path / "run", "birch or fir", methods=["asking_twice"], retrievers=["endless"])
    told = explain(run, "q1", by=REMOVAL, wordings="none")
    removal, alone = told.by("removal"), told.by("alone")
    assert [sentence.text for sentence in told.sentences] == ["An alder.", "A birch."]
    assert removal is not None and numbers(told, removal.sentences) == [2]
    assert alone is not None and (numbers(told, alone.sentences), alone.certainty) == ([1, 2], "smallest")


def test_a_record_is_explained_with_its_own_evidence_and_wording(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "birch and elm", perturbations=["unchanged", "sentence_removal"])
    [key] = run.records().filter(perturbation="sentence_removal")["key"]
    told = explain(run, key[:10], by=REMOVAL, wordings="none")
    assert (told.key, told.perturbation, told.answer.is_right) == (key, "sentence_removal", False)
    assert [sentence.text for sentence in told.sentences] == [s for i, s in enumerate(ruled.SENTENCES) if i != 4]


# --- judging --------------------------------------------------------------------------------------


def test_without_accepted_answers_the_answer_that_changes_counts(tmp_path: Path) -> None:
    rows = [row(answers=[], tags={"unanswerable": True})]
    told = explain(make_run(tmp_path / "run", "birch and elm", rows=rows), "q1", by=REMOVAL, wordings="none")
    removal = told.by("removal")
    assert told.judged_by is None and removal is not None and numbers(told, removal.sentences) == [2]
    assert "Without sentence 2 the answer is another" in words(told)


def test_of_sampled_answers_the_most_decide_and_once_is_told_to_be_little(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "birch", temperatures=[0.7])
    once = explain(run, "q1", by=REMOVAL, wordings="none")
    assert once.is_sampled and "a turn may be chance" in words(once)
    often = explain(run, "q1", by=REMOVAL, wordings="none", repeats=3)
    assert often.n_calls == 3 * once.n_calls and "a turn may be chance" not in words(often)
    with pytest.raises(StudyError, match="Give an odd number"):
        explain(run, "q1", repeats=2)


# --- wordings -------------------------------------------------------------------------------------


def test_the_smallest_part_of_the_nearest_rewording_is_found(tmp_path: Path) -> None:
    """Right iff the question says `old`; one wording changes three words, another nearly all."""
    far, near = "Please tell me of a garden's home", "In what ancient town does the yard lie?"
    run = make_run(tmp_path / "run", "old", variations=["original", f"listed(texts={(far, near)!r})"])
    told = explain(run, "q1", wordings="run", by=REMOVAL)
    assert told.rewording is not None and told.rewording.n_flipping == 2
    flipping = told.rewording.flipping
    assert flipping is not None
    assert (flipping.text, flipping.whole) == ("In which ancient town does the garden lie?", near)
    assert [(edit.before, edit.after) for edit in flipping.edits] == [(("old",), ("ancient",))]
    assert (flipping.certainty, flipping.answer.text) == ("smallest", WRONG)
    assert flipping.edit_distance == round(1 / 8, 4)


def test_a_wording_that_tells_the_answer_is_not_asked(tmp_path: Path) -> None:
    telling = "Is it Oslo in which the garden lies?"
    run = make_run(tmp_path / "run", "old", variations=["original", f"listed(texts={(telling,)!r})"])
    told = explain(run, "q1", wordings="run", by=REMOVAL)
    assert told.rewording is not None and told.rewording.n_wordings == 0


def test_paraphrases_that_lack_the_same_extra_share_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problems = {
        "grammar": "no weights.",
        "keywords": "Variation 'keywords' needs the package spacy: pip install 'shaketable[local]'.",
    }
    monkeypatch.setattr(
        "shaketable.stages.explaining.explain_wording.lacks_for_wording",
        lambda variation: problems.get(catalog.name_of(variation), problems["keywords"].replace("spacy", "torch")),
    )
    explanation = explain(make_run(tmp_path / "run", "old"), "q1", by=REMOVAL)
    assert explanation.rewording is not None
    [lacking, weights] = sorted(explanation.rewording.not_tried, key=len, reverse=True)
    assert weights == "grammar: no weights."
    assert "keywords" in lacking and "formality" in lacking
    assert lacking.endswith(": packages are missing: pip install 'shaketable[local]'.")


def test_a_system_without_evidence_explains_its_wording_alone_and_says_why(tmp_path: Path) -> None:
    texts = ("In which new town does the garden lie?",)
    run = make_run(
        tmp_path / "run", "old", methods=["closed_book"], variations=["original", f"listed(texts={texts!r})"]
    )
    told = explain(run, "q1", wordings="run")
    assert (told.sets, told.without_evidence) == ((), "no_search")
    assert told.rewording is not None and told.rewording.flipping is not None
    assert "is asked without evidence, so only its wording can be changed." in words(told)


# --- pipelines ------------------------------------------------------------------------------------

CODE = """
def given(question, context):
    return "Oslo" if "birch" in context and "elm" in context else "Rome"


def own(question, disturb):
    back = disturb([{"text": "A birch. A cedar. An elm.", "title": "Trees"}])
    return given(question, " ".join(one["text"] for one in back))


def closed(question):
    return "Oslo"
"""


@pytest.mark.parametrize(("name", "needed"), [("given", [2, 5]), ("own", [1, 3]), ("closed", None)])
def test_pipelines_are_explained_by_what_they_take(tmp_path: Path, name: str, needed: list[int] | None) -> None:
    (tmp_path / "app.py").write_text(CODE)
    run = make_run(tmp_path / "run", "", models=[f"pipeline(python={str(tmp_path / 'app.py') + ':' + name!r})"])
    told = explain(run, "q1", by=REMOVAL, wordings="none")
    alone = told.by("alone")
    assert told.is_sampled  # It takes no temperature, so nobody knows.
    if needed is None:
        assert (told.sets, told.without_evidence) == ((), "pipeline")
        assert "takes no context" in words(told)
    else:
        assert alone is not None and numbers(told, alone.sentences) == needed


# --- which question -------------------------------------------------------------------------------


def test_questions_are_found_by_id_or_by_a_part_of_their_text_and_nothing_is_guessed(tmp_path: Path) -> None:
    rows = [row("town-1"), row("town-2", "In which new town does the orchard lie?")]
    run = make_run(tmp_path / "run", "birch", rows=rows)
    assert explain(run, "ORCHARD  lie", by=REMOVAL, wordings="none").question_id == "town-2"
    with pytest.raises(StudyError, match=r"'town' is in 2 questions of .*town-1 \(In which old.*; town-2"):
        explain(run, "town")
    with pytest.raises(StudyError, match=r"has no question 'town-3'.* Nearest: town-[12] \("):
        explain(run, "town-3")


def test_of_several_systems_one_must_be_named(tmp_path: Path) -> None:
    models = ["ruled(rule='birch', name='prod')", "ruled(rule='elm', name='next')"]
    run = make_run(tmp_path / "run", "", models=models)
    with pytest.raises(StudyError, match=r"has 2 systems: 'prod', 'next'. Say which to ask: --system"):
        explain(run, "q1")
    with pytest.raises(StudyError, match=r"has no system 'prd'. Did you mean 'prod'"):
        explain(run, "q1", system="prd")
    told = explain(run, "q1", system="next", by=REMOVAL, wordings="none")
    removal = told.by("removal")
    assert told.name == "next" and removal is not None and numbers(told, removal.sentences) == [5]


def test_a_question_without_evidence_of_its_own_is_refused(tmp_path: Path) -> None:
    rows = [row(), row("bare", "Where does it lie?", documents=[], facts=[])]
    run = make_run(tmp_path / "run", "birch", rows=rows)
    with pytest.raises(StudyError, match="Question bare has no evidence of its own"):
        explain(run, "bare")


def test_an_unfinished_run_is_refused(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "birch")
    with run.writing() as store:
        store.set_meta(n_trials=9)
    with pytest.raises(StudyError, match=r"is not finished: 1 of 9 trials are answered. Go on with it first"):
        explain(run, "q1")


# --- what is kept ---------------------------------------------------------------------------------


def test_an_explanation_is_kept_shown_in_the_report_and_left_out_when_it_no_longer_holds(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "birch and elm")
    n_records = run.summary().done
    told = explain(run, "q1", by=REMOVAL, wordings="run")
    explain(run, "q1", by=REMOVAL, wordings="run")
    assert load_explanations(run.folder) == (told,) == current_explanations(Run(run.folder))
    assert Run(run.folder).summary().done == n_records  # Its records stay as they are.
    page = report(Run(run.folder)).read_text("utf-8")
    assert "What turns this answer" in page and "Without sentence 2 the answer turns wrong" in page
    with run.writing() as store:
        [question] = store.questions()
        store.add_questions([(replace(question, answers=("Bergen",)), "item")])
    assert current_explanations(Run(run.folder)) == ()


def test_texts_of_a_model_are_no_markup_on_the_page(tmp_path: Path) -> None:
    rows = [row(answers=["<script>alert(1)</script>"], text=f"<img src=x> {QUESTION}")]
    run = make_run(tmp_path / "run", "birch", rows=rows)
    explain(run, "q1", by=REMOVAL, wordings="none")
    page = report(Run(run.folder)).read_text("utf-8")
    assert "<script>alert" not in page and "<img src=x>" not in page


@pytest.mark.weights
def test_sentences_without_a_name_cannot_be_masked(tmp_path: Path) -> None:
    sentences = ["The town is small.", "Oslo lies in Norway.", "it has a garden."]
    rows = [row(documents=[{"title": "Garden", "sentences": sentences}], facts=[["Garden", 0]])]
    told = explain(make_run(tmp_path / "run", "Norway", rows=rows), "q1", by=("masking",), wordings="none")
    masking = told.by("masking")
    assert masking is not None and masking.n_candidates < 3
    assert numbers(told, masking.sentences) == [2]
    assert "[MASK]" in (masking.edits[0].after or "")
    assert "With the names in sentence 2 masked the answer turns wrong." in words(told)


@pytest.mark.slow
@pytest.mark.weights
def test_the_embedded_model_is_explained_on_a_built_in_question(tmp_path: Path) -> None:
    tables = {
        "name": "small",
        "dataset": {"name": "builtin", "limit": 1},
        "cross": {"models": ["smollm2"], "temperatures": [0.0]},
        "generation": {"max_tokens": 16},
        "score": {"metrics": ["contains"]},
        "analyze": {"analyses": ["correctness"], "n_resamples": 60},
    }
    run = ask(parse_study(tables, "test"), tmp_path / "run")
    [question] = run.store.questions()
    told = explain(run, question.id, by=REMOVAL, max_calls=24)
    assert told.stored == told.answer.text and not told.is_sampled and told.n_calls <= 24
    assert told.rewording is not None and told.rewording.n_wordings and not told.rewording.not_tried
    assert [sentence.text for sentence in told.sentences] == [question.sentence(id).text for id in question.supporting]
    for sets in told.sets:
        assert sets.answer is None or (sets.answer.is_right != told.answer.is_right) == (
            sets.operation != "alone" or told.answer.is_right is False
        )
