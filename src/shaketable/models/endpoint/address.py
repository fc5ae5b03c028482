"""Addresses of endpoints, checked: they are stored with every record, so they hold no secret."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote_plus, urlsplit

from shaketable.errors import SecretError
from shaketable.models.endpoint.headers import SECRET
from shaketable.weights import host_of

WORDS = frozenset(
    {
        *("sig", "sign", "hmac", "pwd", "pw", "pass", "passwd", "passphrase", "pin", "code", "access", "sas", "jwt"),
        *("bearer", "session", "sid", "private", "credentials", "login"),
    }
)
"""One of them stands in the name of a parameter that is a secret, beside what headers of that kind are called."""
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
PLAIN = "Its host is written with the letters a to z (xn--… for others), digits, dots and hyphens."


def is_web_address(address: str) -> bool:
    try:
        port = urlsplit(address).port
    except ValueError:
        return False
    return address.lower().startswith(("http://", "https://")) and host_of(address) != "" and port != 0


def same_address(address: str) -> str:
    """One spelling for all that lead to the same place."""
    parts = urlsplit(address)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{host_of(address)}:{port}{parts.path.rstrip('/')}"


def holds_secret(query: str) -> bool:
    """Whether a parameter has the name of a secret: `sig`, `accessCode`, `api-key`; `passage`, `zipcode` are none."""
    names = re.split(r"[&;]", unquote_plus(query))
    words = (word.lower() for name in names for word in WORD.findall(name.partition("=")[0]))
    return SECRET.search("&".join(name.partition("=")[0] for name in names)) is not None or not WORDS.isdisjoint(words)


def refuse_address(base_url: str) -> None:
    """The address at fault may hold a secret, so it is not repeated."""
    if not is_web_address(base_url):
        raise SecretError(f"base_url is not a web address, such as http://127.0.0.1:8000/v1. {PLAIN}")
    address = urlsplit(base_url)
    if version := parse_qs(address.query).get("api-version"):
        raise SecretError(
            f"base_url has a query string. For Azure give the resource alone, https://{address.hostname}, with "
            f"api_version='{version[0]}', and the name of the deployment as model."
        )
    if address.username or address.password or address.query:
        raise SecretError(
            "base_url holds a user name, password or query string, which would be stored with every record. "
            "Put the key into an environment variable and name it with api_key_variable."
        )
    for ending in ("/chat/completions", "/completions"):
        if address.path.rstrip("/").endswith(ending):
            raise SecretError(f"base_url ends with {ending}, which is added to it. Leave it out, often up to /v1.")
