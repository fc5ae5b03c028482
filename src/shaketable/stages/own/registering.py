"""Decorators: a function or class of a script or notebook → a part of this process, named in studies like any other."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from typing import Any, Literal

from shaketable.errors import PartError
from shaketable.models.calling.adapters import NAMES, Refused, adapt
from shaketable.stages.own import asking, evidence
from shaketable.stages.own import metric as of_answers
from shaketable.stages.own import model as of_prompts
from shaketable.stages.own.bringing import decorated
from shaketable.stages.own.function_part import OWN, FunctionPart, make_class
from shaketable.stages.own.signature import Function, Signature, read_signature
from shaketable.types import Measure

SEED = ("seed", int, dataclasses.field(default=typing.cast(Any, 0), metadata=OWN))


def metric(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    version: int | None = None,
    unit: Literal["share", "score", "count"] | None = None,
    higher_is_better: bool | None = True,
    words: str = "",
    needs_answers: bool = False,
) -> Any:
    """Register a metric: a function of an answer, which may take the `question` and the `record` too, and returns a
    number, True, False, or None where it cannot tell.

    `unit` is what its numbers are: a `share` (1 or 0 of an answer; so it is of a function that promises a bool), a
    `score` or a `count`. `words` is what people call it. One that `needs_answers` is not asked about
    a question without an accepted answer, and has no number of it. Other parameters are settings.

    >>> import shaketable
    >>> @shaketable.metric(version=1)
    ... def is_short(answer: str, question, longest: int = 20) -> bool:
    ...     return len(answer) <= longest
    >>> shaketable.build("metric", "is_short(longest=5)")
    IsShort(longest=5)
    """

    def make(own: Function, own_name: str) -> type[FunctionPart]:
        signature = read_signature(own, "metric", of_answers.FIRST, of_answers.GIVEN)
        told = unit or ("share" if _returns(own) is bool else None)
        measure = Measure(
            name=own_name,
            unit=told,
            higher_is_better=higher_is_better,
            minimum=0.0 if told in ("share", "count") else None,
            words=words,
        )
        more = {"numbers": (measure,), "reads_trace": "record" in signature.takes, "needs_answers": needs_answers}
        return make_class(of_answers.FunctionMetric, own, signature, own_name, more)

    return decorated(function, "metric", name, version, make)


def perturbation(function: Function | None = None, /, *, name: str | None = None, version: int | None = None) -> Any:
    """Register a perturbation: a function of the sentences of one question's evidence, which returns a text for each,
    the same to leave it and None to take it out. It may take the `question`, and `rng` to draw with, whose seed is a
    setting then.

    >>> import shaketable
    >>> @shaketable.perturbation(version=1)
    ... def shouting(sentences, rng, share: float = 1.0):
    ...     return [text.upper() if rng.random() < share else text for text in sentences]
    >>> shaketable.build("perturbation", "shouting(share=0.5)")
    Shouting(share=0.5, seed=0)
    """

    def make(own: Function, own_name: str) -> type[FunctionPart]:
        signature = read_signature(own, "perturbation", evidence.SENTENCES, evidence.PERTURBATION_GIVEN)
        return make_class(evidence.FunctionPerturbation, own, _seeded(signature), own_name, {})

    return decorated(function, "perturbation", name, version, make)


def variation(function: Function | None = None, /, *, name: str | None = None, version: int | None = None) -> Any:
    """Register a variation: a function of a question's text, which returns another wording, several, or None. It may
    take the `question` and `rng` too.

    >>> import shaketable
    >>> @shaketable.variation(version=1)
    ... def politely(text, please: str = "Please tell me:"):
    ...     return f"{please} {text}"
    >>> shaketable.build("variation", "politely")
    Politely(please='Please tell me:')
    """

    def make(own: Function, own_name: str) -> type[FunctionPart]:
        signature = read_signature(own, "variation", asking.WORDING, asking.VARIATION_GIVEN)
        return make_class(asking.FunctionVariation, own, _seeded(signature), own_name, {})

    return decorated(function, "variation", name, version, make)


def retriever(function: Function | None = None, /, *, name: str | None = None, version: int | None = None) -> Any:
    """Register a retriever: a function of a query, which returns passages, the best first: texts, or mappings with
    `text`, `title`, `id` and `score`. It may take `k`, and the `question` with its documents.

    >>> import shaketable
    >>> @shaketable.retriever(version=1)
    ... def first_document(query, question):
    ...     return [{"title": d.title, "text": d.text} for d in question.documents[:1]]
    >>> shaketable.build("retriever", "first_document")
    FirstDocument()
    """

    def make(own: Function, own_name: str) -> type[FunctionPart]:
        signature = read_signature(own, "retriever", evidence.QUERY, evidence.RETRIEVER_GIVEN)
        return make_class(evidence.FunctionRetriever, own, signature, own_name, {})

    return decorated(function, "retriever", name, version, make)


def method(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    version: int | None = None,
    searches: bool = True,
) -> Any:
    """Register a method: a generator of steps that returns the answer. `searches=False`: it is not crossed with
    retrievers and perturbations.

    >>> import shaketable
    >>> from shaketable.methods.asking import generate, search
    >>> @shaketable.method(version=1)
    ... def quote_first(wording, k: int = 3):
    ...     hits = yield from search(wording, k)
    ...     reply = yield from generate(f"{hits[0].passage.text}\\n\\nIn a few words: {wording}")
    ...     return reply.text
    >>> shaketable.build("method", "quote_first(k=1)")
    QuoteFirst(k=1)
    """

    def make(own: Function, own_name: str) -> type[FunctionPart]:
        signature = read_signature(own, "method", asking.WORDING, ())
        return make_class(asking.FunctionMethod, own, signature, own_name, {"searches": searches})

    return decorated(function, "method", name, version, make)


def model(function: Function | None = None, /, *, name: str | None = None, version: int | None = None) -> Any:
    """Register a model: a function of a prompt, sync or async, which returns text, or a mapping with `text`, `tokens`,
    `prompt_tokens` and `cost`. It may take `temperature`, `seed`, `max_tokens`, `top_p`, `top_k` and `stop`; without a
    temperature it is asked at the study's lowest alone. A first parameter called `messages` is a list of them.

    >>> import shaketable
    >>> @shaketable.model(version=1)
    ... def parrot(prompt, temperature, loud: bool = False):
    ...     return prompt.upper() if loud else prompt
    >>> shaketable.build("model", "parrot(loud=True)")
    Parrot(time_limit=120.0, concurrency=1, loud=True)
    """

    def make(own: Function, own_name: str) -> type[FunctionPart]:
        signature = read_signature(own, "model", of_prompts.PROMPT, of_prompts.MODEL_GIVEN)
        more = {"takes_messages": signature.first == "messages"}
        return make_class(of_prompts.FunctionModel, own, signature, own_name, more)

    return decorated(function, "model", name, version, make)


def pipeline(function: Any = None, /, *, name: str | None = None, version: int | None = None) -> Any:
    """Register a whole system as a model: a function of a question, sync or async, a LangChain runnable or a LlamaIndex
    query engine. It may take `context`, `contexts`, `history`, `temperature`, `seed` and `disturb`; what it does not
    take is not varied. It runs in this process: what it raises is a recorded failure, what hangs is left behind.

    >>> import shaketable
    >>> @shaketable.pipeline(version=1)
    ... def my_app(question, context, temperature):
    ...     return context.split(".")[0]
    >>> sorted(shaketable.build("model", "my_app(time_limit=5.0)").takes)
    ['context', 'temperature']
    """

    def make(own: Function, own_name: str) -> type[FunctionPart]:
        try:
            adapted = adapt(own, own_name)
        except Refused as error:
            raise PartError(str(error)) from error
        signature = Signature(first="question", takes=adapted.takes, settings=())
        if inspect.isfunction(own):
            signature = read_signature(own, "pipeline", asking.WORDING, NAMES)
        called = own if inspect.isfunction(own) else adapted.call
        return make_class(of_prompts.FunctionPipeline, called, signature, own_name, {"adapted": adapted})

    return decorated(function, "model", name, version, make, decorator="pipeline")


def analysis(function: Function | None = None, /, *, name: str | None = None, version: int | None = None) -> Any:
    """Register an analysis: a function of the run's tables that returns a frozen dataclass, the type that it promises.
    Other parameters are settings.

    >>> import dataclasses, shaketable
    >>> @dataclasses.dataclass(frozen=True)
    ... class AnswerLength:
    ...     mean_characters: float
    >>> @shaketable.analysis(version=1)
    ... def answer_length(tables) -> AnswerLength:
    ...     return AnswerLength(tables.records["answer"].str.len_chars().mean())
    >>> "answer_length" in shaketable.known("analysis")
    True
    """

    def make(own: Function, own_name: str) -> Function:
        read_signature(own, "analysis", "the run's tables", ())
        if not dataclasses.is_dataclass(_returns(own)):
            raise PartError(
                f"{own_name} does not promise what it returns. Write its type, a frozen dataclass, behind the "
                f"parameters: def {own_name}(tables) -> MyResult: …"
            )
        return own

    return decorated(function, "analysis", name, version, make)


def _seeded(signature: Signature) -> Signature:
    """With a seed among the settings, where it draws and has none of its own."""
    if "rng" not in signature.takes or "seed" in (setting for setting, _, _ in signature.settings):
        return signature
    return dataclasses.replace(signature, settings=(*signature.settings, SEED))


def _returns(function: Function) -> Any:
    try:
        return typing.get_type_hints(function).get("return")
    except (NameError, TypeError):
        return function.__annotations__.get("return")
