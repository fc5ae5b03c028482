"""A run made up by hand: 2 models, 4 kinds of evidence, 6 temperatures, 3 repeats, 2 question types."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl

from shaketable.analyses.conditions import names_in
from shaketable.analyses.evidence.amplification import amplification
from shaketable.analyses.evidence.cases import cases
from shaketable.analyses.evidence.correctness import correctness
from shaketable.analyses.evidence.degradation import degradation
from shaketable.analyses.evidence.dominance import dominance
from shaketable.analyses.evidence.equivalence import equivalence
from shaketable.analyses.evidence.guidelines import guidelines
from shaketable.analyses.evidence.ranking import ranking
from shaketable.analyses.evidence.variability import variability
from shaketable.factors import judging_metric, main_metric
from shaketable.store.counts import EmptyCount, FailureCount, ReferenceFlagCount, RejectedCount, UnscoredCount
from shaketable.store.dimensions import UsedPart
from shaketable.store.evidence_flags import FlagCount
from shaketable.store.examples import Example, ExampleAnswer
from shaketable.store.summary import RunSummary, State
from shaketable.types import Answer, Failure, Hit, OldFinding, Passage, Question, Record, Sentence, Trial, Variant

TEMPERATURES = (0.0, 0.4, 0.8, 1.2, 1.6, 2.0)
COST = {"unchanged": 0.0, "entity_masking": 0.6, "sentence_replacement": 1.1, "sentence_removal": 1.6}
MODELS = {"smollm2": (1.0, 1.0), "openai(model='gpt-4o')": (2.6, 1.6)}
"""Skill in log odds, and the temperature at which it starts to melt."""


def score_table(
    n_questions: int = 48, seed: int = 7, models: Mapping[str, tuple[float, float]] = MODELS
) -> pl.DataFrame:
    rng = random.Random(seed)
    rows = []
    for question in range(n_questions):
        ease = rng.gauss(0, 1.3)
        for model, (skill, melting) in models.items():
            for perturbation, cost in COST.items():
                for temperature in TEMPERATURES:
                    heat = 4 * max(0.0, temperature - melting / 2)
                    right = 1 / (1 + math.exp(-(skill + ease - cost - heat)))
                    luck = rng.random()
                    for repeat in range(3):
                        luck = luck if temperature == 0 else rng.random()
                        failed = temperature == 2.0 and rng.random() < 0.01
                        f1 = min(1.0, max(0.0, 0.25 + 0.6 * (luck < right) + 0.1 * temperature * rng.gauss(0, 1)))
                        for metric, value in (("contains", float(luck < right)), ("token_f1", f1)):
                            rows.append(
                                {
                                    "key": f"{question}-{model}-{perturbation}-{temperature}-{repeat}",
                                    "dataset": "builtin",
                                    "question_id": f"q{question:03}",
                                    "type": "bridge" if question % 2 else "comparison",
                                    "n_facts": 2,
                                    "model": model,
                                    "method": "single_retrieval",
                                    "retriever": "gold",
                                    "perturbation": perturbation,
                                    "variation": "original",
                                    "temperature": temperature,
                                    "repeat": repeat,
                                    "metric": metric,
                                    "value": None if failed else value,
                                    "reason": "failed: timeout" if failed else None,
                                }
                            )
    return pl.DataFrame(rows, schema_overrides={"value": pl.Float64, "reason": pl.String}, infer_schema_length=None)


def findings(n_questions: int = 48) -> list[OldFinding]:
    table = score_table(n_questions)
    return [correctness(table, n_resamples=99), variability(table, n_resamples=99)]


def all_findings(table: pl.DataFrame, not_applied: tuple[tuple[str, str], ...] = ()) -> list[OldFinding]:
    """What every analysis finds, marked as the analyze stage does where a model ignores its temperature."""
    few: Any = {"n_resamples": 99}
    found = [
        correctness(table, **few),
        variability(table, **few),
        degradation(table, **few),
        equivalence(table, **few),
        ranking(table, n_permutations=20, **few),
        dominance(table, **few),
        amplification(table, **few),
        cases(table),
        guidelines(table, not_applied=not_applied, **few),
    ]
    caveats = tuple(
        f"Temperature was not applied by {' · '.join(system)}: its answers are the same." for system in not_applied
    )
    return [replace(finding, caveats=(*caveats, *finding.caveats)) for finding in found]


STUDY_TEXT = """name = "context-temperature"
seed = 7

