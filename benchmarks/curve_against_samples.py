"""Claim: at its defaults the curve lies inside the 99 % interval of 1,000 samples at temperatures 0.6, 1.0 and 1.4 in
at least 97 % of cells; a cell without an estimate counts as outside. It also says how often a scan of 10 trials
declares a fact broken too early.

    python benchmarks/curve_against_samples.py [N_FACTS] [N_SAMPLES]
"""

import sys

from curve_positions import TEMPERATURES, estimate, known_facts, prompts, sample
from machine import describe
from scipy import stats

from shaketable.facts.curves.curve import CurveSettings
from shaketable.facts.curves.vocabulary import Vocabulary
from shaketable.methods.recall import first_line
from shaketable.metrics.contains import Contains
from shaketable.models.smollm2 import Smollm2

COMPARED = (0.6, 1.0, 1.4)
SETTINGS = CurveSettings(grid=tuple(sorted({*TEMPERATURES, *COMPARED})))


def main(n_facts, n_samples):
    model, judge = Smollm2(), Contains()
    facts = known_facts(model, n_facts)
    curves, n_positions, seconds = estimate(model, Vocabulary(*model.token_bytes()), facts, SETTINGS)
    print(f"{len(facts)} curves, {n_positions / len(facts):.0f} positions and {seconds / len(facts):.2f} s each")
    inside = certified = cells = refused = 0
    for seed, (question, curve) in enumerate(zip(facts, curves, strict=True)):
        for temperature in COMPARED:
            replies = model.generate(prompts(question, (temperature,), n_samples, 10**6 + seed))
            right = sum(any(judge._occurs(gold, first_line(r.text)) for gold in question.answers) for r in replies)
            interval = stats.binomtest(right, n_samples).proportion_ci(0.99)
            place = curve.temperatures.index(temperature)
            value = curve.value[place]
            cells += 1
            refused += value is None
            inside += value is not None and interval.low <= value <= interval.high
            certified += curve.low[place] <= interval.high and curve.high[place] >= interval.low
    print(
        f"inside the 99 % interval of {n_samples} samples: {inside} of {cells} cells ({inside / cells:.1%}), "
        f"{refused} without an estimate"
    )
    print(f"certified bounds that meet that interval: {certified} of {cells}")
    accuracies, _, _ = sample(model, facts)
    early = compared = 0
    for row, curve in zip(accuracies, curves, strict=True):
        declared = next((t for t, share in zip(TEMPERATURES, row, strict=True) if share < 0.5), None)
        true = next((t for t in TEMPERATURES if curve.breaking is not None and t >= curve.breaking), None)
        compared += true is not None
        early += declared is not None and true is not None and declared < true
    print(f"10-trial scans that declare a fact broken too early: {early} of {compared}")
    print(describe())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (50, 1000)))
