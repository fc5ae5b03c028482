"""A causal language model's folder or file → the loaded model, its tokenizer, and what they say of themselves."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from shaketable.engine.elementwise import compute_by_whole_vectors
from shaketable.engine.narrow_weights import lacks_int8, narrow_linear_layers
from shaketable.errors import ModelError
from shaketable.identity import digest_text
from shaketable.text.normalization import without_surrogates
from shaketable.text.packed_linear import let_file_go, pack_linear_layers
from shaketable.text.thoughts import OPEN, OPENED
from shaketable.types import Message, Prompt, Sampling
from shaketable.weights import quiet_loading

N_TAG = 16
"""Tokens at the end of a prompt that hold the tag of an opened thought, letter by letter at worst."""


class EngineSettings(TypedDict, total=False):
    device: str
    dtype: str
    n_rows: int
    """Rows of a batch at most."""
    batching: Literal["exact", "free"]


class Checkpoint:
    def __init__(self, path: Path, **settings: Unpack[EngineSettings]) -> None:
        self.path = path
        self.device, self.dtype = settings.get("device", "cpu"), settings.get("dtype", "float32")
        self.model, self.tokenizer = self._load()
        self.window = int(getattr(self.model.config.get_text_config(), "max_position_embeddings", 0)) or 1 << 30
        """Tokens that the model can read."""
        self.has_window = bool(getattr(self.model.config.get_text_config(), "sliding_window", None))
        """Whether some layer sees the last tokens alone."""
        self.end_ids = self._end_ids()
        self.n_logits = int(self.model.get_output_embeddings().out_features)
        self.defaults = self.model.generation_config

    def _load(self) -> tuple[Any, Any]:
        folder, options = self.path, {}
        if self.path.suffix == ".gguf":
            folder, options = self.path.parent, {"gguf_file": self.path.name}
        if self.device.startswith("cuda") and not torch.cuda.is_available():
            raise ModelError(
                f"device='{self.device}' was asked for, but PyTorch sees no CUDA device. Use device='cpu'."
            )
        if self.dtype == "int8" and (problem := lacks_int8(self.device)):
            raise ModelError(problem)
        is_narrow = self.device == "cpu" and self.dtype != "float32"
        read_as = self.dtype
        if is_narrow:  # Layer by layer from the file's own format, so that the model is never there twice.
            read_as = "float32" if options else "auto"
        try:
            with quiet_loading():
                tokenizer = AutoTokenizer.from_pretrained(folder, **options)
                model = AutoModelForCausalLM.from_pretrained(folder, dtype=read_as, **options)
        except (OSError, ValueError, KeyError) as error:
            reason = str(error).strip().splitlines()[0]
            raise ModelError(
                f"{self.path} does not load as a causal language model: {reason} Expected a folder with config.json, "
                "weights and a tokenizer, or a .gguf file."
            ) from error
        model = model.to(self.device).eval()
        if is_narrow:
            narrow_linear_layers(model, self.dtype)
            let_file_go(model)
        else:
            pack_linear_layers(model)
        if self.device == "cpu":
            compute_by_whole_vectors(model)
        return model, tokenizer

    def _end_ids(self) -> set[int]:
        ids: set[int] = set()
        for given in (self.model.generation_config.eos_token_id, self.tokenizer.eos_token_id):
            ids |= set(given if isinstance(given, list) else [given])
        return {token for token in ids if token is not None}

    @functools.cached_property
    def revision(self) -> str:
        """A digest of the config and of the names and sizes of the weight files: those of a folder, or a single file,
        whatever lies beside it."""
        files = [file for kind in ("safetensors", "gguf", "bin") for file in sorted(self.path.glob(f"*.{kind}"))]
        files = files if self.path.is_dir() else [self.path]
        listed = [f"{file.name}:{file.stat().st_size}" for file in files]
        return f"{self.path.name}:{digest_text(self.model.config.to_json_string() + '|'.join(listed))[:12]}"

    # --- text → tokens ------------------------------------------------------------------------

    def encode(self, messages: Sequence[Message], layout: str) -> list[int]:
        """The prompt's token ids: through the chat template, or as raw text."""
        turns = self._turns(messages)
        if layout == "plain":
            return list(self.tokenizer("".join(turn["content"] for turn in turns))["input_ids"])
        if not self.tokenizer.chat_template:
            raise ModelError(
                f"{self.path.name} has no chat template. Write layout='plain' in the method, such as "
                "closed_book(layout='plain'), or use weights with a template."
            )
        goes_on = messages[-1].role == "assistant"
        if goes_on and turns[-1]["content"].lstrip().startswith(OPEN):
            # What the model wrote is appended as it is: templates take thoughts out of messages, or open another.
            asked = self.tokenizer.apply_chat_template(turns[:-1], add_generation_prompt=True, tokenize=False)
            text = OPENED.sub("", str(asked)) + turns[-1]["content"]
            return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
        encoded = self.tokenizer.apply_chat_template(
            turns, add_generation_prompt=not goes_on, continue_final_message=goes_on, return_dict=True
        )
        return list(encoded["input_ids"])

    @functools.lru_cache(maxsize=16)  # noqa: B019 (engines live as long as the process)
    def opening_ids(self, messages: tuple[Message, ...]) -> tuple[int, ...]:
        """The token ids of a conversation's first messages, after which others may follow."""
        encoded = self.tokenizer.apply_chat_template(
            self._turns(messages), add_generation_prompt=False, return_dict=True
        )
        return tuple(encoded["input_ids"])

    def _turns(self, messages: Sequence[Message]) -> list[dict[str, str]]:
        """What a question or a passage contains is data: a mark in it that ends a turn is broken by a space."""
        return [
            {
                "role": message.role,
                "content": self._marks.sub(
                    lambda mark: f"{mark[0][0]} {mark[0][1:]}", without_surrogates(message.content)
                ),
            }
            for message in messages
        ]

    @functools.cached_property
    def _marks(self) -> re.Pattern[str]:
        """The texts that the tokenizer takes for special tokens, such as `<|im_end|>`."""
        added = [token.content for token in self.tokenizer.added_tokens_decoder.values() if token.special]
        listed = {mark for mark in (*added, *self.tokenizer.all_special_tokens) if len(mark) > 1}
        return re.compile("|".join(map(re.escape, sorted(listed, key=len, reverse=True))) or r"(?!)")

    # --- tokens → text ------------------------------------------------------------------------

    def text_of(self, tokens: list[int]) -> str:
        return str(self.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def token_texts(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Each token as text. Alone, some tokenizers decode a word's first token without the space before it."""
        pieces = self.tokenizer.convert_ids_to_tokens(ids)
        return tuple(
            piece.replace("▁", " ") if piece.startswith("▁") else self.tokenizer.decode([token])
            for piece, token in zip(pieces, ids, strict=True)
        )

    def opened_thought(self, prompt: Prompt, prompt_ids: list[int]) -> str:
        """The tag of a thought that the chat template opened for the model; empty: it opened none."""
        if prompt.layout == "plain" or prompt.messages[-1].role == "assistant":
            return ""
        tag = OPENED.search(str(self.tokenizer.decode(prompt_ids[-N_TAG:], clean_up_tokenization_spaces=False)))
        return tag.group() if tag else ""

    # --- sampling -----------------------------------------------------------------------------

    def used_sampling(self, sampling: Sampling) -> Sampling:
        """The values really used: those of the study, or those that the checkpoint ships."""
        if not sampling.library_defaults:
            return sampling
        shipped = self.defaults
        return Sampling(
            temperature=sampling.temperature,
            max_tokens=sampling.max_tokens,
            top_p=1.0 if shipped.top_p is None else shipped.top_p,
            # The library itself falls back to 50 where a checkpoint says nothing.
            top_k=50 if shipped.top_k is None else shipped.top_k,
            repetition_penalty=shipped.repetition_penalty or 1.0,
            stop=sampling.stop,
        )
