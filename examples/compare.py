"""Is the new release better? Two functions on one table, and `shaketable compare` beside it: `python compare.py`.

The same in the terminal, once the run is there: `shaketable compare runs/compare --systems before after`.
"""

import random
import re
import subprocess
import sys

from function.app import words

import shaketable


@shaketable.pipeline
def before(question: str, context: str, temperature: float, seed: int) -> str:
    """Any sentence of the context."""
    return random.Random(seed).choice(re.split(r"(?<=[.!?])\s+", context))


@shaketable.pipeline
def after(question: str, context: str, temperature: float, seed: int) -> str:
    """The sentence that fits best; when it is hot, it forgets to look."""
    sentences = re.split(r"(?<=[.!?])\s+", context)
    best = max(sentences, key=lambda sentence: len(words(sentence) & words(question)))
    return random.Random(seed).choice(sentences) if temperature > 1 else best


if __name__ == "__main__":
    study = shaketable.make_study(
        "compare",
        limit=int(sys.argv[1]) if sys.argv[1:] else 40,
        models=[before, after],
        perturbations=["unchanged", "sentence_removal"],
        temperatures=[0.0, 1.5],
        analyze={"n_resamples": 500},
    )
    print(shaketable.run(study, "runs/compare"), flush=True)
    command = ["shaketable", "compare", "runs/compare", "--systems", "before", "after"]
    sys.exit(subprocess.run(command).returncode)
