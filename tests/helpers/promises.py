"""What every part is tried with: settings where defaults are not enough, questions, and texts that are hard to take."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import made_records
import pytest

import shaketable
from shaketable import catalog
from shaketable.datasets.builtin import load_builtin
from shaketable.datasets.reading.rows import make_question, passage
from shaketable.metrics.scoring import GIVEN_SCORES
from shaketable.types import (
    Completion,
    Event,
    Evidence,
    Generate,
    Hit,
    Message,
    Note,
    Query,
    Question,
    Record,
    Search,
)

CLASSES = ("variation", "perturbation", "retriever", "model", "method", "metric")
FUNCTIONS = ("dataset", "analysis")

FOLDER = Path(__file__).parents[1] / "parts"

NEEDED = {
    "frozen": f"frozen(path={str(FOLDER / 'frozen_wordings.jsonl')!r})",
    "rewrites": f"rewrites(path={str(FOLDER / 'human_rewrites.jsonl')!r})",
    "judge": "judge(model=\"scripted(replies=('VERDICT: correct',))\")",
    "openai": "openai(model='gpt-4o')",
    "pipeline": "pipeline(http='https://example.org/ask')",
    "query_loss": "query_loss(model='smollm2')",
    "transformers": "transformers(path='smollm2')",
}
"""How a part is written that has settings without a default."""

WEIGHTS = {
    "antonym",
    "bertscore",
    "declarative",
    "dense",
    "disfluency",
    "dragin",
    "entity_masking",
    "entity_replacement",
    "fixed_sentence",
    "flare",
    "formality",
    "gibberish",
    "grammar",
    "imperative",
    "interleaved",
    "keywords",
    "non_native",
    "query_loss",
    "question_type",
    "readability",
    "smollm2",
    "spelling",
    "synonym",
    "transformers",
}
"""Parts that read embedded weights when they work; building them reads nothing."""

SLOW = {"milvus", "query_loss"}
"""Parts that start a server, or read long texts with a model, when they work; their own tests are quicker."""

DATA = Path(shaketable.__file__).parent / "resources" / "questions"
CORPUS = ("bm25", "dense", "milvus")
"""Parts that search a corpus, which is a file."""

CHANGED = {
    **dict.fromkeys(((name, "corpus") for name in CORPUS), str(DATA / "bridge_corpus.jsonl")),
    **dict.fromkeys(((name, "by") for name in catalog.known("variation")), "smollm2"),
    **dict.fromkeys(((name, "gate") for name in catalog.known("variation")), "rules"),
    ("disfluency", "kinds"): ("filler",),
    ("openai", "extended"): True,
    ("frozen", "path"): str(FOLDER / "human_rewrites.jsonl"),
    ("rewrites", "path"): str(FOLDER / "frozen_wordings.jsonl"),
    ("rewrites", "where"): {"annotator": "ann"},
    ("sentence_removal", "indexes"): (1, 2),
    ("retrieval", "min_similarity"): 0.8,
    ("openai", "replicas"): ("http://127.0.0.1:8001/v1",),
    ("judge", "model"): "smollm2",
    ("judge", "rubric"): "{question} {gold} {answer}",
    **dict.fromkeys(((name, "prompt") for name in catalog.known("method")), "{context} {{x}} {question}"),
    **dict.fromkeys(((name, "prompt") for name in ("closed_book", "recall")), "It's {question}"),
    ("search_o1", "prompt"): "{begin_query} {end_query} {question}",
    ("search_o1", "reading_prompt"): "{query} {context} {heading}",
    **dict.fromkeys(((name, "question_prompt") for name in catalog.known("method")), "{question}"),
    ("query_rewrite", "query_prompt"): "{question}",
    ("openai", "base_url"): "http://127.0.0.1:8000/v1",
    ("openai", "api_key_variable"): "DEEPSEEK_API_KEY",
    ("openai", "extra_body"): {"provider": {"order": ["one", "it's"]}, "thinking": True},
    ("openai", "headers"): {"X-Team": "search", "api-key": "${TEAM_KEY}"},
    ("pipeline", "http"): "http://127.0.0.1:8000/ask",
    ("pipeline", "template"): '{"query": "{question}", "heat": "{temperature}"}',
    ("pipeline", "answer"): "choices[0].text",
    ("pipeline", "contexts"): "$.passages",
    ("pipeline", "headers"): {"Authorization": "Bearer ${MY_TOKEN}", "X-Team": "it's us"},
}
"""Another value for settings that take no word."""
EXCLUSIVE = {("pipeline", "python"), ("pipeline", "parameters")}
"""Settings that cannot stand beside those of NEEDED; the part's own tests try them."""

ODD_TEXTS = {
    "empty": "",
    "spaces": " \t\n ",
    "emoji": "Who 👩🏽‍🚀 flew to the 🌕? 🇫🇷",
    "right_to_left": "מי כתב את הספר? من كتب الكتاب؟ \u202eabc\u202c",
    "combining": "Zo\u0301e\u0308 n\u0303 \u200bzero\u200d\ufeff",
    "nul": "before\x00after \x1b[31mred\x07",
    "markup": "</script><b>$question ${document} {slot} %s [MASK] \\",
    "long": "All work and no play makes a dull day. " * 256,
    "one_long_word": "x" * 10_000,
    "half_a_character": "half an emoji \ud83d of a broken endpoint",
    "lines": "first\r\nsecond\u2028third\n\n\n",
}


