"""Wordings are proposed by rules or by a model, judged, and tried again: what all machine variations share."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Literal, get_args

from shaketable import catalog
from shaketable.errors import lacks_packages
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
from shaketable.variations.english import by_words, inflection
from shaketable.variations.gate import naturalness
from shaketable.variations.gate.meaning import BY_RULES, ENCODER, MODEL_MADE, OPEN, RULE_MADE, Gate
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
Check = Literal["full", "rules", "none"]
CHECKS: tuple[Check, ...] = get_args(Check)
AUTO = "auto"
NEVER_ASKED = ("empty", "model_failed")
"""Kinds of refusals that hold without any check: there is no wording."""
CHECKED_BY_RULES = "Checked by rules: names, numbers and content words, not similarity and fluency."
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
    works_by_words: ClassVar[bool] = False
    """Whether its rules work without the packages of the extra `language`, from small words alone."""
    retries_unchecked: ClassVar[bool] = False
    """Whether the part's own check asks a model again with `gate='none'` too: it belongs to how the wording is made."""
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
    gate: str = field(default=AUTO, metadata={"in_key_when_given": True})
    """What a wording must pass: `full` (rules, similarity, natural English), `rules` (names, numbers, quotations and
    the kind of answer; of what rules make also all content words; no package is needed), or `none` (every wording of a
    model is asked, as in the third study). `auto`: `full`, or `rules` where a part that can do without is missing its
    packages."""

    def __post_init__(self) -> None:
        if self.gate not in (AUTO, *CHECKS):
            raise ValueError(f"gate is {self.gate!r}, expected one of {', '.join((AUTO, *CHECKS))}")
        if self.max_attempts < 1:
            raise ValueError(f"max_attempts is {self.max_attempts}, expected 1 or more")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError(f"max_tokens is {self.max_tokens}, expected 1 or more")
        if self.min_similarity is not None and not -1 <= self.min_similarity <= 1:
            raise ValueError(f"min_similarity is {self.min_similarity}, expected a cosine up to 1, or 0 for none")

    @property
    def check(self) -> Check:
        """The check that wordings pass here."""
        for check in CHECKS:
            if self.gate == check:
                return check
        is_light = self.by == RULES and self.works_by_words and lacks_packages("", self._full_packages) is not None
        return "rules" if is_light else "full"

    @property
    def by_words(self) -> bool:
        """Whether rules go by small words alone here, without a parser."""
        return self.by == RULES and self.works_by_words and self.check == "rules"

    @property
    def packages(self) -> tuple[str, ...]:
        if self.check == "full":
            return self._full_packages
        if self.by == RULES:
            return () if self.by_words else inflection.PACKAGES
        return language.PACKAGES if self.check == "rules" else ()

    @property
    def _full_packages(self) -> tuple[str, ...]:
        by_rules = inflection.PACKAGES if self.by == RULES else ()
        return tuple(dict.fromkeys((*self._gate("full").packages, *by_rules)))

    def lacks(self) -> str | None:
        return self._gate(self.check).lacks()

    def vary(self, questions: Sequence[Question]) -> list[list[Variant]]:
        return [list(rewording.variants) for rewording in self.reword(questions)]

    def reword(self, questions: Sequence[Question]) -> list[Rewording]:
        """The wordings, with what they took."""
        propose: Propose = in_order(self._english_wordings) if self.by == RULES else self._asked
        label, gate = catalog.label(self), self._gate(self.check)
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

    def _gate(self, check: Check) -> Gate:
        if check == "none":
            return OPEN
        if check == "rules":
            return replace(
                BY_RULES,
                keep_numbers=self.keep_numbers,
                keep_names=self.keep_names,
                asks=self.asks,
                corrects_itself=self.corrects_itself,
            )
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
            if self.check == "none":
                refused = refused if refused and refused.kind in NEVER_ASKED else None
                kept = replace(proposal, refused=refused)
                judged.append(self.checked(original, kept) if self.retries_unchecked and not refused else kept)
                continue
            if not refused and self.by_words and (lost := by_words.lost_words(original, proposal.text)):
                refused = Refusal(kind="words_lost", text=f"words lost: {', '.join(lost)}")
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
        """A model counts with all its settings, and so does what it is told after a refusal, and the check where the
        packages of the full one are missing."""
        if self.by == RULES:
            return {"gate": self.check} if self.check != "full" else {}
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
        if self.check != "full":
            provenance["check"] = self.check
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
        is_kept = self.check == "none" and last.refused is not None and last.refused.kind not in NEVER_ASKED
        return variant if is_kept else refuse(variant, last.refused)


def checked_fully(variation: object) -> bool:
    """Return False for a variation whose wordings are checked by rules here; True for all others."""
    return not isinstance(variation, Reworded) or variation.check != "rules"


def _without(facts: dict[str, Json], said: dict[str, Json]) -> dict[str, Json]:
    """What the accepted attempt does not say already."""
    return {name: value for name, value in facts.items() if said.get(name) != value}
