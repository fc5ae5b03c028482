"""A plan → what will run as the study says, but hardly as its author meant."""

from __future__ import annotations

from shaketable import catalog
from shaketable.stages.plan import Plan


def advice_on(planned: Plan) -> list[str]:
    """One sentence for each model and method that do not fit each other; nothing is changed."""
    advice: dict[str, None] = {}
    for condition in planned.conditions:
        model, method = condition.model, condition.method
        n_tokens = getattr(method, "max_length", None)
        if n_tokens and method.layout == "chat" and getattr(model, "thinks", False):
            advice[
                f"{catalog.label(method)} has {n_tokens} tokens for each step, and the chat template of "
                f"{catalog.label(model)} has thoughts, which may take them all; such trials fail. Give the method "
                "layout='plain', in which no thought is opened."
            ] = None
    return list(advice)
