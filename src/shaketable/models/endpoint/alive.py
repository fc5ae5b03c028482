"""Is a server there? A question that it can answer at once, whatever its model is busy with."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from shaketable.models.endpoint.failures import EndpointError

if TYPE_CHECKING:
    from openai import AsyncOpenAI


async def is_alive(client: AsyncOpenAI, seconds: float) -> bool:
    """Whether it says anything to `GET /models` in this time, be it that it does not know that or our key."""
    from openai import APIConnectionError, APIError

    try:
        async with asyncio.timeout(seconds):
            # A connection that is kept could hold up a server that has one place.
            await client.get("/models", cast_to=bytes, options={"headers": {"Connection": "close"}})
    except APIError as error:
        return not isinstance(error, APIConnectionError) or isinstance(error.__cause__, EndpointError)
    except Exception:  # What is wrong shows in the calls.
        return False
    return True
