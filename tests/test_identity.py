import hashlib
from dataclasses import dataclass
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.identity import canonical, digest, digest_text, seed_from, trial_key

TRIAL = {
    "identity": "model@1",
    "item": "q1",
    "variation": "original",
    "wording": "Who?",
    "temperature": 0.6,
    "repeat": 0,
}


@dataclass(frozen=True)
class Point:
    x: int
    names: tuple[str, ...]


def test_seeds_are_the_first_four_bytes_of_sha_256():
    # Worked out with `printf 'm|0.6|ner|q1|0' | sha256sum`: the first eight digits, read as one number.
    assert seed_from("m", 0.6, "ner", "q1", 0) == 1187305220
    assert seed_from("m", 0.6, "ner", "q1", 1) == 1976532802


def test_canonical_text_has_sorted_keys_and_no_spaces():
    assert canonical({"b": [1, None, True], "a": 0.5}) == '{"a":0.5,"b":[1,null,true]}'


def test_canonical_text_keeps_letters_of_all_scripts():
    assert canonical("Zürich 東京") == '"Zürich 東京"'


def test_values_are_written_as_their_fields():
    assert canonical(Point(2, ("a",))) == '{"names":["a"],"x":2}'
    assert canonical(MappingProxyType({"z": Point(1, ())})) == '{"z":{"names":[],"x":1}}'


def test_what_has_no_canonical_text_is_refused():
    with pytest.raises(TypeError, match="set has no canonical text"):
        canonical({1, 2})


def test_a_digest_is_128_bits_of_sha_256_of_the_canonical_text():
    assert digest([1, "a"]) == hashlib.sha256(b'[1,"a"]').hexdigest()[:32]


def test_half_a_character_has_a_digest_too():
    assert digest_text("\ud83d") != digest_text("\ud83e")


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.booleans())))
def test_the_order_of_keys_changes_nothing(value):
    assert canonical(dict(reversed(value.items()))) == canonical(value)


@pytest.mark.parametrize("changed", TRIAL)
@given(text=st.text(), number=st.integers(min_value=1, max_value=9))
def test_a_trial_key_changes_with_each_ingredient(changed, text, number):
    old = TRIAL[changed]
    new = old + number if isinstance(old, int | float) else text
    same = trial_key(**{**TRIAL, changed: new}) == trial_key(**TRIAL)
    assert same == (new == old)


def test_a_trial_key_does_not_change_from_one_version_to_the_next():
    # sha256 of "model@1\nq1\noriginal\nWho?\n0.6\n0": a changed layout would orphan every stored record.
    expected = hashlib.sha256(b"model@1\nq1\noriginal\nWho?\n0.6\n0").hexdigest()[:32]
    assert trial_key(**TRIAL) == expected
