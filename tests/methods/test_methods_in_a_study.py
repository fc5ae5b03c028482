"""The methods through the real scheduler: with scripted replies, and with the embedded model."""

import pytest
from made_studies import answered, small_study

from shaketable.errors import PartError
from shaketable.methods.search_o1 import BEGIN_QUERY, END_QUERY
from shaketable.stages.plan import plan
from shaketable.types import Generate, Note, Search

BLACK_BOX = [
    "fixed_length(n_examples=1)",
    "query_rewrite",
    "search_o1(max_turns=3)",
    "closed_book(n_examples=1)",
    "single_retrieval(n_examples=1)",
]
SMALL = [
    "dragin(n_examples=2, max_length=24)",
    "flare(n_examples=2, max_length=24)",
    "flare(mode='original', n_examples=2, max_length=24, text_tokens=24)",
    "fixed_sentence(n_examples=2, max_length=24)",
    "fixed_length(n_examples=2, max_length=24)",
    "interleaved(n_examples=2, max_length=24, max_sentences=2)",
    "query_rewrite",
    "search_o1(n_examples=3, max_turns=3)",
]


def of(records, method):
    return [record for record in records.values() if record.trial.method.startswith(method)]


@pytest.mark.parametrize(
    ("method", "missing"),
    [("dragin", "attention, entropy, token_ids"), ("flare", "logprobs")],
)
def test_a_model_that_shows_nothing_of_itself_is_refused_when_planning(tmp_path, method, missing):
    with pytest.raises(PartError, match=f"{method} needs {missing} of its model, and scripted.* does not give it"):
        plan(small_study(tmp_path, methods=[method]))


def test_processed_probabilities_of_an_endpoint_are_planned(tmp_path):
    endpoint = "openai(model='m', base_url='http://127.0.0.1:9/v1')"
    for method in ("flare", "flare(distribution='processed')"):
        assert plan(small_study(tmp_path, methods=[method], models=[endpoint])).n_trials
    with pytest.raises(PartError, match="dragin needs attention"):
        plan(small_study(tmp_path, methods=["dragin"], models=[endpoint]))


def test_black_box_methods_run_on_any_model(tmp_path):
    script = f"scripted(replies=('I look. {BEGIN_QUERY}book{END_QUERY}',))"
    study = small_study(
        tmp_path, n=2, methods=BLACK_BOX, models=[script], temperatures=[0.0], repeats=1, generation={"max_tokens": 20}
    )
    result, records = answered(study, tmp_path / "r.sqlite")
    assert (result.n_done, result.n_failed) == (2 * len(BLACK_BOX), 0)
    for record in of(records, "search_o1"):
        steps = [event.step for event in record.trace]
        assert [step.purpose for step in steps if isinstance(step, Generate)] == ["", "reason_in_documents", "", ""]
        assert [step.query for step in steps if isinstance(step, Search)] == ["book"]
        decisions = [step.values["decision"] for step in steps if isinstance(step, Note)]
        assert decisions == ["search", "repeated", "repeated", "missing"]
    for record in of(records, "closed_book"):
        assert [event.step.purpose for event in record.trace] == ["", "answer_completion"]


@pytest.mark.weights
@pytest.mark.slow
def test_every_method_runs_on_the_embedded_model(tmp_path):
    study = small_study(
        tmp_path, n=1, methods=SMALL, models=["smollm2"], retrievers=["full_gold"], temperatures=[1.0], repeats=1,
        generation={"max_tokens": 40},
    )  # fmt: skip
    result, records = answered(study, tmp_path / "r.sqlite")
    assert (result.n_done, result.n_failed) == (len(SMALL), 0)
    for record in of(records, "dragin"):
        assert record.answer is not None
        assert any(isinstance(event.step, Note) and event.step.name == "rind" for event in record.trace)
    assert all(of(records, method.partition("(")[0]) for method in SMALL)
    again, same = answered(study, tmp_path / "again.sqlite")
    assert again.n_done == result.n_done
    assert {key: record.answer for key, record in same.items()} == {key: one.answer for key, one in records.items()}
