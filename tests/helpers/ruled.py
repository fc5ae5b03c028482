"""Systems whose smallest changes are known by construction: what a prompt must hold for the right answer is a rule."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from shaketable.methods.asking import generate, numbered, search
from shaketable.protocols import Steps
from shaketable.stages.run import ask
from shaketable.stages.score import score
from shaketable.store import Run
from shaketable.study import parse_study
from shaketable.types import Answer, Completion, Failure, Hit, Json, Passage, Prompt, Query, Question, Sentence, Variant

RIGHT, WRONG = "Oslo", "Rome"
NAMES = ("alder", "birch", "cedar", "dogwood", "elm", "fir")
SENTENCES = tuple(f"A {name} stands in the garden." for name in NAMES)
QUESTION = "In which old town does the garden lie?"
CATALOG = {
    "model": {"ruled": "ruled:Ruled"},
    "method": {"asking_twice": "ruled:AskingTwice"},
    "retriever": {"endless": "ruled:Endless"},
    "variation": {"listed": "ruled:Listed"},
}
n_calls: list[int] = []
"""How many prompts each batch had."""


@dataclass(frozen=True, kw_only=True)
class Ruled:
    """Right where the rule holds of the words of the prompt, which is written in Python; `ERROR` where it is None."""

    rule: str

    version: ClassVar[int] = 1
    gives: ClassVar[frozenset[str]] = frozenset()

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion | Failure]:
        n_calls.append(len(prompts))
        return [self._reply(prompt) for prompt in prompts]

    def environment(self) -> Mapping[str, Json]:
        return {"engine": "ruled"}

    def _reply(self, prompt: Prompt) -> Completion | Failure:
        text = " ".join(message.content for message in prompt.messages)
        is_right = eval(self.rule, {"seed": prompt.seed}, _Words(text))
        if is_right is None:
            return Failure(kind="ruled", message="The rule says None here.", step="generate", may_retry=False)
        said = RIGHT if is_right else WRONG
        return Completion(text=said, finish_reason="end", n_prompt_tokens=1, n_tokens=1, seconds=0.0)


class _Words(dict[str, Any]):
    """Any name is whether the prompt has it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __missing__(self, name: str) -> bool:
        return name in self.text


@dataclass(frozen=True, kw_only=True)
class Listed:
    """Wordings from a list."""

    texts: tuple[str, ...]

    version: ClassVar[int] = 1
    loads_nothing: ClassVar[bool] = True

    def vary(self, questions: Sequence[Question]) -> list[list[Variant]]:
        return [
            [
                Variant(question_id=question.id, text=text, variation="listed", provenance={"strength": {}})
                for text in self.texts
            ]
            for question in questions
        ]


@dataclass(frozen=True, kw_only=True)
class AskingTwice:
    """Searches again where the first search brought too little."""

    version: ClassVar[int] = 1
    prompts: ClassVar[tuple[object, ...]] = ()
    searches: ClassVar[bool] = True
    wants: ClassVar[tuple[str, ...]] = ()

    def answer(self, wording: str) -> Steps:
        first = yield from search(wording, 5)
        second = yield from search(f"more than {len(first)}", 5)
        reply = yield from generate(numbered((*first, *second)))
        return Answer(text=reply.text, hits=(*first, *second))


@dataclass(frozen=True, kw_only=True)
class Endless:
    """Brings a passage of its own for every query; one for fewer hits says `fir`."""

    version: ClassVar[int] = 1

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        return [[_hit(query.text)] for query in queries]


def _hit(query: str) -> Hit:
    texts = {"more than 1": "A birch.", "more than 0": "A fir."}
    text = texts.get(query, "An alder.")
    passage = Passage(id=text, title="", sentences=(Sentence(id=f"{text}#0", text=text),))
    return Hit(passage=passage, rank=1, score=None, source="endless")


def make_run(folder: Path, rule: str, *, rows: Sequence[Mapping[str, Any]] | None = None, **cross: Any) -> Run:
    """A finished run of a ruled system over one question with six sentences, or over these rows."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder.with_suffix(".jsonl")
    data.write_text("\n".join(json.dumps(row) for row in rows or [row()]), "utf-8")
    tables = {
        "name": "ruled",
        "dataset": {"name": "jsonl", "path": str(data)},
        "cross": {"models": [f"ruled(rule={rule!r})"], "retrievers": ["full_gold"], "temperatures": [0.0], **cross},
        "generation": {"max_tokens": 8},
        "score": {"metrics": ["contains", "same_answer"]},
        "analyze": {"analyses": ["correctness"], "n_resamples": 60},
    }
    made = ask(parse_study(tables, "test"), folder)
    score(made)
    n_calls.clear()
    return made


def row(question_id: str = "q1", text: str = QUESTION, **keys: Any) -> dict[str, Any]:
    return {
        "id": question_id,
        "question": text,
        "answers": [RIGHT],
        "documents": [{"title": "Garden", "sentences": list(SENTENCES)}],
        "facts": [["Garden", 1], ["Garden", 4]],
        **keys,
    }
