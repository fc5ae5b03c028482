"""A tokenizer → the bytes that each of its tokens adds to a text."""

from __future__ import annotations

import re
from typing import Any

from shaketable.errors import ModelError

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
"""How tokenizers of the SentencePiece kind write a single byte."""


def token_bytes(tokenizer: Any, n: int) -> list[bytes]:
    """One entry per logit. Special tokens, and logits beyond the vocabulary, add nothing."""
    marked = {i for i, token in tokenizer.added_tokens_decoder.items() if token.special}
    special = marked | set(tokenizer.all_special_ids)
    pieces = tokenizer.convert_ids_to_tokens(list(range(min(n, len(tokenizer)))))
    written = {i: piece for i, piece in enumerate(pieces) if piece is not None and i not in special}
    added = {i: str(token.content) for i, token in tokenizer.added_tokens_decoder.items()}
    alphabet = byte_alphabet()
    ordinary = [piece for i, piece in written.items() if i not in added]
    is_byte_level = all(character in alphabet for piece in ordinary for character in piece)
    if not is_byte_level and not any(piece.startswith("▁") for piece in ordinary):
        raise ModelError(
            "This tokenizer writes its tokens neither as bytes nor with ▁ for spaces, so the text that a token adds is "
            "not known, and curves cannot be estimated. Set scan.curves = 'none'."
        )
    all_bytes = []
    for i in range(n):
        piece = written.get(i)
        if piece is None:
            all_bytes.append(b"")
        elif i in added:
            all_bytes.append(added[i].encode())
        elif is_byte_level:
            all_bytes.append(bytes(alphabet[character] for character in piece))
        else:
            byte = _BYTE.fullmatch(piece)
            all_bytes.append(bytes([int(byte[1], 16)]) if byte else piece.replace("▁", " ").encode())
    return all_bytes


def byte_alphabet() -> dict[str, int]:
    """The letters in which byte-level tokenizers write bytes: printable ones as themselves, others moved past 255."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    moved = {chr(256 + i): byte for i, byte in enumerate(others)}
    return {chr(byte): byte for byte in printable} | moved
