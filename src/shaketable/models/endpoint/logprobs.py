"""One choice of an OpenAI-style reply → its tokens, with their log-probabilities and alternatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shaketable.models.endpoint.fields import logprob_of
from shaketable.types import Json

LONGEST_TOKEN = 1000
"""Characters: some tokens are long runs of spaces or dashes."""
N_SPARE = 16
"""Tokens beyond those that were asked for, such as end marks."""


class Unreadable(ValueError):  # noqa: N818 (it says what is the matter)
    """The reply has log-probabilities, and they are none."""


def read_logprobs(
    choice: Mapping[str, Any], wants: tuple[str, ...], most_tokens: int, n_top: int
) -> tuple[tuple[str, ...], dict[str, Json]]:
    """Tokens, and per token its logprob and its `n_top` alternatives as [token, logprob], likeliest first. Raises
    Unreadable: an answer is kept without them."""
    given = choice.get("logprobs")
    if not given or not {"logprobs", "top_logprobs"} & set(wants):
        return (), {}
    try:
        listed = _listed(given)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise Unreadable from error
    if len(listed) > most_tokens + N_SPARE:
        raise Unreadable
    tokens = tuple(_token(token) for token, _, _ in listed)
    extras: dict[str, Json] = {}
    if "logprobs" in wants:
        extras["logprobs"] = [_logprob(logprob) for _, logprob, _ in listed]
    if "top_logprobs" in wants and any(top for _, _, top in listed):
        extras["top_logprobs"] = [_alternatives(top, n_top) for _, _, top in listed]
    return (tokens, extras) if tokens else ((), {})


def _listed(given: Any) -> list[tuple[Any, Any, list[tuple[Any, Any]]]]:
    """Token, logprob and alternatives of each, as they are given."""
    if entries := given.get("content"):
        return [
            (
                entry["token"],
                entry["logprob"],
                [(other["token"], other["logprob"]) for other in entry.get("top_logprobs") or []],
            )
            for entry in entries
        ]
    if tokens := given.get("tokens"):  # the older shape of plain completions
        tops = given.get("top_logprobs") or [{}] * len(tokens)
        rows = [list((row or {}).items()) for row in tops]
        return list(zip(tokens, given["token_logprobs"], rows, strict=True))
    return []


def _alternatives(top: list[tuple[Any, Any]], n_top: int) -> list[Json]:
    """What cannot be (minus infinity, which some servers spell as null) is no alternative. Some give the token that was
    drawn beyond those that were asked for."""
    pairs = [(_token(token), logprob) for token, given in top if (logprob := logprob_of(given)) is not None]
    return [[token, logprob] for token, logprob in sorted(pairs, key=lambda pair: -pair[1])[: n_top + 1]]


def _token(value: object) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TOKEN:
        raise Unreadable
    return value


def _logprob(value: object) -> float:
    if (logprob := logprob_of(value)) is None:
        raise Unreadable
    return logprob


def cut_tokens(tokens: tuple[str, ...], extras: dict[str, Json], text: str) -> tuple[tuple[str, ...], dict[str, Json]]:
    """Tokens and extras up to the end of the text, which may have been cut after a stop string."""
    start = "".join(tokens).find(text)
    if start < 0:
        return tokens, extras
    n_kept = n_characters = 0
    while n_characters < start + len(text):
        n_characters += len(tokens[n_kept])
        n_kept += 1
    return tokens[:n_kept], {name: values[:n_kept] for name, values in extras.items() if isinstance(values, list)}
