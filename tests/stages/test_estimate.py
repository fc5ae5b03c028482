"""What a plan takes at most is never less than what it is likely to take."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_studies import small_study

from shaketable.stages import estimate
from shaketable.stages.measured import Measured
from shaketable.stages.plan import plan
from shaketable.types import Message, Prompt, Sampling


def test_at_most_is_never_below_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = plan(small_study(tmp_path))
    seen = Measured(n_trials=9, calls=1, prompt_tokens=5000, new_tokens=2)
    labels = {(one.model, one.method): one.trials for one in estimate.estimate(planned)}
    names = [
        estimate.system_name(condition.model, condition.labels["method"] or "") for condition in planned.conditions
    ]
    monkeypatch.setattr(estimate, "known_measures", lambda: dict.fromkeys(names, seen))
    forecasts = estimate.estimate(planned)
    assert len(forecasts) == len(labels)
    for forecast in forecasts:
        assert forecast.likely is not None and forecast.likely.prompt_tokens == 5000 * forecast.trials
        if forecast.at_most is not None:
            assert forecast.at_most.prompt_tokens >= forecast.likely.prompt_tokens
            assert forecast.at_most.new_tokens >= forecast.likely.new_tokens


def test_a_chat_template_counts() -> None:
    messages = (Message(role="user", content="x" * 400),)
    sampling = Sampling(temperature=0.0, max_tokens=1)
    counts = [
        estimate._prompt_tokens(Prompt(messages=messages, sampling=sampling, seed=0, layout=layout))  # type: ignore[arg-type]
        for layout in ("plain", "chat")
    ]
    assert counts[1] - counts[0] == estimate.TEMPLATE_TOKENS + estimate.MESSAGE_TOKENS
