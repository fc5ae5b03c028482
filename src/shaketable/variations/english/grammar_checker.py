"""A sentence → the grammar errors that a real checker finds: Harper in this process, or a LanguageTool server."""

from __future__ import annotations

import functools
import importlib.metadata
import json
import threading
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import Any

from shaketable.errors import ModelError, need_packages
from shaketable.text.normalization import without_surrogates
from shaketable.weights import is_offline, is_on_this_machine

HARPER = "harper"
NO_GRAMMAR = frozenset({
    "Spelling", "Capitalization", "Formatting", "Style", "Punctuation", "Readability", "Enhancement", "Regionalism",
    "Typo", "WordChoice",
})  # fmt: skip
"""Kinds of Harper's findings that are no errors of grammar: names look misspelled, and taste is none."""
NO_GRAMMAR_CATEGORIES = frozenset({
    "TYPOS", "CASING", "TYPOGRAPHY", "PUNCTUATION", "STYLE", "REDUNDANCY", "PLAIN_ENGLISH", "REGIONALISMS", "MISC",
})  # fmt: skip
"""The same for LanguageTool's categories."""
TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Flag:
    """Something a checker holds to be wrong."""

    rule: str
    message: str
    text: str
    """The words that are wrong."""


def check(text: str, checker: str = HARPER) -> list[Flag]:
    """The errors in a text. `checker` is `harper`, or the address of a LanguageTool server: `http://localhost:8081`."""
    readable = without_surrogates(text)
    return _harper(readable) if checker == HARPER else _language_tool(readable, checker)


def described(checker: str) -> str:
    """The checker with its version, as far as it can be known."""
    return f"{HARPER} {importlib.metadata.version('harper-py')}" if checker == HARPER else f"LanguageTool at {checker}"


_own = threading.local()
"""A Harper linter belongs to the thread that made it."""


@functools.lru_cache(maxsize=4096)
def _harper(text: str) -> list[Flag]:
    if not hasattr(_own, "linter"):
        need_packages("The grammar checker", HARPER)
        import harper

        _own.linter = harper.Linter()
    return [
        Flag(rule=rule, message=lint.message, text=lint.problem_text)
        for rule, lints in _own.linter.organized_lints(text, language="plaintext").items()
        for lint in lints
        if lint.lint_kind not in NO_GRAMMAR
    ]


def _language_tool(text: str, address: str) -> list[Flag]:
    if not address.startswith(("http://", "https://")):
        raise ModelError(
            f"Unknown grammar checker '{address}'. Use '{HARPER}', or the address of a LanguageTool server, such as "
            "'http://localhost:8081'."
        )
    if is_offline() and not is_on_this_machine(address):
        raise ModelError(f"The grammar checker {address} is not on this machine and SHAKETABLE_OFFLINE is set.")
    body = urllib.parse.urlencode({"text": text, "language": "en-US"}).encode()
    try:
        with urllib.request.urlopen(f"{address.rstrip('/')}/v2/check", body, timeout=TIMEOUT_SECONDS) as reply:
            matches: list[dict[str, Any]] = json.load(reply)["matches"]
    except (OSError, ValueError, KeyError) as error:
        reason = f"HTTP {error.code}" if isinstance(error, urllib.error.HTTPError) else str(error)
        raise ModelError(
            f"The LanguageTool server at {address} could not be used: {reason}. Start it, or use checker='{HARPER}'."
        ) from error
    return [
        Flag(
            rule=match["rule"]["id"],
            message=match["message"],
            text=text[match["offset"] : match["offset"] + match["length"]],
        )
        for match in matches
        if match["rule"]["category"]["id"] not in NO_GRAMMAR_CATEGORIES
    ]
