"""Wordings are proposed by rules or by a model, judged, and tried again: what all machine variations share."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from shaketable import catalog, weights
from shaketable.identity import seed_from
from shaketable.prompts import Template
from shaketable.text import language
from shaketable.types import Failure, Json, Message, Prompt, Question, Sampling, Variant
from shaketable.variations.gate.meaning import ENCODER, MIN_SIMILARITY, UNMEASURED, Gate

RULES = "rules"
MAX_TOKENS = 200
LABEL = re.compile(
    r"\W*(?:(?:here is|here's|sure|the (?:\w+ )?question (?:is|should be|would be|becomes)|re(?:word|phras|writ)\w*)"
    r"[^:\n]{0,80}:|"
    r"(?:(?:the|your|new|final|re\w+|informal|casual|harder|declarative|imperative) ){0,3}"
    r"(?:question|version|rewrite|query|output|statement|command|request)\W*:)\s*",
    re.IGNORECASE,
)
"""What models put before a wording: `Rewritten question:`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    text: str
    facts: dict[str, Json] = field(default_factory=dict)
    """How it was made: the rule, the model, what a checker said."""
    refused: str | None = None
    """Why it is not accepted; None: nothing was found against it so far."""
    similarity: float | None = None
    """To the original; None: not measured."""


Propose = Callable[[Sequence[Question], int], Sequence[Proposal | None]]
"""The questions without an accepted wording, and how many were tried before → the next; None: there is no other."""


