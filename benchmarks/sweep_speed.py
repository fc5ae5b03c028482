"""Claim: on the demo's study the sweep decodes at least 20 times as many tokens a second as one `generate` call per
sample, at least twice as many as batched `generate`, and at least twice as many as llama.cpp with parallel slots; at
least 12 times as many as the loop where every product must have as many rows (`--fixed` takes that way).

Greedy repeats are one computation and are counted once; other answers count with all their tokens, also those that
rows of a prompt drew alike and that were computed once. The peers, on the same weights, with as many new tokens as the
sweep's rows may have: transformers' `generate` for one sample after the other; all prompts of a temperature as one
padded batch with `num_return_sequences`; llama.cpp's server in this process with 16 slots, on the GGUF file. The slow
ones answer an even part. Ends with rows for RESULTS.md.

    python benchmarks/sweep_speed.py [N_PROMPTS] [--fixed]
"""

import json
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import torch
from machine import describe
from transformers import AutoModelForCausalLM

from shaketable import weights
from shaketable.engine import sweep
from shaketable.engine.fixed_products import PRODUCT_ROWS
from shaketable.engine.proof import Proof
from shaketable.engine.sweep import SweepEngine
from shaketable.stages.answer import Scheduler
from shaketable.stages.plan import plan
from shaketable.stages.sources import Listed
from shaketable.study import load_study
from shaketable.types import Completion, Message, Prompt, Sampling

N_SINGLE, N_SLOTS, N_DIFFERENT = 36, 16, 128
"""Answers by one call each; llama.cpp's slots; different prompts with one row each."""


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


def different_prompts():
    """Questions without evidence or examples, one row each."""
    question = "Answer briefly. In which year did the observatory on hill number {} open its doors to the public?"
    sampling = Sampling(temperature=1.0, max_tokens=32)
    return [
        Prompt(messages=(Message(role="user", content=question.format(i)),), sampling=sampling, seed=i)
        for i in range(N_DIFFERENT)
    ]


def by_the_sweep(engine, prompts):
    """Decoded tokens a second."""
    before, start = engine.n_positions, time.perf_counter()
    engine.generate(prompts)
    return (engine.n_positions - before) / (time.perf_counter() - start)


def one_call_per_sample(model, engine, prompts):
    """New tokens a second of transformers' own generate, one sample at a time."""
    n_tokens, start = 0, time.perf_counter()
    for prompt in prompts:
        ids, asked = torch.tensor([engine.encode(prompt.messages, prompt.layout)]), prompt.sampling
        made = model.generate(ids, max_new_tokens=asked.max_tokens, **dice(asked.temperature))
        n_tokens += made.shape[1] - ids.shape[1]
    return n_tokens / (time.perf_counter() - start)


def dice(temperature):
    return {"do_sample": True, "temperature": temperature, "top_k": 0} if temperature else {"do_sample": False}


def batched(model, engine, prompts):
    """All prompts of a temperature in one padded batch, as many rows of each as there are repeats."""
    end, tokenizer = engine.tokenizer.eos_token_id, engine.tokenizer
    n_tokens, start = 0, time.perf_counter()
    for temperature in sorted({prompt.sampling.temperature for prompt in prompts}):
        repeats = Counter(prompt.messages for prompt in prompts if prompt.sampling.temperature == temperature)
        ids = [engine.encode(messages, "chat") for messages in repeats]
        tokenizer.pad_token = tokenizer.eos_token
        given = tokenizer.pad({"input_ids": ids}, padding_side="left", return_tensors="pt")
        several = {"num_return_sequences": max(repeats.values())} if temperature else {}
        new = prompts[0].sampling.max_tokens
        made = model.generate(**given, max_new_tokens=new, pad_token_id=end, **several, **dice(temperature))
        for row in made[:, given["input_ids"].shape[1] :].tolist():
            n_tokens += row.index(end) + 1 if end in row else len(row)
    return n_tokens / (time.perf_counter() - start)


def by_llama_cpp(prompts):
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(next(weights.locate("smollm2-gguf").glob("*.gguf")))
    settings.n_ctx, settings.n_parallel = 1024 * N_SLOTS, N_SLOTS
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = torch.get_num_threads()
    server = xllamacpp.Server(settings)

    def ask(prompt):
        reply = server.handle_chat_completions(
            {
                "messages": [{"role": message.role, "content": message.content} for message in prompt.messages],
                "max_tokens": prompt.sampling.max_tokens,
                "temperature": prompt.sampling.temperature,
                "seed": prompt.seed % 2**31,
                "top_k": 0,
                "top_p": 1.0,
                "min_p": 0.0,
            }
        )
        return (json.loads(reply) if isinstance(reply, str) else reply)["usage"]["completion_tokens"]

    ask(prompts[0])
    start = time.perf_counter()
    with ThreadPoolExecutor(N_SLOTS) as pool:
        n_tokens = sum(pool.map(ask, prompts))
    return n_tokens / (time.perf_counter() - start)


def main(n_prompts, *, is_fixed):
    prompts = demo_prompts(n_prompts)
    engine = SweepEngine(weights.locate("smollm2"))
    start = time.perf_counter()
    if is_fixed:
        sweep.recall = lambda reader, prove: Proof(way="fixed", product_rows=PRODUCT_ROWS)
    proof = engine.proof
    print(f"{describe()}, torch {torch.__version__}, {torch.get_num_threads()} threads")
    print(f"batching: {proof.way}, {proof.least_rows} rows at least; known after {time.perf_counter() - start:.1f} s")
    engine.generate(prompts[:20])
    sweep_rate, different_rate = by_the_sweep(engine, prompts), by_the_sweep(engine, different_prompts())
    plain = AutoModelForCausalLM.from_pretrained(weights.locate("smollm2"), dtype=torch.float32).eval()
    with torch.inference_mode():
        some = prompts[:: -(-len(prompts) // N_SINGLE)]
        peers = {
            "one `generate` call per sample": one_call_per_sample(plain, engine, some),
            "batched `generate`, `num_return_sequences`": batched(plain, engine, prompts),
            f"llama.cpp, {N_SLOTS} slots": by_llama_cpp(prompts[: len(prompts) // 3]),
        }
    print(f"| sweep, {len(prompts)} answers to {n_prompts} prompts (`{proof.way}`) | {sweep_rate:.0f} tokens/s | |")
    print(f"| {N_DIFFERENT} different prompts, one row each (`{proof.way}`) | {different_rate:.0f} tokens/s | |")
    for name, rate in peers.items():
        print(f"| {name} | {rate:.0f} tokens/s | the sweep is {sweep_rate / rate:.1f} times as fast |")


if __name__ == "__main__":
    numbers = [int(given) for given in sys.argv[1:] if given != "--fixed"]
    main(numbers[0] if numbers else 12, is_fixed="--fixed" in sys.argv)