[dataset]
name = "builtin"

[cross]
models = ["smollm2", "openai(model='gpt-4o')"]
methods = ["single_retrieval"]
retrievers = ["gold"]
variations = ["original"]
perturbations = ["unchanged", "sentence_replacement", "sentence_removal", "entity_masking"]
temperatures = { from = 0.0, to = 2.0, step = 0.4 }
repeats = 3
"""

BEFORE = (
    "Saul Bellow was a Canadian-American writer awarded the Pulitzer Prize, the Nobel Prize for Literature, and the "
    "National Medal of Arts. Humboldt's Gift is a 1975 novel by Saul Bellow, which won the 1976 Pulitzer Prize."
)

EXAMPLE = Example(
    question="Which prize did the author of Humboldt's Gift win in 1976?",
    wording="Which prize did the author of Humboldt's Gift win in 1976?",
    gold=("Pulitzer Prize",),
    evidence_before=BEFORE,
    evidence_after=BEFORE[: BEFORE.index("Humboldt")].strip(),
    perturbation="sentence_removal",
    model="smollm2",
    temperature=0.0,
    answers=tuple(
        ExampleAnswer(temperature=t, repeat=r, perturbation=p, text=text, correct=correct)
        for t, p, text, correct in (
            (0.0, "unchanged", "The author, Saul Bellow, won the Pulitzer Prize in 1976.", 1.0),
            (0.0, "sentence_removal", "The author won the National Medal of Arts.", 0.0),
            (2.0, "unchanged", "Pulitzer honour laurels hmm Prix wreath, scarf 1976 tonic", 0.0),
            (2.0, "sentence_removal", "No apparent evening <b>salt</b> was ministry, quarrel", 0.0),
        )
        for r in range(3)
    ),
)


@dataclass
class StandInStore:
    """Records of the score table, by key; each answers with its own key, save those at 2.0 that have no score."""

    table: pl.DataFrame

    def records_of(self, keys: Sequence[str]) -> list[Record]:
        rows = self.table.filter(pl.col("key").is_in(keys)).unique("key", maintain_order=True)
        return [_record(row) for row in rows.to_dicts()]

    def questions(self) -> list[Question]:
        ids = sorted(self.table["question_id"].unique())
        return [Question(id=id, text=f"Who is asked in {id}?", answers=(f"gold of {id}",)) for id in ids]


def _record(row: dict[str, Any]) -> Record:
    same = ("key", "question_id", "method", "retriever", "perturbation", "model", "temperature", "repeat")
    variant = Variant(
        question_id=row["question_id"], text=f"Who is asked in {row['question_id']}?", variation="original"
    )
    evidence = BEFORE if row["perturbation"] == "unchanged" else EXAMPLE.evidence_after
    passage = Passage(id="p", title="Saul Bellow", sentences=(Sentence(id="p#0", text=evidence),))
    hit = Hit(passage=passage, rank=1, score=None, source="gold")
    failed = row["value"] is None
    return Record(
        trial=Trial(**{name: row[name] for name in same}, variant=variant, seed=0),
        answer=None if failed else Answer(text=f"answer {row['key']}", hits=(hit,)),
        failure=Failure(kind="timeout", message="no reply", step="generate", may_retry=True) if failed else None,
    )


@dataclass
class StandInRun:
    folder: Path
    found: list[OldFinding] = field(default_factory=findings)
    state: State = "finished_with_failures"
    study_text: str = STUDY_TEXT
    study: Any = field(default_factory=lambda: SimpleNamespace(name="context-temperature", seed=7))
    changes: dict[str, Any] = field(default_factory=dict)
    shown: list[Example] = field(default_factory=lambda: [EXAMPLE])
    table: pl.DataFrame = field(default_factory=lambda: score_table(1).clear())
    """Empty: no boxes of single questions, which take long to draw."""

    @property
    def store(self) -> StandInStore:
        return StandInStore(self.table)

    def score_table(self) -> pl.DataFrame:
        return self.table

    def main_metric(self) -> str | None:
        return main_metric(names_in(self.table))

    def judging_metric(self) -> str | None:
        return judging_metric(names_in(self.table))

    def summary(self) -> RunSummary:
        summary = RunSummary(
            run="context-temperature",
            study="context-temperature",
            state=self.state,
            created="2026-03-02T09:14:07+00:00",
            finished="2026-03-02T10:02:41+00:00",
            trials=6912,
            done=6900,
            failed=12,
            missing=0,
            seconds=2914.2,
            n_questions=48,
            n_prompt_tokens=1_204_551,
            n_tokens=402_133,
            n_generations=6912,
            n_searches=6912,
            models=tuple(MODELS),
            datasets=("builtin",),
            selection={"limit": 48, "balance": {"by": ["type"], "per_cell": 24}, "seed": 7},
        )
        return replace(summary, **self.changes)

    def parts(self) -> tuple[UsedPart, ...]:
        def part(kind: str, name: str, **settings: Any) -> UsedPart:
            return UsedPart(kind=kind, label=name, name=name, version=1, settings=settings)

        return (
            part("dataset", "builtin"),
            part("variation", "original"),
            part("method", "single_retrieval", k=5),
            part("retriever", "gold"),
            *(part("perturbation", name, **({"seed": 0} if name != "unchanged" else {})) for name in COST),
            part("model", "smollm2", threads=2),
            part("model", "openai", model="gpt-4o"),
            part("metric", "contains"),
            part("metric", "token_f1"),
        )

    def environments(self) -> tuple[dict[str, Any], ...]:
        return (
            {
                "model": "smollm2",
                "engine": "transformers 5.0.0",
                "dtype": "float32",
                "threads": 2,
                "revision": "SmolLM2-135M-Instruct Q4_1, sha256 4f1b…",
                "decoding": {"top_p": 1.0, "top_k": 0, "repetition_penalty": 1.0, "max_tokens": 1000},
            },
            {"model": "openai(model='gpt-4o')", "engine": "openai 2.0", "revision": "gpt-4o-2024-11-20"},
        )

    def failures(self) -> tuple[FailureCount, ...]:
        return (FailureCount(kind="timeout", message="no reply within 120 s", n=12),)

    def flags(self) -> tuple[FlagCount, ...]:
        return (FlagCount(perturbation="entity_masking", flag="nothing_to_mask", n=3),)

    def empty_answers(self) -> tuple[EmptyCount, ...]:
        return (EmptyCount(method="search_o1", reason="out of turns", n=5, answered=80),)

    def reference_flags(self) -> tuple[ReferenceFlagCount, ...]:
        return (ReferenceFlagCount(flag="answer_cut_off", n=4),)

    def rejected(self) -> tuple[RejectedCount, ...]:
        return (RejectedCount(variation="formality", reason="names lost", example="who wrote it then?", n=2),)

    def unscored(self) -> tuple[UnscoredCount, ...]:
        return tuple(
            UnscoredCount(metric=metric, reason="failed: timeout", n=12) for metric in ("contains", "token_f1")
        )

    def findings(self) -> list[OldFinding]:
        return self.found

    def has_current_scores(self) -> bool:
        return True

    def has_current_findings(self) -> bool:
        return True

    def examples(self, n: int) -> tuple[Example, ...]:
        return tuple(self.shown[:n])


def complete(run: StandInRun) -> StandInRun:
    """The same run with nothing missing."""
    whole = replace(run, state="finished", changes={"done": 6912, "failed": 0})
    whole.failures = whole.rejected = whole.flags = tuple  # type: ignore[method-assign]
    whole.reference_flags = whole.unscored = whole.empty_answers = tuple  # type: ignore[method-assign]
    return whole
