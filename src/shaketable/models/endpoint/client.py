"""The SDK's client for an endpoint: OpenAI's own layout, or Azure's with its deployments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shaketable.errors import ModelError
from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.connections import keep_replies_apart
from shaketable.models.endpoint.intake import Intake

if TYPE_CHECKING:
    from openai import AsyncOpenAI

NO_KEY = "none"
CONNECT_SECONDS = 4.0
"""An address that does not even connect in this time is not there. Replies have their own time."""


def make_client(access: Access, api_version: str | None, *, for_files: bool = False) -> AsyncOpenAI:
    """Retries are our own: the SDK's would hide them from the timing and from the failure message."""
    _refuse_missing_sdk()
    from openai import AsyncAzureOpenAI, AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

    timeout = Timeout(None, connect=CONNECT_SECONDS)
    given: dict[str, Any] = {
        "api_key": access.key or NO_KEY,
        "default_headers": access.filled_headers,
        "max_retries": 0,
        "timeout": timeout,
        "http_client": keep_replies_apart(
            DefaultAsyncHttpxClient(timeout=timeout, **Intake(access.hide, leaves_files=for_files).settings())
        ),
    }
    if api_version is not None:
        return AsyncAzureOpenAI(azure_endpoint=access.endpoint, api_version=api_version, **given)
    return AsyncOpenAI(base_url=access.endpoint, **given)


def _refuse_missing_sdk() -> None:
    try:
        import openai  # noqa: F401
    except ImportError as error:
        raise ModelError("Model 'openai' needs the package openai: pip install openai.") from error
