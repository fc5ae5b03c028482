"""Any endpoint that speaks OpenAI's API: OpenAI, DeepSeek, vLLM, SGLang, llama.cpp, Ollama, TGI ..."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib.metadata
import ipaddress
import json
import os
import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from shaketable import weights
from shaketable.errors import ModelError
from shaketable.models.endpoint.failures import EndpointError, backoff, endpoint_error, seconds_to_wait
from shaketable.models.endpoint.honors import CheckError, Honors
from shaketable.models.endpoint.line import Line
from shaketable.models.endpoint.reply import read_reply
from shaketable.models.endpoint.request import request_body
from shaketable.types import Completion, EndpointFact, Failure, Json, Prompt

DEFAULT_ENDPOINT = "https://api.openai.com/v1"
PLACEHOLDER_KEY = "none"


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
        facts = Honors(generate=self.generate, choices=self._choices, sends_seed=self.send_seed).check()
        self._learnt["checks"] = {name: asdict(fact) for name, fact in facts.items()}
        return facts

    # --- the endpoint ---------------------------------------------------------------------------

    @functools.cached_property
    def _learnt(self) -> dict[str, Any]:
        """What the server reported and what `check` found."""
        return {}

    @functools.cached_property
    def _line(self) -> Line:
        if problem := self.lacks():
            raise ModelError(problem)
        try:
            import openai
        except ImportError as error:
            raise ModelError("Model 'openai' needs the package openai: pip install openai.") from error
        # Retries are our own: the SDK's would hide them from the timing and from the failure message.
        client = openai.AsyncOpenAI(api_key=self._key, base_url=self._endpoint, max_retries=0, timeout=None)
        return Line(client, self.concurrency)

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
        body = request_body(prompt, self)
        try:
            content, seconds = await self._ask(body)
        except EndpointError as error:
            return self._failure(error)
        try:
            completion = read_reply(prompt, body, content, seconds)
        except EndpointError as error:
            return self._failure(error)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            shape = f"{type(error).__name__}: {error}"
            message = f"the reply has another shape than the API's ({shape})"
            return self._failure(EndpointError("bad_reply", message, may_retry=True))
        self._learnt["reported_model"] = content.get("model")
        self._learnt["reported_fingerprint"] = content.get("system_fingerprint")
        if self._learnt.get("checks", {}).get("seed_honored", {}).get("value") is False:
            return replace(completion, notes=(*completion.notes, "seed_ignored"))
        return completion

    def _choices(self, prompt: Prompt, n: int) -> int | None:
        """How many replies came to a prompt that asked for n at once."""
        try:
            reply, _ = self._line.start(self._ask(request_body(prompt, self) | {"n": n})).result()
        except EndpointError as error:
            raise CheckError(self._failure(error)) from error
        choices = reply.get("choices") if isinstance(reply, dict) else None
        return len(choices) if isinstance(choices, list) else None

    async def _ask(self, body: Mapping[str, Json]) -> tuple[Any, float]:
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
                    failed = EndpointError(
                        "timeout", f"no reply within {self.timeout_seconds:g} seconds", may_retry=True
                    )
                    wait: float | None = backoff(attempt)
                except APIError as error:
                    failed = endpoint_error(error)
                    wait = seconds_to_wait(error, attempt)
                except (json.JSONDecodeError, UnicodeDecodeError) as error:
                    raise EndpointError("bad_reply", f"the reply is not JSON ({error})", may_retry=True) from error
                except ValueError as error:  # half a character, or a temperature that is no number
                    message = f"the prompt cannot be sent as JSON ({error})"
                    raise EndpointError("bad_request", message, may_retry=False) from error
                if wait is None or attempt == self.attempts:
                    break
                await asyncio.sleep(wait)
        raise failed

    def _failure(self, error: EndpointError) -> Failure:
        # Some servers repeat the key they were given.
        key = os.environ.get(self.api_key_variable, "").strip()
        message = error.message.replace(key, "***") if key else error.message
        return Failure(
            kind=error.kind, message=f"{self._host}: {message}"[:500], step="generate", may_retry=error.may_retry
        )
