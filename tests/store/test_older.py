"""Edits that version 0.1 stored are replayed like those of today."""

from __future__ import annotations

import json

import pytest

from shaketable.identity import canonical
from shaketable.perturbations.altered import exchange, insert, remove, replay, rewrite, sentences_of
from shaketable.store.codec import decode
from shaketable.types import Edit, Evidence, Hit, Passage, Sentence

SENTENCES = tuple(Sentence(id=f"Alpha#{i}", text=f"Sentence {i}.") for i in range(3))
HITS = (Hit(passage=Passage(id="Alpha", title="Alpha", sentences=SENTENCES), rank=1, score=None, source="gold"),)
FIRST, SECOND, THIRD = sentences_of(HITS)
EDITS = {
    "exchanged": exchange(SECOND, Sentence(id="Beta#4", text="Of Beta."), "same_record"),
    "rewritten": rewrite(SECOND, "Changed.", "red → green"),
    "removed": remove(THIRD),
    "before": insert("New.", "before", FIRST.sentence),
    "after": insert("New.", "after", FIRST.sentence),
}
NEW_FIELDS = ("id_after", "anchor", "side")


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_an_edit_without_the_new_fields_is_read_with_them(edit: Edit) -> None:
    stored = json_of(Evidence(hits=replay(HITS, [edit]), edits=(edit,)))
    for written in stored["edits"]:
        for name in NEW_FIELDS:
            del written[name]
    evidence = decode(Evidence, stored)
    assert evidence.edits == (edit,)
    assert replay(HITS, evidence.edits) == evidence.hits


def json_of(evidence: Evidence) -> dict:
    return json.loads(canonical(evidence))
