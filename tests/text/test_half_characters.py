from __future__ import annotations

from dataclasses import dataclass, field

from shaketable.text.half_characters import mend
from shaketable.types import Evidence, Failure, Hit, Note, Passage, Sentence


def test_texts_are_mended_however_deep_they_stand() -> None:
    note = Note(name="a \ud83d", values={"b \udce9": [1, ("c \udc00", None), {"d": 0.5}]})
    assert mend(note) == Note(name="a ?", values={"b ?": [1, ("c ?", None), {"d": 0.5}]})
    assert mend("é \udce9") == "é ?"


def test_what_has_none_is_given_back_itself_and_so_are_its_whole_members() -> None:
    whole, half = (
        Hit(
            passage=Passage(id="p", title=title, sentences=(Sentence(id="p#0", text="東京 🎲"),)),
            rank=1,
            score=None,
            source="",
        )
        for title in ("é", "\udce9")
    )
    evidence = Evidence(hits=(whole, half))
    assert mend(whole) is whole
    assert mend(evidence).hits[0] is whole
    assert mend(evidence).hits[1].passage.sentences is half.passage.sentences
    assert mend([evidence, None, 3, Failure]) == [mend(evidence), None, 3, Failure]


def test_a_field_that_cannot_be_set_is_left_alone() -> None:
    @dataclass(frozen=True)
    class Own:
        text: str
        length: int = field(init=False, default=3)

    assert mend(Own("\udce9")) == Own("?")
