"""Any endpoint that speaks OpenAI's API: OpenAI, DeepSeek, vLLM, SGLang, llama.cpp, Ollama, TGI ..."""

from __future__ import annotations

import asyncio
import contextlib
import email.utils
import functools
import importlib.metadata
import ipaddress
import json
import os
import queue
import random
import re
import threading
import time
from collections.abc import Collection, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar
from urllib.parse import urlsplit

from shaketable import weights
from shaketable.errors import ModelError
from shaketable.models.openai_reply import (
    as_written,
    count_thoughts,
    cut_tokens,
    estimate_tokens,
    read_end,
    read_logprobs,
    read_texts,
)
from shaketable.text.thoughts import split_thoughts
from shaketable.types import Completion, EndpointFact, Failure, Json, Message, Prompt, Sampling

if TYPE_CHECKING:
    from openai import APIError

Reply = TypeVar("Reply")

DEFAULT_ENDPOINT = "https://api.openai.com/v1"
PLACEHOLDER_KEY = "none"

FIRST_WAIT_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 30.0
LONGEST_WAIT_SECONDS = 300.0
"""An endpoint that wants a longer pause (a spent daily quota) fails now; resuming tries it again."""

# 2**32 - 1 asks llama.cpp for a random seed, and some servers read seeds as signed 32-bit numbers.
N_SEEDS = 2**31 - 1

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

# The first is how OpenAI, vLLM, SGLang and llama.cpp word it, the second TGI.
TOO_LONG = re.compile(r"context.?(length|size|window)|tokens.* must be <=|(prompt|input) is too long", re.IGNORECASE)

CHECK_WORDING = ("Invent a name for a town.", "Write the first line of a story.")
CHECK_TOKENS = 8


