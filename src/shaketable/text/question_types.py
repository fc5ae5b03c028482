"""Questions → the type of answer they ask for, as TREC counts types."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from shaketable import weights
from shaketable.errors import WeightsError, need_packages
from shaketable.text.encoder import encoder
from shaketable.text.normalization import without_surrogates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Head = Mapping[str, NDArray[np.float32]]
    """`weight`, one row per label, and `bias`."""

LABELS = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
"""Abbreviation, description, entity, human, location, number (dates and amounts too): the coarse types of Li and Roth
(2002)."""

ENCODER = "all-MiniLM-L6-v2"
PACKAGES = ("torch", "transformers", "safetensors")
LAYER = 5
"""Chosen by cross-validation on TREC's training questions; BERTScore reads the same layer, so it is often loaded."""
HEAD = "head.safetensors"
TEXTS_AT_ONCE = 64


def predict(texts: Sequence[str], model: str | None = None) -> list[str]:
    """The type of each question, by the head that ships, or by a fine-tuned classifier in a folder."""
    if not texts:
        return []
    need_packages("The classifier of question types", *PACKAGES)
    return classify(*_fine_tuned(model), texts) if model else _by_head(texts)


def features(texts: Sequence[str]) -> NDArray[np.float32]:
    """What the head sees: the states of the first two tokens, most often the question word and what it asks for, which
    have read the rest, and the mean of all states; each of length 1."""
    import torch
    from torch.nn.functional import normalize

    states_of_texts = [text.states for text in encoder(ENCODER).token_states(texts, LAYER)]
    first = torch.stack([states[1] for states in states_of_texts])
    # An empty text has the two marks of beginning and end alone.
    second = torch.stack([states[min(2, len(states) - 1)] for states in states_of_texts])
    mean = torch.stack([states.mean(0) for states in states_of_texts])
    together: NDArray[np.float32] = torch.cat([normalize(part) for part in (first, second, mean)], dim=1).numpy()
    return together


def best_label(given: NDArray[np.float32], head: Head) -> list[int]:
    best: list[int] = (given @ head["weight"].T + head["bias"]).argmax(axis=1).tolist()
    return best


def classify(tokenizer: Any, model: Any, texts: Sequence[str]) -> list[str]:
    """The label that a fine-tuned classifier gives to each text."""
    import torch

    labels: list[str] = []
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        batch = [without_surrogates(text) for text in texts[start : start + TEXTS_AT_ONCE]]
        inputs = tokenizer(batch, padding=True, truncation=True, return_tensors="pt")
        with torch.inference_mode():
            best = model(**inputs.to(model.device)).logits.argmax(1).tolist()
        labels += [model.config.id2label[index] for index in best]
    return labels


def _by_head(texts: Sequence[str]) -> list[str]:
    return [LABELS[index] for index in best_label(features(texts), _head())]


@functools.cache
def _head() -> Head:
    from safetensors.numpy import load

    return load((files("shaketable") / "resources" / "question_types" / HEAD).read_bytes())


@functools.cache
def _fine_tuned(folder: str) -> tuple[Any, Any]:
    """Tokenizer and classifier."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    path = weights.locate(folder)
    with weights.quiet_loading():
        model = AutoModelForSequenceClassification.from_pretrained(path, dtype=torch.float32).eval()
    names = model.config.id2label.values()
    if not set(names) <= set(LABELS):
        raise WeightsError(
            f"The question types of '{folder}' are {', '.join(names)}; expected {', '.join(LABELS)}. "
            "Train such a classifier with scripts/train_question_types.py --fine-tune."
        )
    return AutoTokenizer.from_pretrained(path), model
