import random

import polars as pl

from shaketable.stages.heat_check import ignoring_temperature


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