@dataclass(frozen=True, kw_only=True)
class Openai:
    """A model behind an OpenAI-compatible endpoint.

    Stop strings: this API removes them from the text and says `stop` for them and for the model's
    end mark alike. vLLM and SGLang tell which it was, and the string is put back. Other servers do
    not; there the completion says `end`, with the note `stop_unknown`. `stop_at="client"` is exact
    everywhere: the stop strings are not sent and the text is cut here, at the price of tokens
    generated in vain.

    A last message by the assistant is continued with the switches of vLLM, SGLang and llama.cpp.
    llama.cpp repeats that message in its reply; the repetition is removed (note `prefix_echoed`).
    An endpoint without these switches may answer the message instead.
    """

    version: ClassVar[int] = 1
    gives: ClassVar[frozenset[str]] = frozenset({"logprobs", "top_logprobs"})

    model: str
    """The name the endpoint knows the model by."""
    base_url: str | None = None
    """None: `OPENAI_BASE_URL` if set, or OpenAI's own endpoint, as in the SDK."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """OpenAI's reasoning models want the second; it is for chat alone."""
    extended: bool = False
    """Always spell out top_k, min_p and repetition penalty, even when neutral. vLLM, SGLang and
    llama.cpp know them and have defaults that are not neutral; OpenAI refuses them."""
    send_seed: bool = True
    stop_at: Literal["server", "client"] = "server"
    top_logprobs: int = 20
    """How many alternatives per token to ask for when logprobs are wanted; OpenAI gives 20 at most."""
    api_key_variable: str = field(default="OPENAI_API_KEY", compare=False)
    """The environment variable that holds the key; the key itself is never a setting."""
    concurrency: int = field(default=16, compare=False)
    """Requests under way at once."""
    timeout_seconds: float = field(default=120.0, compare=False)
    """For one attempt, from sending to the last byte."""
    attempts: int = field(default=6, compare=False)
    price_in: float | None = field(default=None, compare=False)
    """USD per million prompt tokens, for estimates of cost. None: not known."""
    price_out: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        # The values at fault may be secrets put in the wrong place, so they are not repeated here.
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", self.api_key_variable):
            raise ValueError("api_key_variable is the name of an environment variable, such as OPENAI_API_KEY.")
        address = urlsplit(self.base_url or DEFAULT_ENDPOINT)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError("base_url is not a web address, such as http://127.0.0.1:8000/v1.")
        if address.username or address.password or address.query:
            raise ValueError(
                "base_url holds a user name, password or query string, which would be stored with every record. "
                "Put the key into an environment variable and name it with api_key_variable."
            )
        if self.max_tokens_field not in ("max_tokens", "max_completion_tokens"):
            raise ValueError(f"max_tokens_field is '{self.max_tokens_field}'; max_tokens or max_completion_tokens.")
        if self.stop_at not in ("server", "client"):
            raise ValueError(f"stop_at is '{self.stop_at}'; server or client.")
        for name in ("concurrency", "timeout_seconds", "attempts", "top_logprobs"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be above 0.")

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion | Failure]:
        pending = [self._line.start(self._answer(prompt)) for prompt in prompts]
        try:
            return [reply.result() for reply in pending]
        finally:
            for reply in pending:
                reply.cancel()

    def submit(self, ticket: int, prompt: Prompt) -> None:
        self._line.submit(ticket, self._answer(prompt))

    def collect(self) -> list[tuple[int, Completion | Failure]]:
        return self._line.collect() if "_line" in self.__dict__ else []

    def environment(self) -> Mapping[str, Json]:
        """What is known of the endpoint; `reported_*` is what the server said with its last reply."""
        return {
            "engine": "openai-compatible",
            "version": importlib.metadata.version("openai"),
            "endpoint": self._host,
            "model": self.model,
            **self._learnt,
        }

    def check(self) -> dict[str, EndpointFact]:
        """What the endpoint really does, by about fifteen small requests, one after another."""
        checks = {
            "n_honored": self._check_n,
            "logprobs_given": self._check_logprobs,
            "seed_honored": self._check_seed,
            "temperature_applied": self._check_temperature,
        }
        facts: dict[str, EndpointFact] = {}
        for name, check in checks.items():
            try:
                facts[name] = check()
            except _CheckError as error:
                # A refusal is an answer; a broken connection is not.
                refused = error.failure.kind in ("bad_request", "refused_setting")
                facts[name] = EndpointFact(value=False if refused else None, reason=error.failure.message)
        self._learnt["checks"] = {name: asdict(fact) for name, fact in facts.items()}
        return facts

    # --- the endpoint ---------------------------------------------------------------------------

    @functools.cached_property
    def _learnt(self) -> dict[str, Any]:
        """What the server reported and what `check` found."""
        return {}

    @functools.cached_property
    def _line(self) -> _Line:
        if problem := self.lacks():
            raise ModelError(problem)
        try:
            import openai
        except ImportError as error:
            raise ModelError("Model 'openai' needs the package openai: pip install openai.") from error
        # Retries are our own: the SDK's would hide them from the timing and from the failure message.
        client = openai.AsyncOpenAI(api_key=self._key, base_url=self._endpoint, max_retries=0, timeout=None)
        return _Line(client, self.concurrency)

    @property
    def _endpoint(self) -> str:
        return self.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_ENDPOINT

    @property
    def _host(self) -> str:
        """Host and port alone: an address may carry secrets elsewhere."""
        return urlsplit(self._endpoint).netloc.rpartition("@")[2]

    @property
    def _is_local(self) -> bool:
        name = urlsplit(self._endpoint).hostname or ""
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(name).is_loopback
        return name == "localhost" or name.endswith(".localhost")

    def lacks(self, by_chat: Collection[str] = ()) -> str | None:
        """Why a study could not use this endpoint, without asking it; only the endpoint knows whether it can chat."""
        if self._is_local:
            return None
        if weights.is_offline():
            return (
                f"Model '{self.model}' is at {self._host} and SHAKETABLE_OFFLINE is set. "
                "Unset it, or give the base_url of a server on this machine."
            )
        if not os.environ.get(self.api_key_variable, "").strip():
            return (
                f"Model '{self.model}' at {self._host} needs a key, and the environment variable "
                f"{self.api_key_variable} is not set. Set it, or name another with api_key_variable='…'; "
                "for a server that needs no key, any value will do."
            )
        return None

    @property
    def _key(self) -> str:
        return os.environ.get(self.api_key_variable, "").strip() or PLACEHOLDER_KEY

    # --- asking ---------------------------------------------------------------------------------

    async def _answer(self, prompt: Prompt) -> Completion | Failure:
        body = self._body(prompt)
        reply = await self._ask(body)
        if isinstance(reply, Failure):
            return reply
        content, seconds = reply
        try:
            return self._read(prompt, body, content, seconds)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            shape = f"{type(error).__name__}: {error}"
            return self._fail("bad_reply", f"the reply has another shape than the API's ({shape})", may_retry=True)

    async def _ask(self, body: Mapping[str, Json]) -> tuple[Any, float] | Failure:
        """The parsed reply and the seconds its attempt took. A place in the line is kept while waiting
        to try again, so that a crowded endpoint is not crowded further."""
        from openai import APIError

        path = "/chat/completions" if "messages" in body else "/completions"
        async with self._line.places:
            for attempt in range(1, self.attempts + 1):
                started = time.perf_counter()
                try:
                    async with asyncio.timeout(self.timeout_seconds):
                        content = await self._line.client.post(path, body=body, cast_to=object)
                    return content, time.perf_counter() - started
                except TimeoutError:
                    failure = self._fail("timeout", f"no reply within {self.timeout_seconds:g} seconds", may_retry=True)
                    wait: float | None = _backoff(attempt)
                except APIError as error:
                    failure = self._failure(error)
                    wait = _wait(error, attempt)
                except (json.JSONDecodeError, UnicodeDecodeError) as error:
                    return self._fail("bad_reply", f"the reply is not JSON ({error})", may_retry=True)
                except ValueError as error:  # half a character, or a temperature that is no number
                    return self._fail("bad_request", f"the prompt cannot be sent as JSON ({error})", may_retry=False)
                if wait is None or attempt == self.attempts:
                    break
                await asyncio.sleep(wait)
        return failure

    def _body(self, prompt: Prompt) -> dict[str, Json]:
        sampling = prompt.sampling
        body: dict[str, Json] = {"model": self.model, "temperature": sampling.temperature}
        if self.send_seed:
            body["seed"] = prompt.seed % N_SEEDS
        if not sampling.library_defaults:
            body["top_p"] = sampling.top_p
            body |= _more_sampling(sampling, self.extended)
        if sampling.stop and self.stop_at == "server":
            body["stop"] = list(sampling.stop)
            if self.extended:
                # The names by which vLLM and SGLang are told to leave the stop string in the text.
                body |= {"include_stop_str_in_output": True, "no_stop_trim": True}
        wants_logprobs = "logprobs" in prompt.wants or "top_logprobs" in prompt.wants
        if prompt.layout == "plain":
            body["prompt"] = "".join(message.content for message in prompt.messages)
            body["max_tokens"] = sampling.max_tokens
            if wants_logprobs:
                body["logprobs"] = self.top_logprobs
            return body
        body["messages"] = [{"role": message.role, "content": message.content} for message in prompt.messages]
        body[self.max_tokens_field] = sampling.max_tokens
        if wants_logprobs:
            body |= {"logprobs": True, "top_logprobs": self.top_logprobs}
        if _prefix(prompt):
            body |= {"continue_final_message": True, "add_generation_prompt": False}
        return body

    # --- reading replies ------------------------------------------------------------------------

    def _read(self, prompt: Prompt, body: Mapping[str, Json], reply: Any, seconds: float) -> Completion | Failure:
        choice = reply["choices"][0]
        reported = choice.get("finish_reason")
        if reported == "content_filter":
            return self._fail("content_filter", "the endpoint's content filter withheld the reply", may_retry=False)
        if reported in ("abort", "error"):
            return self._fail("server", f"the endpoint broke the reply off ({reported})", may_retry=True)
        notes = []
        thoughts, text = read_texts(choice, prompt.layout)
        prefix = _prefix(prompt)
        if prefix and text.startswith(prefix):
            text = text[len(prefix) :]
            notes.append("prefix_echoed")
        whole = text
        if not thoughts:
            thoughts, text = split_thoughts(text, finished=reported != "length")
        tagged = whole[: len(whole) - len(text)]
        text, finish, stop_notes = read_end(choice, text, prompt.sampling.stop, sent="stop" in body)
        tokens, extras = read_logprobs(choice, prompt.wants)
        if finish == "stop":
            tokens, extras = cut_tokens(tokens, extras, text)
        notes += [*stop_notes, *(f"{name}_missing" for name in prompt.wants if name not in extras)]
        usage = reply.get("usage") or {}
        n_prompt_tokens, n_tokens = usage.get("prompt_tokens"), usage.get("completion_tokens")
        if n_prompt_tokens is None or n_tokens is None:
            notes.append("usage_estimated")
            n_prompt_tokens = estimate_tokens("".join(message.content for message in prompt.messages))
            n_tokens = len(tokens) or estimate_tokens(thoughts + text)
        if self._learnt.get("checks", {}).get("seed_honored", {}).get("value") is False:
            notes.append("seed_ignored")
        self._learnt["reported_model"] = reply.get("model")
        self._learnt["reported_fingerprint"] = reply.get("system_fingerprint")
        return Completion(
            text=text,
            finish_reason=finish,
            n_prompt_tokens=int(n_prompt_tokens),
            n_tokens=int(n_tokens),
            seconds=seconds,
            thoughts=thoughts,
            written=as_written(thoughts, tagged, text, prompt.sampling.stop, is_new=not prefix),
            n_thought_tokens=count_thoughts(usage, thoughts),
            tokens=tokens,
            extras=extras,
            decoding={name: body[name] for name in DECODING if name in body},
            notes=tuple(notes),
        )

    def _failure(self, error: APIError) -> Failure:
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        if isinstance(error, APIConnectionError):
            cause = error.__cause__ or error
            kind = "timeout" if isinstance(error, APITimeoutError) else "connection"
            return self._fail(kind, f"{type(cause).__name__}: {cause}", may_retry=True)
        if not isinstance(error, APIStatusError):
            return self._fail("bad_reply", str(error), may_retry=True)
        kind, may_retry = _kind(error.status_code, f"{error.body} {error.message}")
        return self._fail(kind, f"HTTP {error.status_code}: {_said(error.body) or error.message}", may_retry=may_retry)

    def _fail(self, kind: str, message: str, may_retry: bool) -> Failure:
        # Some servers repeat the key they were given.
        key = os.environ.get(self.api_key_variable, "").strip()
        if key:
            message = message.replace(key, "***")
        return Failure(kind=kind, message=f"{self._host}: {message}"[:500], step="generate", may_retry=may_retry)

    # --- checking what the endpoint honors ------------------------------------------------------

    def _check_n(self) -> EndpointFact:
        body = self._body(_check_prompt(CHECK_WORDING[0], temperature=1.0, seed=1)) | {"n": 3}
        reply = self._line.start(self._ask(body)).result()
        if isinstance(reply, Failure):
            raise _CheckError(reply)
        choices = reply[0].get("choices") if isinstance(reply[0], dict) else None
        if not isinstance(choices, list):
            return EndpointFact(value=None, reason="the reply holds no choices")
        return EndpointFact(value=len(choices) == 3, reason=f"asked for 3 replies at once, got {len(choices)}")

    def _check_logprobs(self) -> EndpointFact:
        prompt = _check_prompt(CHECK_WORDING[0], temperature=0.0, seed=1, wants=("logprobs", "top_logprobs"))
        reply = self.generate([prompt])[0]
        if isinstance(reply, Failure):
            raise _CheckError(reply)
        if "logprobs" not in reply.extras:
            return EndpointFact(value=False, reason="asked for logprobs, got none")
        return EndpointFact(value=True, reason=f"got logprobs for {len(reply.tokens)} of {reply.n_tokens} tokens")

    def _check_seed(self) -> EndpointFact:
        if not self.send_seed:
            return EndpointFact(value=None, reason="send_seed is off")
        first, again, other = (self._check_texts(temperature=1.0, seed=seed) for seed in (1, 1, 2))
        if not any(first + again + other):
            return EndpointFact(value=None, reason=f"replies of {CHECK_TOKENS} tokens were empty")
        if first != again:
            return EndpointFact(value=False, reason="the same seed gave different texts at temperature 1")
        if first == other:
            return EndpointFact(value=None, reason="different seeds gave the same texts at temperature 1")
        return EndpointFact(
            value=True, reason="the same seed gave the same texts at temperature 1, another seed gave others"
        )

    def _check_temperature(self) -> EndpointFact:
        cold, cold_again = (self._check_texts(temperature=0.0, seed=seed) for seed in (1, 2))
        hot, hot_again = (self._check_texts(temperature=2.0, seed=seed) for seed in (1, 2))
        if not any(cold + cold_again + hot + hot_again):
            return EndpointFact(value=None, reason=f"replies of {CHECK_TOKENS} tokens were empty")
        n_cold = _count_differences(cold, cold_again)
        n_hot = max(_count_differences(cold, hot), _count_differences(hot, hot_again))
        counted = f"of {len(CHECK_WORDING)} texts, {n_cold} changed between two seeds at temperature 0, {n_hot} at 2"
        if n_hot > n_cold:
            return EndpointFact(value=True, reason=counted)
        # Texts that never change, or always do, do not heed the temperature; between these it is luck.
        return EndpointFact(value=False if n_cold in (0, len(CHECK_WORDING)) else None, reason=counted)

    def _check_texts(self, temperature: float, seed: int) -> list[str]:
        """One text per wording, asked one by one: under load, rounding alone may change a text."""
        texts = []
        for wording in CHECK_WORDING:
            reply = self.generate([_check_prompt(wording, temperature=temperature, seed=seed)])[0]
            if isinstance(reply, Failure):
                raise _CheckError(reply)
            texts.append(reply.thoughts + reply.text)
        return texts


