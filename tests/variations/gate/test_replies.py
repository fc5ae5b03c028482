"""The wording in a model's reply."""

import pytest

from shaketable.variations.gate.replies import wording_of


@pytest.mark.parametrize(
    ("reply", "wording"),
    [
        ("Who made it?", "Who made it?"),
        ('"Who made it?"', "Who made it?"),
        ("Here is the rewritten question:\n\nWho made it?", "Who made it?"),
        ("The question is: Who made it?", "Who made it?"),
        ('The question should be: "Who made it?"', "Who made it?"),
        ("Rewording it for a casual chat: Who made it?", "Who made it?"),
        ("Rewritten question: **Who made it?**", "Who made it?"),
        ("Who made it?\n\nI kept the meaning.", "Who made it?"),
        ('"Jaws" or "Duel"?', '"Jaws" or "Duel"?'),
        ("What is the question: to be?", "What is the question: to be?"),
    ],
)
def test_a_reply_is_stripped_to_the_wording(reply, wording):
    assert wording_of(reply) == wording
