"""Addresses of endpoints, checked: they are stored with every record, so they hold no secret."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote_plus, urlsplit

from shaketable.errors import SecretError
from shaketable.models.endpoint.headers import SECRET
from shaketable.models.endpoint.hiding import own_hide
from shaketable.models.endpoint.secrets import SECRET_WORDS
from shaketable.weights import host_of

WORDS = SECRET_WORDS | {"sign", "pin", "code", "access", "session", "sid", "private", "login"}
"""One of them stands in the name of a parameter that is a secret, beside what headers of that kind are called."""
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
KEY = re.compile(r"(sk|pk|rk|gsk|ghp|gho|xai|hf)[-_]\w|AIza|AKIA|eyJ|xox[abp]-")
"""How keys of known services begin."""
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


def holds_secret(address: str) -> bool:
    """Whether a key of the user stands in it, or a parameter that is named or looks like one: `sig`, `accessCode`,
    `x-api-key`; `passage` and `zipcode` are none."""
    pairs = [pair.partition("=") for pair in re.split(r"[&;]", unquote_plus(urlsplit(address).query))]
    words = {word.lower() for name, _, _ in pairs for word in WORD.findall(name)}
    return (
        own_hide()(address) != address
        or not WORDS.isdisjoint(words)
        or any(SECRET.search(name) or KEY.match(value or name) for name, _, value in pairs)
    )


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
    if address.username or address.password or address.query or holds_secret(base_url):
        raise SecretError(
            "base_url holds a user name, password, key or query string, which would be stored with every record. "
            "Put the key into an environment variable and name it with api_key_variable."
        )
    for ending in ("/chat/completions", "/completions"):
        if address.path.rstrip("/").endswith(ending):
            raise SecretError(f"base_url ends with {ending}, which is added to it. Leave it out, often up to /v1.")
