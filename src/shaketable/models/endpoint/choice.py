"""One choice of an OpenAI-style reply → its texts, its end, its tokens. Servers differ in all three."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from shaketable.text.thoughts import CLOSE, OPEN
from shaketable.types import Json

# TGI says `eos_token` and `stop_sequence` where others say `stop` for both.
ENDED = ("stop", "eos", "eos_token", "end_turn")

CHARACTERS_PER_TOKEN = 4
"""Rough, for English; used only where the endpoint gives no count, and then noted."""


def read_texts(choice: Mapping[str, Any], layout: str) -> tuple[str, str]:
    """(thoughts given apart, text)."""
    if layout == "plain":
        thoughts, text = "", choice["text"]
    else:
        message = choice["message"]
        in_parts, text = _join_parts(message.get("content") or message.get("refusal") or "")
        thoughts = message.get("reasoning_content") or message.get("reasoning") or in_parts
    if not isinstance(thoughts, str) or not isinstance(text, str):
        raise TypeError("the message is not text")
    return thoughts, text


def _join_parts(content: Any) -> tuple[str, Any]:
    """(thoughts, text) of a content that some servers, such as Mistral's, give as a list of parts."""
    if not isinstance(content, list):
        return "", content
    texts = {"text": "", "thinking": ""}
    for part in content:
        given = part[part["type"]]  # A part holds its text under the name of its type, thoughts as parts again.
        texts[part["type"]] += given if isinstance(given, str) else _join_parts(given)[1]
    return texts["thinking"], texts["text"]


def as_written(thoughts: str, tagged: str, text: str, stop: tuple[str, ...], is_new: bool) -> str:
    """Thoughts and text as the model wrote them, to go on from; empty: the text is all. `tagged` is what stood before
    the text, thoughts that were given apart have none; only a new reply opens a thought."""
    opening = f"{OPEN}\n" if is_new and OPEN not in tagged else ""
    if tagged:
        return opening + tagged + text
    if not thoughts:
        return ""
    if not text or text in stop:  # It stopped while it was thinking, and some servers leave the stop string out.
        return opening + thoughts.removesuffix(text) + text
    return f"{opening}{thoughts}\n{CLOSE}\n\n{text}"


def read_end(
    choice: Mapping[str, Any], text: str, stop: tuple[str, ...], sent: bool
) -> tuple[str, Literal["end", "stop", "length"], list[str]]:
    """The text with the stop string that ended it, how it ended, and notes."""
    ends = [text.index(string) + len(string) for string in stop if string in text]
    if ends:
        ignored = sent and min(ends) < len(text)
        return text[: min(ends)], "stop", ["stop_ignored"] if ignored else []
    reported = choice.get("finish_reason")
    if reported == "length":
        return text, "length", []
    # `stop_reason` is vLLM's and `matched_stop` SGLang's: the string, or a token's number or null
    # for the end mark.
    matched = choice.get("stop_reason", choice.get("matched_stop"))
    if matched in stop:
        return text + matched, "stop", []
    if reported == "stop_sequence":
        return (text + stop[0], "stop", []) if len(stop) == 1 else (text, "stop", ["stop_unknown"])
    if reported not in ENDED:
        return text, "end", ["finish_unknown"]
    tells = "stop_reason" in choice or "matched_stop" in choice
    return text, "end", ["stop_unknown"] if sent and reported == "stop" and not tells else []


def read_logprobs(choice: Mapping[str, Any], wants: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, Json]]:
    """Tokens, and per token its logprob and its alternatives as [token, logprob], likeliest first."""
    given = choice.get("logprobs")
    if not given or not {"logprobs", "top_logprobs"} & set(wants):
        return (), {}
    if given.get("content"):
        entries = given["content"]
        tokens, logprobs = [entry["token"] for entry in entries], [entry["logprob"] for entry in entries]
        top = [[[other["token"], other["logprob"]] for other in entry.get("top_logprobs") or []] for entry in entries]
    elif given.get("tokens"):  # the older shape of plain completions
        tokens, logprobs = given["tokens"], given["token_logprobs"]
        tops = given.get("top_logprobs") or [{}] * len(tokens)
        top = [[[token, logprob] for token, logprob in (row or {}).items()] for row in tops]
    else:
        return (), {}
    for row in top:
        row.sort(key=lambda pair: -pair[1])
    extras: dict[str, Any] = {}
    if "logprobs" in wants:
        extras["logprobs"] = logprobs
    if "top_logprobs" in wants and any(top):
        extras["top_logprobs"] = top
    return tuple(tokens), extras


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


def count_thoughts(usage: Mapping[str, Any], thoughts: str) -> int | None:
    counted = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens")
    if counted:
        return int(counted)
    # Some servers say 0 although they gave thoughts.
    return None if thoughts else 0


def estimate_tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)
