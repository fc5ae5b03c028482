"""Small language models whose every probability is known, and brute force over them."""

import numpy as np

from shaketable.facts.curves.vocabulary import Vocabulary
from shaketable.metrics.contains import Contains
from shaketable.text.normalization import casefold_strip


def drive(requests, model):
    """Answer every request of a curve; its result."""
    try:
        wanted = next(requests)
        while True:
            wanted = requests.send([model(suffix) for suffix in wanted])
    except StopIteration as finished:
        return finished.value


def normalized(logits):
    return logits - np.logaddexp.reduce(logits)


BY_HAND = Vocabulary(["Paris", "Quito", ""], {2})


def by_hand(suffix):
    """The first worked example: root (.6, .3, .1), after Quito (.2, .5, .3)."""
    return np.log({(): (0.6, 0.3, 0.1), (1,): (0.2, 0.5, 0.3)}[suffix])


TOY = Vocabulary(["", "alfa", "beta", "alfabeta", "ceta", " "], {0})


def toy(suffix):
    """The second worked example, a deterministic rule over token ids."""
    k, s = len(suffix), sum(suffix)
    bonus = [4.0 * ((k, v) in ((0, 1), (1, 2))) for v in range(6)]
    return normalized(np.array([2 * np.cos(0.7 * (v + 1) * (k + 1) + 0.5 * s) + bonus[v] for v in range(6)]))


def random_model(seed, n):
    """Every prefix has its own random logits, the same whenever it is asked for."""

    def model(suffix):
        return normalized(np.random.default_rng([seed, *suffix, len(suffix)]).normal(0, 2, n))

    return model


def brute_force(model, vocabulary, is_correct, n_tokens, temperature):
    """Sum over every complete answer, by plain recursion."""

    def walk(suffix):
        probabilities = np.exp(normalized(model(suffix) / temperature))
        total = 0.0
        for token, probability in enumerate(probabilities):
            longer = (*suffix, token)
            if token in vocabulary.end_ids or len(longer) == n_tokens:
                total += probability * is_correct(vocabulary.text(longer))
            else:
                total += probability * walk(longer)
        return total

    return walk(())


def judged(golds, match, text, cut=False):
    """The finished text as the metrics judge it, after the cut and strip of the method."""
    text = (text.partition("\n")[0] if cut else text).strip()
    if match != "exact":
        return any(Contains(match=match)._occurs(gold, text) for gold in golds)
    return casefold_strip(text) in {casefold_strip(gold) for gold in golds}
