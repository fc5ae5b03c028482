"""Claim: weights in bfloat16 or int8 make the sweep faster and smaller, and change few greedy answers; both are said as
ratios and differences to float32, which is measured in the same run.

    python benchmarks/weight_formats.py [N_PROMPTS [FORMAT ...]]
    python benchmarks/weight_formats.py layers        one product of each layer shape, in microseconds, one thread
"""

import gc
import multiprocessing
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from machine import describe
from sweep_speed import demo_prompts

from shaketable import weights
from shaketable.engine.narrow_weights import Int8Linear
from shaketable.engine.sweep import SweepEngine
from shaketable.metrics.correct import Correct
from shaketable.stages.answer import Scheduler
from shaketable.stages.plan import plan
from shaketable.stages.sources import Listed
from shaketable.statistics.differences import bound_differences
from shaketable.study import load_study
from shaketable.text.packed_linear import PackedLinear

FORMATS = ("float32", "bfloat16", "int8")
PERTURBATIONS = ("unchanged", "sentence_removal")
LAYERS = ((576, 576), (576, 192), (576, 1536), (1536, 576), (576, 49_152))
ROWS = (1, 16, 64, 128)
BUDGET_SECONDS = 0.1
MEGABYTE = 1e6


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    batching: str
    tokens_per_second: float
    answers: dict[str, str]
    """By question and evidence, at temperature 0."""
    correct: dict[str, float]
    """By question, over its evidence."""
    logprobs: list[torch.Tensor]
    """Of the next token: after each prompt and along float32's answer to it."""


class Kept:
    def __init__(self):
        self.records = []

    def append(self, records, environment):
        self.records += [record for record, _ in records if record.answer]


def questions_asked():
    """All built-in questions at temperature 0, with their evidence and with a sentence of it removed."""
    study = load_study("demo")
    datasets = tuple(replace(dataset, limit=None, balance_by=()) for dataset in study.datasets)
    return plan(replace(study, datasets=datasets, perturbations=PERTURBATIONS, temperatures=(0.0,), repeats=1))


def measure(number_format, prompts, planned, reference):
    engine = SweepEngine(weights.locate("smollm2"), dtype=number_format)
    batching = f"{engine.invariance}, at least {engine.proof.least_rows} rows"
    engine.generate(prompts[:4])
    # With one thread the processor's time says the same as the clock, less what else runs on the machine.
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    engine.n_positions, start = 0, clock()
    engine.generate(prompts)
    speed = engine.n_positions / (clock() - start)
    kept = Kept()
    Scheduler(planned, kept, lambda tick: None).run(engine, Listed(planned.trials()))
    answers = {f"{r.trial.question_id} {r.trial.perturbation}": r.answer.text for r in kept.records}
    scores = Correct().score(kept.records, {question.id: question for question in planned.questions})
    correct = {}
    for record, [score] in zip(kept.records, scores, strict=True):
        correct.setdefault(record.trial.question_id, []).append(score.value)
    along = reference.answers if reference else answers
    return Measured(
        batching=batching,
        tokens_per_second=speed,
        answers=answers,
        correct={question: float(np.mean(values)) for question, values in correct.items()},
        logprobs=[
            along_answer(engine, question.text, along[f"{question.id} {PERTURBATIONS[0]}"])
            for question in planned.questions
        ],
    )


@torch.inference_mode()
def along_answer(engine, text, answer):
    """The question alone and the answer behind it, read at once by the plain model."""
    before = engine.tokenizer.apply_chat_template(
        [{"role": "user", "content": text}], add_generation_prompt=True, return_dict=True
    )["input_ids"]
    after = engine.tokenizer(answer, add_special_tokens=False)["input_ids"]
    ids = torch.tensor([[*before, *after]])
    logits = engine.model(ids, use_cache=False, logits_to_keep=len(after) + 1).logits[0]
    return torch.log_softmax(logits.float(), -1)


