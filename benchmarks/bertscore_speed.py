"""BERTScore of a temperature sweep: Shaketable against the bert-score package.

    python benchmarks/bertscore_speed.py [n_questions] [n_rounds]

The load is that of one model in a context-temperature study: for each question 11 temperatures ×
3 runs, compared with one reference. Greedy runs repeat themselves; hot runs are long and differ.
bert-score is called in two ways: once with all pairs, and once per temperature and run, as scripts
that score each run when it ends do. Both sides use the same encoder, layer and threads, and are
warmed up. Processor time is more telling than wall time on a shared machine.
"""

from __future__ import annotations

import contextlib
import io
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

WORDS = [
    "the",
    "town",
    "of",
    "river",
    "author",
    "born",
    "director",
    "film",
    "novel",
    "space",
    "wave",
    "war",
    "prize",
    "college",
    "daughter",
    "writer",
    "city",
    "coast",
]
TEMPERATURES = [i / 5 for i in range(11)]
N_RUNS = 3


def sweep(n_questions: int) -> list[list[tuple[str, str]]]:
    """One list of (answer, reference) per temperature and run."""
    rng = random.Random(0)
    references = [_text(rng, rng.randint(8, 25)) for _ in range(n_questions)]
    usual = [_text(rng, rng.randint(3, 25)) for _ in range(n_questions)]
    runs = []
    for temperature in TEMPERATURES:
        for _ in range(N_RUNS):
            runs.append([(_answer(rng, usual[i], temperature), references[i]) for i in range(n_questions)])
    return runs


def _answer(rng: random.Random, usual: str, temperature: float) -> str:
    """The usual answer with a chance that falls with temperature; else a new one, longer the hotter."""
    if rng.random() >= temperature / 1.2:
        return usual
    return _text(rng, rng.randint(3, 20 + int(60 * temperature)))


def _text(rng: random.Random, n_words: int) -> str:
    return (" ".join(rng.choice(WORDS) for _ in range(n_words)) + ".").capitalize()


def main(n_questions: int = 40, n_rounds: int = 3) -> None:
    import bert_score
    import torch
    import transformers

    from shaketable import weights
    from shaketable.encoder import encoder
    from shaketable.metrics.bertscore import pair_values

    runs = sweep(n_questions)
    pairs = [pair for run in runs for pair in run]
    with contextlib.redirect_stderr(io.StringIO()):
        scorer = bert_score.BERTScorer(
            model_type=str(weights.locate("all-MiniLM-L6-v2")), num_layers=5, device="cpu", batch_size=64
        )

    def ours() -> list[float]:
        values = pair_values(encoder("all-MiniLM-L6-v2"), 5, pairs)
        return [values[pair] for pair in pairs]

    def theirs(batch: list[tuple[str, str]]) -> list[float]:
        found: list[float] = scorer.score([text for text, _ in batch], [gold for _, gold in batch])[2].tolist()
        return found

    ways: dict[str, Callable[[], list[float]]] = {
        "shaketable": ours,
        "bert-score, all pairs at once": lambda: theirs(pairs),
        "bert-score, each run at its end": lambda: [value for run in runs for value in theirs(run)],
    }
    values = {name: way() for name, way in ways.items()}  # also the warm-up
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(n_rounds):
        for name, way in ways.items():
            wall, processor = time.perf_counter(), time.process_time()
            way()
            seconds[name].append((time.perf_counter() - wall, time.process_time() - processor))

    print(
        f"{_processor()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads; Python {platform.python_version()}"
    )
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, bert-score {_version('bert-score')}")
    texts = {text for pair in pairs for text in pair}
    print(f"{len(pairs)} pairs, {len(set(pairs))} distinct; {len(texts)} distinct texts; median of {n_rounds} rounds")
    median = {
        name: [statistics.median(column) for column in zip(*rounds, strict=True)] for name, rounds in seconds.items()
    }
    own_wall, own_processor = median["shaketable"]
    print(f"{'':34}{'wall s':>8}{'ratio':>8}{'cpu s':>8}{'ratio':>8}{'max diff':>10}")
    for name, (wall, processor) in median.items():
        difference = max(abs(a - b) for a, b in zip(values[name], values["shaketable"], strict=True))
        ratios = wall / own_wall, processor / own_processor
        print(f"{name:34}{wall:8.2f}{ratios[0]:8.2f}{processor:8.2f}{ratios[1]:8.2f}{difference:10.1e}")


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
