"""Claim: 200 questions through `dragin` on the embedded model take at most a quarter of the time of one question after
another, with the same answers.

One after another is measured on every twentieth question and scaled.

    python benchmarks/dragin_batching.py [N_QUESTIONS]
"""

import sys
import time

from machine import describe

from shaketable.stages.answer import Scheduler
from shaketable.stages.plan import plan
from shaketable.stages.sources import Listed
from shaketable.study import parse_study

EVERY = 20


class Kept:
    """Takes finished records."""

    def __init__(self):
        self.answers = {}

    def append(self, records, environment):
        self.answers |= {record.trial.key: record.answer and record.answer.text for record, _ in records}


def study(n):
    """The built-in questions, each in up to three wordings, so that there are enough."""
    return parse_study(
        {
            "name": "batching",
            "cross": {
                "methods": ["dragin"],
                "retrievers": ["bm25"],
                "variations": ["original", "declarative", "imperative"],
            },
            "dataset": {"name": "builtin", "limit": -(-n // 3)},
            "generation": {"max_tokens": 64},
        },
        "batching",
    )


def main(n):
    planned = plan(study(n))
    [(model, conditions)] = planned.by_model()
    trials = list(planned.trials(conditions))[:n]
    Scheduler(planned, Kept(), lambda tick: None).run(model, Listed(iter(trials[:1])))  # loads and warms up
    together, start = Kept(), time.perf_counter()
    Scheduler(planned, together, lambda tick: None).run(model, Listed(iter(trials)))
    seconds = time.perf_counter() - start
    alone, start = Kept(), time.perf_counter()
    some = trials[::EVERY]
    for trial in some:
        Scheduler(planned, alone, lambda tick: None).run(model, Listed(iter([trial])))
    each = (time.perf_counter() - start) / len(some)
    same = sum(together.answers[key] == text for key, text in alone.answers.items())
    print(f"{len(trials)} questions together: {seconds:.1f} s, {seconds / len(trials):.2f} s each")
    print(f"one after another: {each:.2f} s each, {len(some)} measured")
    print(f"same answers: {same} of {len(some)}")
    print(f"ratio: {each * len(trials) / seconds:.1f}")
    print(describe())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
