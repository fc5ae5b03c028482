"""Any endpoint that speaks OpenAI's API: OpenAI, DeepSeek, vLLM, SGLang, llama.cpp, Ollama, TGI ..."""

from __future__ import annotations

import asyncio
import functools
import importlib.metadata
import json
import math
import os
import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal

from shaketable.errors import ModelError, SecretError
from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.address import refuse_address
from shaketable.models.endpoint.client import make_client
from shaketable.models.endpoint.failures import EndpointError, backoff, endpoint_error, seconds_to_wait
from shaketable.models.endpoint.headers import refuse_headers
from shaketable.models.endpoint.honors import CheckError, Honors
from shaketable.models.endpoint.line import Line
from shaketable.models.endpoint.reply import read_reply
from shaketable.models.endpoint.request import request_body, settle_extra_body
from shaketable.types import Completion, EndpointFact, Failure, Json, Prompt

DEFAULT_ENDPOINT = "https://api.openai.com/v1"


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

    A model that refuses the temperature is not asked at another one in silence: its trials fail, and say which setting
    mends it. With `send_temperature=False` the plan has one temperature for it.
    """

    version: ClassVar[int] = 1
    gives: ClassVar[frozenset[str]] = frozenset({"logprobs", "top_logprobs"})

    model: str
    """The name the endpoint knows the model by."""
    base_url: str | None = None
    """None: `OPENAI_BASE_URL` if set, or OpenAI's own endpoint, as in the SDK; with `api_version`,
    `AZURE_OPENAI_ENDPOINT`."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """OpenAI's reasoning models want the second; it is for chat alone."""
    send_temperature: bool = True
    """False: for models that refuse it, as OpenAI's reasoning models do. Nothing is then said of temperatures."""
    reasoning_effort: str | None = None
    """`low`, `medium`, `high` ...; None: not sent."""
    extra_body: Mapping[str, object] | None = field(default=None, hash=False)
    """What else is sent with every request, such as {'provider': {'order': ['x']}}; None: nothing."""
    headers: Mapping[str, str] | None = field(default=None, hash=False)
    """Sent with every request; `${NAME}` stands for an environment variable, and secrets are written so."""
    api_version: str | None = None
    """For Azure: `base_url` is the resource, `model` a deployment. None: another endpoint, or Azure's /openai/v1."""
    extended: bool = False
    """Always spell out top_k, min_p and repetition penalty, even when neutral. vLLM, SGLang and
    llama.cpp know them and have defaults that are not neutral; OpenAI refuses them."""
    send_seed: bool = True
    stop_at: Literal["server", "client"] = "server"
    top_logprobs: int = 20
    """How many alternatives per token to ask for when logprobs are wanted; OpenAI gives 20 at most."""
    api_key_variable: str | None = field(default=None, compare=False)
    """The environment variable that holds the key, which is never a setting itself. None: OPENAI_API_KEY, or
    AZURE_OPENAI_API_KEY with `api_version`."""
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
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", self.key_variable):
            raise SecretError("api_key_variable is the name of an environment variable, such as OPENAI_API_KEY.")
        refuse_address(self.base_url or DEFAULT_ENDPOINT)
        refuse_headers(self.headers or {})
        object.__setattr__(self, "extra_body", settle_extra_body(self.extra_body))
        if self.max_tokens_field not in ("max_tokens", "max_completion_tokens"):
            raise ValueError(f"max_tokens_field is '{self.max_tokens_field}'; max_tokens or max_completion_tokens.")
        if self.stop_at not in ("server", "client"):
            raise ValueError(f"stop_at is '{self.stop_at}'; server or client.")
        for name in ("price_in", "price_out"):
            if (price := getattr(self, name)) is not None and not 0 <= price < math.inf:
                raise ValueError(f"{name} is {price}; expected USD for a million tokens, such as {name}=0.15.")
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

    def forget(self) -> None:
        if "_line" in self.__dict__:
            self._line.forget()

    def environment(self) -> Mapping[str, Json]:
        """What is known of the endpoint; `reported_*` is what the server said with its last reply."""
        return {
            "engine": "openai-compatible",
            "version": importlib.metadata.version("openai"),
            "endpoint": self._access.host,
            "model": self.model,
            **({} if self.send_temperature else {"temperature_sent": False}),
            **self._learnt,
        }

    @property
    def takes_temperature(self) -> bool:
        return self.send_temperature

    def check(self) -> dict[str, EndpointFact]:
        """What the endpoint really does, by about fifteen small requests, one after another."""
        honors = Honors(
            generate=self.generate,
            choices=self._choices,
            sends_seed=self.send_seed,
            sends_temperature=self.send_temperature,
        )
        facts = honors.check()
        self._learnt["checks"] = {name: asdict(fact) for name, fact in facts.items()}
        return facts

    # --- the endpoint ---------------------------------------------------------------------------

    @functools.cached_property
    def _learnt(self) -> dict[str, Any]:
        """What the server reported and what `check` found."""
        return {}

    @functools.cached_property
    def _refused(self) -> dict[tuple[str, str], EndpointError]:
        """Parameter and value that the endpoint does not take: it is not asked again for the same refusal."""
        return {}

    @functools.cached_property
    def _line(self) -> Line:
        if problem := self.lacks():
            raise ModelError(problem)
        return Line(make_client(self._access, self.api_version), self.concurrency)

    @property
    def key_variable(self) -> str:
        """The environment variable that holds the key."""
        return self.api_key_variable or ("OPENAI_API_KEY" if self.api_version is None else "AZURE_OPENAI_API_KEY")

    @property
    def _access(self) -> Access:
        if self.api_version is None:
            endpoint = self.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_ENDPOINT
        else:
            endpoint = self.base_url or os.environ.get("AZURE_OPENAI_ENDPOINT", "")
        return Access(endpoint=endpoint, key_variable=self.key_variable, headers=self.headers or {})

    @property
    def address(self) -> str:
        """Where it is asked now, by its settings or the environment."""
        return self._access.endpoint

    def lacks(self, by_chat: Collection[str] = ()) -> str | None:
        """Why a study could not use this endpoint, without asking it; only the endpoint knows whether it can chat."""
        return self._access.lacks(self.model)

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
            for name, value in body.items():
                if (refused := self._refused.get((name, repr(value)))) is not None:
                    raise refused
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
                    failed = endpoint_error(error, body, self)
                    wait = seconds_to_wait(error, attempt)
                except (json.JSONDecodeError, UnicodeDecodeError) as error:
                    raise EndpointError("bad_reply", f"the reply is not JSON ({error})", may_retry=True) from error
                except ValueError as error:  # half a character, or a temperature that is no number
                    message = f"the prompt cannot be sent as JSON ({error})"
                    raise EndpointError("bad_request", message, may_retry=False) from error
                if wait is None or attempt == self.attempts:
                    break
                await asyncio.sleep(wait)
            if failed.parameter is not None:
                self._refused[failed.parameter, repr(body[failed.parameter])] = failed
        raise failed

    def _failure(self, error: EndpointError) -> Failure:
        message = f"{self._access.host}: {self._access.hide(error.message)}"
        return Failure(kind=error.kind, message=message[:500], step="generate", may_retry=error.may_retry)
