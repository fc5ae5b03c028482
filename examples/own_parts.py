"""A metric and a perturbation of one's own, without a package: `python own_parts.py`."""

import sys

import polars as pl

import shaketable
from shaketable import Question


@shaketable.metric(words="brevity")
def is_brief(answer: str, question: Question, longest: int = 5) -> bool:
    """At most so many words."""
    return len(answer.split()) <= longest


@shaketable.perturbation
def blurred(sentences: list[str], rng, share: float = 0.5) -> list[str]:
    """Some names become `somebody`, as in an anonymized document."""
    return [
        " ".join("somebody" if word[:1].isupper() and rng.random() < share else word for word in text.split())
        for text in sentences
    ]


if __name__ == "__main__":
    study = shaketable.make_study(
        "own-parts",
        limit=int(sys.argv[1]) if sys.argv[1:] else 24,
        models=["pipeline(name='quoting', python='function/app.py:answer')"],
        perturbations=["unchanged", blurred, "blurred(share=1.0)"],
        metrics=["correct", "is_brief(longest=3)"],
        analyses=["correctness", "degradation"],
        analyze={"n_resamples": 500},
    )
    run = shaketable.run(study, "runs/own-parts")
    print(run)
    means = run.score_table().group_by("metric", "perturbation").agg(pl.col("value").mean(), n=pl.len())
    print(means.sort("metric", "perturbation"))
