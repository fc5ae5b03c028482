"""What is said to a model that rewords, and the wording in its reply."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from shaketable.prompts import REWORD_AGAIN, Template
from shaketable.types import Message, RefusedReply

LABEL = re.compile(
    r"\W*(?:(?:here is|here's|sure|the (?:\w+ )?question (?:is|should be|would be|becomes)|re(?:word|phras|writ)\w*)"
    r"[^:\n]{0,80}:|"
    r"(?:(?:the|your|new|final|re\w+|informal|casual|harder|declarative|imperative) ){0,3}"
    r"(?:question|version|rewrite|query|output|statement|command|request)\W*:)\s*",
    re.IGNORECASE,
)
"""What models put before a wording: `Rewritten question:`."""
REMARK = re.compile(
    r"^\W*the answer\b[^.?!]{0,40}:|\b(?:i['’]m|i am) not (?:sure|familiar)\b|\bi(?: can|['’]ll) (?:help|keep)\b|"
    r"\bassist you\b|\blet me know if\b",
    re.IGNORECASE,
)
"""What models say about the task instead of doing it, or before."""


def conversation(template: Template, slots: Mapping[str, str], refused: Sequence[RefusedReply]) -> tuple[Message, ...]:
    """The kind's own prompt, then each refused reply with what to mend."""
    messages = [Message(role="user", content=template.fill(**slots))]
    for reply in refused:
        if reply.text:  # Endpoints refuse an empty turn, and there is nothing in it to mend.
            again = REWORD_AGAIN.fill(feedback=reply.feedback, question=slots["question"])
            messages += [Message(role="assistant", content=reply.text), Message(role="user", content=again)]
    return tuple(messages)


def wording_of(reply: str) -> str:
    """The wording in a model's reply: without a label in front, marks around it, or remarks below it."""
    text = reply.strip()
    if label := LABEL.match(text):
        text = text[label.end() :]
    text = " ".join(text.strip().split("\n\n")[0].split()).strip("*").strip()
    if len(text) > 1 and text[0] in "\"“'" and text[-1] in "\"”'" and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return text