class _CheckError(Exception):
    """A check's request failed."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


class _Line:
    """The client on an event loop of its own, in a thread that ends with the process."""

    def __init__(self, client: Any, concurrency: int) -> None:
        self.client = client
        self.places = asyncio.Semaphore(concurrency)
        self._loop = asyncio.new_event_loop()
        self._finished: queue.SimpleQueue[tuple[int, Future[Completion | Failure]]] = queue.SimpleQueue()
        self._n_waiting = 0
        self._counting = threading.Lock()
        threading.Thread(target=self._loop.run_forever, name="shaketable-openai", daemon=True).start()

    def start(self, work: Coroutine[Any, Any, Reply]) -> Future[Reply]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def submit(self, ticket: int, work: Coroutine[Any, Any, Completion | Failure]) -> None:
        with self._counting:
            self._n_waiting += 1
        self.start(work).add_done_callback(lambda reply: self._finished.put((ticket, reply)))

    def collect(self) -> list[tuple[int, Completion | Failure]]:
        with self._counting:
            if not self._n_waiting:
                return []
        done = [self._finished.get()]
        with contextlib.suppress(queue.Empty):
            while True:
                done.append(self._finished.get_nowait())
        with self._counting:
            self._n_waiting -= len(done)
        return [(ticket, reply.result()) for ticket, reply in done]


# --- waiting and failing ------------------------------------------------------------------------


def _backoff(attempt: int) -> float:
    longest = min(LONGEST_BACKOFF_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1))
    return longest * random.uniform(0.5, 1.0)


def _wait(error: APIError, attempt: int) -> float | None:
    """Seconds until the next attempt; None: another attempt would not help."""
    from openai import APIConnectionError, APIStatusError

    if isinstance(error, APIConnectionError):
        return _backoff(attempt)
    if not isinstance(error, APIStatusError) or error.code == "insufficient_quota":
        return None
    if error.status_code not in (408, 409, 429) and error.status_code < 500:
        return None
    asked = _retry_after(error.response.headers)
    if asked is None:
        return _backoff(attempt)
    return asked if asked <= LONGEST_WAIT_SECONDS else None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, by the header that says milliseconds, seconds or a date; None: it does not say."""
    with contextlib.suppress(KeyError, ValueError):
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    given = headers.get("retry-after", "")
    with contextlib.suppress(ValueError):
        return max(0.0, float(given))
    with contextlib.suppress(ValueError):
        return max(0.0, email.utils.parsedate_to_datetime(given).timestamp() - time.time())
    return None


