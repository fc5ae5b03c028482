"""The SDK's client for an endpoint: OpenAI's own layout, or Azure's with its deployments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaketable.errors import ModelError
from shaketable.models.endpoint.access import Access

if TYPE_CHECKING:
    from openai import AsyncOpenAI

NO_KEY = "none"


def make_client(access: Access, api_version: str | None) -> AsyncOpenAI:
    """Retries are our own: the SDK's would hide them from the timing and from the failure message."""
    try:
        import openai
    except ImportError as error:
        raise ModelError("Model 'openai' needs the package openai: pip install openai.") from error
    key, headers = access.key or NO_KEY, access.filled_headers
    if api_version is not None:
        return openai.AsyncAzureOpenAI(
            api_key=key,
            azure_endpoint=access.endpoint,
            api_version=api_version,
            default_headers=headers,
            max_retries=0,
            timeout=None,
        )
    return openai.AsyncOpenAI(
        api_key=key, base_url=access.endpoint, default_headers=headers, max_retries=0, timeout=None
    )
