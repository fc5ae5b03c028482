"""A made run of any size, written through the store: 2 models, 4 kinds of evidence, 11 temperatures, 3 repeats."""

import hashlib
import random
from dataclasses import dataclass, field
from pathlib import Path

from shaketable.store import Run
from shaketable.study import parse_study
from shaketable.types import (
    Answer,
    Completion,
    Cost,
    Event,
    Evidence,
    Generate,
    Hit,
    Message,
    Passage,
    Question,
    Record,
    Score,
    Search,
    Sentence,
    Trial,
    Variant,
)

MODELS = {"scripted(replies=('a',))": 1.0, "scripted(replies=('b',))": 0.7}
COSTS = {"unchanged": 0.0, "entity_masking": 0.1, "sentence_replacement": 0.15, "sentence_removal": 0.3}
TEMPERATURES = tuple(round(0.2 * step, 1) for step in range(11))
REPEATS = 3
PER_QUESTION = len(MODELS) * len(COSTS) * len(TEMPERATURES) * REPEATS


@dataclass(frozen=True)
class Condition:
    model: str
    perturbation: str
    parts: list = field(default_factory=list)

    @property
    def identity(self):
        return f"{self.model} {self.perturbation}"

    @property
    def labels(self):
        return {
            "model": self.model,
            "method": "single_retrieval",
            "retriever": "gold",
            "perturbation": self.perturbation,
        }


def make_run(folder: Path, n_records: int) -> Run:
    """At least this many records with their scores, the same each time."""
    study = parse_study(
        {
            "name": "large",
            "dataset": {"name": "builtin"},
            "cross": {
                "models": list(MODELS),
                "perturbations": list(COSTS),
                "temperatures": list(TEMPERATURES),
                "repeats": REPEATS,
            },
            "analyze": {"analyses": ["correctness(n_resamples=199)", "variability(n_resamples=199)"]},
        },
        "large",
    )
    run, rng, scores = Run.prepare(folder, study), random.Random(7), []
    questions = [question(n) for n in range(-(-n_records // PER_QUESTION))]
    with run.writing() as store:
        store.add_questions([(one, one.id) for one in questions])
        for one in questions:
            records = list(records_of(one, rng, scores))
            store.append(records, {"engine": "made"})
        store.set_meta(n_trials=len(questions) * PER_QUESTION, seconds=1.0)
    run.write_scores(scores)
    return run


def question(n: int) -> Question:
    return Question(
        id=f"q{n:05}",
        text=f"Which of the two rivers near town {n} is longer?",
        answers=(f"River {n}",),
        dataset="builtin",
        tags={"type": "bridge" if n % 2 else "comparison", "n_facts": 2},
    )


def records_of(one: Question, rng: random.Random, scores: list[Score]):
    ease = rng.uniform(0.3, 1.0)
    variant = Variant(question_id=one.id, text=one.text, variation="original")
    for perturbation, cost in COSTS.items():
        text = " ".join(f"River {one.id} is {rng.randrange(900)} km long and passes {i} towns." for i in range(8))
        passage = Passage(
            id=f"{one.id}-p", title=f"River {one.id}", sentences=(Sentence(id=f"{one.id}-p#0", text=text),)
        )
        hits = (Hit(passage=passage, rank=1, score=None, source="gold"),)
        evidence = Evidence(hits=hits)
        messages = (Message(role="user", content=f"{text}\n\n{one.text}"),)
        for model, skill in MODELS.items():
            condition = Condition(model, perturbation)
            for temperature in TEMPERATURES:
                for repeat in range(REPEATS):
                    is_right = rng.random() < ease * skill - cost - 0.3 * temperature**2 / 4
                    said = (
                        one.answers[0] if is_right else f"River {rng.randrange(10_000)}, as far as the passage tells."
                    )
                    key = hashlib.md5(f"{one.id} {model} {perturbation} {temperature} {repeat}".encode()).hexdigest()
                    trial = Trial(
                        key=key,
                        question_id=one.id,
                        variant=variant,
                        method="single_retrieval",
                        retriever="gold",
                        perturbation=perturbation,
                        model=model,
                        temperature=temperature,
                        repeat=repeat,
                        seed=repeat,
                    )
                    completion = Completion(
                        text=said, finish_reason="end", n_prompt_tokens=180, n_tokens=len(said) // 4, seconds=0.01
                    )
                    trace = (
                        Event(step=Search(query=one.text, k=5), reply=evidence),
                        Event(step=Generate(messages=messages), reply=completion),
                    )
                    cost_of = Cost(
                        n_searches=1, n_generations=1, n_prompt_tokens=180, n_tokens=len(said) // 4, seconds=0.01
                    )
                    scores += [
                        Score(key=key, metric="contains", value=float(is_right)),
                        Score(key=key, metric="token_f1", value=round(rng.random(), 3)),
                    ]
                    yield Record(trial=trial, answer=Answer(text=said, hits=hits), trace=trace, cost=cost_of), condition
