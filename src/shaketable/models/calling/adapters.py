"""An object of a user's module → how it is asked: a function, a LangChain runnable, a LlamaIndex query engine.

The libraries are recognized by the objects that are theirs and never imported before such an object is there.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from shaketable.errors import did_you_mean

Given = Mapping[str, object]
"""What a pipeline may take beside the question, by name."""
NAMES = ("context", "contexts", "history", "temperature", "seed", "disturb")
"""`context` is one text, `contexts` a list of texts; `disturb` is a function that takes passages and gives them back
disturbed."""
INPUTS = ("question", "query", "input")
"""What chains call the question."""
HISTORIES = {"chat_history": "history"}
"""What chains call something else than we do."""


class Refused(Exception):  # noqa: N818 (it says what is the matter)
    """It cannot be asked; says what was found, what was expected and what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Adapted:
    takes: frozenset[str]
    call: Callable[[str, Given], object]
    """Question, and what it takes → what it returns, or something to await."""
    optional: frozenset[str] = frozenset()
    """What it takes and can do without: parameters with a default value."""


def adapt(target: object, name: str, told: Iterable[str] | None = None) -> Adapted:
    """`told` is what it takes by the word of the study; None: its signature says it."""
    if _is_of("langchain", target) and hasattr(target, "invoke"):
        return _runnable(target, name, told)
    if _is_of("llama_index", target) and hasattr(target, "query"):
        return _query_engine(target, told)
    if inspect.isclass(target):
        raise Refused(f"'{name}' is a class. Name an instance of it that can be called, or a function.")
    if not callable(target):
        raise Refused(
            f"'{name}' is {type(target).__name__}, which cannot be called. Name a function that takes a question, a "
            "LangChain runnable or a LlamaIndex query engine."
        )
    takes = _told(target, name, told) if told is not None else _parameters(target, name)
    return Adapted(
        takes=takes, call=lambda question, given: target(question, **given), optional=takes & _with_default(target)
    )


def _with_default(function: Callable[..., object]) -> frozenset[str]:
    """Return the parameters that have a default value, as far as the signature can be read."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    return frozenset(parameter.name for parameter in parameters if parameter.default is not inspect.Parameter.empty)


def _is_of(library: str, target: object) -> bool:
    return any(one.__module__.partition(".")[0].startswith(library) for one in type(target).__mro__)


def _told(function: Callable[..., object], name: str, told: Iterable[str]) -> frozenset[str]:
    """Refuses what the signature rules out, where it can be seen: every trial would fail."""
    takes = frozenset(told)
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return takes
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
    unknown = [] if takes_any else [given for given in sorted(takes) if given not in parameters]
    if unknown:
        listed = ", ".join(map(str, parameters.values()))
        raise Refused(f"parameters has '{unknown[0]}', and {name}({listed}) does not take it. Take it out, or add it.")
    return takes


def _parameters(function: Callable[..., object], name: str) -> frozenset[str]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise Refused(f"What '{name}' takes cannot be seen ({error}). Wrap it in a function of your own.") from error
    listed = f"{name}({', '.join(map(str, parameters))})"
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if not parameters or parameters[0].kind not in (*positional, inspect.Parameter.VAR_POSITIONAL):
        raise Refused(f"{listed} takes no question. Its first parameter is the question, as text.")
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    takes = [parameter.name for parameter in parameters[1:] if parameter.kind in named and parameter.name in NAMES]
    for parameter in parameters[1:]:
        optional = parameter.default is not inspect.Parameter.empty or parameter.kind in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
        )
        if parameter.name not in takes and not optional:
            raise Refused(
                f"{listed} needs '{parameter.name}', which nothing gives.{did_you_mean(parameter.name, NAMES)} Beside "
                f"the question there are {', '.join(NAMES)}. Give '{parameter.name}' a default value."
            )
    return frozenset(takes)


# --- LangChain ------------------------------------------------------------------------------------


def _runnable(chain: Any, name: str, told: Iterable[str] | None) -> Adapted:
    """Its input has the question, and context and history where it wants a mapping; the rest goes the way that
    LangChain has for values of one call, `config["configurable"]`."""
    inputs = [key for key in chain.get_input_jsonschema().get("properties", {}) if key != "root"]
    question = next((key for key in INPUTS if key in inputs), inputs[0] if len(inputs) == 1 else None)
    if inputs and question is None:
        raise Refused(
            f"The runnable '{name}' takes {', '.join(inputs)}, and none of them is the question. Call it one of "
            f"{', '.join(INPUTS)}, or wrap the runnable in a function."
        )
    by_input = {key: HISTORIES.get(key, key) for key in inputs if HISTORIES.get(key, key) in NAMES}
    required = set(chain.get_input_jsonschema().get("required", []))
    missing = [key for key in inputs if key in required and key != question and key not in by_input]
    if missing:
        raise Refused(
            f"The runnable '{name}' needs {', '.join(missing)}, which nothing gives. Beside the question there are "
            f"{', '.join(NAMES)}. Fill it in with a partial prompt, or wrap the runnable in a function."
        )
    configurable = {spec.id for spec in chain.config_specs} & set(NAMES)
    takes = frozenset(told) if told is not None else frozenset({*by_input.values(), *configurable})

    def call(text: str, given: Given) -> object:
        asked = {question: text, **{key: given[value] for key, value in by_input.items() if value in given}}
        config = {key: value for key, value in given.items() if key not in by_input.values()}
        return chain.invoke(asked if question else text, config={"configurable": config})

    optional = takes & {name for key, name in by_input.items() if key not in required}
    return Adapted(takes=takes, call=call, optional=optional)


# --- LlamaIndex -----------------------------------------------------------------------------------


def _query_engine(engine: Any, told: Iterable[str] | None) -> Adapted:
    """One that retrieves and synthesizes in two steps hands over its nodes in between. Its language model has
    temperature and seed as attributes, or they are not varied."""
    base = importlib.import_module("llama_index.core.base.base_query_engine").BaseQueryEngine
    steps = (type(engine).retrieve, type(engine).synthesize) if isinstance(engine, base) else (None, None)
    in_two_steps = isinstance(engine, base) and steps != (base.retrieve, base.synthesize)
    model = getattr(getattr(engine, "_response_synthesizer", None), "_llm", None)
    of_model = [name for name in ("temperature", "seed") if hasattr(model, name)]
    takes = frozenset(told) if told is not None else frozenset([*of_model, *(["disturb"] if in_two_steps else [])])
    bundle = importlib.import_module("llama_index.core.schema").QueryBundle

    def call(text: str, given: Given) -> object:
        for name in of_model:
            if name in given:
                setattr(model, name, given[name])
        disturb = given.get("disturb")
        if not in_two_steps or not callable(disturb):
            return engine.query(text)
        asked = bundle(text)
        return engine.synthesize(asked, disturb(engine.retrieve(asked)))

    return Adapted(takes=takes, call=call)
