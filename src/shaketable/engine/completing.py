"""A row of the batch → its completion."""

from __future__ import annotations

from typing import Literal

from shaketable.engine.checkpoint import Checkpoint
from shaketable.engine.rows import Row
from shaketable.text.thoughts import split_thoughts
from shaketable.types import Completion, Failure

FinishReason = Literal["end", "stop", "length"]

EMPTY_PROMPT = Failure(
    kind="empty_prompt", message="The prompt has no tokens. Give the question a text.", step="generate", may_retry=False
)


def finish_reason(row: Row, checkpoint: Checkpoint) -> FinishReason | None:
    """Why a row is finished; None: it is not."""
    if row.tokens[-1] in checkpoint.end_ids:
        return "end"
    if row.sampling.stop and any(stop in checkpoint.text_of(row.tokens) for stop in row.sampling.stop):
        return "stop"
    if len(row.tokens) == row.sampling.max_tokens:
        return "length"
    return None


def complete(row: Row, reason: FinishReason, prompt_ids: list[int], checkpoint: Checkpoint) -> Completion:
    text = checkpoint.text_of(row.tokens)
    if reason == "stop":
        end = min(text.index(stop) + len(stop) for stop in row.sampling.stop if stop in text)
        text = text[:end]
    written = checkpoint.opened_thought(row.prompt, prompt_ids) + text
    thoughts, answer = split_thoughts(written, reason != "length")
    answer = text if answer == written else answer
    tokens = checkpoint.token_texts(row.tokens) if row.prompt.wants else ()
    return Completion(
        text=answer,
        finish_reason=reason,
        n_prompt_tokens=len(prompt_ids),
        n_tokens=len(row.tokens),
        seconds=row.seconds,
        thoughts=thoughts,
        n_thought_tokens=len(checkpoint.tokenizer.encode(thoughts, add_special_tokens=False)) if thoughts else 0,
        written=written if written != answer else "",
        tokens=tokens,
        extras=row.extras,
        decoding={
            "temperature": row.sampling.temperature,
            "top_p": row.sampling.top_p,
            "top_k": row.sampling.top_k,
            "repetition_penalty": row.sampling.repetition_penalty,
            "max_tokens": row.sampling.max_tokens,
        },
    )


def too_long(n_prompt_tokens: int, max_tokens: int, checkpoint: Checkpoint) -> Failure:
    return Failure(
        kind="too_long",
        message=(
            f"The prompt has {n_prompt_tokens:,} tokens and may grow by {max_tokens:,}, but {checkpoint.path.name} "
            f"reads {checkpoint.window:,} at most. Lower generation.max_tokens, or give less evidence."
        ),
        step="generate",
        may_retry=False,
    )
