"""Any endpoint that speaks OpenAI's API: OpenAI, DeepSeek, vLLM, SGLang, llama.cpp, Ollama, TGI ..."""

from __future__ import annotations

import functools
import importlib.metadata
import math
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

from shaketable.errors import ModelError, SecretError
from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.address import refuse_address, same_address
from shaketable.models.endpoint.asking import Answered, ask
from shaketable.models.endpoint.awake import wait_for
from shaketable.models.endpoint.batches.line import BatchLine, open_line
from shaketable.models.endpoint.batches.settings import refuse_batches
from shaketable.models.endpoint.client import make_client
from shaketable.models.endpoint.failures import EndpointError
from shaketable.models.endpoint.fields import LONGEST_NAME, name_of
from shaketable.models.endpoint.headers import refuse_headers
from shaketable.models.endpoint.hints import known_refusal
from shaketable.models.endpoint.honors import CheckError, Honors
from shaketable.models.endpoint.line import Line
from shaketable.models.endpoint.negotiation import Negotiated, refuse_temperatures
from shaketable.models.endpoint.pool import Pool
from shaketable.models.endpoint.quota import Quotas
from shaketable.models.endpoint.reply import read_reply
from shaketable.models.endpoint.request import request_body, settle_extra_body
from shaketable.models.endpoint.secrets import is_strict
from shaketable.models.endpoint.server import Server
from shaketable.models.endpoint.window import Window
from shaketable.types import Completion, EndpointFact, Failure, Json, Prompt
from shaketable.weights import host_of

