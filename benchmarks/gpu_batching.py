"""Claim: on a GPU, answers to different prompts that do not depend on what is decoded beside them (`exact`) are written
at least 8 times as fast as by the library one after the other, which has the same promise. Its padded batch, which
has not, is printed too, beside ours without the promise (`free`).

A random model in the shape of one with a billion parameters; 128 prompts of 100 to 230 tokens, alone and after worked
examples of 700 tokens; 64 new tokens each.

    python benchmarks/gpu_batching.py
"""

import functools
import tempfile
import time
from pathlib import Path

import torch
from machine import describe
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from shaketable.engine.sweep import SweepEngine
from shaketable.types import Message, Prompt, Sampling

N_PROMPTS, N_NEW = 128, 64
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


def prompts(n_opening):
    example = (Message(role="user", content="q" * 350), Message(role="assistant", content="a" * 350))
    return [
        Prompt(
            messages=(*(example if n_opening else ()), Message(role="user", content=f"{i} " + "x" * (100 + i))),
            sampling=Sampling(temperature=1.0, max_tokens=N_NEW),
            seed=i,
        )
        for i in range(N_PROMPTS)
    ]


def rate(work, n_prompts=N_PROMPTS):
    """New tokens a second, at the second time."""
    work()
    torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return n_prompts * N_NEW / (time.perf_counter() - start)


def generate(model, ids):
    """The library's own batch, padded on the left."""
    width = max(map(len, ids))
    padded = torch.tensor([[0] * (width - len(one)) + one for one in ids], device="cuda")
    mask = torch.tensor([[0] * (width - len(one)) + [1] * len(one) for one in ids], device="cuda")
    with torch.inference_mode():
        model.generate(padded, attention_mask=mask, max_new_tokens=N_NEW, do_sample=True, top_k=0, pad_token_id=0)


def main():
    if not torch.cuda.is_available():
        raise SystemExit("This benchmark needs a CUDA device.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_model(folder)
        for n_opening in (0, 700):
            asked, rates = prompts(n_opening), {}
            for batching in ("exact", "free"):
                engine = SweepEngine(folder, device="cuda", dtype="bfloat16", n_rows=N_PROMPTS, batching=batching)
                rates[f"{batching} ({engine.invariance})"] = rate(functools.partial(engine.generate, asked))
            ids = [engine.encode(one.messages, one.layout) for one in asked]
            model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).cuda().eval()
            single = rate(functools.partial(generate, model, ids[:1]), 1)
            batch = rate(functools.partial(generate, model, ids))
            print(
                f"after {n_opening} shared tokens: the library {single:,.0f} tokens a second, in a batch {batch:,.0f}"
            )
            for way, found in rates.items():
                print(f"  {way}: {found:,.0f}; ratio {found / single:.1f}, to the batch {found / batch:.2f}")
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {describe()}")


if __name__ == "__main__":
    main()
