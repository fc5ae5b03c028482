"""Texts to read → pages of tokens of a fixed size, in which a text may end anywhere and go on on the next page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shaketable.engine.captured.arena import NOTHING, Segment
from shaketable.engine.captured.graphs import (
    ID,
    N_ENDS,
    N_PAGE_COLUMNS,
    PAGE_LENGTHS,
    PAGE_STARTS,
    PLACE,
    POSITION,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """Tokens that follow others, and where their keys and values go."""

    ids: Sequence[int]
    segment: Segment
    opening: Segment = NOTHING
    """What stands before them, which was read or is read before them."""


def pages(texts: Sequence[Text], n_tokens: int) -> Iterator[tuple[np.ndarray, list[int]]]:
    """Of so many tokens, each with the places of the last tokens of the texts that end on it, in their order."""
    lines = [_lines(text) for text in texts]
    page: list[np.ndarray] = []
    n_lines, ends = 0, list[int]()
    for text in lines:
        while len(text):
            if n_lines == n_tokens or len(ends) == N_ENDS:
                yield np.concatenate(page), ends
                page, n_lines, ends = [], 0, []
            part, text = text[: n_tokens - n_lines], text[n_tokens - n_lines :]
            page.append(part)
            n_lines += len(part)
            if not len(text):
                ends.append(n_lines - 1)
    if page:
        yield np.concatenate(page), ends


def _lines(text: Text) -> np.ndarray:
    places = np.arange(len(text.ids))
    lines = np.zeros((len(places), N_PAGE_COLUMNS), dtype=np.int64)
    lines[:, ID] = text.ids
    lines[:, POSITION] = text.opening.length + places
    lines[:, PLACE] = text.segment.start + places
    lines[:, PAGE_STARTS][:, :2] = text.opening.start, text.segment.start
    lines[:, PAGE_LENGTHS][:, 0] = text.opening.length
    lines[:, PAGE_LENGTHS][:, 1] = places + 1
    return lines
