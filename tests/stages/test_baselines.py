"""Clean answers are scored as answers to other questions: what a number is worth that knows nothing of its question."""

from __future__ import annotations

import polars as pl
import pytest
from made_studies import row, study_of, write_rows

from shaketable.stages import score as stage
from shaketable.stages.analyze import analyze
from shaketable.stages.answer import answer
from shaketable.stages.baselines import pair_up
from shaketable.stages.plan import plan
from shaketable.stages.score import make_current, score
from shaketable.store import Run
from shaketable.types import Question

YES = "scripted(replies=('Yes.',))"


def asked(id: str, gold: str = "Paris", type: str | None = "bridge") -> Question:
    return Question(id=id, text=f"{id}?", answers=(gold,), tags={} if type is None else {"type": type})


def answered(folder, rows, **changes) -> Run:
    study = study_of(write_rows(folder / "questions.jsonl", rows), **changes)
    run = Run.prepare(folder / "run", study)
    with run.writing() as store:
        answer(plan(study), store)
    return run


def coin(n: int) -> dict[str, object]:
    return row(n, answers=["yes" if n % 2 else "no"])


def test_every_question_is_paired_with_another_and_each_is_taken_once():
    questions = [asked(f"q{i}") for i in range(9)]
    pairs = pair_up(questions)
    assert sorted(pairs) == sorted(pairs.values()) == [question.id for question in questions]
    assert all(id != other for id, other in pairs.items())
    assert pair_up(reversed(questions)) == pairs


def test_the_other_question_is_of_the_same_type_and_has_an_answer_of_its_kind():
    questions = [
        *(asked(f"bridge{i}") for i in range(4)),
        *(asked(f"yes-no{i}", "Yes" if i % 2 else "no") for i in range(4)),
        *(asked(f"comparison{i}", type="comparison") for i in range(2)),
        *(asked(f"untyped{i}", type=None) for i in range(2)),
    ]
    assert {(id[:-1], other[:-1]) for id, other in pair_up(questions).items()} == {
        (kind, kind) for kind in ("bridge", "yes-no", "comparison", "untyped")
    }


def test_the_only_question_of_its_type_is_paired_with_any_other():
    pairs = pair_up([asked("only", type="comparison"), asked("a"), asked("b")])
    assert pairs["only"] in ("a", "b")
    assert (pairs["a"], pairs["b"]) == ("b", "a")
    assert pair_up([asked("alone")]) == {}
    assert pair_up([]) == {}


def test_one_clean_answer_of_each_question_is_scored_for_another(tmp_path):
    rows = [row(n, answers=["Paris" if n < 3 else f"Author {n}"]) for n in range(4)]
    cross = {"perturbations": ["unchanged", "sentence_removal"], "temperatures": [0.0, 1.0], "repeats": 2}
    run = answered(tmp_path, rows, models=["scripted(replies=('Paris', 'Rome'))"], **cross)
    score(run, ["contains", "refusal"])
    baselines = run.baselines().join(run.records(), on="key")
    assert set(baselines["metric"]) == {"contains"}, "Refusing less is not better than another's refusal."
    # Whatever another question is answered with, it is Paris at temperature 0.
    assert dict(baselines.select("question_id", "value").iter_rows()) == {"q0": 1.0, "q1": 1.0, "q2": 1.0, "q3": 0.0}
    clean = baselines.select("perturbation", "temperature", "repeat").unique().rows()
    assert clean == [("unchanged", 0.0, 0)]


def test_baselines_are_no_scores(tmp_path):
    run = answered(tmp_path, [coin(n) for n in range(4)], models=[YES])
    n_scores = score(run, ["contains"])
    assert n_scores == len(run.scores()) == len(run.score_table()) == len(run.records())
    assert len(run.baselines()) == 4


def test_an_answer_that_failed_is_nobody_s_baseline(tmp_path):
    rows = [row(n, answers=["yes"]) for n in range(3)]
    run = answered(tmp_path, rows, models=["scripted(replies=('ERROR',))", YES], temperatures=[0.0], repeats=1)
    score(run, ["contains"])
    baselines = run.baselines().join(run.records(), on="key")
    assert set(baselines["model"]) == {YES}
    assert baselines["value"].to_list() == [1.0, 1.0, 1.0]


def test_a_judge_is_not_asked_about_other_questions(tmp_path):
    run = answered(tmp_path, [coin(n) for n in range(4)], models=[YES], temperatures=[0.0], repeats=1)
    score(run, ["judge(model=\"scripted(replies=('VERDICT: correct',))\")", "contains"])
    assert set(run.baselines()["metric"]) == {"contains"}
    [effort] = run.verdicts()
    assert effort.n_calls == 4


def test_baselines_are_void_when_scores_are_made_anew_and_older_runs_get_theirs(tmp_path):
    run = answered(tmp_path, [coin(n) for n in range(4)], models=[YES])
    score(run, ["contains"])
    first = run.baselines()
    run.write_scores([])  # As version 0.1 does, which knows no baselines.
    assert run.baselines().is_empty() and not run.has_baselines()
    score(run, ["contains"])
    (run.folder / "baselines.parquet").unlink()
    assert run.baselines().is_empty()
    make_current(run)
    assert run.baselines().equals(first)


def test_what_is_current_is_not_scored_again(tmp_path, monkeypatch):
    run = answered(tmp_path, [coin(n) for n in range(4)], models=[YES])
    score(run, ["contains"])
    monkeypatch.setattr(stage, "score_baselines", lambda *given: pytest.fail("scored again"))
    make_current(run)


def test_saying_yes_to_everything_leaves_nothing_to_lose(tmp_path):
    run = answered(tmp_path, [coin(n) for n in range(12)], models=[YES], temperatures=[0.0, 1.0])
    score(run, ["correct"])
    [entry] = analyze(run, ["correctness"]).nothing_to_lose
    assert (entry.against, entry.level.value, entry.baseline.value) == ("shuffled answers", 0.5, 0.5)
    assert run.findings().nothing_to_lose == (entry,)


def test_repeated_or_hot_answers_never_enter_a_baseline(tmp_path):
    run = answered(tmp_path, [row(n) for n in range(3)], models=[YES], temperatures=[0.5, 1.0], repeats=3)
    clean = pl.DataFrame([(own.trial.temperature, own.trial.repeat) for own in run.store.clean_records()], orient="row")
    assert set(clean.rows()) == {(0.5, 0), (0.5, 1), (0.5, 2)}
    score(run, ["contains"])
    kept = run.baselines().join(run.records(), on="key")
    assert set(kept.select("temperature", "repeat").rows()) == {(0.5, 0)}