def _kind(status: int, said: str) -> tuple[str, bool]:
    """The kind of failure, and whether running again may help. A wrong key or name can be mended
    at the endpoint, so those trials are tried again on resume."""
    if status in (401, 403):
        return "authentication", True
    if status == 404:
        return "not_found", True
    if status == 408:
        return "timeout", True
    if status == 429:
        return "rate_limit", True
    if status == 409 or status >= 500:
        return "server", True
    if status == 413 or TOO_LONG.search(said):
        return "too_long", False
    if "unsupported_parameter" in said or "unsupported_value" in said:
        return "refused_setting", False
    return "bad_request", False


def _said(body: object) -> str:
    """The server's own words; the SDK has already taken them out of `error` where it could."""
    if isinstance(body, dict):
        return str(body.get("message") or body.get("error") or body.get("detail") or body)
    return str(body or "")


# --- what is sent -------------------------------------------------------------------------------


def _prefix(prompt: Prompt) -> str:
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


# --- for checking -------------------------------------------------------------------------------


def _check_prompt(wording: str, temperature: float, seed: int, wants: tuple[str, ...] = ()) -> Prompt:
    return Prompt(
        messages=(Message(role="user", content=wording),),
        sampling=Sampling(temperature=temperature, max_tokens=CHECK_TOKENS),
        seed=seed,
        wants=wants,
    )


def _count_differences(some: list[str], others: list[str]) -> int:
    return sum(one != other for one, other in zip(some, others, strict=True))
