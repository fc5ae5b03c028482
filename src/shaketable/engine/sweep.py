"""The local engine: one prompt at many temperatures, many times, read once and decoded together.

Rows of several prompts are decoded as one batch, each row with its own temperature and seed;
finished rows are dropped and the batch is filled from the next prompts. A row's text does not
depend on its neighbours: `exactness` proves on this machine, bit by bit, which way of batching
keeps that promise, and the engine uses no other.
"""

from __future__ import annotations

import functools
import platform
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache

from shaketable.engine.batch_invariance import prove
from shaketable.engine.row_pool import FIXED_ROWS, RowPools
from shaketable.engine.sampling import draw, entropy, sampled_logprobs, uniforms
from shaketable.engine.shared_prefix import PooledPrefix, Prefix, PrefixCache, ReadPrompt
from shaketable.engine.side_by_side import Opening, SideBySide, packs
from shaketable.errors import ModelError
from shaketable.identity import digest_text
from shaketable.text.normalization import without_surrogates
from shaketable.text.thoughts import OPEN, OPENED, split_thoughts
from shaketable.types import Completion, Failure, Json, Message, Prompt, Sampling

Exactness = Literal["any", "fixed", "alone"]
TOP = 20
"""How many alternatives `top_logprobs` keeps."""
LEAST_OPENING = 64
KEPT_OPENINGS = 8
"""Openings of prompts (worked examples) of so many tokens at least are read once, and so many are kept."""
N_TAG = 16
"""Tokens at the end of a prompt that hold the tag of an opened thought, letter by letter at worst."""
FEW_ROWS = 8
"""Rows of one prompt that are fewer do not pay for a call of their own."""


_EMPTY_PROMPT = Failure(
    kind="empty_prompt", message="The prompt has no tokens. Give the question a text.", step="generate", may_retry=False
)


@dataclass
class Row:
    """One answer being written; several tickets when greedy repeats are one computation."""

    tickets: list[int]
    prompt: Prompt
    sampling: Sampling
    """With the values really used."""
    numbers: np.ndarray
    tokens: list[int] = field(default_factory=list)
    extras: dict[str, list[Json]] = field(default_factory=dict)
    seconds: float = 0.0


class Begun(NamedTuple):
    """A prompt to read, and the rows that will continue it."""

    prompt_ids: list[int]
    n_opening: int
    """Tokens that other prompts begin with too."""
    rows: list[Row]


@dataclass
class Group:
    """The rows that continue one prompt."""

    prompt_ids: list[int]
    prefix: Prefix | PooledPrefix | DynamicCache
    """The library's own cache when the model runs plainly, one row at a time."""
    rows: list[Row]
    logits: torch.Tensor
    """The next token's, of each row."""


