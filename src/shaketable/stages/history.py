"""A step of a method → the same step in a conversation that began before."""

from __future__ import annotations

import functools
from dataclasses import replace

from shaketable.types import Generate, Message, Probe, Step


def continued(history: tuple[Message, ...], step: Step, system: str | None = None) -> Step:
    """The model reads the system message and what was said before; a search does not, as in a pipeline that searches
    for the last question."""
    if not history and system is None:
        return step
    if isinstance(step, Generate):
        return replace(step, messages=_behind(history, step.messages, step.layout, system))
    if isinstance(step, Probe) and step.before:
        return replace(step, before=_behind(history, step.before, step.layout, system))
    return step


@functools.lru_cache(maxsize=512)  # One value for the temperatures and repeats of a prompt, as methods make it.
def _behind(
    history: tuple[Message, ...], messages: tuple[Message, ...], layout: str, system: str | None
) -> tuple[Message, ...]:
    """Turns of one conversation, after the system's own message; in the plain layout one text."""
    opening = () if system is None else (Message(role="system", content=system),)
    if layout == "chat":
        n_own = int(messages[0].role == "system")
        return (*opening, *messages[:n_own], *history, *messages[n_own:])
    said = "\n\n".join(message.content for message in (*opening, *history))
    return (replace(messages[0], content=f"{said}\n\n{messages[0].content}"), *messages[1:])
