from __future__ import annotations

import json
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_records import QUESTION, record, scores

from shaketable.metrics.bertscore import BASELINES, Bertscore, measure_baseline
from shaketable.text.encoder import TokenStates, encoder

NAME = "all-MiniLM-L6-v2"


@pytest.mark.weights
@pytest.mark.parametrize(("candidate", "gold"), [("", "Paris"), ("Paris", ""), ("", ""), (" \n", "Paris")])
def test_an_empty_candidate_or_reference_scores_zero(candidate: str, gold: str) -> None:
    assert scores(Bertscore(), candidate, gold)["bertscore"].value == 0.0


@pytest.mark.weights
def test_the_reference_goes_before_the_accepted_answers_and_the_best_answer_counts() -> None:
    whole = scores(Bertscore(), "It is Paris.", "Rome", reference="It is Paris.")["bertscore"].value
    best = scores(Bertscore(), "It is Paris.", "Rome", "It is Paris.")["bertscore"].value
    worse = scores(Bertscore(), "It is Paris.", "Rome")["bertscore"].value
    assert whole == best == pytest.approx(1.0, abs=1e-5)
    assert worse is not None
    assert worse < 0.9


# The study's conversion table for roberta-large: raw to rescaled.
@pytest.mark.parametrize(
    ("raw", "rescaled"), [(0.97, 0.8222), (0.95, 0.7037), (0.90, 0.4075), (0.80, -0.1850), (0.70, -0.7775)]
)
def test_rescaling_follows_the_published_table(raw: float, rescaled: float) -> None:
    _, found = Bertscore(encoder="roberta-large")._numbers("k", raw, None)
    assert found.value == pytest.approx(rescaled, abs=6e-5)


@pytest.mark.weights
def test_without_a_known_baseline_only_the_raw_number_is_given() -> None:
    found = scores(Bertscore(layer=3), "Paris", "Paris")
    assert found["bertscore"].value == pytest.approx(1.0, abs=1e-5)
    assert found["bertscore_rescaled"].value is None
    assert "no baseline for all-MiniLM-L6-v2 layer 3" in str(found["bertscore_rescaled"].reason)
    given = scores(Bertscore(layer=3, baseline=0.5), "Paris", "Paris")
    assert given["bertscore_rescaled"].value == pytest.approx(1.0, abs=1e-5)


def test_failed_trials_and_missing_golds_load_nothing_and_give_reasons() -> None:
    failed = scores(Bertscore(encoder="roberta-large"), None, "Paris")
    assert [(score.value, score.reason) for score in failed.values()] == [(None, "failed: timeout")] * 2
    goldless = scores(Bertscore(encoder="roberta-large"), "Paris")
    assert [(score.value, score.reason) for score in goldless.values()] == [(None, "no accepted answer")] * 2


@pytest.mark.weights
def test_a_record_scores_the_same_alone_and_among_others() -> None:
    records = [record(text, key=text) for text in ("Ann Lee", "It was Ann Lee, I think. " * 20, "Bo", "", "Bo")]
    together = Bertscore().score(records, {"q": QUESTION})
    for one, found in zip(records, together, strict=True):
        (alone,) = Bertscore().score([one], {"q": QUESTION})
        assert [score.value for score in alone] == pytest.approx([score.value for score in found], abs=1e-6)


@pytest.mark.weights
def test_each_distinct_text_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    original = encoder(NAME).token_states

    def counting(texts: list[str], layer: int) -> list[TokenStates]:
        seen.extend(texts)
        return original(texts, layer)

    monkeypatch.setattr(encoder(NAME), "token_states", counting)
    Bertscore().score([record("Bo"), record("Bo"), record("Ann Lee"), record("Al")], {"q": QUESTION})
    assert sorted(seen) == ["Al", "Ann Lee", "Bo"]


@pytest.mark.weights
@pytest.mark.slow
def test_the_baseline_is_what_the_bundled_corpora_give() -> None:
    folder = files("shaketable") / "resources" / "questions"
    lines = [
        line
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith("_corpus.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    sentences = [sentence for line in lines for sentence in json.loads(line)["sentences"]]
    found = measure_baseline(encoder(NAME), 5, sentences, seed=0)
    assert found == pytest.approx(BASELINES[NAME, 5], abs=0.005)


@pytest.mark.weights
@settings(max_examples=25, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_values_are_numbers_of_at_most_one(candidate: str, gold: str) -> None:
    found = scores(Bertscore(), candidate, gold)["bertscore"].value
    assert found is not None
    assert -1.0 <= found <= 1.0


@pytest.mark.weights
@settings(max_examples=15, deadline=None)
@given(st.text("abcdefghij .", min_size=1, max_size=60).filter(str.strip))
def test_a_text_scores_one_against_itself(text: str) -> None:
    assert scores(Bertscore(), text, text)["bertscore"].value == pytest.approx(1.0, abs=1e-5)
