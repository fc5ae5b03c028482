"""BERTScore of a temperature sweep: Shaketable against the bert-score package.

    python benchmarks/bertscore_speed.py [RUN] [--questions N] [--rounds N]

Without a run's folder the answers are made by a rule: greedy runs repeat themselves, hot ones are long and differ;
11 temperatures × 3 runs. "Calling the package on all pairs" can mean four things, and each is measured: one call with
all pairs; one call per condition (evidence, temperature, run) of one loaded scorer; the same by the function
`bert_score.score`, which loads the encoder on each call; and one call per pair. The last two are measured on a part of
the calls and scaled. Both sides use the same encoder, layer and threads, and are warmed up. Processor time is more
telling than wall time on a shared machine.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import machine

WORDS = "the town of river author born director film novel space wave war prize college daughter writer city coast"
TEMPERATURES = [i / 5 for i in range(11)]
N_RUNS = 3
NAME, LAYER = "all-MiniLM-L6-v2", 5

Pairs = list[tuple[str, str]]


def made_sweep(n_questions: int) -> list[Pairs]:
    """One list of (answer, reference) per temperature and run."""
    rng = random.Random(0)
    references = [_text(rng, rng.randint(8, 25)) for _ in range(n_questions)]
    usual = [_text(rng, rng.randint(3, 25)) for _ in range(n_questions)]
    return [
        [(_answer(rng, usual[i], temperature), references[i]) for i in range(n_questions)]
        for temperature in TEMPERATURES
        for _ in range(N_RUNS)
    ]


def _answer(rng: random.Random, usual: str, temperature: float) -> str:
    """The usual answer with a chance that falls with temperature; else a new one, longer the hotter."""
    if rng.random() >= temperature / 1.2:
        return usual
    return _text(rng, rng.randint(3, 20 + int(60 * temperature)))


def _text(rng: random.Random, n_words: int) -> str:
    return (" ".join(rng.choice(WORDS.split()) for _ in range(n_words)) + ".").capitalize()


def stored_sweep(folder: Path, n_questions: int) -> list[Pairs]:
    """The answers of a run, one list per condition, with the references that it was scored by."""
    from shaketable.metrics.scoring import references
    from shaketable.store import Run

    run = Run(folder)
    made_by = None if run.study.reference == "short" else run.study.reference
    golds = {question.id: references(question) for question in run.store.questions(made_by)[:n_questions]}
    found: dict[tuple[object, ...], Pairs] = {}
    for row in run.records().iter_rows(named=True):
        if row["answer"] and golds.get(row["question_id"]):
            condition = tuple(row[name] for name in ("model", "perturbation", "variation", "temperature", "repeat"))
            found.setdefault(condition, []).append((row["answer"], golds[row["question_id"]][0]))
    return list(found.values())


def columns(batch: Pairs) -> tuple[list[str], list[str]]:
    return [text for text, _ in batch], [gold for _, gold in batch]


Ways = dict[str, tuple[Callable[[], None], float]]
"""A way to score all pairs, and by how much its seconds are scaled."""


def main(folder: Path | None, n_questions: int, n_rounds: int) -> None:
    # After the package, which says how matrices are multiplied.
    import bert_score
    import torch

    from shaketable import weights
    from shaketable.metrics.bertscore import pair_values
    from shaketable.text.encoder import encoder

    conditions = stored_sweep(folder, n_questions) if folder else made_sweep(n_questions)
    pairs = [pair for condition in conditions for pair in condition]
    settings = {"model_type": str(weights.locate(NAME)), "num_layers": LAYER, "device": "cpu"}
    with contextlib.redirect_stderr(io.StringIO()):
        scorer = bert_score.BERTScorer(batch_size=64, **settings)

    def ours() -> None:
        pair_values(encoder(NAME), LAYER, pairs)

    def one_call() -> None:
        scorer.score(*columns(pairs))

    def per_condition() -> None:
        for condition in conditions:
            scorer.score(*columns(condition))

    def per_condition_loading(n: int = 3) -> None:
        for condition in conditions[:: len(conditions) // n][:n]:
            with contextlib.redirect_stderr(io.StringIO()):
                bert_score.score(*columns(condition), **settings)

    def per_pair(n: int = 100) -> None:
        for pair in pairs[:: len(pairs) // n][:n]:
            scorer.score(*columns([pair]))

    ours()  # the warm-up
    print(f"{machine.describe()}; {torch.get_num_threads()} threads, torch {torch.__version__}")
    ways: Ways = {
        "shaketable": (ours, 1),
        "bert-score, one call": (one_call, 1),
        "bert-score, a call per condition": (per_condition, 1),
        "bert_score.score per condition *": (per_condition_loading, len(conditions) / 3),
        "bert-score, a call per pair *": (per_pair, len(pairs) / 100),
    }
    texts = {text for pair in pairs for text in pair}
    print(
        f"{len(pairs)} pairs of {len(conditions)} conditions, {len(set(pairs))} distinct; {len(texts)} distinct texts; "
        f"median of {n_rounds} rounds; *: scaled from a part"
    )
    _time(ways, n_rounds)
    _compare(scorer, pairs, pair_values(encoder(NAME), LAYER, pairs))


def _time(ways: Ways, n_rounds: int) -> None:
    """Print the median seconds of each way, and how many times ours they are."""
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(n_rounds):
        for name, (way, scale) in ways.items():
            wall, processor = time.perf_counter(), time.process_time()
            way()
            seconds[name].append(((time.perf_counter() - wall) * scale, (time.process_time() - processor) * scale))
    median = {name: [statistics.median(column) for column in zip(*of, strict=True)] for name, of in seconds.items()}
    own_wall, own_processor = median["shaketable"]
    print(f"{'':36}{'wall s':>9}{'ratio':>8}{'cpu s':>9}{'ratio':>8}")
    for name, (wall, processor) in median.items():
        print(f"{name:36}{wall:9.1f}{wall / own_wall:8.1f}{processor:9.1f}{processor / own_processor:8.1f}")


def _compare(scorer: object, pairs: Pairs, ours: dict[tuple[str, str], float]) -> None:
    """In batches bert-score lets a word match the padding of another pair; one pair at a time it cannot."""
    for batch_size, some in ((64, pairs), (1, pairs[:: len(pairs) // 200])):
        theirs = scorer.score(*columns(some), batch_size=batch_size)[2].tolist()  # type: ignore[attr-defined]
        largest = max(abs(ours[pair] - value) for pair, value in zip(some, theirs, strict=True))
        print(f"largest difference of {len(some)} pairs from bert-score in batches of {batch_size}: {largest:.1e}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?", type=Path)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    main(given.run, given.questions, given.rounds)
