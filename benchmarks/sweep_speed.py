"""Claim: on the demo's study the sweep decodes at least 8 times as many tokens a second as one
`generate` call per sample, and says what proving and keeping exactness costs.

    python benchmarks/sweep_speed.py [N_PROMPTS]
"""

import sys
import time

import torch
from machine import describe

from shaketable import weights
from shaketable.engine.sweep import SweepEngine
from shaketable.stages.answer import Scheduler
from shaketable.stages.plan import plan
from shaketable.stages.sources import Listed
from shaketable.study import load_study
from shaketable.types import Completion


class Listening:
    """Takes the prompts of the study down without answering them."""

    def __init__(self):
        self.prompts = []

    def generate(self, prompts):
        self.prompts += prompts
        return [Completion(text="", finish_reason="end", n_prompt_tokens=0, n_tokens=0, seconds=0) for _ in prompts]

    def environment(self):
        return {}

    def append(self, records, environment):
        pass


def demo_prompts(n_prompts):
    """Every temperature and repeat of the demo's first prompts."""
    planned, listening = plan(load_study("demo")), Listening()
    Scheduler(planned, listening, lambda tick: None).run(listening, Listed(planned.trials()))
    texts = list(dict.fromkeys(prompt.messages for prompt in listening.prompts))[:n_prompts]
    return [prompt for prompt in listening.prompts if prompt.messages in texts]


def one_call_per_sample(engine, prompts):
    """The peer: transformers' own generate, one sample at a time, as many new tokens as the sweep's rows may have."""
    n_tokens, start = 0, time.perf_counter()
    for prompt in prompts:
        ids = torch.tensor([engine.encode(prompt.messages, prompt.layout)])
        temperature = prompt.sampling.temperature
        dice = {"do_sample": True, "temperature": temperature, "top_k": 0} if temperature else {"do_sample": False}
        made = engine.model.generate(ids, max_new_tokens=prompt.sampling.max_tokens, **dice)
        n_tokens += made.shape[1] - ids.shape[1]
    return n_tokens / (time.perf_counter() - start), len(prompts) / (time.perf_counter() - start)


def main(n_prompts):
    prompts = demo_prompts(n_prompts)
    engine = SweepEngine(weights.locate("smollm2"))
    start = time.perf_counter()
    way = engine.invariance
    print(f"proving exactness: {time.perf_counter() - start:.1f} s, once per process; batching: {way}")
    start = time.perf_counter()
    replies = engine.generate(prompts)
    seconds = time.perf_counter() - start
    n_tokens = sum(reply.n_tokens for reply in replies)
    print(
        f"sweep: {len(prompts)} answers to {n_prompts} prompts in {seconds:.1f} s: "
        f"{engine.n_positions / seconds:.0f} decoded tokens/s, {n_tokens / seconds:.0f} counting greedy repeats"
    )
    plain = SweepEngine(weights.locate("smollm2"))  # its model keeps the library's own attention
    sample = prompts[:: max(1, len(prompts) // 36)][:36]
    tokens_per_second, answers_per_second = one_call_per_sample(plain, sample)
    print(f"one generate call per sample: {tokens_per_second:.0f} tokens/s ({len(sample)} answers, evenly chosen)")
    print(f"ratio of tokens/s: {engine.n_positions / seconds / tokens_per_second:.1f}")
    print(f"ratio of answers/s: {len(prompts) / seconds / answers_per_second:.1f}")
    print(f"{describe()}, torch {torch.__version__}, {torch.get_num_threads()} threads")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 24)