DEFAULT_ENDPOINT = "https://api.openai.com/v1"
MOST_DOLLARS = 1e6
"""For a million tokens; what is more is no price."""


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
    gives: ClassVar[frozenset[str]] = frozenset({"logprobs", "top_logprobs", "processed_logprobs"})

    model: str
    """The name the endpoint knows the model by."""
    base_url: str | tuple[str, ...] | None = None
    """None: `OPENAI_BASE_URL` if set, or OpenAI's own endpoint, as in the SDK; with `api_version`,
    `AZURE_OPENAI_ENDPOINT`. Several: servers of the same model. The first names the system, and the others may change:
    they are kept in `replicas`."""
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
    extended: bool | None = None
    """Whether top_k, min_p and repetition penalty are sent even when neutral. vLLM, SGLang and llama.cpp know them and
    have defaults that are not neutral. None: they are sent, except to OpenAI and Azure, until the endpoint refuses
    them."""
    send_seed: bool = True
    stop_at: Literal["server", "client"] = "server"
    top_logprobs: int = 20
    """How many alternatives per token to ask for when logprobs are wanted; OpenAI gives 20 at most."""
    api_key_variable: str | None = field(default=None, compare=False)
    """The environment variable that holds the key, which is never a setting itself. None: OPENAI_API_KEY, or
    AZURE_OPENAI_API_KEY with `api_version`."""
    concurrency: int = field(default=256, compare=False)
    """The most requests under way at once, at all servers together. There is one for each server before it has said
    anything, then 16, and more where that brings more replies."""
    requests_per_minute: float | None = field(default=None, compare=False)
    """The most requests that are sent in any minute, to all servers together; None: what they accept."""
    tokens_per_minute: float | None = field(default=None, compare=False)
    """The same for tokens that go in and come out: estimated when a request is sent, counted in its reply."""
    timeout_seconds: float = field(default=120.0, compare=False)
    """For one attempt, from sending to the last byte."""
    start_seconds: float = field(default=6.0, compare=False)
    """How long an endpoint may say nothing at all at the start, neither to calls nor to `GET /models`, which is asked
    beside the first of them. More for servers that start when they are asked."""
    attempts: int = field(default=6, compare=False)
    """Of a request that fails. One that a crowded endpoint refuses (429, 503) is asked again as long as others are
    answered."""
    patience_seconds: float = field(default=300.0, compare=False)
    """How long an endpoint that has answered may give no reply at all before the run stops, to be resumed."""
    price_in: float | None = field(default=None, compare=False)
    """USD per million prompt tokens, for estimates of cost. None: not known."""
    price_out: float | None = field(default=None, compare=False)
    batch: bool = field(default=False, compare=False)
    """Whether a run asks its trials by files of requests (`/batches`), which are answered within a day for less money.
    What is asked beside trials (rewordings, judges, checks) is asked call by call."""
    batch_price: float = field(default=0.5, compare=False)
    """The share of `price_in` and `price_out` that a batch costs."""
    batch_window: str = field(default="24h", compare=False)
    """How long the endpoint may take; OpenAI knows 24h alone."""
    batch_requests: int = field(default=50_000, compare=False)
    """In one file at most."""
    batch_megabytes: float = field(default=200.0, compare=False)
    """Of one file at most."""
    batch_poll_seconds: float = field(default=15.0, compare=False)
    """From the first look at a batch to the second; later ones are up to twenty times as far apart."""
    replicas: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The addresses after the first, of a `base_url` with several."""

    def __post_init__(self) -> None:
        # The values at fault may be secrets put in the wrong place, so they are not repeated here.
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", self.key_variable):
            raise SecretError("api_key_variable is the name of an environment variable, such as OPENAI_API_KEY.")
        self._settle_addresses()
        refuse_headers(self.headers or {})
        object.__setattr__(self, "extra_body", settle_extra_body(self.extra_body))
        if self.max_tokens_field not in ("max_tokens", "max_completion_tokens"):
            raise ValueError(f"max_tokens_field is '{self.max_tokens_field}'; max_tokens or max_completion_tokens.")
        if self.stop_at not in ("server", "client"):
            raise ValueError(f"stop_at is '{self.stop_at}'; server or client.")
        for name in ("price_in", "price_out"):
            if (price := getattr(self, name)) is not None and not 0 <= price <= MOST_DOLLARS:
                raise ValueError(f"{name} is {price}; expected USD for a million tokens, such as {name}=0.15.")
        refuse_batches(self)
        limits = ("requests_per_minute", "tokens_per_minute")
        for name in (
            "concurrency",
            "timeout_seconds",
            "start_seconds",
            "attempts",
            "top_logprobs",
            "patience_seconds",
            *limits,
        ):
            if (value := getattr(self, name)) is not None and not value > 0:
                raise ValueError(f"{name} is {value}; it must be above 0.")
        for name in limits:
            if getattr(self, name) == math.inf:
                raise ValueError(f"{name} is infinite. Leave it out where there is no limit.")

    def _settle_addresses(self) -> None:
        if isinstance(self.base_url, tuple):
            if not self.base_url:
                raise ValueError("base_url is empty. Give an address, several, or leave it out.")
            object.__setattr__(self, "replicas", (*self.base_url[1:], *self.replicas))
            object.__setattr__(self, "base_url", self.base_url[0])
        addresses = [str(self.base_url or DEFAULT_ENDPOINT), *self.replicas]
        for address in addresses:
            refuse_address(address)
        if len(set(map(same_address, addresses))) < len(addresses):
            raise ValueError("base_url names an address twice. Each server is named once.")
        if self.batch and self.replicas:
            raise ValueError(
                f"base_url has {len(addresses)} addresses, and batch=True sends files of requests to one. Give one."
            )

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion | Failure]:
        pending = [self._line.start(self._answer(prompt)) for prompt in prompts]
        try:
            return [wait_for(reply) for reply in pending]
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

    def batch_line(self, folder: Path, deadline: float | None) -> BatchLine:
        if problem := self.lacks():
            raise ModelError(problem)
        return open_line(self, self._accesses[0], folder, deadline, read=self._completion, fail=self._failure)

    def environment(self) -> Mapping[str, Json]:
        """What is known of the endpoint; `reported_*` is what the server said with its last reply."""
        return {
            "engine": "openai-compatible",
            "version": importlib.metadata.version("openai"),
            "endpoint": ", ".join(access.host for access in self._accesses),
            "model": self.model,
            **({} if self.send_temperature else {"temperature_sent": False}),
            **self._learnt,
            **({"settings_left_out": left_out} if (left_out := dict(self._negotiated.left_out)) else {}),
            **self._reported(),
        }

    def _reported(self) -> dict[str, Json]:
        """What the server said with its last reply; of several, by those that have answered."""
        reports = dict(sorted(dict(self._reports).items()))  # Copied at once: replies come in another thread.
        if not self.replicas:
            return next(iter(reports.values()), {})
        left_out = dict(self._line.pool.left_out) if "_line" in self.__dict__ else {}
        told = {"answered": reports, "left_out": left_out}
        return {name: cast(Json, of) for name, of in told.items() if of}

    @property
    def takes_temperature(self) -> bool:
        return self.send_temperature

    def check(self, temperatures: Collection[float] = (), *, library_defaults: bool = False) -> dict[str, EndpointFact]:
        """Find out what the endpoint does, by about twenty small requests, one after another."""
        honors = Honors(
            generate=self.generate,
            choices=self._choices,
            sends_seed=self.send_seed,
            sends_temperature=self.send_temperature,
            negotiated=self._negotiated,
            may_drop_extensions=self.extended is None and self.is_extended,
            library_defaults=library_defaults,
        )
        facts = honors.check()
        self._learnt["checks"] = {name: asdict(fact) for name, fact in facts.items()}
        if any(name == "temperature" for name, _ in self._refused):
            honors.ask_at(temperatures)
            refuse_temperatures(temperatures, self._refused)
        return facts

    @property
    def is_extended(self) -> bool:
        """Whether neutral values of settings beyond OpenAI's API are sent, as long as nothing refuses them."""
        if self.extended is not None:
            return self.extended
        return self.api_version is None and not is_strict(host_of(self.address))

    def body(self, prompt: Prompt) -> dict[str, Json]:
        """The body of a prompt's request, without what the endpoint does not take."""
        return self._negotiated.fit(request_body(prompt, self))

    # --- the endpoint ---------------------------------------------------------------------------

    @functools.cached_property
    def _negotiated(self) -> Negotiated:
        return Negotiated()

    @functools.cached_property
    def _learnt(self) -> dict[str, Any]:
        """What `check` found."""
        return {}

    @functools.cached_property
    def _reports(self) -> dict[str, dict[str, Json]]:
        """What servers said with their last replies, by host."""
        return {}

    @functools.cached_property
    def _refused(self) -> dict[tuple[str, str], EndpointError]:
        """Parameter and value that the endpoint does not take: it is not asked again for the same refusal."""
        return {}

    @functools.cached_property
    def _line(self) -> Line:
        if problem := self.lacks():
            raise ModelError(problem)
        servers = [
            Server(make_client(access, self.api_version), access, Window(self.concurrency, self.timeout_seconds))
            for access in self._accesses
        ]
        quotas = Quotas(self.requests_per_minute, self.tokens_per_minute)
        return Line(Pool(servers, self.concurrency, quotas, self.patience_seconds, self.start_seconds))

    @property
    def key_variable(self) -> str:
        """The environment variable that holds the key."""
        return self.api_key_variable or ("OPENAI_API_KEY" if self.api_version is None else "AZURE_OPENAI_API_KEY")

    @property
    def _accesses(self) -> list[Access]:
        if self.api_version is None:
            first = self.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_ENDPOINT
        else:
            first = self.base_url or os.environ.get("AZURE_OPENAI_ENDPOINT", "")
        return [
            Access(endpoint=address, key_variable=self.key_variable, headers=self.headers or {})
            for address in (str(first), *self.replicas)
        ]

    @property
    def address(self) -> str:
        """Where it is asked now, by its settings or the environment; of several servers the first."""
        return self._accesses[0].endpoint

    def lacks(self, by_chat: Collection[str] = ()) -> str | None:
        """Why a study could not use this endpoint, without asking it; only the endpoint knows whether it can chat."""
        return next((problem for access in self._accesses if (problem := access.lacks(self.model))), None)

    def known_refusal(self, max_tokens: int) -> str | None:
        """Return what this endpoint is known to refuse of these settings; None: nothing is known."""
        return known_refusal(self, self._accesses[0].host, max_tokens)

    # --- asking ---------------------------------------------------------------------------------

    async def _answer(self, prompt: Prompt) -> Completion | Failure:
        host = ""
        try:
            answered = await self._ask(self.body(prompt))
            host = answered.host
            return self._completion(prompt, answered.body, answered.content, answered.seconds, host)
        except EndpointError as error:
            return self._failure(error, host)

    def _completion(
        self, prompt: Prompt, body: Mapping[str, Json], content: Any, seconds: float, host: str = ""
    ) -> Completion:
        """What a reply says, however it came; raises EndpointError where there is no text."""
        access = self._accesses[0]
        try:
            completion = read_reply(prompt, body, content, seconds, access.hide_in_reply)
        except EndpointError:
            raise
        except Exception as error:  # Whatever a server thinks of: it spoils its own reply and no other.
            shape = f"{type(error).__name__}: {error}"[:LONGEST_NAME]
            message = f"the reply has another shape than the API's ({shape})"
            raise EndpointError("bad_reply", message, may_retry=True) from error
        reported = {"model": name_of(content.get("model")), "fingerprint": name_of(content.get("system_fingerprint"))}
        said_by = host or access.host
        self._reports[said_by] = {f"reported_{name}": value for name, value in reported.items()}
        if self._learnt.get("checks", {}).get("seed_honored", {}).get("value") is False:
            return replace(completion, notes=(*completion.notes, "seed_ignored"))
        return completion

    def _choices(self, prompt: Prompt, n: int) -> int | None:
        """How many replies came to a prompt that asked for n at once."""
        try:
            reply = wait_for(self._line.start(self._ask(self.body(prompt) | {"n": n}))).content
        except EndpointError as error:
            raise CheckError(self._failure(error)) from error
        choices = reply.get("choices") if isinstance(reply, dict) else None
        return len(choices) if isinstance(choices, list) else None

    async def _ask(self, body: Mapping[str, Json]) -> Answered:
        return await ask(self._line.pool, body, self, self._refused, self._negotiated)

    def _failure(self, error: EndpointError, host: str = "") -> Failure:
        accesses = self._accesses
        message = f"{host or error.host or accesses[0].host}: {accesses[0].hide(error.message)}"
        return Failure(kind=error.kind, message=message[:500], step="generate", may_retry=error.may_retry)
