"""A small finished run written through the store, whose texts try to break out of a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shaketable.identity import digest
from shaketable.stages.analyze import analyze
from shaketable.store import Run
from shaketable.store.dimensions import UsedPart
from shaketable.study import parse_study
from shaketable.types import (
    Answer,
    Completion,
    Cost,
    Curve,
    Edit,
    Event,
    Evidence,
    Failure,
    Generate,
    Hit,
    Message,
    Note,
    Passage,
    Question,
    Record,
    Score,
    Search,
    Sentence,
    Trial,
    Variant,
)

SCRIPT = "</script><script>window.broken = 'script'</script>"
HANDLER = "<img src=x onerror=\"window.broken = 'handler'\"><svg onload=\"window.broken = 'svg'\">"
LINK = "<a href=\"javascript:window.broken='link'\">click</a> javascript:window.broken='link'"
QUOTE = "\" onmouseover=\"window.broken = 'quote'\" '"
BIDI = "before \u202eturned round\u2066 after"
NUL = "nothing\x00here"
LONG = "x" * 100_000
HOSTILE = (SCRIPT, HANDLER, LINK, QUOTE, BIDI, NUL, LONG)

MODELS = ("plain", f"odd {SCRIPT}")
PERTURBATIONS = ("unchanged", "sentence_removal", f"odd {HANDLER}")
TEMPERATURES = (0.0, 0.6, 1.2)
N_QUESTIONS, N_REPEATS = 8, 2
N_RECORDS = N_QUESTIONS * len(MODELS) * len(PERTURBATIONS) * len(TEMPERATURES) * N_REPEATS


@dataclass(frozen=True)
class Condition:
    model: str
    perturbation: str

    @property
    def identity(self) -> str:
        return digest([self.model, self.perturbation])

    @property
    def labels(self) -> dict[str, str | None]:
        return {
            "model": self.model,
            "method": "single_retrieval",
            "retriever": "gold",
            "perturbation": self.perturbation,
        }

    @property
    def parts(self) -> list[UsedPart]:
        return [UsedPart(kind="model", label=self.model, name=self.model, version=1, settings={})]


def made_run(
    folder: Path, *, n_trials: int = N_RECORDS, n_answered: int = N_QUESTIONS, with_scores: bool = True, **keys: Any
) -> Run:
    """With fewer questions answered it is interrupted; `keys` go into its study."""
    study = parse_study(
        {
            "name": f"hostile {SCRIPT}",
            "dataset": {"name": "builtin"},
            "cross": {"models": ["scripted(replies=('a',))"]},
            "analyze": {"n_resamples": 99},
            **keys,
        },
        "test",
        run_is_there=True,
    )
    run = Run.prepare(folder, study)
    questions = [question(n) for n in range(N_QUESTIONS)]
    records = [one for each in questions[:n_answered] for one in records_of(each)]
    with run.writing() as store:
        store.add_questions([(one, one.id) for one in questions])
        store.append(records, {"engine": HANDLER})
        store.set_meta(n_trials=n_trials, seconds=2.5, finished="2026-03-02T10:02:41+00:00")
        store.add_curves("test", [curve(record) for record, _ in records if is_fact(record)])
    if with_scores:
        run.write_scores([score for record, _ in records for score in scores_of(record)])
    return run


def analyzed(run: Run) -> Run:
    """The same run with findings."""
    analyze(run, ["correctness"])
    return run


def question(n: int) -> Question:
    nasty = HOSTILE[n % len(HOSTILE)]
    text = f"Who wrote book {n}? {nasty[:300]}"
    documents = tuple(
        Passage(
            id=f"d{n}{name}", title=f"{name} {n}", sentences=(Sentence(id=f"d{n}{name}#0", text=f"{name} is {n}."),)
        )
        for name in ("Gold", "Other")
    )
    return Question(
        id=f"q/{n}?&{'<' if n else ''}",
        text=text,
        answers=(f"Author {n}",),
        dataset="made",
        documents=documents,
        supporting=(f"d{n}Gold#0",),
        tags={"type": "bridge" if n % 2 else "comparison"},
    )


def records_of(one: Question) -> Iterator[tuple[Record, Condition]]:
    n = int(one.id.split("/")[1][0])
    variant = Variant(question_id=one.id, text=one.text, variation="original")
    for model in MODELS:
        for perturbation in PERTURBATIONS:
            condition = Condition(model, perturbation)
            for temperature in TEMPERATURES:
                for repeat in range(N_REPEATS):
                    trial = Trial(
                        key=digest([one.id, model, perturbation, temperature, repeat])[:32],
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
                    yield record(trial, one, n), condition


def record(trial: Trial, one: Question, n: int) -> Record:
    """Right when cool and undisturbed; the last question fails when hot."""
    if n == N_QUESTIONS - 1 and trial.temperature == 1.2:
        failure = Failure(kind="timeout", message=f"no reply {SCRIPT}", step="generate", may_retry=False)
        return Record(trial=trial, answer=None, failure=failure)
    is_right = trial.temperature < 1 and (trial.perturbation == "unchanged" or n % 2 == 0)
    text = f"Author {n}" if is_right else f"Nobody knows. {HOSTILE[n % len(HOSTILE)]}"
    gone = Edit(kind="remove", sentence_id=f"d{n}Gold#0", before=f"Gold is {n}.", after=None)
    kept = one.documents if trial.perturbation == "unchanged" else one.documents[1:]
    hits = tuple(Hit(passage=passage, rank=i + 1, score=0.5, source="gold") for i, passage in enumerate(kept))
    evidence = Evidence(hits=hits, edits=() if trial.perturbation == "unchanged" else (gone,))
    tokens = tuple(word + " " for word in text[:400].split())
    completion = Completion(
        text=text,
        finish_reason="end",
        n_prompt_tokens=20,
        n_tokens=len(tokens),
        seconds=0.01,
        tokens=tokens,
        extras={"logprobs": [-0.01 - 0.4 * i for i in range(len(tokens))]},
    )
    return Record(
        trial=trial,
        answer=Answer(text=text, hits=hits),
        trace=(
            Event(step=Search(query=f"book {n} {SCRIPT}", k=2), reply=evidence),
            Event(step=Note(name="trigger", values={"value": 0.25, "word": HANDLER}), reply=None),
            Event(step=Generate(messages=(Message(role="user", content=one.text),)), reply=completion),
        ),
        cost=Cost(n_searches=1, n_generations=1, n_prompt_tokens=20, n_tokens=len(tokens), seconds=0.01 * (n + 1)),
        environment={"engine": HANDLER},
    )


def scores_of(record: Record) -> list[Score]:
    if record.failure is not None:
        return [
            Score(key=record.trial.key, metric=name, value=None, reason="failed") for name in ("contains", "length")
        ]
    assert record.answer is not None
    is_right = record.answer.text.startswith("Author")
    return [
        Score(key=record.trial.key, metric="contains", value=float(is_right)),
        Score(key=record.trial.key, metric="length", value=float(len(record.answer.text))),
    ]


def is_fact(record: Record) -> bool:
    trial = record.trial
    return (trial.temperature, trial.repeat, trial.perturbation, trial.model) == (0.0, 0, "unchanged", "plain")


def curve(record: Record) -> Curve:
    return Curve(
        key=record.trial.key,
        temperatures=(0.0, 1.0, 2.0),
        low=(1.0, 0.5, 0.1),
        high=(1.0, 0.7, 0.4),
        value=(1.0, 0.6, 0.2),
        value_low=(1.0, 0.55, 0.15),
        value_high=(1.0, 0.65, 0.25),
        n_effective=(9.0, 9.0, 9.0),
        breaking=1.25,
    )
