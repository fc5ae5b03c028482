"""Tokens as text, and the words that DRAGIN makes of them."""

from tiny import write_model
from tokenizers import Tokenizer, decoders, models, normalizers
from transformers import PreTrainedTokenizerFast

from shaketable.engine.sweep import SweepEngine
from shaketable.methods.words import merge


def llama_2_tokenizer():
    """A small one of that kind: pieces with the mark of a space, bytes for what has no piece, 13 for the line break."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁MarieCuswhanc.", "▁Marie", "▁Cur"]
    pieces += ["ie", "▁was", "She", "▁da", "nces", "▁▁"]
    scores = [(piece, -20.0 if i < 259 else -float(10 - len(piece))) for i, piece in enumerate(dict.fromkeys(pieces))]
    tokenizer = Tokenizer(models.Unigram(scores, unk_id=0, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def test_on_a_tokenizer_of_llama_2_s_kind_words_are_those_of_the_authors_code(tmp_path):
    """Its rule, on the pieces themselves: a word starts at the first, at one with the space mark, and at id 13."""
    engine = SweepEngine(write_model("llama", tmp_path), n_rows=8)
    engine.tokenizer = llama_2_tokenizer()
    ids = engine.tokenizer("Marie Curie  was\nShe dances. Curie", add_special_tokens=False)["input_ids"]
    pieces = engine.tokenizer.convert_ids_to_tokens(ids)
    starts = [i for i, piece in enumerate(pieces) if i == 0 or piece.startswith("▁") or ids[i] == 13]
    assert {"▁Marie", "ie", "<0x0A>"} <= set(pieces)
    assert [word.tokens.start for word in merge(engine.token_texts(ids), ids)] == starts
    assert [word.tokens.start for word in merge(engine.token_texts(ids), ids, newline="id_13")] == starts
