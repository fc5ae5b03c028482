"""Digests of stored rows, which tell every value and its type apart."""

from __future__ import annotations

import hashlib

CHECKSUM = "7:"
"""How the checksums of records begin since version 7 of the format."""


def checksum(row: tuple[object, ...]) -> str:
    """A short digest over every stored value of a record. Python's own spelling of a tuple in ASCII tells a text from
    nothing, and does not change with what is known of letters."""
    return CHECKSUM + hashlib.sha256(ascii(row).encode()).hexdigest()[:16]


def weigh(row: tuple[object, ...]) -> int:
    """The number by which a row counts in the sum over its table."""
    return int.from_bytes(hashlib.sha256(ascii(row).encode()).digest()[:16], "big")


def weigh_checksum(found: str) -> int:
    """The same of a record, for which its checksum stands."""
    try:
        return int(found[-16:], 16)
    except ValueError:  # It was altered, and counts as something else.
        return weigh((found,))
