"""One choice of an OpenAI-style reply → its texts and its end. Servers differ in both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from shaketable.models.endpoint.failures import EndpointError
from shaketable.models.endpoint.fields import LONGEST_TEXT, count_of, mapping_of
from shaketable.text.thoughts import CLOSE, OPEN

# TGI says `eos_token` and `stop_sequence` where others say `stop` for both.
ENDED = ("stop", "eos", "eos_token", "end_turn")

CALLS = ("tool_calls", "function_call")
"""Where a message calls tools; the second is how it was done before."""

CHARACTERS_PER_TOKEN = 4
"""Of ASCII; rough, for English; used only where the endpoint gives no count, and then noted."""


def read_texts(choice: Mapping[str, Any], layout: str) -> tuple[str, str]:
    """(thoughts given apart, text). Raises EndpointError where there is none, which is not the same as an empty one."""
    if layout == "plain":
        thoughts, text = "", choice["text"]
    else:
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
        in_parts, text = _join_parts(None if content == [] else content)
        if not text and isinstance(refusal, str) and refusal:
            text = refusal
        apart = (message.get(name) for name in ("reasoning_content", "reasoning"))
        thoughts = next((one for one in apart if one and isinstance(one, str)), in_parts)
        is_call = choice.get("finish_reason") in CALLS or any(message.get(name) for name in CALLS)
        if is_call and not (isinstance(text, str) and text.strip()):
            raise EndpointError("bad_reply", "the reply calls a tool, and none was offered", may_retry=True)
        if text is None:
            text = _explain_nothing(choice.get("finish_reason"), has_thoughts=bool(thoughts))
    if not isinstance(thoughts, str) or not isinstance(text, str):
        raise TypeError("the message is not text")
    if len(thoughts) + len(text) > LONGEST_TEXT:
        found = f"{len(thoughts) + len(text):,} characters; expected at most {LONGEST_TEXT:,}"
        raise EndpointError("bad_reply", f"the reply is a text of {found}", may_retry=True)
    return thoughts, text


def _explain_nothing(reported: object, has_thoughts: bool) -> str:
    """The text of a message that has none: empty where it thought, or was cut off before it came to it."""
    if has_thoughts or reported == "length":
        return ""
    raise EndpointError("bad_reply", "the reply has no text: its content is null, and nothing says why", may_retry=True)


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


def count_thoughts(usage: Mapping[str, object], thoughts: str) -> int | None:
    counted = count_of(mapping_of(usage.get("completion_tokens_details")).get("reasoning_tokens"))
    if counted:
        return counted
    # Some servers say 0 although they gave thoughts.
    return None if thoughts else 0


def estimate_tokens(text: str) -> int:
    """Of other letters than those of ASCII most are a token, or more."""
    n_ascii = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return len(text) - n_ascii - (-n_ascii // CHARACTERS_PER_TOKEN)
