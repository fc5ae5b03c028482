"""Which environment variable may go to which host: a study may come from a stranger, and names both."""

from __future__ import annotations

import contextlib
import functools
import ipaddress
import os
import re

from shaketable.weights import host_of

ALLOW = "SHAKETABLE_ALLOW"
"""The environment variable that lists what else may go: hosts, or VARIABLE@host, with commas between them."""
WORDS = frozenset({"KEY", "TOKEN", "SECRET", "PASSWORD", "BEARER", "CREDENTIAL", "CREDENTIALS"})
"""One of them stands in the name of a variable that holds a key: TEAM_KEY, OPENAI_API_KEY, MY_TOKEN."""
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
LOCAL_SIX = ipaddress.ip_network("fc00::/7")
"""Addresses of IPv6 that lead nowhere but to one's own network."""
NEARBY = (".local", ".localhost", ".internal", ".lan", ".home.arpa")


@functools.cache
def is_key(variable: str) -> bool:
    """Whether the name of a variable says that it holds a key."""
    pieces = variable.upper().split("_")
    return any(piece in WORDS or piece.endswith(("KEY", "TOKEN")) for piece in pieces)


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
    with contextlib.suppress(ValueError):
        return _is_nearby(ipaddress.ip_address(host))
    return bool(host) and ("." not in host or _matches(host, (*PROVIDERS, *NEARBY)))


def _is_nearby(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Of IPv6 many addresses that are not global hold one of IPv4 that is."""
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_private
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped.is_private
    return address.is_loopback or address.is_link_local or address in LOCAL_SIX


def _own_hosts() -> set[str]:
    """Those that the environment itself names, which is nobody else's."""
    return {host_of(os.environ.get(name, "").strip()) for name in ADDRESSES} - {""}


def _is_allowed(variable: str, host: str) -> bool:
    entries = [entry.rpartition("@") for entry in re.split(r"[,\s]+", os.environ.get(ALLOW, "")) if entry]
    return any(_matches(host, (own.lower(),)) for name, _, own in entries if name in ("", variable))


def _matches(host: str, known: tuple[str, ...]) -> bool:
    return any(host == name.lstrip(".") or (name.startswith(".") and host.endswith(name)) for name in known)
