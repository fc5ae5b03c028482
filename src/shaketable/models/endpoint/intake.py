"""What every reply goes through before anyone reads it: no key to another host, no body without end."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

from shaketable.models.endpoint.failures import EndpointError
from shaketable.models.endpoint.unpacking import ACCEPTED, Unpacker

LARGE_BYTES = 1_000_000
N_LARGE = 4
"""So many replies that are larger are read at once; others wait, so that hundreds of them do not fill the memory."""
MOST_OF_A_HOST = 100
DEFAULT_PORTS = {"http": 80, "https": 443}


class Intake:
    """A hook of an HTTP client (httpx, or what the SDK has in its place), called before a reply is read."""

    def __init__(self, hide: Callable[[str], str], *, leaves_files: bool = False) -> None:
        """`hide`: takes secrets out of words. `leaves_files`: what is downloaded is read by somebody who counts."""
        self._hide, self._leaves_files = hide, leaves_files
        self._large = asyncio.Semaphore(N_LARGE)

    def settings(self) -> dict[str, Any]:
        """Of the client. No cookies: a server could set new ones with every reply, and get them all back."""
        return {
            "event_hooks": {"response": [self.take]},
            "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=())),
            "headers": {"Accept-Encoding": ACCEPTED},
        }

    async def take(self, response: Any) -> None:
        """Put the unpacked body in place of what comes; raises EndpointError."""
        self._refuse_another_host(response)
        if self._leaves_files and response.is_success and response.request.url.path.endswith("/content"):
            return
        unpacker, body = Unpacker(response.headers), bytearray()
        async with contextlib.AsyncExitStack() as held:
            pieces = await held.enter_async_context(contextlib.aclosing(aiter(response.stream)))
            is_large = False
            async for piece in pieces:
                for unpacked in unpacker.unpack(piece):
                    body += unpacked
                    if len(body) > LARGE_BYTES and not is_large:
                        await held.enter_async_context(self._large)
                        is_large = True
            body += unpacker.end()
        await response.stream.aclose()
        response.headers.pop("content-encoding", None)
        # A body in UTF-8 is all we read, and a charset such as `zlib_codec` breaks whoever believes it.
        kind, has_settings, _ = response.headers.get("content-type", "").partition(";")
        if has_settings:
            response.headers["content-type"] = kind.strip() if kind.isascii() and kind.isprintable() else "text/plain"
        library = sys.modules[type(response).__module__.partition(".")[0]]
        response.stream = library.ByteStream(bytes(body))

    def _refuse_another_host(self, response: Any) -> None:
        """A redirect takes headers with it, and some of them hold keys."""
        if not response.has_redirect_location:
            return
        asked = response.request.url
        try:
            target = asked.join(response.headers["location"])
            origins = [(url.scheme, url.host, url.port or DEFAULT_PORTS.get(url.scheme)) for url in (asked, target)]
        except Exception as error:  # An address that is none: which error that is depends on the library.
            raise _redirected(response, "to what is no address") from error
        is_upgrade = origins == [("http", asked.host, 80), ("https", asked.host, 443)]
        if origins[0] != origins[1] and not is_upgrade:
            host = self._hide(f"{target.scheme}://{target.netloc.decode('ascii', 'replace')}")
            raise _redirected(response, f"to {host[:MOST_OF_A_HOST]}")


def _redirected(response: Any, where: str) -> EndpointError:
    message = (
        f"HTTP {response.status_code} sends the request {where}, and nothing was sent there. If that is meant, give "
        "that address instead"
    )
    return EndpointError("redirected", message, may_retry=True, blame="unusable")
