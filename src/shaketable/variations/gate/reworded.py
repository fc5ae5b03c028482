"""Wordings are proposed by rules or by a model, judged, and tried again: what all machine variations share."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from shaketable import catalog
from shaketable.identity import seed_from
from shaketable.prompts import REWORD_ADVICE, REWORD_AGAIN, Template
from shaketable.protocols import Model
from shaketable.text import language
from shaketable.text.english import not_english
from shaketable.text.ranking import terms
from shaketable.types import (
    Json,
    Prompt,
    Question,
    RefusedReply,
    Rewording,
    Sampling,
    Variant,
)
from shaketable.variations.english import inflection
from shaketable.variations.gate import naturalness
from shaketable.variations.gate.meaning import ENCODER, MODEL_MADE, RULE_MADE, Gate
from shaketable.variations.gate.proposals import (
    Proposal,
    Propose,
    in_order,
    making_of,
    may_retry,
    proposal_in,
    refused_reply,
)
from shaketable.variations.gate.refusal import Refusal, refuse
from shaketable.variations.gate.replies import conversation

RULES = "rules"
SPARE_TOKENS = 60
"""For what a model puts around its wording."""
CHARACTERS_PER_TOKEN = 2
"""Fewer than in English text: a wording may be twice as long as the question."""


@dataclass(frozen=True, kw_only=True)
class Reworded:
    """One wording for each question: the first proposal that the meaning gate accepts, or the last, marked as rejected.

    What was proposed and refused before stays in the provenance, with the reasons.
    """

    version: ClassVar[int]
    prompts: ClassVar[tuple[Template, ...]] = ()
    asks: ClassVar[bool] = True
    """Whether a wording that does not ask any more is refused."""
    is_natural: ClassVar[bool] = True
    """Whether a wording must be English that people write: False for errors, keywords and speech on purpose."""
    corrects_itself: ClassVar[bool] = False
    """Whether a wording may say another name or number, or no, and take it back."""

    by: str = RULES
    """`rules`, the same everywhere and offline, or a model of the catalog: `smollm2`, `openai(model='gpt-4o')`."""
    max_attempts: int = 5
    temperature: float = 0.7
    """Of the model."""
    max_tokens: int | None = None
    """Of a model's reply; None: by the length of the question. A model that thinks before it writes needs thousands."""
    min_similarity: float | None = None
    """Cosine to the original, by the encoder; None: as labelled examples set it, for rules and for models; 0: not
    measured."""
    max_span_rise: float | None = None
    """Nats per token by which the worst span may be less likely than the original's, to the model that reads; None: as
    labelled examples set it; 0: whether it is good English is not judged."""
    keep_numbers: bool = True
    keep_names: bool = True
    encoder: str = ENCODER
    reader: str = naturalness.READER
    """A local model that tells how likely a wording is."""
    pipeline: str = language.PIPELINE
    """Parses the question."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.max_attempts < 1:
            raise ValueError(f"max_attempts is {self.max_attempts}, expected 1 or more")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError(f"max_tokens is {self.max_tokens}, expected 1 or more")
        if self.min_similarity is not None and not -1 <= self.min_similarity <= 1:
            raise ValueError(f"min_similarity is {self.min_similarity}, expected a cosine up to 1, or 0 for none")

    @property
    def packages(self) -> tuple[str, ...]:
        by_rules = inflection.PACKAGES if self.by == RULES else ()
        return tuple(dict.fromkeys((*self._gate().packages, *by_rules)))

    def lacks(self) -> str | None:
        return self._gate().lacks()

    def vary(self, questions: Sequence[Question]) -> list[list[Variant]]:
        return [list(rewording.variants) for rewording in self.reword(questions)]

    def reword(self, questions: Sequence[Question]) -> list[Rewording]:
        """The wordings, with what they took."""
        propose: Propose = in_order(self._english_wordings) if self.by == RULES else self._asked
        label, gate = catalog.label(self), self._gate()
        tried: list[list[Proposal]] = [[] for _ in questions]
        waiting = list(range(len(questions)))
        for _ in range(self.max_attempts):
            if not waiting:
                break
            made = propose([questions[i] for i in waiting], [tried[i] for i in waiting])
            proposed = {i: proposal for i, proposal in zip(waiting, made, strict=True) if proposal is not None}
            judged = self._judged(gate, [questions[i].text for i in proposed], list(proposed.values()))
            for i, proposal in zip(proposed, judged, strict=True):
                tried[i].append(proposal)
            # Another attempt could not be measured either.
            waiting = [i for i in proposed if tried[i][-1].refused and not tried[i][-1].is_unmeasured]
        return [
            Rewording(
                variants=(self._variant(label, question, tried[i]),),
                making=making_of(tried[i]),
                may_retry=bool(tried[i]) and may_retry(tried[i][-1]),
            )
            for i, question in enumerate(questions)
        ]

    def wordings(self, question: Question) -> Sequence[Proposal]:
        """What the rules make of a question, the best first."""
        raise NotImplementedError

    def _english_wordings(self, question: Question) -> Sequence[Proposal]:
        """The rules know English alone."""
        if reason := not_english(question.text):
            return [Proposal(text=question.text, refused=Refusal(kind="not_english", text=reason))]
        return self.wordings(question)

    def checked(self, original: str, proposal: Proposal) -> Proposal:
        """The proposal with what the part itself has to say: its sentence type, its errors."""
        return proposal

    def dice(self, question: Question) -> random.Random:
        return random.Random(seed_from(self.seed, catalog.name_of(self), question.id))

    def _gate(self) -> Gate:
        gate = RULE_MADE if self.by == RULES else MODEL_MADE
        if self.min_similarity is not None:
            least = self.min_similarity
            recall, precision = min(gate.min_recall, least), min(gate.min_precision, least)
            gate = replace(gate, min_similarity=least, min_recall=recall, min_precision=precision)
        return replace(
            gate,
            max_span_rise=gate.max_span_rise if self.max_span_rise is None else self.max_span_rise,
            keep_numbers=self.keep_numbers,
            keep_names=self.keep_names,
            asks=self.asks,
            is_natural=self.is_natural,
            corrects_itself=self.corrects_itself,
            encoder=self.encoder,
            reader=self.reader,
            pipeline=self.pipeline,
        )

    def _judged(self, gate: Gate, originals: list[str], proposals: list[Proposal]) -> list[Proposal]:
        judged = []
        verdicts = gate.judge(originals, [proposal.understood for proposal in proposals])
        for original, proposal, verdict in zip(originals, proposals, verdicts, strict=True):
            refused = proposal.refused or verdict.refused
            if not refused and terms(proposal.text) == terms(original):
                refused = Refusal(
                    kind="words_of_the_original", text="the words of the original, in other letters or marks"
                )
            marked = replace(
                proposal,
                refused=refused,
                similarity=verdict.similarity,
                is_unmeasured=proposal.refused is None and verdict.is_unmeasured,
            )
            judged.append(marked if refused else self.checked(original, marked))
        return judged

    def contents(self) -> dict[str, str]:
        """A model counts with all its settings, and so does what it is told after a refusal."""
        if self.by == RULES:
            return {}
        return {"by": f"{catalog.spelled(self._model)}+{REWORD_AGAIN.identity}+{REWORD_ADVICE.identity}"}

    def slots(self, question: Question) -> dict[str, str]:
        """What fills the prompt."""
        return {"question": question.text}

    def prompt(self, question: Question, refused: Sequence[RefusedReply] = ()) -> Prompt:
        """What the model is asked after these attempts, with dice of its own: the conversation goes on."""
        (template,) = self.prompts
        fitting = SPARE_TOKENS + len(question.text) // CHARACTERS_PER_TOKEN
        return Prompt(
            messages=conversation(template, self.slots(question), refused),
            sampling=Sampling(temperature=self.temperature, max_tokens=self.max_tokens or fitting),
            seed=seed_from(self.seed, catalog.name_of(self), question.id, len(refused)),
        )

    @cached_property
    def _model(self) -> Model:
        """Kept, because questions come in batches and weights load once."""
        model: Model = catalog.build("model", self.by, f"{catalog.name_of(self)}, by")
        return model

    def _asked(self, questions: Sequence[Question], tried: Sequence[Sequence[Proposal]]) -> Sequence[Proposal | None]:
        """Ask the model."""
        (template,) = self.prompts
        replies = self._model.generate(
            [
                self.prompt(question, [refused_reply(proposal) for proposal in before])
                for question, before in zip(questions, tried, strict=True)
            ]
        )
        # Read last: an endpoint tells which model it is with its first reply.
        facts: dict[str, Json] = {"prompt": template.identity, "model": dict(self._model.environment())}
        return [proposal_in(reply, facts) for reply in replies]

    def _variant(self, label: str, question: Question, tried: Sequence[Proposal]) -> Variant:
        if not tried:
            tried = [
                Proposal(
                    text=question.text, refused=Refusal(kind="no_rule_applies", text="no rule applies to this question")
                )
            ]
        *failed, last = tried
        provenance: dict[str, Json] = {"by": self.by, **last.facts, "n_attempts": len(tried)}
        if last.similarity is not None:
            provenance["similarity"] = last.similarity
        if failed:
            provenance["rejected_attempts"] = [
                {
                    "text": one.text,
                    "reason": None if one.refused is None else one.refused.text,
                    **_without(one.facts, last.facts),
                }
                for one in failed
            ]
        variant = Variant(question_id=question.id, text=last.text, variation=label, provenance=provenance)
        return refuse(variant, last.refused)


def _without(facts: dict[str, Json], said: dict[str, Json]) -> dict[str, Json]:
    """What the accepted attempt does not say already."""
    return {name: value for name, value in facts.items() if said.get(name) != value}
