"""A step of a method → the same step in a conversation that began before."""

from __future__ import annotations

from dataclasses import replace

from shaketable.types import Generate, Message, Probe, Step


def continued(history: tuple[Message, ...], step: Step) -> Step:
    """The model reads what was said before; a search does not, as in a pipeline that searches for the last question."""
    if not history:
        return step
    if isinstance(step, Generate):
        return replace(step, messages=_behind(history, step.messages, step.layout))
    if isinstance(step, Probe) and step.before:
        return replace(step, before=_behind(history, step.before, step.layout))
    return step


def _behind(history: tuple[Message, ...], messages: tuple[Message, ...], layout: str) -> tuple[Message, ...]:
    """Turns of one conversation, after the system's own message; in the plain layout one text."""
    if layout == "chat":
        n_own = int(messages[0].role == "system")
        return (*messages[:n_own], *history, *messages[n_own:])
    said = "\n\n".join(message.content for message in history)
    return (replace(messages[0], content=f"{said}\n\n{messages[0].content}"), *messages[1:])
