"""Claim: fragility curves at their defaults, from which the factual robustness score of 300 facts is made, take less
time than sampling 20 answers at each of ten temperatures with the sweep, which tells less.

    python benchmarks/curve_speed.py [N_FACTS]

The time of 300 facts is scaled from those measured. What both need once (weights, vocabulary) is not counted.
"""

import sys
import time

from curve_positions import MAX_TOKENS, TEMPERATURES, estimate, prompts
from machine import describe

from shaketable.facts.curves.curve import CurveSettings
from shaketable.facts.curves.vocabulary import Vocabulary
from shaketable.methods.recall import first_line
from shaketable.metrics.exact_match import ExactMatch
from shaketable.models.smollm2 import Smollm2
from shaketable.stages.plan import plan
from shaketable.study import load_study
from shaketable.types import Answer

TRIALS = 20
N_SCORED = 300


def known_facts(model, n):
    """The first facts of the built-in set that the model gets right at temperature 0, asked as one batch."""
    questions = plan(load_study("factual_robustness")).questions[: 4 * n]
    replies = model.generate([prompt for question in questions for prompt in prompts(question, (0.0,), 1, 0)])
    right = zip(questions, replies, strict=True)
    judge = ExactMatch()
    return [question for question, reply in right if judge._judge(Answer(text=first_line(reply.text)), question)][:n]


def main(n):
    model = Smollm2()
    facts = known_facts(model, n)
    vocabulary = Vocabulary(*model.token_bytes())
    estimate(model, vocabulary, facts[:2], CurveSettings(max_tokens=MAX_TOKENS))  # the warm-up
    processor = time.process_time()
    _, n_positions, seconds = estimate(model, vocabulary, facts, CurveSettings(max_tokens=MAX_TOKENS))
    processor = time.process_time() - processor
    print(f"{len(facts)} curves; batching: {model.engine.invariance}")
    print(
        f"curves: {60 * len(facts) / seconds:.1f} facts/min, {n_positions / seconds:.0f} positions/s, "
        f"{n_positions / len(facts):.0f} positions a fact; {processor / len(facts):.2f} s of processor a fact; "
        f"{N_SCORED} facts take {N_SCORED * seconds / len(facts) / 60:.1f} min"
    )
    asked = [prompt for seed, fact in enumerate(facts, 1) for prompt in prompts(fact, TEMPERATURES, TRIALS, seed)]
    before, start, start_processor = model.engine.n_positions, time.perf_counter(), time.process_time()
    model.generate(asked)
    sampled, processor = time.perf_counter() - start, time.process_time() - start_processor
    n_sampled = model.engine.n_positions - before
    print(
        f"{len(TEMPERATURES)} temperatures x {TRIALS} answers: {60 * len(facts) / sampled:.1f} facts/min, "
        f"{n_sampled / sampled:.0f} positions/s, {n_sampled / len(facts):.0f} positions a fact; "
        f"{processor / len(facts):.2f} s of processor a fact"
    )
    print(f"ratio: {sampled / seconds:.1f}")
    print(describe())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
