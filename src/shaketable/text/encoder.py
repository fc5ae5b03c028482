"""Texts → vectors: one per token for BERTScore, one per text for similarity and retrieval."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from shaketable import weights
from shaketable.errors import WeightsError, lacks_packages, need_packages
from shaketable.text.normalization import without_surrogates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

Pooling = Literal["mean", "cls"]
"""The mean of all tokens, or the first mark, as a sentence encoder was trained."""
PACKAGES = ("torch", "transformers")
TOKENS_PER_BATCH = {"cpu": 1024, "cuda": 32768}
"""Padding counted. A processor is fastest while a batch fits its caches; an accelerator wants more at once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenStates:
    """One text as a layer of the encoder sees it, marks of beginning and end included."""

    states: Tensor
    """float32, tokens × dimensions, on the device of the encoder."""
    is_word: Tensor
    """One boolean per token; False for the encoder's own marks, so all False for an empty text."""
    pieces: tuple[str, ...] = ()
    """The tokens as the tokenizer writes them: `play`, `##ing`."""


def encoder(name: str, device: str = "cpu") -> Encoder:
    """The encoder with this name; every part of a process shares it. The device `auto` is cuda, or cpu without it."""
    need_packages(f"The encoder '{name}'", *PACKAGES)
    if device == "auto":
        import torch

        device = "cuda" if torch.cuda.is_available() else "cpu"
    return _shared(name, device)


def lacks(name: str) -> str | None:
    """Why an encoder cannot be used on this machine, without loading it; None: it can."""
    return lacks_packages(f"The encoder '{name}'", PACKAGES) or weights.lacks(name)


@functools.cache
def _shared(name: str, device: str) -> Encoder:
    return Encoder(name, device)


