"""Claim: 200 questions through `dragin` on the embedded model take at most a sixth of the time of one question after
another, with the same answers.

The questions are built-in ones, each in three frames, so that no two prompts are alike. One after another is measured
on a tenth of them (five at least), evenly spread, and scaled.

    python benchmarks/dragin_batching.py [N_QUESTIONS]
"""

import sys
import time
from dataclasses import replace

import numpy as np
from machine import describe

from shaketable.stages.answer import Scheduler
from shaketable.stages.plan import plan
from shaketable.stages.sources import Listed
from shaketable.study import parse_study

FRAMES = {"original": "", "declarative": "I would like to know: ", "imperative": "Please tell me: "}


class Kept:
    """Takes finished records."""

    def __init__(self):
        self.answers = {}

    def append(self, records, environment):
        self.answers |= {record.trial.key: record.answer and record.answer.text for record, _ in records}


def planned_trials(n):
    """The plan, the model and the first n trials, question by question."""
    framed = plan(study(n))
    framed = framed.worded([replace(each, text=FRAMES[each.variation] + each.text) for each in framed.variants])
    [(model, conditions)] = framed.by_model()
    return framed, model, list(framed.trials(conditions))[:n]


def study(n):
    return parse_study(
        {
            "name": "batching",
            "cross": {
                "methods": ["dragin"],
                "retrievers": ["bm25"],
                "variations": list(FRAMES),
            },
            "dataset": {"name": "builtin", "limit": -(-n // 3)},
            "generation": {"max_tokens": 64},
        },
        "batching",
    )


def main(n):
    planned, model, trials = planned_trials(n)
    Scheduler(planned, Kept(), lambda tick: None).run(model, Listed(iter(trials[:1])))  # loads and warms up
    together, start = Kept(), clock()
    Scheduler(planned, together, lambda tick: None).run(model, Listed(iter(trials)))
    seconds = clock() - start
    alone, start = Kept(), clock()
    some = trials[:: max(1, n // max(5, n // 10))]
    for trial in some:
        Scheduler(planned, alone, lambda tick: None).run(model, Listed(iter([trial])))
    each = (clock() - start) / len(some)
    same = sum(together.answers[key] == text for key, text in alone.answers.items())
    wall, processor = seconds / len(trials)
    print(f"{len(trials)} questions together: {wall:.2f} s each ({processor:.2f} s of processor)")
    print(f"one after another: {each[0]:.2f} s each ({each[1]:.2f} s of processor), {len(some)} measured")
    print(f"same answers: {same} of {len(some)}; batching: {model.engine.invariance}")
    print(f"ratio: {each[0] / wall:.1f} ({each[1] / processor:.1f} of processor time)")
    print(describe())


def clock():
    """Seconds on the wall and of the processor: the latter tells more on a busy machine."""
    return np.array([time.perf_counter(), time.process_time()])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
