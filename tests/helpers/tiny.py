"""Small random models of several families, saved as folders that load like real ones."""

from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
    set_seed,
)

END = "<end>"
VOCABULARY = {END: 0, **{character: i for i, character in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()), 1)}}
COMMON = {
    "vocab_size": len(VOCABULARY),
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": 0,
    "initializer_range": 0.5,
    "max_position_embeddings": 128,
}
SHAPE = {
    "hidden_size": 96,
    "intermediate_size": 128,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    **COMMON,
}

FAMILIES = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**SHAPE)),
    "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**SHAPE)),
    "gemma2": lambda: Gemma2ForCausalLM(
        Gemma2Config(**{**SHAPE, "initializer_range": 0.03}, head_dim=16, sliding_window=16)
    ),
    "odd": lambda: LlamaForCausalLM(LlamaConfig(**{**SHAPE, "hidden_size": 48, "intermediate_size": 83})),
    "mistral": lambda: MistralForCausalLM(MistralConfig(**SHAPE, sliding_window=16)),
    "neox": lambda: GPTNeoXForCausalLM(
        GPTNeoXConfig(
            hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
            tie_word_embeddings=False, **COMMON,
        )
    ),
    "gpt2": lambda: GPT2LMHeadModel(
        GPT2Config(n_embd=64, n_layer=2, n_head=4, n_positions=128, vocab_size=len(VOCABULARY), bos_token_id=0,
                   eos_token_id=0, initializer_range=0.5)
    ),
}  # fmt: skip


def write_model(family, folder):
    set_seed(3)
    FAMILIES[family]().eval().save_pretrained(folder)
    return write_letters(folder)


def write_letters(folder):
    """A tokenizer of letters, without a chat template."""
    letters = Tokenizer(BPE(vocab=VOCABULARY, merges=[]))
    letters.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    letters.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=letters, eos_token=END).save_pretrained(folder)
    return folder
