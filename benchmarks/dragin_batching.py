"""Claim: 200 questions through `dragin` on the embedded model take at most a sixth of the time of one question after
another, with the same answers.

The questions are built-in ones, each in three frames, so that no two prompts are alike. One after another is measured
on a tenth of them (six at least), evenly spread, each with its three frames, and scaled. What was read before is
forgotten in between.

Three clocks: the wall; the processor, all threads together; and the thread that leads the others, which is what the
wall would show if the machine did nothing else. On a busy machine start it with OMP_WAIT_POLICY=passive, so that
threads do not spin while they wait for each other.

    OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2 python benchmarks/dragin_batching.py [N_QUESTIONS]
"""

import sys
import time
from dataclasses import replace

import numpy as np
import torch
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
    model.forget()
    rows = []
    counted(model.engine, rows)
    together, start = Kept(), clock()
    Scheduler(planned, together, lambda tick: None).run(model, Listed(iter(trials)))
    seconds = (clock() - start) / len(trials)
    n_rows = np.mean(rows)
    print(f"{len(trials)} questions together, each: {told(seconds)}; {n_rows:.1f} rows in a decoding step", flush=True)
    model.forget()
    alone, start = Kept(), clock()
    some = [trial for i in spread(n) for trial in trials[3 * i : 3 * i + 3]]
    for trial in some:
        Scheduler(planned, alone, lambda tick: None).run(model, Listed(iter([trial])))
    each = (clock() - start) / len(some)
    same = sum(together.answers[key] == text for key, text in alone.answers.items())
    print(f"one after another, each: {told(each)}; {len(some)} measured")
    print(f"same answers: {same} of {len(some)}; batching: {model.engine.invariance}")
    ratios = each / seconds
    print(
        f"ratio: {ratios[0]:.1f} by the wall, {ratios[1]:.1f} by the processor, {ratios[2]:.1f} by the leading thread"
    )
    print(f"threads: {torch.get_num_threads()}; {describe()}")


def spread(n):
    """Numbers of the questions that are asked alone."""
    n_alone = max(2, n // 30)
    return range(0, n // 3, max(1, n // 3 // n_alone))[:n_alone]


def counted(engine, rows):
    """The rows of each decoding step go to the list."""
    advance = engine.advance
    engine.advance = lambda prefixes, ids: (rows.append(len(ids)), advance(prefixes, ids))[1]


def clock():
    """Seconds on the wall, of the processor, and of the leading thread."""
    return np.array([time.perf_counter(), time.process_time(), time.thread_time()])


def told(seconds):
    wall, processor, leading = seconds
    return f"{wall:.2f} s on the wall, {processor:.2f} of the processor, {leading:.2f} of the leading thread"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