def megabytes_held(number_format, sent):
    """In a process of its own: what loading adds to its memory, and the most it ever had."""
    before = resident("VmRSS")
    engine = SweepEngine(weights.locate("smollm2"), dtype=number_format)
    gc.collect()
    sent.put((resident("VmRSS") - before, resident("VmHWM") - before, engine.dtype))


def resident(field):
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024 / MEGABYTE


def memory(number_format):
    context = multiprocessing.get_context("spawn")
    sent = context.Queue()
    process = context.Process(target=megabytes_held, args=(number_format, sent))
    process.start()
    held, most, _ = sent.get()
    process.join()
    return held, most


def print_effect(number_format, measured, reference):
    pairs = list(zip(reference.logprobs, measured.logprobs, strict=True))
    away = torch.cat([(mine - own).abs().mean(-1) for own, mine in pairs]).mean()
    of_chosen = torch.cat(
        [(mine - own).gather(-1, own.argmax(-1, keepdim=True)).abs()[:, 0] for own, mine in pairs]
    ).mean()
    divergence = torch.cat([(own.exp() * (own - mine)).sum(-1) for own, mine in pairs]).mean()
    same = np.mean([measured.answers[key] == text for key, text in reference.answers.items()])
    losses = np.array([[reference.correct[question] - measured.correct[question] for question in reference.correct]])
    low, high = bound_differences(losses, is_share=True).at(0.025)
    print(
        f"  against float32: {measured.tokens_per_second / reference.tokens_per_second:.2f} times the speed; "
        f"{same:.0%} of {len(reference.answers)} greedy answers the same; accuracy lost {losses.mean():+.3f} "
        f"[{low[0]:+.3f}, {high[0]:+.3f}] of {np.mean(list(reference.correct.values())):.3f}, {losses.size} questions; "
        f"log-probabilities {away:.3f} away, those of float32's choice {of_chosen:.4f}; KL divergence {divergence:.5f}"
    )


def main(n_prompts, formats):
    prompts, planned, reference = demo_prompts(n_prompts), questions_asked(), None
    for number_format in formats:
        held, most = memory(number_format)
        measured = measure(number_format, prompts, planned, reference)
        print(
            f"{number_format}: {measured.tokens_per_second:.0f} decoded tokens/s ({len(prompts)} answers, "
            f"{measured.batching}); {held:.0f} MB held after loading, {most:.0f} MB at most",
            flush=True,
        )
        reference = reference or measured
        if measured is not reference:
            print_effect(number_format, measured, reference)
    print(f"{describe()}, torch {torch.__version__}, {torch.get_num_threads()} threads")


@torch.inference_mode()
def print_layers():
    torch.set_num_threads(1)
    print("width in → out, rows: float32, bfloat16, int8 with the rounding of its rows; microseconds, the best of many")
    for n_in, n_out in LAYERS:
        plain = torch.nn.Linear(n_in, n_out, bias=False)
        narrow = torch.nn.Linear(n_in, n_out, bias=False, dtype=torch.bfloat16)
        layers = [(PackedLinear(plain), torch.float32), (PackedLinear(narrow), torch.bfloat16)]
        layers.append((Int8Linear(plain), torch.float32))
        for n_rows in ROWS:
            taken = [best_seconds(layer, torch.randn(n_rows, n_in).to(dtype)) * 1e6 for layer, dtype in layers]
            ratios = ", ".join(f"{taken[0] / own:.2f}" for own in taken[1:])
            print(f"{n_in} → {n_out}, {n_rows}: {', '.join(f'{own:.0f}' for own in taken)}; {ratios} times float32")
    print(f"{describe()}, torch {torch.__version__}, {torch.get_num_threads()} thread")


def best_seconds(layer, given):
    layer(given)
    taken, end = [], time.perf_counter() + BUDGET_SECONDS
    while time.perf_counter() < end or len(taken) < 5:
        start = time.perf_counter()
        layer(given)
        taken.append(time.perf_counter() - start)
    return min(taken)


if __name__ == "__main__":
    if sys.argv[1:2] == ["layers"]:
        print_layers()
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 12, sys.argv[2:] or FORMATS)
