"""A small random model over bytes, saved as a folder that loads like a real one."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed

END = "<end>"
LETTERS = {END: 0, **{letter: i for i, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()), 1)}}


def write_letters(folder: Path) -> Path:
    set_seed(3)
    config = LlamaConfig(
        vocab_size=len(LETTERS), hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, initializer_range=0.5, max_position_embeddings=512, bos_token_id=0, eos_token_id=0,
        pad_token_id=0,
    )  # fmt: skip
    LlamaForCausalLM(config).eval().save_pretrained(folder)
    tokenizer = Tokenizer(BPE(vocab=LETTERS, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END).save_pretrained(folder)
    return folder
