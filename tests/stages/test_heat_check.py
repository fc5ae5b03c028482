import random
from dataclasses import replace

import polars as pl
import pytest
from made_studies import small_study

from shaketable.analyses.conditions import number_texts
from shaketable.stages.analyze import analyze
from shaketable.stages.answer import answer
from shaketable.stages.compare import compare
from shaketable.stages.heat_check import at_one_temperature, ignoring_temperature, not_applied
from shaketable.stages.plan import plan
from shaketable.stages.report import sections_of
from shaketable.stages.score import score
from shaketable.store import Run
from shaketable.store.findings_file import tidy_rows


def records(answer_at, n_questions=12, repeats=3, temperatures=(0.0, 1.0, 2.0), model="m"):
    rng = random.Random(1)
    rows = [
        {
            "model": model, "method": "x", "retriever": None, "perturbation": None, "variation": "original",
            "question_id": f"q{i}", "temperature": temperature, "repeat": repeat,
            "answer": answer_at(i, temperature, rng),
        }
        for i in range(n_questions)
        for temperature in temperatures
        for repeat in range(repeats)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"retriever": pl.String, "perturbation": pl.String})


def test_a_model_that_gives_the_same_answers_at_every_temperature_is_named():
    found = ignoring_temperature(records(lambda i, temperature, rng: f"answer {i}"))
    assert list(found) == ["m"]
    assert "in all 12 cells" in found["m"]


def test_a_model_that_samples_at_a_temperature_of_its_own_is_named():
    found = ignoring_temperature(records(lambda i, temperature, rng: rng.choice("abc"), n_questions=200, repeats=4))
    assert "as often at 2 as at 0" in found["m"]


def test_a_model_that_is_greedy_when_cool_and_varies_when_hot_is_not_named():
    assert not ignoring_temperature(records(lambda i, t, rng: "a" if t == 0 else rng.choice("abcdefgh")))


def test_a_model_that_varies_as_much_when_cool_but_says_other_things_when_hot_is_not_named():
    """At 0 every answer is a or b, at 2 c or d: repeats differ in half of all pairs at both."""
    made = records(lambda i, t, rng: rng.choice("ab" if t < 1 else "cd"), n_questions=200, repeats=4)
    assert not ignoring_temperature(made)


def test_a_run_without_hot_temperatures_or_with_few_questions_is_not_judged():
    assert not ignoring_temperature(records(lambda i, t, rng: "a", temperatures=(0.0, 0.6)))
    assert not ignoring_temperature(records(lambda i, t, rng: "a", n_questions=3))


def test_failed_trials_are_left_out():
    failed = records(lambda i, t, rng: None).with_columns(answer=pl.lit(None, pl.String))
    assert not ignoring_temperature(failed)


def test_the_order_of_the_records_changes_nothing():
    """Bootstrap draws go by place, and a grouping without order gave other intervals each time."""
    made = records(lambda i, temperature, rng: rng.choice("abc"), n_questions=200, repeats=4)
    found = {ignoring_temperature(made.sample(fraction=1, shuffle=True, seed=seed))["m"] for seed in range(8)}
    assert len(found) == 1


ANALYSES = (
    "correctness", "variability", "degradation", "equivalence", "ranking", "dominance", "amplification", "guidelines",
    "variance_shares", "latent_facts", "cases", "context_reliance", "factual_robustness", "breaking", "fact_accuracy",
)  # fmt: skip
SCRIPTED = "scripted(replies=('Author 1', 'Author 2', 'Rome', 'Author 3'))"


@pytest.fixture
def half_flat(tmp_path, with_fake_parts):
    """One method that receives the temperature, and one that sets its own, crossed with everything."""
    study = small_study(
        tmp_path,
        n=8,
        models=[SCRIPTED],
        methods=["single_retrieval", "own_temperature"],
        perturbations=["unchanged", "sentence_removal"],
        temperatures=[0.0, 1.0, 2.0],
        repeats=3,
    )
    study = replace(study, metrics=("contains", "exact_match", "entropy"), analyses=ANALYSES)
    made = Run.prepare(tmp_path / "run", study)
    with made.writing() as store:
        answer(plan(study), store)
    score(made)
    analyze(made)
    return made


def test_a_method_that_sets_its_own_temperature_gets_no_verdict_on_it_in_any_analysis(half_flat):
    reason = "the method sets the temperature of every generation itself"
    assert not_applied(half_flat) == {(SCRIPTED, "own_temperature"): reason}
    findings = half_flat.findings()
    assert [(flat.model, flat.method, flat.reason) for flat in findings.not_applied] == [
        (SCRIPTED, "own_temperature", reason)
    ]
    rows = tidy_rows(findings)
    own = [row for row in rows if row.get("method") == "own_temperature"]
    assert {row["analysis"] for row in own} >= {"correctness", "degradation", "factual_robustness"}
    assert [row for row in own if row["temperature"] not in (0.0, None)] == []
    verdicts = ("ceilings", "pair_ceilings", "onsets", "heat_drops", "slopes")
    of_heat = [row for row in own if row.get("table") in verdicts or row["analysis"] == "dominance"]
    assert {row["value"] for row in of_heat} <= {None}
    for section in sections_of(half_flat, findings):
        for headline in section.headlines:
            text = headline.text
            is_on_temperature = "own_temperature" in text and "emperature" in text.replace("own_temperature", "")
            assert not is_on_temperature or "does not apply" in text or "temperature 0" in text, text
    # The other method keeps its verdicts.
    assert {row["method"] for row in rows if row.get("table") == "heat_drops"} == {"single_retrieval"}


def test_a_system_at_one_temperature_keeps_its_coolest_rows():
    table = records(lambda i, temperature, rng: "a", n_questions=2, repeats=1)
    kept = at_one_temperature(table, {("m", "x")})
    assert kept["temperature"].to_list() == [0.0, 0.0]
    assert at_one_temperature(table, {("m", "y")}).equals(table)
    assert at_one_temperature(number_texts(table), {("m", "x")}).equals(number_texts(kept))


def test_a_method_that_sets_its_own_temperature_is_compared_at_the_coolest_alone(half_flat):
    (compared,) = compare(half_flat, systems=("single_retrieval", "own_temperature")).compared
    assert (compared.comparison.n_conditions, compared.comparison.n_pairs) == (2, 16)
    skipped = [own for own in compared.comparison.unpaired if own.why == "condition"]
    assert [(own.side, own.n) for own in skipped] == [("first", 32)]  # Of two kinds of evidence at 1 and at 2.
    calls = next(own.change for own in compared.efforts if own.measured == "n_generations")
    assert (calls.first.value, calls.second.value, calls.difference.n) == (1, 1, 8)