class Encoder:
    """A transformer in float32. A text gets the same vectors alone and in any company, up to rounding."""

    def __init__(self, name: str, device: str = "cpu") -> None:
        self.name = name
        self.device = device
        self._models: dict[int | None, Any] = {}

    @property
    def n_layers(self) -> int:
        return int(self._config.num_hidden_layers)

    def token_states(self, texts: Sequence[str], layer: int) -> list[TokenStates]:
        """The states after a layer (0: the embeddings), in the order of the texts. Cut at the tokenizer's limit."""
        import torch

        marks = torch.tensor([self._tokenizer.cls_token_id, self._tokenizer.sep_token_id])
        by_index: dict[int, TokenStates] = {}
        for rows, tokens, mask, states in self._run(texts, self._limit, layer):
            is_word = ~torch.isin(tokens, marks).to(self.device)
            for row, n_tokens, row_states, row_is_word, ids in zip(
                rows, mask.sum(1).tolist(), states, is_word, tokens.tolist(), strict=True
            ):
                by_index[row] = TokenStates(
                    states=row_states[:n_tokens],
                    is_word=row_is_word[:n_tokens],
                    pieces=tuple(self._tokenizer.convert_ids_to_tokens(ids[:n_tokens])),
                )
        return [by_index[row] for row in range(len(texts))]

    @property
    def n_dimensions(self) -> int:
        return int(self._config.hidden_size)

    def embed(self, texts: Sequence[str], pooling: Pooling = "mean", *, unit: bool = True) -> NDArray[np.float32]:
        """One vector of length 1 per text (`unit=False`: of its own length). Cut where the sentence encoder was
        trained to cut.

        An empty text has a vector too, that of the two marks alone, so two empty texts have similarity 1.
        """
        import numpy as np
        import torch

        distinct = list(dict.fromkeys(texts))
        vectors: dict[str, NDArray[np.float32]] = {}
        for rows, _, mask, states in self._run(distinct, self._sentence_limit, None):
            weight = mask.unsqueeze(-1).float().to(self.device)
            pooled = states[:, 0] if pooling == "cls" else (states * weight).sum(1) / weight.sum(1)
            scaled = torch.nn.functional.normalize(pooled, dim=1) if unit else pooled
            vectors.update((distinct[row], vector) for row, vector in zip(rows, scaled.cpu().numpy(), strict=True))
        return np.stack([vectors[text] for text in texts]) if texts else np.zeros((0, self.n_dimensions), np.float32)

    def _run(
        self, texts: Sequence[str], limit: int, layer: int | None
    ) -> Iterator[tuple[list[int], Tensor, Tensor, Tensor]]:
        """Batches of (rows, token ids, mask, states), longest texts first: neighbors need little padding. States stay
        on the device."""
        import torch

        encoded = self._tokens(texts, limit)
        order = sorted(range(len(texts)), key=lambda row: -len(encoded[row]))
        budget = TOKENS_PER_BATCH["cpu" if self.device == "cpu" else "cuda"]
        start = 0
        while start < len(order):
            n_texts = max(1, budget // len(encoded[order[start]]))
            rows = order[start : start + n_texts]
            start += n_texts
            tokens = torch.nn.utils.rnn.pad_sequence(
                [torch.tensor(encoded[row]) for row in rows],
                batch_first=True,
                padding_value=self._tokenizer.pad_token_id,
            )
            lengths = torch.tensor([len(encoded[row]) for row in rows])
            mask = torch.arange(tokens.shape[1]) < lengths.unsqueeze(1)
            with torch.inference_mode():
                output = self._model(layer)(tokens.to(self.device), attention_mask=mask.long().to(self.device))
                states = output.last_hidden_state
                if not torch.isfinite(states).all():
                    raise WeightsError(
                        f"The encoder '{self.name}' gave a vector that is no number (inf or nan) for a text of "
                        f"{len(encoded[rows[0]])} tokens. Nothing was made of it. Its weights are damaged or were "
                        "trained badly: get them again, or use another encoder."
                    )
            yield rows, tokens, mask, states

    def _tokens(self, texts: Sequence[str], limit: int) -> list[list[int]]:
        if not texts:
            return []
        stripped = [without_surrogates(text).strip() for text in texts]
        # Byte-pair vocabularies know a word at the start of a text only with its space; bert-score adds it too.
        if type(self._tokenizer).__name__.startswith(("Roberta", "GPT2")):
            stripped = [f" {text}" if text else "" for text in stripped]
        encoded: list[list[int]] = self._tokenizer(stripped, truncation=True, max_length=limit)["input_ids"]
        return encoded

    def _model(self, layer: int | None) -> Any:
        """The transformer up to a layer; the layers above it are not loaded. None: all."""
        if layer is not None and not 0 <= layer <= self.n_layers:
            raise ValueError(f"{self.name} has {self.n_layers} layers; layer {layer} was asked for.")
        if layer not in self._models:
            import torch
            from transformers import AutoModel

            from shaketable.text.packed_linear import pack_linear_layers

            n_layers = self.n_layers if layer is None else layer
            with weights.quiet_loading():
                model = AutoModel.from_pretrained(
                    weights.locate(self.name), num_hidden_layers=n_layers, dtype=torch.float32
                )
            self._models[layer] = model.eval().to(self.device)
            pack_linear_layers(model)
        return self._models[layer]

    @functools.cached_property
    def _config(self) -> Any:
        from transformers import AutoConfig

        return AutoConfig.from_pretrained(weights.locate(self.name))

    @functools.cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(weights.locate(self.name))

    @functools.cached_property
    def _limit(self) -> int:
        """Tokens at most. A tokenizer that states no limit has a huge one; then the model's positions count,
        less the two that RoBERTa's kin keep for padding."""
        limit = int(self._tokenizer.model_max_length)
        return limit if limit < 10**9 else int(self._config.max_position_embeddings) - 2

    @functools.cached_property
    def _sentence_limit(self) -> int:
        settings = weights.locate(self.name) / "sentence_bert_config.json"
        if not settings.exists():
            return self._limit
        return min(self._limit, int(json.loads(settings.read_text())["max_seq_length"]))
