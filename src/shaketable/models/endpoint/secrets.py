"""Which environment variable may go to which host: a study may come from a stranger, and names both."""

from __future__ import annotations

import contextlib
import functools
import ipaddress
import os
import re
from collections.abc import Iterator

from shaketable.weights import host_of

ALLOW = "SHAKETABLE_ALLOW"
"""The environment variable that lists what else may go: hosts, or VARIABLE@host, with commas between them."""
WORDS = frozenset({"KEY", "TOKEN", "SECRET", "PASSWORD", "BEARER", "CREDENTIAL", "CREDENTIALS"})
"""One of them stands in the name of a variable that holds a key: TEAM_KEY, OPENAI_API_KEY, MY_TOKEN."""
SECRET_WORDS = frozenset(
    {
        *("pass", "passwd", "passphrase", "password", "pwd", "pw", "cred", "creds", "credential", "credentials"),
        *("bearer", "secret", "sig", "signature", "hmac", "sas", "jwt", "cookie", "dsn", "connstr", "webhook"),
    }
)
"""One of them stands in the name of what is secret: a parameter of an address, or a variable of the environment. Values
of those are hidden, and not sent, unless they are named as keys too."""
STORES = frozenset(
    {
        *("database", "db", "postgres", "postgresql", "mysql", "mariadb", "mongo", "mongodb", "redis", "amqp"),
        *("rabbitmq", "broker", "celery"),
    }
)
"""With URL or URI in the name of a variable, an address that may hold a password."""
WORKING_FOLDERS = ("PWD", "OLDPWD")
USER_IN_ADDRESS = re.compile(r"://(?:[^/\s:@]*:)?([^/\s@]+)@")
"""The user, or the password, in a value such as `postgres://me:secret@host/db`."""
PROVIDERS = (
    *("api.openai.com", ".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"),
    *("api.anthropic.com", "api.deepseek.com", "generativelanguage.googleapis.com", "api.x.ai", "api.mistral.ai"),
    *("openrouter.ai", "api.together.xyz", "api.groq.com", "api.fireworks.ai", "router.huggingface.co"),
    *("api.cohere.ai", "api.perplexity.ai", "integrate.api.nvidia.com", "dashscope.aliyuncs.com", "api.cerebras.ai"),
)
"""Hosts of models that no stranger reads along at; a leading dot stands for what is below."""
STRICT = ("api.openai.com", *(name for name in PROVIDERS if ".azure." in name))
"""Hosts that refuse settings beyond OpenAI's API."""
ADDRESSES = ("OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT")
"""Environment variables that hold an address."""
NEARBY_NETWORKS = tuple(
    map(ipaddress.ip_network, ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7"))
)
"""Loopback and private networks. Link-local addresses and names without a dot are none: a cloud's metadata service has
the one, and whoever runs the name server answers for the other."""
METADATA = ("metadata.google.internal", "fd00:ec2::254")
"""Names and addresses of metadata services within those."""
NEARBY = (".local", ".localhost", ".internal", ".lan", ".home.arpa")


@functools.cache
def is_key(variable: str) -> bool:
    """Whether the name of a variable says that it holds a key."""
    pieces = variable.upper().split("_")
    return any(piece in WORDS or piece.endswith(("KEY", "TOKEN")) for piece in pieces)


def secrets_of(variable: str, value: str) -> Iterator[str]:
    """What is never shown of a variable: the value of one that is named as a secret, and passwords in addresses."""
    pieces = set(variable.lower().split("_"))
    is_store = "://" in value and not pieces.isdisjoint(STORES) and not pieces.isdisjoint(("url", "uri"))
    is_named = any(piece in SECRET_WORDS or piece.endswith("password") for piece in pieces)
    is_named = is_named or {"connection", "string"} <= pieces
    if is_key(variable) or is_store or (is_named and variable not in WORKING_FOLDERS):
        yield value
    if (found := USER_IN_ADDRESS.search(value)) is not None:
        yield from (value, found[1])


def refusal_to_send(variable: str, host: str) -> str | None:
    """Why a variable may not go to a host, in words; None: it may."""
    if not is_key(variable):
        return (
            f"the environment variable {variable} would go to {host}, and its name is not that of a key. Put the key "
            "into one whose name says so, such as TEAM_KEY"
        )
    if is_trusted(host) or host in _own_hosts() or _is_allowed(variable, host):
        return None
    return (
        f"the environment variable {variable} would go to {host}, which is no provider that is known. If that is "
        f"meant, allow it once: export {ALLOW}='{variable}@{host}'"
    )


def is_strict(host: str) -> bool:
    """Whether a host takes the settings of OpenAI's API alone."""
    return _matches(host, STRICT)


def is_trusted(host: str) -> bool:
    """A provider of models, this machine, or one of the network that it is in."""
    if host in METADATA:
        return False
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        inner = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return any((inner or address) in network for network in NEARBY_NETWORKS)
    return host == "localhost" or _matches(host, (*PROVIDERS, *NEARBY))


def _own_hosts() -> set[str]:
    """Those that the environment itself names, which is nobody else's."""
    return {host_of(os.environ.get(name, "").strip()) for name in ADDRESSES} - {""}


def _is_allowed(variable: str, host: str) -> bool:
    entries = [entry.rpartition("@") for entry in re.split(r"[,\s]+", os.environ.get(ALLOW, "")) if entry]
    return any(_matches(host, (own.lower(),)) for name, _, own in entries if name in ("", variable))


def _matches(host: str, known: tuple[str, ...]) -> bool:
    return any(host == name.lstrip(".") or (name.startswith(".") and host.endswith(name)) for name in known)
