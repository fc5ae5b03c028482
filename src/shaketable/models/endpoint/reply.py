"""A whole reply of an endpoint → a completion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from shaketable.models.endpoint.choice import (
    as_written,
    count_thoughts,
    estimate_tokens,
    read_end,
    read_texts,
)
from shaketable.models.endpoint.failures import EndpointError
from shaketable.models.endpoint.fields import count_of, mapping_of
from shaketable.models.endpoint.logprobs import Unreadable, cut_tokens, read_logprobs
from shaketable.models.endpoint.processed import processed_logprobs
from shaketable.models.endpoint.request import PROCESSED, reply_prefix
from shaketable.models.endpoint.words import REPLACED, Hide
from shaketable.text.thoughts import CLOSE, split_thoughts
from shaketable.types import Completion, Json, Prompt

DECODING = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "repetition_penalty",
    "repeat_penalty",
    "seed",
    "max_tokens",
    "max_completion_tokens",
)


def read_reply(prompt: Prompt, body: Mapping[str, Json], reply: Any, seconds: float, hide: Hide) -> Completion:
    """Raises EndpointError where the endpoint withheld the text or broke it off. `hide`: once more, as a secret may
    come in parts that are put together here."""
    choice = reply["choices"][0]
    reported = choice.get("finish_reason")
    if reported == "content_filter":
        raise EndpointError("content_filter", "the endpoint's content filter withheld the reply", may_retry=False)
    if reported in ("abort", "error"):
        raise EndpointError("server", f"the endpoint broke the reply off ({reported})", may_retry=True)
    notes = []
    thoughts, text = map(hide, read_texts(choice, prompt.layout))
    prefix = reply_prefix(prompt)
    if prefix and text.startswith(prefix):
        text = text[len(prefix) :]
        notes.append("prefix_echoed")
    whole = text
    if not thoughts:
        thoughts, text = split_thoughts(text, finished=reported != "length")
    elif CLOSE in text:  # They are apart, and their end is not.
        more, text = split_thoughts(text, finished=True)
        thoughts = f"{thoughts}\n{more}".strip()
    tagged = whole[: len(whole) - len(text)]
    text, finish, stop_notes = read_end(choice, text, prompt.sampling.stop, sent="stop" in body)
    tokens, extras, token_notes = _read_tokens(choice, prompt, body, hide)
    if finish == "stop":
        tokens, extras = cut_tokens(tokens, extras, text)
    notes += [*stop_notes, *token_notes, *(f"{name}_missing" for name in prompt.wants if name not in extras)]
    if REPLACED in thoughts or REPLACED in text:
        notes.append("half_characters_replaced")
    usage = mapping_of(reply.get("usage"))
    n_prompt_tokens, n_tokens = count_of(usage.get("prompt_tokens")), count_of(usage.get("completion_tokens"))
    if n_prompt_tokens is None or n_tokens is None:
        notes += ["usage_estimated"] if not usage else ["usage_estimated", "usage_unreadable"]
        n_prompt_tokens = estimate_tokens("".join(message.content for message in prompt.messages))
        n_tokens = len(tokens) or estimate_tokens(thoughts + text)
    return Completion(
        text=text,
        finish_reason=finish,
        n_prompt_tokens=n_prompt_tokens,
        n_tokens=n_tokens,
        seconds=seconds,
        thoughts=thoughts,
        written=as_written(thoughts, tagged, text, prompt.sampling.stop, is_new=not prefix),
        n_thought_tokens=count_thoughts(usage, thoughts),
        tokens=tokens,
        extras=extras,
        decoding={name: body[name] for name in DECODING if name in body},
        notes=tuple(notes),
    )


def _read_tokens(
    choice: Mapping[str, Any], prompt: Prompt, body: Mapping[str, Json], hide: Hide
) -> tuple[tuple[str, ...], dict[str, Json], list[str]]:
    """Tokens, what is told of each, and notes. An answer whose tokens cannot be read is an answer still."""
    asked = body.get("top_logprobs", body.get("logprobs"))
    n_top = asked if isinstance(asked, int) else 0
    is_processed = PROCESSED in prompt.wants
    wants = (*prompt.wants, "logprobs", "top_logprobs") if is_processed else prompt.wants
    try:
        tokens, extras = read_logprobs(choice, wants, prompt.sampling.max_tokens, n_top)
    except Unreadable:
        return (), {}, ["logprobs_unreadable"]
    if hide(joined := "".join(tokens)) != joined:
        return (), {}, ["logprobs_hidden"]  # Together they spell a secret.
    if is_processed and len(extras) == 2:
        logprobs, tops = (
            cast(list[float], extras["logprobs"]),
            cast(list[list[tuple[str, float]]], extras["top_logprobs"]),
        )
        listed = [[logprob for _, logprob in top] for top in tops]
        if (processed := processed_logprobs(logprobs, listed, body, n_top)) is not None:
            extras = {**extras, PROCESSED: processed}
    return tokens, {name: values for name, values in extras.items() if name in prompt.wants}, []
