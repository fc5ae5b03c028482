"""The curve stage: which records get a curve, what is stored, and that it agrees with sampling."""

from __future__ import annotations

import dataclasses

import pytest
from scipy import stats

from shaketable.facts.curves.top_bounds import spells
from shaketable.models.transformers import Transformers
from shaketable.stages.answer import answer
from shaketable.stages.curves import Growing, grow, step_on, trace_curves
from shaketable.stages.plan import plan
from shaketable.stages.report import sections_of
from shaketable.stages.run import run as run_study
from shaketable.stages.score import score
from shaketable.store import Run
from shaketable.store.counts import UnscoredCount
from shaketable.study import parse_study
from shaketable.types import Curve, Prompt, Sampling

LETTERS = ("a", "e", "t", "o")
SUBSTRING = "contains(match='substring')"


def study(folder, model, **scan):
    rows = [f'{{"id": "q{i}", "question": "Letter {i}?", "answers": ["{a}"]}}' for i, a in enumerate(LETTERS)]
    path = folder / "letters.jsonl"
    path.write_text("\n".join(rows))
    return parse_study(
        {
            "name": "letters",
            "dataset": {"name": "jsonl", "path": str(path)},
            "cross": {"models": [model], "methods": ["recall(layout='plain')"], "temperatures": [0.5, 1.0, 2.0]},
            "generation": {"max_tokens": 3},
            "scan": {"strategy": "none", "known": "", "curves": "all", "correct": SUBSTRING, **scan},
            "score": {"metrics": [scan.get("correct", SUBSTRING)]},
        },
        "letters.toml",
    )


def traced(study_, folder):
    run = Run.prepare(folder, study_)
    with run.writing() as store:
        answer(plan(study_), store)
        n = trace_curves(plan(study_), store)
    return Run(folder), n


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory):
    from tiny_letters import write_letters

    return write_letters(tmp_path_factory.mktemp("tiny"))


def test_curves_of_a_small_model_agree_with_sampled_answers(tiny_model, tmp_path):
    text = f"transformers(path='{tiny_model}')"
    run, n = traced(study(tmp_path, text), tmp_path / "run")
    assert n == len(LETTERS)
    curves = {curve.key: curve for curve in run.curves()}
    model = Transformers(path=str(tiny_model))
    for record in run.store.records():
        curve = curves[record.trial.key]
        [event] = record.trace
        gold = LETTERS[int(record.trial.question_id[1:])]
        for temperature in (0.5, 1.0, 2.0):
            prompts = [
                Prompt(
                    messages=event.step.messages,
                    sampling=Sampling(temperature=temperature, max_tokens=3),
                    seed=seed,
                    layout="plain",
                )
                for seed in range(400)
            ]
            right = sum(gold in reply.text.partition("\n")[0].casefold() for reply in model.generate(prompts))
            sampled = stats.binomtest(right, 400).proportion_ci(0.9999)
            place = curve.temperatures.index(temperature)
            assert curve.low[place] <= sampled.high
            assert curve.high[place] >= sampled.low


def test_a_study_sets_budget_samples_and_end_of_its_curves_and_they_are_kept(tiny_model, tmp_path):
    text = f"transformers(path='{tiny_model}')"
    run, _ = traced(study(tmp_path, text, curve_budget=7, curve_samples=0, curve_end=3.0), tmp_path / "run")
    for curve in run.curves():
        assert curve.n_positions <= 7 and curve.n_samples == 0
        assert curve.temperatures[-1] == 3.0
        assert [curve.settings[name] for name in ("budget", "n_samples", "scan_to")] == [7, 0, 3.0]
    again, n = traced(study(tmp_path, text, curve_budget=9, curve_samples=0), tmp_path / "again")
    assert n == len(LETTERS)
    assert {curve.settings["budget"] for curve in again.curves()} == {9}


def test_curves_are_made_once(tiny_model, tmp_path):
    asked = study(tmp_path, f"transformers(path='{tiny_model}')")
    run, _ = traced(asked, tmp_path / "run")
    before = run.curves()
    _, again = traced(asked, tmp_path / "run")
    assert again == 0
    assert Run(tmp_path / "run").curves() == before


def test_known_facts_alone_get_curves_when_the_study_says_so(tiny_model, tmp_path):
    asked = study(tmp_path, f"transformers(path='{tiny_model}')", known="exact_match", curves="known")
    run, n = traced(asked, tmp_path / "run")
    known = [r for r in run.store.records() if r.answer.text.casefold() == LETTERS[int(r.trial.question_id[1:])]]
    assert n == len(known)


def test_where_curves_are_the_scan_its_limit_holds_for_them(tiny_model, tmp_path):
    run, n = traced(study(tmp_path, f"transformers(path='{tiny_model}')", limit=2), tmp_path / "run")
    greedy = {record.trial.key: record.trial.question_id for record in run.store.records()}
    assert n == 2
    assert {greedy[curve.key] for curve in run.curves()} == {"q0", "q1"}
    # Beside samples, curves of all questions tell latent facts.
    asked = study(tmp_path, f"transformers(path='{tiny_model}')", limit=2, strategy="full")
    assert traced(asked, tmp_path / "sampled")[1] == len(LETTERS)


def test_a_model_without_logits_gets_no_curve_and_a_reason(tmp_path):
    run, n = traced(study(tmp_path, "scripted"), tmp_path / "run")
    assert n == len(LETTERS)
    assert {curve.reason for curve in run.curves()} == {"scripted does not give its logits"}
    assert all(curve.value == () for curve in run.curves())


def test_a_metric_that_curves_do_not_know_is_named(tiny_model, tmp_path):
    run, _ = traced(study(tmp_path, f"transformers(path='{tiny_model}')", correct="rouge"), tmp_path / "run")
    assert {curve.reason for curve in run.curves()} == {
        "curves follow scan.correct = \"contains(match='substring')\" or 'token', not rouge"
    }


