"""How an endpoint is reached: its address, and the secrets, which stay in the environment."""

from __future__ import annotations

import contextlib
import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from shaketable import weights
from shaketable.models.endpoint.headers import VARIABLE


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
        return _value(self.key_variable)

    @property
    def filled_headers(self) -> dict[str, str]:
        """As they are sent."""
        return {name: VARIABLE.sub(lambda found: _value(found[1]), value) for name, value in self.headers.items()}

    def lacks(self, model: str) -> str | None:
        """Why the endpoint could not be asked for this model; None: nothing stands against it."""
        if not self.endpoint:
            return (
                f"Model '{model}' has an api_version and no address. For Azure give "
                "base_url='https://RESOURCE.openai.azure.com', or set AZURE_OPENAI_ENDPOINT."
            )
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
        if not self.key and not named:
            return (
                f"Model '{model}' at {self.host} needs a key, and the environment variable {self.key_variable} is not "
                "set. Set it, or name another with api_key_variable='…'; for a server that needs no key, any value "
                "will do."
            )
        return None

    def hide(self, text: str) -> str:
        """The text without secrets: some servers repeat what they were given."""
        for name in (self.key_variable, *self.variables):
            if secret := _value(name):
                text = text.replace(secret, "***")
        return text

    @property
    def variables(self) -> list[str]:
        return [name for value in self.headers.values() for name in VARIABLE.findall(value)]

    @property
    def is_local(self) -> bool:
        name = urlsplit(self.endpoint).hostname or ""
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(name).is_loopback
        return name == "localhost" or name.endswith(".localhost")


def _value(variable: str) -> str:
    return os.environ.get(variable, "").strip()
