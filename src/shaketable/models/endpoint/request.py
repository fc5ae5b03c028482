"""A prompt → the body of a request, in the dialect that an endpoint understands."""

from __future__ import annotations

from typing import Literal, Protocol

from shaketable.types import Json, Prompt, Sampling

# 2**32 - 1 asks llama.cpp for a random seed, and some servers read seeds as signed 32-bit numbers.
N_SEEDS = 2**31 - 1


class Dialect(Protocol):
    """The settings of the part that shape its requests."""

    @property
    def model(self) -> str: ...
    @property
    def max_tokens_field(self) -> Literal["max_tokens", "max_completion_tokens"]: ...
    @property
    def extended(self) -> bool: ...
    @property
    def send_seed(self) -> bool: ...
    @property
    def stop_at(self) -> Literal["server", "client"]: ...
    @property
    def top_logprobs(self) -> int: ...


def request_body(prompt: Prompt, dialect: Dialect) -> dict[str, Json]:
    sampling = prompt.sampling
    body: dict[str, Json] = {"model": dialect.model, "temperature": sampling.temperature}
    if dialect.send_seed:
        body["seed"] = prompt.seed % N_SEEDS
    if not sampling.library_defaults:
        body["top_p"] = sampling.top_p
        body |= _more_sampling(sampling, dialect.extended)
    if sampling.stop and dialect.stop_at == "server":
        body["stop"] = list(sampling.stop)
        if dialect.extended:
            # The names by which vLLM and SGLang are told to leave the stop string in the text.
            body |= {"include_stop_str_in_output": True, "no_stop_trim": True}
    wants_logprobs = "logprobs" in prompt.wants or "top_logprobs" in prompt.wants
    if prompt.layout == "plain":
        body["prompt"] = "".join(message.content for message in prompt.messages)
        body["max_tokens"] = sampling.max_tokens
        if wants_logprobs:
            body["logprobs"] = dialect.top_logprobs
        return body
    body["messages"] = [{"role": message.role, "content": message.content} for message in prompt.messages]
    body[dialect.max_tokens_field] = sampling.max_tokens
    if wants_logprobs:
        body |= {"logprobs": True, "top_logprobs": dialect.top_logprobs}
    if reply_prefix(prompt):
        body |= {"continue_final_message": True, "add_generation_prompt": False}
    return body


def reply_prefix(prompt: Prompt) -> str:
    """The beginning of the reply that the prompt gives; empty when the reply starts afresh."""
    last = prompt.messages[-1:]
    return last[0].content if prompt.layout == "chat" and last and last[0].role == "assistant" else ""


def _more_sampling(sampling: Sampling, always: bool) -> dict[str, Json]:
    """What vLLM, SGLang and llama.cpp know beyond OpenAI's API. -1 is off to all three, 0 is not."""
    more: dict[str, Json] = {}
    if always or sampling.top_k:
        more["top_k"] = sampling.top_k or -1
    if always or sampling.repetition_penalty != 1.0:
        more["repetition_penalty"] = sampling.repetition_penalty
        more["repeat_penalty"] = sampling.repetition_penalty  # its name in llama.cpp
    if always:
        more["min_p"] = 0.0
    return more
