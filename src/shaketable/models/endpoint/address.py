"""Addresses of endpoints, checked: they are stored with every record, so they hold no secret."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from shaketable.errors import SecretError


def refuse_address(base_url: str) -> None:
    """The address at fault may hold a secret, so it is not repeated."""
    try:
        address = urlsplit(base_url)
        _ = address.port
    except ValueError:
        raise SecretError("base_url is not a web address, such as http://127.0.0.1:8000/v1.") from None
    if address.scheme not in ("http", "https") or not address.hostname:
        raise SecretError("base_url is not a web address, such as http://127.0.0.1:8000/v1.")
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
