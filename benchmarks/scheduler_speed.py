"""Claim: the scheduler drives more than 3,000 trials a second, stored, with a model that streams 128 replies at a time:
Python does not hold a card back. Methods of one step and of several; smaller handfuls show what each costs. The peer,
measured in the same run, is the model answering the same number of prompts with nothing around it.

    python benchmarks/scheduler_speed.py [N_TRIALS]
"""

import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from machine import describe

from shaketable.stages.plan import plan
from shaketable.stages.scheduler import Scheduler
from shaketable.stages.sources import Listed
from shaketable.store import Run
from shaketable.study import parse_study
from shaketable.types import Completion, Message, Prompt, Sampling

METHODS = {"one step": "single_retrieval", "several steps": "fixed_length(block_tokens=8, max_length=24)"}


@dataclass
class Streaming:
    """Answers at once, so many at a time, the oldest first."""

    at_once: int
    version = 1
    gives = frozenset({"logprobs", "token_ids"})

    def __post_init__(self) -> None:
        self.waiting: deque[int] = deque()
        self.n_most = 0

    def submit(self, ticket: int, prompt: Prompt) -> None:
        self.waiting.append(ticket)
        self.n_most = max(self.n_most, len(self.waiting))

    def collect(self) -> list[tuple[int, Completion]]:
        tickets = [self.waiting.popleft() for _ in range(min(self.at_once, len(self.waiting)))]
        return [(ticket, self._reply()) for ticket in tickets]

    def generate(self, prompts):
        return [self._reply() for _ in prompts]

    def environment(self):
        return {"engine": "streaming"}

    def _reply(self) -> Completion:
        return Completion(
            text="Paris is the capital of it.", finish_reason="length", n_prompt_tokens=200, n_tokens=8, seconds=0.001
        )


def trials_a_second(method: str, at_once: int, n_trials: int) -> tuple[float, float, int]:
    """Trials and model calls a second, and the most prompts that waited at once."""
    study = parse_study(
        {
            "name": "driven",
            "dataset": {"name": "builtin", "limit": 20},
            "cross": {
                "models": ["scripted"],
                "methods": [method],
                "temperatures": [0.5, 1.0],
                "repeats": -(-n_trials // 40),
            },
            "generation": {"max_tokens": 64},
        },
        "driven",
    )
    planned, model = plan(study), Streaming(at_once)
    with tempfile.TemporaryDirectory() as folder, Run.prepare(Path(folder, "run"), study).writing() as store:
        store.add_questions([(question, planned.items[question.id]) for question in planned.questions])
        scheduler = Scheduler(planned, store, lambda tick: None)
        start = time.perf_counter()
        scheduler.run(model, Listed(planned.trials()))
        seconds = time.perf_counter() - start
        n_calls = sum(record.cost.n_generations for record in store.records(with_trace=False))
    return planned.n_trials / seconds, n_calls / seconds, model.n_most


def bare(at_once: int, n_prompts: int) -> float:
    """The peer: prompts a second through the model alone."""
    model = Streaming(at_once)
    start = time.perf_counter()
    for ticket in range(n_prompts):
        sampling = Sampling(temperature=1.0, max_tokens=64)
        model.submit(ticket, Prompt(messages=(Message(role="user", content="Who?"),), sampling=sampling, seed=ticket))
        if len(model.waiting) >= at_once:
            model.collect()
    return n_prompts / (time.perf_counter() - start)


def main(n_trials: int) -> None:
    for name, method in METHODS.items():
        for at_once in (128, 8):
            trials, calls, n_most = trials_a_second(method, at_once, n_trials)
            ratio = bare(at_once, n_trials) / calls
            print(
                f"{name}, {at_once} replies at a time: {trials:,.0f} trials a second, {calls:,.0f} calls a second "
                f"({ratio:.0f} times the time of the model alone); {n_most} prompts waited at most"
            )
    print(describe())


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 20_000)
