"""Claim: on a GPU, a model in the shape of one with a billion parameters writes at least 20,000 tokens a second in a
sweep and 10,000 to different prompts, with texts that do not depend on what is decoded beside them (`exact`), never
fewer than the library's padded batch, which has no such promise; without it (`free`) no fewer than with it; in at most
1.5 times the memory of its weights and of the keys and values that its rows need.

Random weights in bfloat16; 64 new tokens each. The sweep: 12 prompts of about 200 tokens, 33 rows each. The different
prompts: 128 of 100 to 230 tokens, alone and after worked examples of 700 tokens.

    python benchmarks/gpu_batching.py
"""

import functools
import gc
import tempfile
import time
from pathlib import Path

import torch
from machine import describe
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from shaketable.engine.captured.engine import CapturedEngine
from shaketable.types import Message, Prompt, Sampling

N_NEW = 64
N_ROWS = 512
"""Of `free`; `exact` has a number of its own."""
TURNS = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}{% if add_generation_prompt %}[a]{% endif %}"
SHAPE = {
    "vocab_size": 32_000, "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16,
    "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 8192,
}  # fmt: skip


def write_model(folder):
    """It never ends by itself, so that all have as many tokens to write."""
    torch.manual_seed(0)
    LlamaForCausalLM(LlamaConfig(**SHAPE, bos_token_id=None, eos_token_id=None)).bfloat16().save_pretrained(folder)
    letters = Tokenizer(BPE(vocab={one: i for i, one in enumerate(pre_tokenizers.ByteLevel.alphabet())}, merges=[]))
    letters.pre_tokenizer, letters.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=letters, chat_template=TURNS).save_pretrained(folder)


def asked(text, seed, temperature=1.0, example=()):
    messages = (*example, Message(role="user", content=text))
    return Prompt(messages=messages, sampling=Sampling(temperature=temperature, max_tokens=N_NEW), seed=seed)


def workloads():
    example = (Message(role="user", content="q" * 350), Message(role="assistant", content="a" * 350))
    different = [(f"{i} " + "x" * (100 + i), i) for i in range(128)]
    return {
        "sweep of 12 prompts x 33 rows": [
            asked(f"{i} " + "y" * (180 + 3 * i), 33 * i + j, 0.2 + 0.2 * (j // 3)) for i in range(12) for j in range(33)
        ],
        "128 different prompts": [asked(*one) for one in different],
        "128 prompts after 700 shared tokens": [asked(*one, example=example) for one in different],
    }


def rate(work, n_rows):
    """New tokens a second, the best of two after a first time."""
    work()
    seconds = []
    for _ in range(2):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return n_rows * N_NEW / min(seconds)


def generate(model, ids, rows=128):
    """The library's own batches, padded on the left."""
    for start in range(0, len(ids), rows):
        part = ids[start : start + rows]
        width = max(map(len, part))
        padded = torch.tensor([[0] * (width - len(one)) + one for one in part], device="cuda")
        mask = torch.tensor([[0] * (width - len(one)) + [1] * len(one) for one in part], device="cuda")
        with torch.inference_mode():
            model.generate(padded, attention_mask=mask, max_new_tokens=N_NEW, do_sample=True, top_k=0, pad_token_id=0)


def n_kept_tokens(engine, prompts, ids):
    """Of as many rows as are decoded at once: each distinct opening and prompt once, and every row's own tokens."""
    at_once = list(zip(prompts, ids, strict=True))[: engine.n_slots]
    openings = {tuple(one[: engine.n_opening(prompt.messages, "chat", one)]) for prompt, one in at_once}
    rests = {tuple(one): len(one) - engine.n_opening(prompt.messages, "chat", one) for prompt, one in at_once}
    return sum(map(len, openings)) + sum(rests.values()) + N_NEW * len(at_once)


def measure(folder, batching, prompts):
    """Tokens a second, and peak memory as a multiple of what weights and rows need."""
    gc.collect()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    engine = CapturedEngine(folder, device="cuda", dtype="bfloat16", n_rows=N_ROWS, batching=batching)
    weights = torch.cuda.memory_allocated() - before
    torch.cuda.reset_peak_memory_stats()
    found = rate(functools.partial(engine.generate, prompts), len(prompts))
    ids = [engine.encode(one.messages, one.layout) for one in prompts]
    needed = weights + engine.token_bytes * n_kept_tokens(engine, prompts, ids)
    peak = torch.cuda.max_memory_allocated() - before
    print(
        f"  {batching} ({engine.invariance}, {'captured' if engine.proof.is_captured else 'step by step'}, "
        f"{engine.n_slots} slots): {found:,.0f} tokens/s; peak memory {peak / 1e9:.2f} GB, "
        f"{peak / needed:.2f} times what is needed",
        flush=True,
    )
    return found, ids


def main():
    if not torch.cuda.is_available():
        raise SystemExit("This benchmark needs a CUDA device.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_model(folder)
        for title, prompts in workloads().items():
            print(title, flush=True)
            exact, ids = measure(folder, "exact", prompts)
            free, _ = measure(folder, "free", prompts)
            model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).cuda().eval()
            single = rate(functools.partial(generate, model, ids[:1]), 1)
            batch = max(rate(functools.partial(generate, model, ids, rows), len(ids)) for rows in (128, 512))
            del model
            print(f"  the library: one by one {single:,.0f} tokens/s, in padded batches {batch:,.0f}")
            print(
                f"  ratios: exact {exact / single:.0f} to one by one and {exact / batch:.1f} to the batch, "
                f"free {free / exact:.2f} to exact",
                flush=True,
            )
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {describe()}")


if __name__ == "__main__":
    main()