def text_of(name: str) -> str:
    return NEEDED.get(name, name)


def built(kind: str, *, without: set[str] | frozenset[str] = frozenset()) -> list[Any]:
    """One test for each part of a kind; those that read weights carry the mark."""
    marks = {name: [pytest.mark.weights] if name in WEIGHTS else [] for name in catalog.known(kind)}
    marks |= {name: [pytest.mark.slow] for name in marks.keys() & SLOW}
    names = [name for name in marks if name not in without]
    return [pytest.param(catalog.build(kind, text_of(name)), id=name, marks=marks[name]) for name in names]


def every_class() -> list[Any]:
    return [pytest.param(kind, name, id=f"{kind}-{name}") for kind in CLASSES for name in catalog.known(kind)]


def every_part() -> list[Any]:
    return [
        pytest.param(kind, name, id=f"{kind}-{name}") for kind in (*CLASSES, *FUNCTIONS) for name in catalog.known(kind)
    ]


def another_value(part: Any, field: dataclasses.Field[Any]) -> Any:
    """A value that a setting does not have yet; the same value where its type gives no hint."""
    now = getattr(part, field.name)
    if (given := CHANGED.get((catalog.name_of(part), field.name))) is not None:
        return given
    hint = get_type_hints(type(part))[field.name]
    if get_origin(hint) is Literal:
        return next(value for value in get_args(hint) if value != now)
    match now:
        case bool():
            return not now
        case int():
            return now + 1
        case float():
            return 0.25 if now != 0.25 else 0.75
        case str():
            return f"{now} 'quoted' \"twice\" (n=1, é)"
        case tuple() if all(isinstance(value, str) for value in now):
            return (*now, "one, more", "it's")
        case None:
            return next((value for value in (3, 0.25, "3") if type(value) in get_args(hint)), None)
    return now


# --- questions and evidence -----------------------------------------------------------------------


@functools.cache
def questions() -> list[Question]:
    """A few of the questions that ship, of each type and number of facts, and one without documents."""
    loaded = load_builtin().questions
    cells = {(question.tags["type"], question.tags["n_facts"]): question for question in reversed(loaded)}
    return [*cells.values(), load_builtin(part="facts").questions[0]]


def odd_question(text: str, name: str) -> Question:
    """The same odd text in every place that a dataset fills."""
    odd = [text, f"{text} Paris", f"In 1990 {text}", "A plain sentence about Berlin."]
    documents = [passage(f"Alpha {text}", odd), passage("Beta", ["Beta is a weekly.", *odd])]
    facts = [("Beta", 0), (f"Alpha {text}", 1), (f"Alpha {text}", 2), ("Beta", 2)]
    return make_question(
        id=f"odd-{name}", text=text, answers=[text], dataset="odd", documents=documents, facts=facts, tags={}
    )


@functools.cache
def odd_questions() -> list[Question]:
    return [odd_question(text, name) for name, text in ODD_TEXTS.items()]


def hits_of(retriever: str, asked: list[Question]) -> list[list[Hit]]:
    found: list[list[Hit]] = catalog.build("retriever", retriever).search(
        [Query(text=question.text, question=question) for question in asked], 5
    )
    return found


# --- records --------------------------------------------------------------------------------------


def record(text: str | None, question: Question, key: str) -> Record:
    """A finished trial with this answer and a trace; None: a trial that timed out."""
    made = made_records.record(text, question, key)
    if text is None:
        return made
    step = Generate(messages=(Message(role="user", content=question.text),))
    told = Event(step=Note(name=GIVEN_SCORES, values={"score": float(len(text) % 3)}), reply=None)
    return dataclasses.replace(made, trace=(_searched(question, text), Event(step=step, reply=completion(text)), told))


def _searched(question: Question, text: str) -> Event:
    """A search that brought some of the question's documents, the last first; the answer's length says how many."""
    documents = question.documents[::-1][: 1 + len(text) % 4]
    hits = tuple(Hit(passage=one, rank=rank, score=None, source="bm25") for rank, one in enumerate(documents, 1))
    return Event(step=Search(query=question.text, k=5), reply=Evidence(hits=hits))


def completion(text: str) -> Completion:
    """A reply in words; what the model says of each word depends on its length."""
    tokens = tuple(text.split())
    best = [-1 / (1 + len(token) % 7) for token in tokens]
    return Completion(
        text=text,
        finish_reason="length",
        n_prompt_tokens=9,
        n_tokens=len(tokens),
        seconds=0.1,
        tokens=tokens,
        extras={
            "logprobs": best,
            "processed_logprobs": best,
            "top_logprobs": [[[f"{i}", one - i - 1 / (1 - one)] for i in range(20)] for one in best],
        },
    )
