"""Claim: at no larger root-mean-square error of the accuracy curve, the curve's bounds decode at most a tenth of the
token positions that 10 temperatures × 10 trials decode; its defaults, which also give estimates where the bounds are
wide, decode fewer than those trials.

The truth is the same estimator with four times the positions of its defaults, which `curve_against_samples.py`
compares with samples; how far it may be off is printed.

    python benchmarks/curve_positions.py [N_FACTS]
"""

import sys
import time

import numpy as np
from machine import describe

from shaketable.facts.curves.curve import CurveSettings, curve
from shaketable.facts.curves.predicate import Predicate
from shaketable.facts.curves.vocabulary import Vocabulary
from shaketable.methods.recall import Recall, first_line
from shaketable.metrics.contains import Contains
from shaketable.metrics.exact_match import ExactMatch
from shaketable.models.smollm2 import Smollm2
from shaketable.stages.curves import Growing, grow, step_on
from shaketable.stages.plan import plan
from shaketable.study import load_study
from shaketable.types import Answer, Prompt, Sampling

TEMPERATURES = tuple(round(0.2 * i, 1) for i in range(1, 11))
TRIALS, MAX_TOKENS = 10, 5
BUDGETS = ((5, 0), (10, 0), (20, 0), (45, 0), (CurveSettings.budget, CurveSettings.n_samples))
"""Positions at most, and samples of what they leave open."""
TRUTH = CurveSettings(budget=1200, n_samples=280, grid=TEMPERATURES)


def prompts(question, temperatures, trials, seed):
    [step] = [next(Recall().answer(question.text))]
    return [
        Prompt(messages=step.messages, sampling=Sampling(temperature=t, max_tokens=MAX_TOKENS), seed=seed * 10**6 + i)
        for t in temperatures
        for i in range(int(1000 * t), int(1000 * t) + trials)
    ]


def known_facts(model, n):
    """The first facts of the built-in set that the model gets right at temperature 0."""
    judge, found = ExactMatch(), []
    for question in plan(load_study("factual_robustness")).questions:
        [reply] = model.generate(prompts(question, (0.0,), 1, 0))
        if judge._judge(Answer(text=first_line(reply.text)), question):
            found.append(question)
        if len(found) == n:
            break
    return found


def sample(model, facts):
    """Accuracy of ten trials at each temperature, as the study estimates it."""
    judge = Contains()
    before, start = model.engine.n_positions, time.perf_counter()
    accuracies = []
    for seed, question in enumerate(facts, 1):
        replies = model.generate(prompts(question, TEMPERATURES, TRIALS, seed))
        right = [any(judge._occurs(gold, first_line(r.text)) for gold in question.answers) for r in replies]
        accuracies.append(np.reshape(right, (len(TEMPERATURES), TRIALS)).mean(1))
    return np.array(accuracies), model.engine.n_positions - before, time.perf_counter() - start


def estimate(model, vocabulary, facts, settings):
    before, start = model.continuations.n_positions, time.perf_counter()
    model.continuations.stems.clear()

    def started():
        for seed, question in enumerate(facts):
            predicate = Predicate(question.answers, vocabulary, "substring", cut_at_newline=True)
            [prompt] = prompts(question, (1.0,), 1, 0)
            yield step_on(Growing(prompt, curve(question.id, predicate, settings, seed), []), None)

    made = {one.key: one for finished in grow(model, started(), settings.budget) for one in finished}
    # Each prompt's own last position is a node too.
    n_positions = model.continuations.n_positions - before + len(facts)
    return [made[question.id] for question in facts], n_positions, time.perf_counter() - start


def values(curves):
    """The estimates at the ten temperatures; where there is none, the certified lower bound, which rises fast."""
    return np.array(
        [[low if value is None else value for value, low in zip(one.value, one.low, strict=True)] for one in curves]
    )


def rmse(found, truth):
    return float(np.sqrt(np.mean((found - truth) ** 2)))


def main(n):
    model = Smollm2()
    facts = known_facts(model, n)
    vocabulary = Vocabulary(*model.token_bytes())
    curves, n_truth, _ = estimate(model, vocabulary, facts, TRUTH)
    truth = values(curves)
    width = max(
        high - low
        for one in curves
        for low, high in zip(one.value_low, one.value_high, strict=True)
        if low is not None and high is not None
    )
    print(f"{len(facts)} facts; truth from {n_truth / len(facts):.0f} positions each, widest 95 % interval {width:.3f}")
    sampled, n_sampled, sampled_seconds = sample(model, facts)
    goal = rmse(sampled, truth)
    print(
        f"10 temperatures x 10 trials: error {goal:.4f}, {n_sampled / len(facts):.0f} positions a fact, "
        f"{sampled_seconds / len(facts):.3f} s a fact"
    )
    best = None
    for budget, n_samples in BUDGETS:
        settings = CurveSettings(budget=budget, n_samples=n_samples, grid=TEMPERATURES)
        curves, n_positions, seconds = estimate(model, vocabulary, facts, settings)
        error = rmse(values(curves), truth)
        print(
            f"curve, at most {budget:2} positions: error {error:.4f}, {n_positions / len(facts):.1f} positions a fact, "
            f"{seconds / len(facts):.3f} s a fact; ratios {n_sampled / n_positions:.1f} of positions, "
            f"{sampled_seconds / seconds:.1f} of time"
        )
        if best is None and error <= goal:
            best = budget, n_sampled / n_positions, sampled_seconds / seconds
    if best:
        print(f"at no larger error: budget {best[0]}, {best[1]:.1f} times fewer positions, {best[2]:.1f} times faster")
    else:
        print("no budget reached the error of sampling")
    print(describe())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
