"""The drawing library for the page, as one script that needs no network: made once, then kept in the user cache."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata

import vl_convert

from shaketable import weights
from shaketable.text.whole_file import write_whole


@functools.cache
def load_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed with its interpreter of expressions; safe inside a script element."""
    version = importlib.metadata.version("vl-convert-python")
    path = weights.home() / f"vega-bundle-{version}.js"
    with contextlib.suppress(OSError):
        return path.read_text("utf-8")
    text = (
        vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
        .replace("</script", r"<\/script")
        .replace("<!--", r"<\!--")
    )
    with contextlib.suppress(OSError):  # A page is worth more than its next one being faster.
        weights.make_folder(path.parent)
        write_whole(path, text)
    return text
