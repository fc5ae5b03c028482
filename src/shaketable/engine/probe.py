"""Texts → what a model pays attention to and how likely it finds each token, without generating.

Where rows of any number may be batched, texts are read side by side. On a GPU texts of nearly one length are read
together in one fixed shape, so that neighbours do not change how sums round. Elsewhere every text is read alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from shaketable.engine.kept_readings import ReadingKey
from shaketable.engine.sampling import entropies
from shaketable.engine.side_by_side import packs
from shaketable.errors import ModelError
from shaketable.text.normalization import without_surrogates
from shaketable.types import Failure, Probe, Reading

if TYPE_CHECKING:
    from shaketable.engine.sweep import SweepEngine

ROWS = 8
"""Texts read together on a GPU; missing ones are filled up."""
BLOCK = 32
"""Lengths on a GPU are padded to multiples of this many tokens."""

COMPUTED = {"attention", "logprobs", "entropy"}
"""A probe that wants none of these is cut into tokens, and the model is not run."""


@dataclass(frozen=True)
class Text:
    """The tokens of one probe, after those of its prompt."""

    number: int
    probe: Probe
    n_before: int
    ids: list[int]

    @property
    def key(self) -> ReadingKey:
        return tuple(self.ids), self.n_before, self.probe.wants

    @property
    def is_computed(self) -> bool:
        return bool(COMPUTED & set(self.probe.wants))


def read_each(engine: SweepEngine, probes: Sequence[Probe]) -> list[Reading | Failure]:
    replies: dict[int, Reading | Failure] = {}
    texts = []
    for i, probe in enumerate(probes):
        text = _text(engine, i, probe)
        failure = _refuse(engine, text)
        if failure:
            replies[i] = failure
        else:
            texts.append(text)
    alike: dict[ReadingKey, list[Text]] = {}
    for text in texts:
        alike.setdefault(text.key, []).append(text)
    readings = {key: reading for key in alike if (reading := engine.readings.recall(key))}
    unread = [same[0] for key, same in alike.items() if key not in readings]
    with torch.inference_mode():
        for batch in _batches(engine, unread):
            for text, reading in zip(batch, _read(engine, batch), strict=True):
                readings[text.key] = reading
                if text.is_computed:
                    engine.readings.keep(text.key, reading)
    replies |= {text.number: readings[text.key] for text in texts}
    return [replies[i] for i in range(len(probes))]


def _text(engine: SweepEngine, number: int, probe: Probe) -> Text:
    before: list[int] = []
    if probe.before:
        before = engine.encode(probe.before, probe.layout)
    elif probe.beginning_mark and engine.tokenizer.bos_token_id is not None:
        before = [engine.tokenizer.bos_token_id]
    own = probe.token_ids
    if own is None:
        own = engine.tokenizer(without_surrogates(probe.text), add_special_tokens=False)["input_ids"]
    return Text(number, probe, len(before), [*before, *own])


def _refuse(engine: SweepEngine, text: Text) -> Failure | None:
    if len(text.ids) == text.n_before:
        kind, message = "empty_prompt", "The text to read has no tokens. Give a text."
    elif len(text.ids) > engine.window:
        kind = "too_long"
        message = (
            f"The text to read has {len(text.ids):,} tokens, but {engine.path.name} reads {engine.window:,} at most. "
            "Lower the method's token limits."
        )
    else:
        return None
    return Failure(kind=kind, message=message, step="probe", may_retry=False)


def _batches(engine: SweepEngine, texts: list[Text]) -> Iterator[list[Text]]:
    if engine.takes_any_number:
        yield from packs(texts, [len(text.ids) for text in texts], engine.device)
        return
    if engine.device == "cpu":
        yield from ([text] for text in texts)
        return
    for _, grouped in itertools.groupby(sorted(texts, key=_blocks), key=_blocks):
        alike = list(grouped)
        yield from (alike[start : start + ROWS] for start in range(0, len(alike), ROWS))


def _blocks(text: Text) -> int:
    return -(-len(text.ids) // BLOCK)


def _read(engine: SweepEngine, batch: list[Text]) -> list[Reading]:
    wants = {want for text in batch for want in text.probe.wants}
    if not wants & COMPUTED:
        return [_reading(engine, text, torch.empty(0), None) for text in batch]
    if engine.takes_any_number:
        return _read_side_by_side(engine, batch, wants)
    rows = [text.ids for text in batch]
    if engine.device != "cpu":
        length = BLOCK * _blocks(batch[0])
        # A causal model never looks right, so what fills a row up changes nothing before it.
        rows = [[*row, *[row[-1]] * (length - len(row))] for row in rows]
        rows += rows[-1:] * (ROWS - len(rows))
    n_logits = 0 if wants & {"logprobs", "entropy"} else 1
    ids = torch.tensor(rows, device=engine.device)
    attention: list[torch.Tensor] = []
    if "attention" in wants:
        with _watched(engine, attention):
            logits = engine.model(ids, use_cache=False, logits_to_keep=n_logits).logits
    else:
        logits = engine.model(ids, use_cache=False, logits_to_keep=n_logits).logits
    return [
        _reading(engine, text, logits[row], attention[0][row] if attention else None) for row, text in enumerate(batch)
    ]


def _read_side_by_side(engine: SweepEngine, batch: list[Text], wants: set[str]) -> list[Reading]:
    last = _last_attention(engine) if "attention" in wants else None
    ids = [text.ids for text in batch]
    texts = engine.side_by_side(ids, watched=last and last.layer_idx)
    needs_all = bool(wants & {"logprobs", "entropy"})
    logits = engine.read_together(texts, range(texts.n_tokens) if needs_all else texts.ends)
    lines = torch.split(logits, texts.lengths if needs_all else [1] * len(batch))
    if last and not texts.weights:
        raise _no_attention(engine, f"its {type(last).__name__} does not attend through the library's interface.")
    weights = texts.weights if last else [None] * len(batch)
    return [_reading(engine, *read) for read in zip(batch, lines, weights, strict=True)]


def _reading(engine: SweepEngine, text: Text, logits: torch.Tensor, attention: torch.Tensor | None) -> Reading:
    start, end, wants = text.n_before, len(text.ids), text.probe.wants
    own = text.ids[start:]
    extras: dict[str, Any] = {}
    if "attention" in wants and attention is not None:
        # A copy: what is kept must not hold the attention of the whole pass.
        extras["attention"] = attention[:, start:end, start:end].float().cpu().clone().numpy()
    if {"logprobs", "entropy"} & set(wants):
        first: list[float | None] = [None] if start == 0 else []
        given = torch.log_softmax(logits[max(start - 1, 0) : end - 1].float(), -1)
        tokens = torch.tensor(own[len(first) :], device=given.device, dtype=torch.long)
        if "logprobs" in wants:
            extras["logprobs"] = first + given.gather(1, tokens[:, None])[:, 0].tolist()
        if "entropy" in wants:
            extras["entropy"] = first + entropies(given)
    if "token_ids" in wants:
        extras["token_ids"] = own
    return Reading(tokens=engine.token_texts(own), extras=extras)


@contextmanager
def _watched(engine: SweepEngine, attention: list[torch.Tensor]) -> Iterator[None]:
    """The last layer's attention weights go to the list; the fused routines of other times keep none."""
    usual = engine.model.config._attn_implementation
    last = _last_attention(engine)
    hook = last.register_forward_hook(lambda module, given, output: attention.extend(_weights(output)))
    try:
        engine.model.set_attn_implementation("eager")
        yield
    except ValueError as error:
        raise _no_attention(engine, str(error)) from error
    finally:
        hook.remove()
        engine.model.set_attn_implementation(usual)
    if len(attention) != 1:
        raise _no_attention(engine, f"its {type(last).__name__} returns no weights.")


def _weights(output: Any) -> list[torch.Tensor]:
    """Attention modules of transformers return (output, weights); the weights are rows x heads x tokens x tokens."""
    second = output[1] if isinstance(output, tuple) and len(output) > 1 else None
    square = isinstance(second, torch.Tensor) and second.dim() == 4 and second.shape[-1] == second.shape[-2]
    return [second] if isinstance(second, torch.Tensor) and square else []


def _last_attention(engine: SweepEngine) -> Any:
    layers: list[Any] = [
        module
        for module in engine.model.modules()
        if "Attention" in type(module).__name__ and isinstance(getattr(module, "layer_idx", None), int)
    ]
    if not layers:
        raise _no_attention(engine, "it has no numbered attention layers.")
    return max(layers, key=lambda module: module.layer_idx)


def _no_attention(engine: SweepEngine, reason: str) -> ModelError:
    return ModelError(
        f"{engine.path.name} gives no attention weights: {reason} Methods that need attention, such as dragin, work "
        "with decoder models of transformers that have an eager attention. Use another model or another method."
    )