class SweepEngine:
    def __init__(
        self,
        path: Path,
        *,
        device: str = "cpu",
        dtype: str = "float32",
        n_rows: int = 128,
        batching: Literal["exact", "free"] = "exact",
    ) -> None:
        self.path, self.device, self.dtype, self.n_rows, self.batching = path, device, dtype, n_rows, batching
        self.waiting: dict[tuple[Any, ...], list[tuple[int, Prompt]]] = {}
        self.failed: list[tuple[int, Completion | Failure]] = []
        self.groups: list[Group] = []
        self.openings: OrderedDict[tuple[int, ...], Opening] = OrderedDict()
        self.pools = RowPools()
        self.n_positions = 0
        """Decoded token positions so far, for benchmarks."""
        self.model, self.tokenizer = self._load()
        self.window = int(getattr(self.model.config.get_text_config(), "max_position_embeddings", 0)) or 1 << 30
        """Tokens that the model can read."""
        self.has_window = bool(getattr(self.model.config.get_text_config(), "sliding_window", None))
        """Whether some layer sees the last tokens alone."""
        self.end_ids = self._end_ids()
        self.n_logits = int(self.model.get_output_embeddings().weight.shape[0])
        self.defaults = self.model.generation_config

    # --- the promise of protocols.StreamingModel ----------------------------------------------

    def submit(self, ticket: int, prompt: Prompt) -> None:
        self.waiting.setdefault((prompt.layout, prompt.messages), []).append((ticket, prompt))

    def collect(self) -> list[tuple[int, Completion | Failure]]:
        """Decode until at least one row is finished; empty when nothing waits."""
        try:
            with torch.inference_mode():
                return self._decode_until_one_is_finished()
        except BaseException as error:
            # Whoever catches this starts anew: no reply to an old ticket may reach a new one.
            self.waiting, self.groups, self.failed = {}, [], []
            self.pools = RowPools(is_fixed=self.pools.is_fixed)
            if isinstance(error, torch.OutOfMemoryError):
                raise ModelError(
                    f"{self.path.name} and the answers it writes at once do not fit into the memory of {self.device}. "
                    "Use batching='free' with a smaller n_rows, shorter prompts, or a smaller model or dtype."
                ) from error
            raise

    def _decode_until_one_is_finished(self) -> list[tuple[int, Completion | Failure]]:
        while True:
            self._start_waiting()
            finished, self.failed = self.failed, []
            if not self.groups:
                return finished
            finished += self._step()
            if finished:
                return finished

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion | Failure]:
        for ticket, prompt in enumerate(prompts):
            self.submit(ticket, prompt)
        replies: dict[int, Completion | Failure] = {}
        while len(replies) < len(prompts):
            replies.update(self.collect())
        return [replies[ticket] for ticket in range(len(prompts))]

    def environment(self) -> dict[str, Json]:
        return {
            "engine": "shaketable sweep",
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "device": torch.cuda.get_device_name() if self.device.startswith("cuda") else platform.processor() or "cpu",
            "dtype": self.dtype,
            "threads": torch.get_num_threads(),
            "batching": self.exactness if self.batching == "exact" else self.batching,
            "revision": self.revision,
        }

    # --- starting -----------------------------------------------------------------------------

    def _start_waiting(self) -> None:
        """Read the prompts of as many rows as there is room for."""
        begun: list[Begun] = []
        while self.waiting and (room := self._room(begun)) > 0:
            begun += self._next_waiting(room)
        lengths = [len(one.prompt_ids) - one.n_opening for one in begun]
        # In fixed shapes another prompt beside it would change those of a prompt.
        together = packs(begun, lengths, self.device) if self.exactness == "any" else ([one] for one in begun)
        for pack in together:
            self.groups += self._read(pack)

    def _room(self, begun: Sequence[Begun]) -> int:
        """How many more rows may be decoded at once."""
        live = sum(len(group.rows) for group in self.groups) + sum(len(one.rows) for one in begun)
        return {"any": self.n_rows, "fixed": FIXED_ROWS, "alone": 1}[self.exactness] - live

    def _next_waiting(self, room: int) -> list[Begun]:
        """The prompt of the oldest ticket, so that what was begun ends first; none if it cannot be asked."""
        key = min(self.waiting, key=lambda key: self.waiting[key][0][0])
        asked = self.waiting.pop(key)
        layout, messages = key
        prompt_ids = self.encode(messages, layout)
        if not prompt_ids:
            self.failed += [(ticket, _EMPTY_PROMPT) for ticket, _ in asked]
            return []
        rows: dict[Any, Row] = {}
        for ticket, prompt in asked:
            sampling = self._used(prompt.sampling)
            if len(prompt_ids) + sampling.max_tokens > self.window:
                self.failed.append((ticket, self._too_long(len(prompt_ids), sampling.max_tokens)))
                continue
            dice = 0 if sampling.temperature == 0 else prompt.seed
            same = (sampling, dice, prompt.wants)
            if same in rows:
                rows[same].tickets.append(ticket)
            else:
                rows[same] = Row([ticket], prompt, sampling, uniforms(dice, sampling.max_tokens))
        todo = list(rows.values())
        if self.exactness != "any":
            if left := todo[room:]:
                self.waiting[key] = [(ticket, row.prompt) for row in left for ticket in row.tickets]
            todo = todo[:room]
        return [Begun(prompt_ids, self._n_opening(messages, layout, prompt_ids), todo)] if todo else []

    def _read(self, begun: Sequence[Begun]) -> list[Group]:
        """Read each prompt once for all its rows, and its opening once for all prompts that share it."""
        start = time.perf_counter()
        if self.exactness == "alone":
            groups = [self._plainly(one) for one in begun]
        else:
            reads = self.read_prompts([(one.prompt_ids, one.n_opening) for one in begun])
            groups = [self._shared(one, read, logits) for one, (read, logits) in zip(begun, reads, strict=True)]
        rows = [row for one in begun for row in one.rows]
        share = (time.perf_counter() - start) / len(rows)
        for row in rows:
            row.seconds += share
        return groups

    def _plainly(self, begun: Begun) -> Group:
        cache = DynamicCache(config=self.model.config)
        return Group(begun.prompt_ids, cache, begun.rows, self.read(begun.prompt_ids, cache))

    def _shared(self, begun: Begun, read: ReadPrompt, logits: torch.Tensor) -> Group:
        n_rows = len(begun.rows)
        return Group(begun.prompt_ids, self.prefix(read, n_rows), begun.rows, logits.expand(n_rows, -1))

    def prefix(self, read: ReadPrompt, n_rows: int) -> Prefix | PooledPrefix:
        # Rows at different places see different parts of an opening through a window: each keeps its own then.
        is_whole = read.opening is None or self.has_window
        # Free of promises, few rows are better kept each with its prompt than asked prompt by prompt.
        is_few = self.batching == "free" and n_rows < FEW_ROWS and not self.has_window
        if is_whole and not is_few and not self.pools.is_fixed:
            return Prefix(read, n_rows)
        return PooledPrefix(read, n_rows, self.pools, is_whole=is_whole)

    def read_prompts(self, prompts: Sequence[tuple[list[int], int]]) -> list[tuple[ReadPrompt, torch.Tensor]]:
        """Prompts with the lengths of their openings, each with the next token's logits."""
        openings = [self._opening(tuple(ids[:n_opening])) if n_opening else None for ids, n_opening in prompts]
        texts = SideBySide([ids[n_opening:] for ids, n_opening in prompts], openings)
        logits = self.read_together(texts, texts.ends).split(1)
        reads = map(ReadPrompt, texts.caches, openings)
        return list(zip(reads, logits, strict=True))

    def read_together(self, texts: SideBySide, wanted: Sequence[int]) -> torch.Tensor:
        """The logits after those of the tokens whose places are wanted."""
        logits: torch.Tensor = self.model(
            torch.tensor([texts.ids], device=self.device),
            position_ids=torch.tensor([texts.positions], device=self.device),
            past_key_values=texts,
            use_cache=True,
            shared=texts,
            logits_to_keep=torch.tensor(wanted, device=self.device),
        ).logits[0]
        return logits

    def _n_opening(self, messages: Sequence[Message], layout: str, prompt_ids: list[int]) -> int:
        """Tokens before the last question, such as worked examples; 0: too few to be worth keeping.

        It depends on the prompt alone, never on what was read before, so that a prompt is always read the same way.
        """
        last = max((place for place, message in enumerate(messages) if message.role == "user"), default=0)
        if last == 0 or layout != "chat":
            return 0
        opening = self._opening_ids(tuple(messages[:last]))
        n_shared = next((i for i, (a, b) in enumerate(zip(opening, prompt_ids, strict=False)) if a != b), len(opening))
        n_shared = min(n_shared, len(prompt_ids) - 1)
        return n_shared if n_shared >= LEAST_OPENING else 0

    @functools.lru_cache(maxsize=16)  # noqa: B019 (engines live as long as the process)
    def _opening_ids(self, messages: tuple[Message, ...]) -> tuple[int, ...]:
        turns = [{"role": message.role, "content": without_surrogates(message.content)} for message in messages]
        encoded = self.tokenizer.apply_chat_template(turns, add_generation_prompt=False, return_dict=True)
        return tuple(encoded["input_ids"])

    def _opening(self, ids: tuple[int, ...]) -> Opening:
        """An opening, read now or before."""
        if ids not in self.openings:
            texts = SideBySide([ids])
            self.read_together(texts, texts.ends)
            self.openings[ids] = Opening(texts.caches[0])
            while len(self.openings) > KEPT_OPENINGS:
                self.openings.popitem(last=False)
        self.openings.move_to_end(ids)
        return self.openings[ids]

    def read(self, ids: list[int], cache: DynamicCache) -> torch.Tensor:
        """The next token's logits after these tokens, whose keys and values go to the cache."""
        tensor = torch.tensor([ids], device=self.device)
        logits: torch.Tensor = self.model(tensor, past_key_values=cache, use_cache=True, logits_to_keep=1).logits[:, -1]
        return logits

    # --- one step of the batch ----------------------------------------------------------------

    def _step(self) -> list[tuple[int, Completion | Failure]]:
        """Draw a token for every row, finish what is finished, and read the new tokens."""
        start = time.perf_counter()
        finished: list[tuple[int, Completion | Failure]] = []
        rows = [row for group in self.groups for row in group.rows]
        logits = torch.cat([group.logits for group in self.groups])
        seen = [
            group.prompt_ids + row.tokens if row.sampling.repetition_penalty != 1.0 else ()
            for group in self.groups
            for row in group.rows
        ]
        tokens = draw(logits, [row.sampling for row in rows], [row.numbers[len(row.tokens)] for row in rows], seen)
        drawn = tokens.tolist()
        self._note_extras(rows, logits, tokens, seen)
        self.n_positions += len(rows)
        reasons = []
        for row, token in zip(rows, drawn, strict=True):
            row.tokens.append(token)
            reasons.append(self._finish_reason(row))
        place = 0
        for group in self.groups:
            group_reasons = reasons[place : place + len(group.rows)]
            for row, reason in zip(group.rows, group_reasons, strict=True):
                if reason:
                    completion = self._complete(row, reason, group.prompt_ids)
                    finished += [(ticket, completion) for ticket in row.tickets]
            place += len(group.rows)
            self._drop(group, [i for i, reason in enumerate(group_reasons) if not reason])
        self.groups = [group for group in self.groups if group.rows]
        if self.groups:
            self._advance()
        share = (time.perf_counter() - start) / len(rows)
        for row in rows:
            row.seconds += share
        return finished

    def _drop(self, group: Group, kept: list[int]) -> None:
        """Let go of finished rows."""
        if len(kept) == len(group.rows):
            return
        group.rows = [group.rows[i] for i in kept]
        if not isinstance(group.prefix, DynamicCache):
            group.prefix.keep(kept)

    def _advance(self) -> None:
        """One forward pass over the newest token of every row."""
        prefixes, ids = [], []
        for group in self.groups:
            newest = [row.tokens[-1] for row in group.rows]
            if isinstance(group.prefix, DynamicCache):
                group.logits = self.read(newest, group.prefix)
                continue
            prefixes.append(group.prefix)
            ids += newest
        if prefixes:
            parts = self.advance(prefixes, ids).split([prefix.n_rows for prefix in prefixes])
            for group, part in zip(self.groups, parts, strict=True):
                group.logits = part

    def advance(self, prefixes: Sequence[Prefix | PooledPrefix], ids: list[int]) -> torch.Tensor:
        """The next logits of all rows of these prefixes after one more token each."""
        cache = PrefixCache(prefixes)
        positions = [prefix.prompt_length + prefix.own_length for prefix in prefixes for _ in range(prefix.n_rows)]
        idle = [0] * (FIXED_ROWS - len(ids) if self.pools.is_fixed else 0)
        logits: torch.Tensor = self.model(
            torch.tensor([*ids, *idle], device=self.device)[:, None],
            position_ids=torch.tensor([*positions, *idle], device=self.device)[:, None],
            past_key_values=cache,
            use_cache=True,
            shared=cache,
        ).logits[:, -1]
        cache.finish_step()
        return logits[: len(ids)]

    # --- finishing ----------------------------------------------------------------------------

    def _finish_reason(self, row: Row) -> Literal["end", "stop", "length"] | None:
        if row.tokens[-1] in self.end_ids:
            return "end"
        if row.sampling.stop and any(stop in self._text(row.tokens) for stop in row.sampling.stop):
            return "stop"
        if len(row.tokens) == row.sampling.max_tokens:
            return "length"
        return None

    def _complete(self, row: Row, reason: Literal["end", "stop", "length"], prompt_ids: list[int]) -> Completion:
        text = self._text(row.tokens)
        if reason == "stop":
            end = min(text.index(stop) + len(stop) for stop in row.sampling.stop if stop in text)
            text = text[:end]
        written = self._opened(row.prompt, prompt_ids) + text
        thoughts, answer = split_thoughts(written, reason != "length")
        answer = text if answer == written else answer
        tokens = self.token_texts(row.tokens) if row.prompt.wants else ()
        return Completion(
            text=answer,
            finish_reason=reason,
            n_prompt_tokens=len(prompt_ids),
            n_tokens=len(row.tokens),
            seconds=row.seconds,
            thoughts=thoughts,
            n_thought_tokens=len(self.tokenizer.encode(thoughts, add_special_tokens=False)) if thoughts else 0,
            written=written if written != answer else "",
            tokens=tokens,
            extras=row.extras,
            decoding={
                "temperature": row.sampling.temperature,
                "top_p": row.sampling.top_p,
                "top_k": row.sampling.top_k,
                "repetition_penalty": row.sampling.repetition_penalty,
                "max_tokens": row.sampling.max_tokens,
            },
        )

    def _opened(self, prompt: Prompt, prompt_ids: list[int]) -> str:
        """The tag of a thought that the chat template opened for the model; empty: it opened none."""
        if prompt.layout == "plain" or prompt.messages[-1].role == "assistant":
            return ""
        found = OPENED.search(str(self.tokenizer.decode(prompt_ids[-N_TAG:], clean_up_tokenization_spaces=False)))
        return found.group() if found else ""

    def _text(self, tokens: list[int]) -> str:
        return str(self.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def _note_extras(
        self, rows: list[Row], logits: torch.Tensor, tokens: torch.Tensor, seen: Sequence[Sequence[int]]
    ) -> None:
        """`processed_…` is of the distribution really sampled, the rest of the model's own at temperature 1."""
        wanted = [i for i, row in enumerate(rows) if row.prompt.wants]
        if not wanted:
            return
        places = torch.tensor(wanted, device=logits.device)
        some, drawn = logits.index_select(0, places), tokens[places, None]
        raw = processed = torch.log_softmax(some.float(), -1)
        if any(want.startswith("processed_") for i in wanted for want in rows[i].prompt.wants):
            processed = sampled_logprobs(some, [rows[i].sampling for i in wanted], [seen[i] for i in wanted])
        chosen = {
            "logprobs": raw.gather(1, drawn)[:, 0].tolist(),
            "processed_logprobs": processed.gather(1, drawn)[:, 0].tolist(),
            "token_ids": drawn[:, 0].tolist(),
        }
        for place, i in enumerate(wanted):
            for want in dict.fromkeys(rows[i].prompt.wants):
                value: Json
                if want in chosen:
                    value = chosen[want][place]
                elif want == "top_logprobs":
                    value = self._top(raw[place])
                elif want in ("entropy", "processed_entropy"):
                    value = entropy((raw if want == "entropy" else processed)[place])
                else:
                    continue
                rows[i].extras.setdefault(want, []).append(value)

    def _top(self, logprobs: torch.Tensor) -> list[Json]:
        top = torch.topk(logprobs, TOP)
        return [
            [self.tokenizer.decode([token]), value]
            for token, value in zip(top.indices.tolist(), top.values.tolist(), strict=True)
        ]

    def token_texts(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Each token as text. Alone, some tokenizers decode a word's first token without the space before it."""
        pieces = self.tokenizer.convert_ids_to_tokens(ids)
        return tuple(
            piece.replace("▁", " ") if piece.startswith("▁") else self.tokenizer.decode([token])
            for piece, token in zip(pieces, ids, strict=True)
        )

    def _too_long(self, n_prompt_tokens: int, max_tokens: int) -> Failure:
        return Failure(
            kind="too_long",
            message=(
                f"The prompt has {n_prompt_tokens:,} tokens and may grow by {max_tokens:,}, but {self.path.name} reads "
                f"{self.window:,} at most. Lower generation.max_tokens, or give less evidence."
            ),
            step="generate",
            may_retry=False,
        )

    # --- what the checkpoint says -------------------------------------------------------------

    def encode(self, messages: Sequence[Message], layout: str) -> list[int]:
        """The prompt's token ids: through the chat template, or as raw text."""
        turns = [{"role": message.role, "content": without_surrogates(message.content)} for message in messages]
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

    def _used(self, sampling: Sampling) -> Sampling:
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

    def _end_ids(self) -> set[int]:
        ids: set[int] = set()
        for given in (self.model.generation_config.eos_token_id, self.tokenizer.eos_token_id):
            ids |= set(given if isinstance(given, list) else [given])
        return {token for token in ids if token is not None}

    @functools.cached_property
    def revision(self) -> str:
        """A digest of the folder's config and of the names and sizes of its weight files."""
        folder = self.path if self.path.is_dir() else self.path.parent
        files = sorted(folder.glob("*.safetensors")) + sorted(folder.glob("*.gguf")) + sorted(folder.glob("*.bin"))
        listed = [f"{file.name}:{file.stat().st_size}" for file in files]
        return f"{self.path.name}:{digest_text(self.model.config.to_json_string() + '|'.join(listed))[:12]}"

    def _load(self) -> tuple[Any, Any]:
        folder, options = self.path, {}
        if self.path.suffix == ".gguf":
            folder, options = self.path.parent, {"gguf_file": self.path.name}
        if self.device.startswith("cuda") and not torch.cuda.is_available():
            raise ModelError(
                f"device='{self.device}' was asked for, but PyTorch sees no CUDA device. Use device='cpu'."
            )
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder, **options)
            model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, self.dtype), **options)
        except (OSError, ValueError, KeyError) as error:
            reason = str(error).strip().splitlines()[0]
            raise ModelError(
                f"{self.path} does not load as a causal language model: {reason} Expected a folder with config.json, "
                "weights and a tokenizer, or a .gguf file."
            ) from error
        return model.to(self.device).eval(), tokenizer

    @functools.cached_property
    def exactness(self) -> Exactness:
        """Which way of batching gives every row the bits it has alone: proved here, not assumed.

        `any`: rows of any number in any order; `fixed`: always 64 rows, idle ones among them;
        `alone`: the plain model, one row at a time, when the shared prefix does not fit this model.
        """
        plain = self.model.config._attn_implementation
        with torch.inference_mode():
            proved = prove(self)
        if proved == "alone":
            self.model.set_attn_implementation(plain)
        exactness: Exactness = "any" if proved == "fixed" and self.batching == "free" else proved
        self.openings.clear()
        self.pools = RowPools(is_fixed=exactness == "fixed")
        return exactness


@functools.cache
def engine(
    path: Path, device: str, dtype: str, n_rows: int, batching: Literal["exact", "free"] = "exact"
) -> SweepEngine:
    """One engine per process for the same weights and settings."""
    return SweepEngine(path, device=device, dtype=dtype, n_rows=n_rows, batching=batching)
