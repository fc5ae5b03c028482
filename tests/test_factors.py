from __future__ import annotations

import pytest

from shaketable.errors import PartError
from shaketable.factors import (
    Labels,
    System,
    is_by_people,
    judging_metric,
    main_metric,
    measure_of,
    numbers_of,
    short_names,
    title_of,
    word_for,
)


def test_the_main_metric_is_the_first_listed_of_which_more_is_better() -> None:
    assert main_metric(("refusal", "answer_tokens", "rouge2", "contains")) == "rouge2"
    assert main_metric(("refusal", "contains", "bertscore"), "bertscore") == "bertscore"
    assert main_metric(("gibberish", "refusal")) == "gibberish"
    assert main_metric(()) is None


def test_scores_from_elsewhere_are_taken_as_better_when_higher() -> None:
    assert main_metric(("refusal", "helpfulness")) == "helpfulness"
    assert measure_of("helpfulness").unit is None


def test_a_number_that_was_not_scored_is_named_with_those_that_were() -> None:
    with pytest.raises(PartError, match=r"metric is 'rouge', .* Did you mean 'rouge.'\? Scored numbers: rouge1"):
        main_metric(("rouge1", "rouge2"), "rouge")


def test_right_is_told_from_wrong_by_the_main_metric_where_it_can() -> None:
    assert judging_metric(("bertscore", "exact_match", "contains")) == "exact_match"
    assert judging_metric(("bertscore", "exact_match", "contains"), "contains") == "contains"
    assert judging_metric(("bertscore", "refusal")) is None


def test_metrics_with_several_numbers_give_them_in_order_and_settings_stand_in_their_names() -> None:
    assert numbers_of(["contains(match='token')", "rouge"]) == ("contains", "rouge1", "rouge2", "rougeL")
    assert numbers_of(["retrieval(k=3)"])[:2] == ("recall@3", "precision@3")
    assert measure_of("recall@3").higher_is_better


def test_people_have_words_for_some_numbers() -> None:
    assert (word_for("contains"), title_of("contains")) == ("correctness", "Correct answers")
    assert (word_for("rouge1"), title_of("rouge1")) == ("rouge1", "rouge1")


def test_a_variation_says_itself_that_people_wrote_it() -> None:
    assert is_by_people("rewrites(path='r.jsonl')")
    assert is_by_people("human"), "So imported answers name wordings by people."
    assert not any(map(is_by_people, ("original", "spelling", "human error", "humane", "rewritesque", "my wordings")))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("openai(model='gpt-4o', base_url='http://127.0.0.1:8011/v1', extended=True)", "gpt-4o"),
        ("openai(model='org/model-1b')", "org/model-1b"),
        ("pipeline(python='/home/me/app.py:answer', concurrency=2)", "app.py:answer"),
        ("pipeline(http='https://example.org/ask', template='{}')", "example.org/ask"),
        ("transformers(path='models/tiny')", "tiny"),
        ("smollm2", "smollm2"),
        ("the system of (our) rival", "the system of (our) rival"),
    ],
)
def test_models_have_short_names(model, name):
    assert short_names([model, "scripted"])[model] == name
    assert Labels(systems=frozenset({System(model=model)})).system(System(model=model)) == name


def test_models_that_would_share_a_name_keep_their_text():
    here, there = (f"openai(model='m', base_url='http://127.0.0.1:{port}/v1')" for port in (1, 2))
    assert short_names([here, there, "openai(model='n')"]) == {here: here, there: there, "openai(model='n')": "n"}