def test_a_method_that_takes_its_answer_out_of_the_text_gets_no_curve(tmp_path):
    """A worked chain ends in its answer; the text on the way may name the accepted one without choosing it."""
    asked = study(tmp_path, "scripted(replies=('Not a but e. So the answer is: e.',))")
    longer = {**asked.generation, "max_tokens": 20}
    asked = dataclasses.replace(asked, methods=("closed_book(n_examples=2)",), generation=longer)
    run, _ = traced(asked, tmp_path / "run")
    assert {record.answer.text for record in run.store.records()} == {"e"}
    reason = "the answer is a part of what the model wrote; a curve judges all of it"
    assert {curve.reason for curve in run.curves()} == {reason}


def test_tokens_that_do_not_spell_the_answer_bound_nothing():
    assert spells((" Caf", "\\xc3", "\\xa9"), "Café")
    assert spells(("No", "</s>"), "No")
    assert not spells(("▁No", "▁one"), "No one")


def test_a_curve_survives_the_store(tiny_model, tmp_path):
    run, _ = traced(study(tmp_path, f"transformers(path='{tiny_model}')"), tmp_path / "run")
    [curve, *_] = run.curves()
    with run.writing() as store:
        store.add_curves("again", [dataclasses.replace(curve, key="other")])
        assert list(store.curves("again")) == [dataclasses.replace(curve, key="other")]


def test_likeliest_tokens_of_the_greedy_answer_bound_the_curve_of_a_model_without_logits(
    tiny_model, tmp_path, monkeypatch
):
    asked = study(tmp_path, f"transformers(path='{tiny_model}')")
    asked = dataclasses.replace(asked, generation={**asked.generation, "logprobs": True, "top_logprobs": True})
    exact, _ = traced(asked, tmp_path / "exact")
    curves = {one.key: one for one in exact.curves()}
    # The same records, as if an endpoint had given them: it tells its likeliest tokens and no more.
    monkeypatch.setattr("shaketable.stages.curves._why_not", lambda scan, model: "it does not give its logits")
    with exact.writing() as store:
        store._connection.execute("DELETE FROM curves")
        trace_curves(plan(asked), store)
    bounded = Run(tmp_path / "exact").curves()
    assert len(bounded) == len(LETTERS)
    for one in bounded:
        assert one.reason is None
        assert set(one.value) == {None}
        # Certified both ways: neither interval may lie beyond the other.
        exact_one = curves[one.key]
        assert all(low <= high + 1e-6 for low, high in zip(one.low, exact_one.high, strict=True))
        assert all(low <= high + 1e-6 for low, high in zip(exact_one.low, one.high, strict=True))


def test_an_accepted_answer_that_is_too_long_to_be_said_is_named_and_counted(tiny_model, tmp_path):
    asked = study(tmp_path, f"transformers(path='{tiny_model}')")
    (tmp_path / "letters.jsonl").write_text('{"id": "q0", "question": "Letter 0?", "answers": ["abcdefgh"]}')
    run, _ = traced(asked, tmp_path / "run")
    assert [curve.reason for curve in run.curves()] == ["no accepted answer fits into 3 new tokens"]
    score(run)
    assert UnscoredCount(metric="curve", reason="no accepted answer fits into 3 new tokens", n=1) in run.unscored()


def test_a_curve_takes_the_accepted_answers_that_its_metric_takes(tiny_model, tmp_path):
    asked = [
        study(tmp_path, f"transformers(path='{tiny_model}')", correct=correct)
        for correct in ("contains(match='substring', aliases=False)", SUBSTRING)
    ]
    (tmp_path / "letters.jsonl").write_text('{"id": "q0", "question": "Letter 0?", "answers": ["abcdefgh", "a"]}')
    canonical, every = (traced(one, tmp_path / f"run{i}")[0].curves() for i, one in enumerate(asked))
    assert [curve.reason for curve in canonical] == ["no accepted answer fits into 3 new tokens"]
    assert [curve.reason for curve in every] == [None]


def test_a_study_in_which_no_fact_is_known_ends_with_a_report_that_says_so(tmp_path):
    asked = study(tmp_path, "scripted(replies=('No idea',))", strategy="full", known="exact_match", curves="known")
    analyses = ("factual_robustness", "fact_accuracy", "breaking", "certainty_bins", "question_types")
    more = ("predict_breaking", "weakest_facts", "latent_facts")
    metrics = (SUBSTRING, "exact_match", "entropy", "margin", "certainty", "answer_tokens")
    made = run_study(dataclasses.replace(asked, analyses=analyses + more, metrics=metrics), tmp_path / "run")
    assert made.records().height == len(LETTERS)
    texts = [headline.text for section in sections_of(made, made.findings()) for headline in section.headlines]
    assert any("knows none of the questions asked, so there is no known fact to scan" in text for text in texts)
    assert (tmp_path / "run" / "report.html").is_file()


@pytest.mark.parametrize(("budget", "at_once"), [(0, 64), (45, 64), (400, 20), (10_000, 1)])
def test_curves_with_many_nodes_grow_fewer_at_once(budget, at_once):
    sizes = []

    class Counting:
        def expand(self, asked):
            sizes.append(len(asked))
            return [[None] for _ in asked]

    def course(key):
        for _ in range(2):
            yield [()]
        return Curve(key=key)

    started = (step_on(Growing(None, course(str(number)), []), None) for number in range(100))
    finished = [one.key for batch in grow(Counting(), started, budget) for one in batch]
    assert finished == [str(number) for number in range(100)]
    assert max(sizes) == at_once
