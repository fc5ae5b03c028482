"""How strong are published rewrites, and what rules make of the same questions?

    python benchmarks/published_strength.py PATH [n_by_rules]

PATH has JSON lines with `dimension`, `question` and `rewrite`.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean

from shaketable import catalog
from shaketable.types import Question
from shaketable.variations.strength import share_of_terms_kept, word_distance

Pairs = list[tuple[str, str]]


def main(path: Path, n_by_rules: int) -> None:
    published: dict[str, Pairs] = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        published[row["dimension"]].append((row["question"], row["rewrite"]))
    for dimension, pairs in sorted(published.items()):
        tell(f"{dimension}, published", pairs)
        if dimension in catalog.known("variation") and n_by_rules:
            by_rules = reword(dimension, _spread(list(dict.fromkeys(original for original, _ in pairs)), n_by_rules))
            reworded = {original for original, _ in by_rules}
            tell(f"{dimension}, by rules", by_rules)
            tell(f"{dimension}, published, the same questions", [pair for pair in pairs if pair[0] in reworded])


def _spread(texts: list[str], n: int) -> list[str]:
    """So many of them, at equal distances."""
    return texts[:: max(1, len(texts) // n)][:n]


def reword(variation: str, originals: list[str]) -> Pairs:
    """Originals with the accepted wordings that the rules make of them."""
    questions = [Question(id=str(i), text=text, answers=()) for i, text in enumerate(originals)]
    made = catalog.build("variation", variation).vary(questions)
    return [
        (question.text, variant.text)
        for question, variants in zip(questions, made, strict=True)
        for variant in variants
        if variant.rejected is None
    ]


def tell(name: str, pairs: Pairs) -> None:
    kept = [share for pair in pairs if (share := share_of_terms_kept(*pair)) is not None]
    distances = [word_distance(*pair) for pair in pairs]
    print(
        f"{name}: {len(pairs)} wordings, terms kept {mean(kept):.3f}, edit distance {mean(distances):.3f}", flush=True
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
