"""Claim: BERTScore of the answers of a run is faster than by the bert-score package, with the same numbers to 1e-5.

Both have the same weights, layer, device, threads and batch of 64 pairs. The package is called in two ways: once with
all pairs, and once for each condition (evidence, temperature, repeat), as a study scores its files. Numbers are
compared with the package one pair at a time: in larger batches it lets a word match the padding of another pair.

    python benchmarks/bertscore_speed.py [RUN] [--every N] [--device DEVICE]

Without the folder of a run its answers are made by a rule: cool ones repeat themselves, hot ones are long and differ;
60 questions × 132 conditions. `--every 4` takes a fourth of the conditions.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import time
from collections.abc import Callable
from pathlib import Path

import machine

WORDS = "the town of river author born director film novel space wave war prize college daughter writer city coast"
TEMPERATURES = [i / 5 for i in range(11)]
N_QUESTIONS, N_REPEATS = 60, 12
NAME, LAYER, BATCH = "all-MiniLM-L6-v2", 5, 64
N_COMPARED = 200

Pairs = list[tuple[str, str]]


def made_sweep() -> list[Pairs]:
    """One list of (answer, reference) per temperature and repeat."""
    rng = random.Random(0)
    references = [_text(rng, rng.randint(8, 25)) for _ in range(N_QUESTIONS)]
    usual = [_text(rng, rng.randint(3, 25)) for _ in range(N_QUESTIONS)]
    return [
        [(_answer(rng, usual[i], temperature), references[i]) for i in range(N_QUESTIONS)]
        for temperature in TEMPERATURES
        for _ in range(N_REPEATS)
    ]


def _answer(rng: random.Random, usual: str, temperature: float) -> str:
    """The usual answer with a chance that falls with temperature; else a new one, longer the hotter."""
    if rng.random() >= temperature / 1.2:
        return usual
    return _text(rng, rng.randint(3, 20 + int(20 * temperature)))


def _text(rng: random.Random, n_words: int) -> str:
    return (" ".join(rng.choice(WORDS.split()) for _ in range(n_words)) + ".").capitalize()


def stored_sweep(folder: Path) -> list[Pairs]:
    """The answers of a run, one list per condition, with the references that it was scored by."""
    from shaketable.metrics.scoring import references
    from shaketable.store import Run

    run = Run(folder)
    made_by = None if run.study.reference == "short" else run.study.reference
    golds = {question.id: references(question) for question in run.store.questions(made_by)}
    found: dict[tuple[object, ...], Pairs] = {}
    for row in run.records().iter_rows(named=True):
        if row["answer"] and golds.get(row["question_id"]):
            condition = tuple(row[name] for name in ("model", "perturbation", "variation", "temperature", "repeat"))
            found.setdefault(condition, []).append((row["answer"], golds[row["question_id"]][0]))
    return list(found.values())


def columns(batch: Pairs) -> tuple[list[str], list[str]]:
    return [text for text, _ in batch], [gold for _, gold in batch]


def main(folder: Path | None, every: int, device: str) -> None:
    # After the package, which says how matrices are multiplied.
    import bert_score
    import torch

    from shaketable import weights
    from shaketable.metrics.greedy_matching import best_matches
    from shaketable.text.encoder import encoder

    conditions = (stored_sweep(folder) if folder else made_sweep())[::every]
    pairs = [pair for condition in conditions for pair in condition]
    reader = encoder(NAME, device)
    settings = {"model_type": str(weights.locate(NAME)), "num_layers": LAYER, "device": reader.device}
    with contextlib.redirect_stderr(io.StringIO()):
        scorer = bert_score.BERTScorer(batch_size=BATCH, **settings)

    def ours() -> None:
        best_matches(reader, LAYER, [(text, (gold,)) for text, gold in pairs])

    def one_call() -> None:
        scorer.score(*columns(pairs), batch_size=BATCH)

    def per_condition() -> None:
        for condition in conditions:
            scorer.score(*columns(condition), batch_size=BATCH)

    best_matches(reader, LAYER, [(text, (gold,)) for text, gold in pairs[:BATCH]])  # Both are warmed up.
    scorer.score(*columns(pairs[:BATCH]), batch_size=BATCH)
    some = pairs[:: -(-len(pairs) // N_COMPARED)]
    own = best_matches(reader, LAYER, [(text, (gold,)) for text, gold in some])
    theirs = scorer.score(*columns(some), batch_size=1)[2].tolist()
    largest = max(abs(own[text, (gold,)] - value) for (text, gold), value in zip(some, theirs, strict=True))
    texts = {text for pair in pairs for text in pair}
    where = torch.cuda.get_device_name() if reader.device.startswith("cuda") else f"{torch.get_num_threads()} threads"
    print(
        f"{len(pairs)} answers of {len(conditions)} conditions, {len(set(pairs))} distinct pairs, "
        f"{len(texts)} distinct texts; {where}, torch {torch.__version__}"
    )
    _time({"shaketable": ours, "bert-score, one call": one_call, "bert-score, a call per condition": per_condition})
    print(f"largest difference of {len(some)} pairs from bert-score one by one: {largest:.1e}")
    print(machine.describe())


def _time(ways: dict[str, Callable[[], None]]) -> None:
    """Print the seconds of each way, and how many times those of the first they are."""
    own: tuple[float, float] | None = None
    print(f"{'':36}{'wall s':>9}{'ratio':>8}{'cpu s':>9}{'ratio':>8}")
    for name, way in ways.items():
        start, start_processor = time.perf_counter(), time.process_time()
        way()
        wall, processor = time.perf_counter() - start, time.process_time() - start_processor
        own = own or (wall, processor)
        print(f"{name:36}{wall:9.1f}{wall / own[0]:8.2f}{processor:9.1f}{processor / own[1]:8.2f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    main(given.run, given.every, given.device)
