"""How an endpoint is reached: its address, and the secrets, which stay in the environment."""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from shaketable import weights
from shaketable.errors import ModelError
from shaketable.models.endpoint.address import PLAIN
from shaketable.models.endpoint.headers import VARIABLE
from shaketable.models.endpoint.hiding import hide_secrets, is_long
from shaketable.models.endpoint.secrets import refusal_to_send

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    endpoint: str
    """Its address; empty: it was not given."""
    key_variable: str
    """The environment variable that holds the key."""
    headers: Mapping[str, str]
    """As written: `${NAME}` stands for an environment variable."""

    @property
    def host(self) -> str:
        """Host and port alone: an address may carry secrets elsewhere."""
        return urlsplit(self.endpoint).netloc.rpartition("@")[2]

    @property
    def key(self) -> str:
        self._refuse_to_send()
        return _value(self.key_variable)

    @property
    def filled_headers(self) -> dict[str, str]:
        """As they are sent."""
        self._refuse_to_send()
        return {name: VARIABLE.sub(lambda found: _value(found[1]), value) for name, value in self.headers.items()}

    def lacks(self, model: str) -> str | None:
        """Why the endpoint could not be asked for this model; None: nothing stands against it."""
        if not self.endpoint:
            return (
                f"Model '{model}' has an api_version and no address. For Azure give "
                "base_url='https://RESOURCE.openai.azure.com', or set AZURE_OPENAI_ENDPOINT."
            )
        if not weights.host_of(self.endpoint):
            return f"Model '{model}': its address is none, or has a host that is not in plain letters. {PLAIN}"
        named = self.variables
        if missing := [name for name in named if not _value(name)]:
            return f"Model '{model}' at {self.host}: its headers need the environment variable {missing[0]}. Set it."
        if self.is_local:
            return None
        if weights.is_offline():
            return (
                f"Model '{model}' is at {self.host} and SHAKETABLE_OFFLINE is set. "
                "Unset it, or give the base_url of a server on this machine."
            )
        if refused := self._refused():
            return f"Model '{model}': {refused}."
        for variable in self._sent():
            _tell(variable, self.host)
        if not _value(self.key_variable) and not named:
            return (
                f"Model '{model}' at {self.host} needs a key, and the environment variable {self.key_variable} is not "
                "set. Set it, or name another with api_key_variable='…'; for a server that needs no key, any value "
                "will do."
            )
        return None

    def hide(self, text: str) -> str:
        """Words without secrets: some servers repeat what they were given."""
        return hide_secrets(text, self._secrets())

    def hide_in_reply(self, text: str) -> str:
        """A reply without secrets, as far as they are long enough for a key."""
        return hide_secrets(text, filter(is_long, self._secrets()))

    def _secrets(self) -> set[str]:
        """All values that are sent."""
        return {_value(name) for name in self._sent()}

    @property
    def variables(self) -> list[str]:
        return [name for value in self.headers.values() for name in VARIABLE.findall(value)]

    def _sent(self) -> list[str]:
        """The variables that have a value to send."""
        return [name for name in dict.fromkeys((self.key_variable, *self.variables)) if name and _value(name)]

    def _refused(self) -> str | None:
        if self.is_local:
            return None
        if not (host := weights.host_of(self.endpoint)):
            return f"the address has no host in plain letters. {PLAIN}"
        return next(filter(None, (refusal_to_send(variable, host) for variable in self._sent())), None)

    def _refuse_to_send(self) -> None:
        if weights.is_offline() and not self.is_local:
            raise ModelError(f"Nothing was sent: {self.host} is not on this machine, and SHAKETABLE_OFFLINE is set.")
        if refused := self._refused():
            raise ModelError(f"Nothing was sent: {refused}.")

    @property
    def is_local(self) -> bool:
        return weights.is_on_this_machine(self.endpoint)


@functools.cache
def _tell(variable: str, host: str) -> None:
    """Once in a process: whoever runs a study of somebody else sees what of theirs goes where."""
    logger.info(f"The value of {variable} goes to {host} with each request.")


def _value(variable: str) -> str:
    return os.environ.get(variable, "").strip()