@dataclass(frozen=True, kw_only=True)
class Reworded:
    """One wording for each question: the first proposal that the meaning gate accepts, or the last, marked as rejected.

    What was proposed and refused before stays in the provenance, with the reasons.
    """

    version: ClassVar[int]
    prompts: ClassVar[tuple[Template, ...]] = ()
    asks: ClassVar[bool] = True
    """Whether a wording that does not ask any more is refused."""

    by: str = RULES
    """`rules`, the same everywhere and offline, or a model of the catalog: `smollm2`, `openai(model='gpt-4o')`."""
    max_attempts: int = 5
    temperature: float = 0.7
    """Of the model; at 0 every attempt would be the same."""
    min_similarity: float = MIN_SIMILARITY
    """Cosine to the original, by the encoder; 0: not measured."""
    keep_numbers: bool = True
    keep_names: bool = True
    encoder: str = ENCODER
    pipeline: str = language.PIPELINE
    """Parses the question."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.max_attempts < 1:
            raise ValueError(f"max_attempts is {self.max_attempts}, expected 1 or more")
        if not -1 <= self.min_similarity <= 1:
            raise ValueError(f"min_similarity is {self.min_similarity}, expected a cosine up to 1, or 0 for none")

    def lacks(self) -> str | None:
        similarity_lacks = weights.lacks(self.encoder) if self.min_similarity else None
        return similarity_lacks or language.lacks(self.pipeline)

    def vary(self, questions: Sequence[Question]) -> list[list[Variant]]:
        propose = in_order(self.wordings) if self.by == RULES else self._asked()
        label, gate = catalog.label(self), self._gate()
        tried: list[list[Proposal]] = [[] for _ in questions]
        waiting = list(range(len(questions)))
        for n_before in range(self.max_attempts):
            if not waiting:
                break
            made = propose([questions[i] for i in waiting], n_before)
            found = {i: proposal for i, proposal in zip(waiting, made, strict=True) if proposal is not None}
            judged = self._judged(gate, [questions[i].text for i in found], list(found.values()))
            for i, proposal in zip(found, judged, strict=True):
                tried[i].append(proposal)
            # Another attempt could not be measured either.
            waiting = [i for i in found if (reason := tried[i][-1].refused) and not reason.startswith(UNMEASURED)]
        return [[self._variant(label, question, tried[i])] for i, question in enumerate(questions)]

    def wordings(self, question: Question) -> Sequence[Proposal]:
        """What the rules make of a question, the best first."""
        raise NotImplementedError

    def checked(self, original: str, proposal: Proposal) -> Proposal:
        """The proposal with what the part itself has to say: its sentence type, its errors."""
        return proposal

    def dice(self, question: Question) -> random.Random:
        return random.Random(seed_from(self.seed, catalog.name_of(self), question.id))

    def _gate(self) -> Gate:
        return Gate(
            min_similarity=self.min_similarity,
            keep_numbers=self.keep_numbers,
            keep_names=self.keep_names,
            asks=self.asks,
            encoder=self.encoder,
            pipeline=self.pipeline,
        )

    def _judged(self, gate: Gate, originals: list[str], proposals: list[Proposal]) -> list[Proposal]:
        judged = []
        verdicts = gate.judge(originals, [proposal.text for proposal in proposals])
        for original, proposal, verdict in zip(originals, proposals, verdicts, strict=True):
            refused = proposal.refused or verdict.refused
            if not refused and _words(proposal.text) == _words(original):
                refused = "the words of the original, in other letters or marks"
            marked = replace(proposal, refused=refused, similarity=verdict.similarity)
            judged.append(marked if refused else self.checked(original, marked))
        return judged

    def _asked(self) -> Propose:
        """Ask the model, with dice of each question and attempt."""
        name = catalog.name_of(self)
        model, (template,) = catalog.build("model", self.by, f"{name}, by"), self.prompts

        def propose(questions: Sequence[Question], n_before: int) -> list[Proposal]:
            prompts = [
                Prompt(
                    messages=(Message(role="user", content=template.fill(question=question.text)),),
                    sampling=Sampling(temperature=self.temperature, max_tokens=MAX_TOKENS),
                    seed=seed_from(self.seed, name, question.id, n_before),
                )
                for question in questions
            ]
            facts: dict[str, Json] = {"prompt": template.identity, "model": dict(model.environment())}
            return [_proposal(reply, facts) for reply in model.generate(prompts)]

        return propose

    def _variant(self, label: str, question: Question, tried: Sequence[Proposal]) -> Variant:
        if not tried:
            tried = [Proposal(text=question.text, refused="no rule applies to this question")]
        *failed, last = tried
        provenance: dict[str, Json] = {"by": self.by, **last.facts, "n_attempts": len(tried)}
        if last.similarity is not None:
            provenance["similarity"] = last.similarity
        if failed:
            provenance["rejected_attempts"] = [
                {"text": one.text, "reason": one.refused, **_without(one.facts, last.facts)} for one in failed
            ]
        return Variant(
            question_id=question.id, text=last.text, variation=label, provenance=provenance, rejected=last.refused
        )


def in_order(wordings: Callable[[Question], Sequence[Proposal]]) -> Propose:
    """Rules give all their wordings of a question at once."""
    known: dict[str, Sequence[Proposal]] = {}

    def propose(questions: Sequence[Question], n_before: int) -> list[Proposal | None]:
        for question in questions:
            if question.id not in known:
                known[question.id] = wordings(question)
        return [known[q.id][n_before] if n_before < len(known[q.id]) else None for q in questions]

    return propose


def wording_of(reply: str) -> str:
    """The wording in a model's reply: without a label in front, marks around it, or remarks below it."""
    text = reply.strip()
    if label := LABEL.match(text):
        text = text[label.end() :]
    text = " ".join(text.strip().split("\n\n")[0].split()).strip("*").strip()
    if len(text) > 1 and text[0] in "\"“'" and text[-1] in "\"”'" and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return text


def _proposal(reply: Any, facts: dict[str, Json]) -> Proposal:
    if isinstance(reply, Failure):
        return Proposal(text="", facts=facts, refused=f"the model failed: {reply.kind}: {reply.message}")
    text = wording_of(reply.text)
    return Proposal(
        text=text,
        facts=facts if text == reply.text else {**facts, "reply": reply.text},
        refused="the reply was cut off" if reply.finish_reason == "length" else None,
    )


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _without(facts: dict[str, Json], said: dict[str, Json]) -> dict[str, Json]:
    """What the accepted attempt does not say already."""
    return {name: value for name, value in facts.items() if said.get(name) != value}
