"""A prompt → what a pipeline is given, and what it told → a completion. Both ways in, Python and HTTP, share it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shaketable.models.endpoint.choice import estimate_tokens
from shaketable.text.normalization import without_surrogates
from shaketable.types import Completion, Failure, Hit, Json, Passage, Prompt, Sentence

N_SEEDS = 2**31 - 1
"""Many libraries read seeds as signed 32-bit numbers."""


def given_by(prompt: Prompt) -> dict[str, Json]:
    """All that a pipeline may take, by name."""
    *history, asked = prompt.messages
    contexts = [hit.passage.text for hit in prompt.hits]
    return {
        "question": asked.content,
        "context": "\n\n".join(contexts),
        "contexts": list(contexts),
        "history": [{"role": message.role, "content": message.content} for message in history],
        "temperature": prompt.sampling.temperature,
        "seed": prompt.seed % N_SEEDS,
    }


def unasked(prompt: Prompt, takes: frozenset[str]) -> Failure | None:
    """Why a prompt cannot be asked of a pipeline that takes this; None: it can."""
    if len(prompt.messages) > 1 and "history" not in takes:
        return Failure(
            kind="refused_setting",
            message="This wording follows others in a conversation, and the pipeline takes no history.",
            step="generate",
            may_retry=False,
        )
    return None


def hits_of(passages: Sequence[Mapping[str, Any]]) -> tuple[Hit, ...]:
    """Passages that a pipeline found, each with an id of its own; they are not split yet. Half characters, which no
    store takes, are replaced."""
    ids = [without_surrogates(str(one.get("id") or "")) for one in passages]
    return tuple(
        Hit(
            passage=Passage(
                id=(id := ids[i] if ids[i] and ids.count(ids[i]) == 1 else f"own-{i + 1}"),
                title=without_surrogates(str(one.get("title") or "")),
                sentences=(Sentence(id=f"{id}#0", text=without_surrogates(str(one["text"]))),),
            ),
            rank=i + 1,
            score=one.get("score"),
            source="own",
        )
        for i, one in enumerate(passages)
    )


def completion_of(told: Mapping[str, Any], prompt: Prompt, takes: frozenset[str], seconds: float) -> Completion:
    """The answer with what the pipeline told beside it. Tokens that it does not count are estimated, and noted."""
    n_prompt_tokens, n_tokens = told.get("prompt_tokens"), told.get("tokens")
    is_counted = n_tokens is not None
    read = "\n".join([message.content for message in prompt.messages] + [hit.passage.text for hit in prompt.hits])
    return Completion(
        text=str(told["text"]),
        finish_reason="end",
        n_prompt_tokens=int(n_prompt_tokens) if n_prompt_tokens is not None else estimate_tokens(read),
        n_tokens=int(n_tokens) if n_tokens is not None else estimate_tokens(str(told["text"])),
        seconds=seconds,
        decoding={name: value for name, value in given_by(prompt).items() if name in takes & {"temperature", "seed"}},
        notes=() if is_counted else ("usage_estimated",),
        n_calls=max(int(told.get("calls") or 1), 1),
        dollars=told.get("cost"),
        hits=hits_of(told.get("contexts") or ()),
    )


def waiting_with(passages: Sequence[Mapping[str, Any]], seconds: float) -> Completion:
    """What a pipeline found and wants back before it goes on."""
    return Completion(
        text="",
        finish_reason="stop",
        n_prompt_tokens=0,
        n_tokens=0,
        seconds=seconds,
        n_calls=0,
        dollars=0.0,
        hits=hits_of(passages),
        waits=True,
    )
