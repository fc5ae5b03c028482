"""Your own system: a function, a chain or a query engine of Python, or an endpoint that takes JSON."""

from __future__ import annotations

import functools
import logging
import math
import os
import platform
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import urlsplit

from shaketable import weights
from shaketable.errors import SecretError, did_you_mean
from shaketable.models.calling.adapters import NAMES
from shaketable.models.calling.http import HttpCaller, Service
from shaketable.models.calling.lanes import Caller, Lanes, ask_all
from shaketable.models.calling.process import Printed, Process
from shaketable.models.calling.python import PythonCaller
from shaketable.models.calling.target import Target, parse_target
from shaketable.models.calling.template import parse_path, parse_template
from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.address import PLAIN, holds_secret, is_web_address
from shaketable.models.endpoint.headers import refuse_headers
from shaketable.types import Completion, Failure, Json, Prompt

log = logging.getLogger(__name__)

TEMPLATE = '{"question": "{question}"}'
ANSWER = "$.answer"
EXAMPLES = {"time_limit": 120.0, "concurrency": 2, "attempts": 4}
REQUESTS = 8


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """Answers a question in its own way, and stands where a model and a method do.

    `pipeline(python='app.py:answer')` is called in processes of its own, so that what it prints, forks or ends harms
    one trial at most. `pipeline(http='https://…', template='{"query": "{question}"}', answer='$.answer')` is posted to.
    What it takes beside the question (context, contexts, history, temperature, seed, disturb) is seen in its signature
    or its template; what it does not take is not varied for it.
    """

    version: ClassVar[int] = 1
    gives: ClassVar[frozenset[str]] = frozenset()

    python: str | None = None
    """A file and a name in it, `app.py:answer`, or `package.module:name`. Keys have the digest of the file."""
    parameters: tuple[str, ...] | None = None
    """What it takes beside the question, where its signature does not say it; None: its signature does."""
    http: str | None = None
    """The address to post to."""
    template: str | None = None
    """The body, as JSON whose texts have slots; None: `{"question": "{question}"}`."""
    answer: str = ANSWER
    """Where the answer stands in the reply: a path of names and numbers."""
    contexts: str | None = None
    """Where the passages stand that it found; None: it does not tell them."""
    revision: str = ""
    """Yours to raise when something changes that keys cannot see: another module, an index, a service."""
    headers: Mapping[str, str] | None = field(default=None, compare=False)
    """`{'Authorization': 'Bearer ${MY_TOKEN}'}`: `${NAME}` is read from the environment when it is sent."""
    time_limit: float = field(default=120.0, compare=False)
    """Seconds for one answer."""
    concurrency: int | None = field(default=None, compare=False)
    """Processes, or requests under way at once; None: 1 process, which holds its own copy of all that the code loads,
    or 8 requests."""
    attempts: int = field(default=4, compare=False)
    """Of a request."""

    def __post_init__(self) -> None:
        if (self.python is None) == (self.http is None):
            raise ValueError("give python='app.py:answer' or http='https://…', and not both")
        for name in ("time_limit", "concurrency", "attempts"):
            number = getattr(self, name)
            if number is not None and not 0 < number < math.inf:
                raise ValueError(f"{name} is {number}; it must be above 0, such as {name}={EXAMPLES[name]}")
        if self.python is not None:
            self._check_python()
        else:
            self._check_http()

    def _check_python(self) -> None:
        parse_target(self.python or "")
        if isinstance(self.parameters, str):
            raise ValueError(f"parameters is '{self.parameters}'; expected names, such as parameters=('context',)")
        for name in self.parameters or ():
            if name not in NAMES:
                raise ValueError(f"parameters has '{name}'.{did_you_mean(name, NAMES)} Known: {', '.join(NAMES)}")
        if self.template is not None or self.contexts is not None or self.headers or self.answer != ANSWER:
            raise ValueError(
                "template, answer, contexts and headers are of requests; a function returns text, or text with "
                "contexts. Take them out, or give http='https://…' in place of python"
            )

    def _check_http(self) -> None:
        # The address at fault may hold a secret, so it is not repeated.
        if not is_web_address(self.http or ""):
            raise SecretError(f"http is no address; expected a web address, such as https://example.org/ask. {PLAIN}")
        address = urlsplit(self.http or "")
        if address.username or address.password or holds_secret(self.http or ""):
            raise SecretError(
                "http holds a secret, or a parameter that is named like one, which would be stored with the run. Put "
                "it into an environment variable and send it in a header, by its name: "
                "headers={'Authorization': 'Bearer ${MY_TOKEN}'}"
            )
        if self.parameters is not None:
            raise ValueError("parameters is of functions; an endpoint takes the slots of its template")
        refuse_headers(self.headers or {})
        self._service()

    # --- what a study asks of it ----------------------------------------------------------------

    @functools.cached_property
    def takes(self) -> frozenset[str]:
        """Seen in the signature, for which its code is imported in a process of its own, or in the template."""
        if self._target is None:
            names = self._service().template.slots - {"question"}
        else:
            names = self._first.wait_until_ready()
        return frozenset("context" if name == "contexts" else name for name in names)

    @functools.cached_property
    def optional(self) -> frozenset[str]:
        """The parameters with a default value; an endpoint's template needs all of its slots."""
        if self._target is None or not self.takes:
            return frozenset()
        return frozenset("context" if name == "contexts" else name for name in self._first.optional)

    @property
    def takes_temperature(self) -> bool:
        return "temperature" in self.takes

    def contents(self) -> Mapping[str, object]:
        return {} if self._target is None else {"python": f"{self._target.name} in {self._target.digest}"}

    def lacks(self, by_chat: Collection[str] = ()) -> str | None:
        """Why a study could not use it, without asking it."""
        if self.http is None:
            return None
        access = self._access
        if missing := [name for name in access.variables if not os.environ.get(name, "").strip()]:
            return f"The headers of {access.host} need the environment variable {missing[0]}. Set it."
        if weights.is_offline() and not access.is_local:
            return f"{access.host} is not on this machine, and SHAKETABLE_OFFLINE is set. Unset it."
        return None

    def environment(self) -> Mapping[str, Json]:
        engine: dict[str, Json] = {
            "engine": "pipeline",
            "takes": list[Json](sorted(self.takes)),
            "temperature_sent": self.takes_temperature,
        }
        if self._target is None:
            return engine | {"endpoint": self._access.host}
        return engine | {"python": platform.python_version(), "source": self._target.digest}

    # --- asking ---------------------------------------------------------------------------------

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion | Failure]:
        return ask_all(self, prompts)

    def submit(self, ticket: int, prompt: Prompt) -> None:
        self._lanes.submit(ticket, prompt)

    def collect(self) -> list[tuple[int, Completion | Failure]]:
        return self._lanes.collect()

    def forget(self) -> None:
        self.close()

    def close(self) -> None:
        """End all processes; the next question starts new ones."""
        if "_lanes" in self.__dict__:
            self._lanes.close()
        if "_first" in self.__dict__:
            self._first.kill()
        if self._printed.n:
            log.info(f"{self.python} printed {self._printed.n:,} lines, the last: {self._printed.last_line:.200}")
        for name in ("_lanes", "_first", "_printed"):
            self.__dict__.pop(name, None)

    @functools.cached_property
    def _lanes(self) -> Lanes:
        lanes = Lanes(self.concurrency or (REQUESTS if self.python is None else 1), self._makes_callers())
        weakref.finalize(self, lanes.close)
        return lanes

    def _makes_callers(self) -> Callable[[], Caller]:
        """Without a reference to this part, whose end ends its processes."""
        if self._target is None:
            return functools.partial(HttpCaller, self._service())
        # The process that told what it takes answers too.
        ready = [self.__dict__.pop("_first")] if self.takes is not None and "_first" in self.__dict__ else []
        return functools.partial(PythonCaller, self._target, self.parameters, self.time_limit, self._printed, ready)

    @functools.cached_property
    def _target(self) -> Target | None:
        return None if self.python is None else parse_target(self.python)

    @functools.cached_property
    def _printed(self) -> Printed:
        return Printed()

    @functools.cached_property
    def _first(self) -> Process:
        assert self._target is not None
        process = Process(self._target, self.parameters, self._printed)
        weakref.finalize(self, process.kill)
        return process

    @property
    def _access(self) -> Access:
        return Access(endpoint=self.http or "", key_variable="", headers=self.headers or {})

    def _service(self) -> Service:
        return Service(
            access=self._access,
            template=parse_template(self.template or TEMPLATE),
            answer=parse_path(self.answer, "answer"),
            contexts=None if self.contexts is None else parse_path(self.contexts, "contexts"),
            seconds=self.time_limit,
            attempts=self.attempts,
        )
