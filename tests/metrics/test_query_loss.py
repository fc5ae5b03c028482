from __future__ import annotations

from dataclasses import replace

import pytest
from made_records import QUESTION, record

from shaketable.metrics.query_loss import QueryLoss, _loss
from shaketable.types import Record, Variant


def asked(text: str, model: str = "smollm2") -> Record:
    one = record("Ann")
    return replace(
        one, trial=replace(one.trial, model=model, variant=Variant(question_id="q", text=text, variation="v"))
    )


def test_the_loss_is_the_mean_over_tokens_by_hand() -> None:
    assert _loss([-1.0, -2.0, -6.0]) == (3.0, 3)
    # Without a beginning mark the first token has no probability.
    assert _loss([None, -2.0, -6.0]) == (4.0, 3)
    assert isinstance(_loss([None]), str)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("gpt-4o of ours", "'gpt-4o of ours' is no model of this package; name one that can read the wordings"),
        ("scripted", "scripted does not show the probabilities of a given text"),
        ("openai(model='gpt-4o')", "openai does not show the probabilities of a given text"),
    ],
)
def test_a_model_that_cannot_be_read_is_told(model: str, reason: str) -> None:
    ((loss, tokens),) = QueryLoss().score([asked("Who?", model)], {"q": QUESTION})
    assert loss.value is tokens.value is None
    assert loss.reason is not None and loss.reason.startswith(reason)


def test_a_failed_trial_is_not_read() -> None:
    ((loss, _),) = QueryLoss().score([record(None)], {"q": QUESTION})
    assert loss.reason == "failed: timeout"


@pytest.mark.weights
def test_a_garbled_wording_is_less_likely_and_each_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from shaketable.models.smollm2 import Smollm2

    seen: list[str] = []
    read = Smollm2.probe
    monkeypatch.setattr(
        Smollm2, "probe", lambda self, probes: seen.extend(p.text for p in probes) or read(self, probes)
    )
    plain, garbled = "Who wrote the novel?", "Hwo wroet teh nvoel?"
    metric = QueryLoss()
    records = [asked(plain), asked(garbled), asked(plain)]
    scored = metric.score(records, {"q": QUESTION})
    assert metric.score(records, {"q": QUESTION}) == scored
    assert seen == [plain, garbled]
    losses = [scores[0].value for scores in scored]
    assert losses[0] == losses[2]
    assert losses[1] > losses[0] + 1  # type: ignore[operator]


@pytest.mark.weights
def test_the_loss_is_that_of_the_library() -> None:
    import torch

    from shaketable.models.smollm2 import Smollm2

    engine = Smollm2().engine
    ids = torch.tensor([[engine.tokenizer.bos_token_id, *engine.tokenizer("Who wrote it?")["input_ids"]]])
    with torch.inference_mode():
        expected = engine.model(ids, labels=ids).loss.item()
    ((loss, tokens),) = QueryLoss(model="smollm2").score([asked("Who wrote it?", "theirs")], {"q": QUESTION})
    assert loss.value == pytest.approx(expected, rel=1e-4)
    assert tokens.value == ids.shape[1] - 1
