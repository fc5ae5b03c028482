"""How far a wording is from its original, with numbers worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaketable.types import STRENGTH, Strength, Variant
from shaketable.variations import strength
from shaketable.variations.gate.naturalness import Loss
from shaketable.variations.strength import measure_strength, share_of_terms_kept, word_distance

ORIGINAL = "Who wrote the novel Dracula?"
LOSSES = {ORIGINAL: 3.0, "Who penned Dracula?": 5.0}


def read(texts):
    """Two texts have been read."""
    return [Loss(mean=LOSSES[text], worst=9.0, n_tokens=2) if text in LOSSES else None for text in texts]


class Directions:
    """An encoder to which the original points one way, and everything else 60 degrees off."""

    def embed(self, texts):
        return np.array([(1.0, 0.0) if text == ORIGINAL else (0.5, math.sqrt(0.75)) for text in texts])


@pytest.fixture
def by_hand(monkeypatch):
    monkeypatch.setattr(strength, "_missing", lambda name: None)
    monkeypatch.setattr(strength, "losses", read)
    monkeypatch.setattr(strength, "encoder", lambda name: Directions())


@pytest.fixture
def without_weights(monkeypatch):
    monkeypatch.setattr(strength.weights, "present", lambda name: None)


# --- terms ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wording", "share"),
    [
        ("Who wrote the novel Dracula?", 1.0),
        ("DRACULA: a novel that who wrote", 1.0),  # Order, letters, marks and stop words are nothing to BM25.
        ("Who penned the novels about Dracula's castle?", 3 / 4),  # who, novel, dracula; not wrote
        ("Which author made Drakula?", 0.0),
        ("the", 0.0),
    ],
)
def test_the_terms_kept_are_those_that_bm25_would_still_search_for(wording, share):
    assert share_of_terms_kept(ORIGINAL, wording) == share


def test_a_term_counts_once_however_often_it_is_said():
    assert share_of_terms_kept("New York, New York: who sang?", "who sang York") == 3 / 4  # new, york, who, sang


def test_a_question_of_stop_words_has_no_share():
    assert share_of_terms_kept("Is it the?", "Is it a?") is None
    (measured,) = measure_strength(["Is it the?"], ["Was that it?"])
    assert measured.terms_kept is None
    assert strength.NO_TERMS in (measured.reason or "")


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wording", "distance"),
    [
        ("who wrote the novel 'Dracula'", 0.0),
        ("Who wrote Dracula?", 2 / 5),  # two taken out, of five
        ("Hey, who wrote the novel Dracula?", 1 / 6),  # one put in, of six
        ("Who wrote the book Dracula?", 1 / 5),
        ("Dracula novel the wrote Who", 4 / 5),  # only `the` stays in its place
        ("Nothing alike", 1.0),
    ],
)
def test_the_distance_is_the_share_of_words_that_change(wording, distance):
    assert word_distance(ORIGINAL, wording) == pytest.approx(distance)
    assert word_distance(wording, ORIGINAL) == pytest.approx(distance)


# --- all of it ------------------------------------------------------------------------------------


def test_every_measure_is_that_of_the_wording_against_its_original(by_hand):
    (measured,) = measure_strength([ORIGINAL], ["Who penned Dracula?"])
    assert measured == Strength(
        terms_kept=0.5,  # who, dracula of who, wrote, novel, dracula
        edit_distance=0.6,
        loss=2.0,  # 5 nats a token, 3 before
        # 3 words of 5 syllables, 5 words of 8 before: 1.015 · 2 − 84.6 · (5/3 − 8/5)
        reading_ease=round(1.015 * 2 - 84.6 * (5 / 3 - 8 / 5), 4),
        meaning=0.5,
    )


def test_the_original_itself_is_no_distance_away(by_hand):
    (measured,) = measure_strength([ORIGINAL], [ORIGINAL])
    assert measured == Strength(terms_kept=1.0, edit_distance=0.0, loss=0.0, reading_ease=0.0, meaning=1.0)


def test_a_wording_that_the_model_cannot_read_has_no_loss_and_everything_else(by_hand):
    (measured,) = measure_strength([ORIGINAL], ["Unread"])
    assert (measured.loss, measured.reason) == (None, strength.NO_LOSS)
    assert measured.meaning == 0.5 and measured.terms_kept == 0.0


def test_measures_do_not_depend_on_their_neighbours(by_hand):
    wordings = ["Who penned Dracula?", "", ORIGINAL, "Unread", "Who penned Dracula?"]
    alone = [measure_strength([ORIGINAL], [wording])[0] for wording in wordings]
    assert measure_strength([ORIGINAL] * 5, wordings) == alone
    assert measure_strength([], []) == []


def test_without_weights_the_rest_is_measured_and_the_reason_says_how_to_get_them(without_weights):
    (measured,) = measure_strength([ORIGINAL], ["Who penned Dracula?"])
    assert (measured.terms_kept, measured.edit_distance) == (0.5, 0.6)
    assert (measured.loss, measured.meaning) == (None, None)
    assert "shaketable models fetch smollm2" in measured.reason
    assert "shaketable models fetch all-MiniLM-L6-v2" in measured.reason


def test_a_wording_without_a_word_has_no_strength_and_says_so(without_weights):
    assert measure_strength([ORIGINAL, "?"], ["", "Who?"]) == [Strength(reason=strength.NO_WORDS)] * 2


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(), max_size=60), st.text(st.characters(), max_size=60))
def test_any_text_has_a_strength_within_its_bounds(original, wording):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strength.weights, "present", lambda name: None)
        (measured,) = measure_strength([original], [wording])
    assert measured.terms_kept is None or 0 <= measured.terms_kept <= 1
    assert measured.edit_distance is None or 0 <= measured.edit_distance <= 1
    assert measured.reason


@pytest.mark.weights
def test_the_embedded_weights_find_a_natural_wording_likelier_and_nearer_than_a_broken_one():
    original = "Which body of water does the island of Lanzarote lie in?"
    natural, broken = measure_strength(
        [original] * 2, ["The island of Lanzarote lies in which body of water?", "Body which lie of the in island of?"]
    )
    assert natural.loss < broken.loss and natural.meaning > broken.meaning
    assert natural.reason is None and broken.reason is None


# --- with a wording -------------------------------------------------------------------------------


def test_a_wording_tells_the_strength_that_was_kept_with_it():
    kept = {"terms_kept": 1, "edit_distance": 0.25, "loss": None, "reason": "no weights"}
    variant = Variant(question_id="q", text="t", variation="spelling", provenance={STRENGTH: kept})
    assert variant.strength == Strength(terms_kept=1.0, edit_distance=0.25, reason="no weights")


@pytest.mark.parametrize("kept", [{}, {STRENGTH: None}, {STRENGTH: "strong"}])
def test_a_wording_of_an_older_run_has_none(kept):
    assert Variant(question_id="q", text="t", variation="spelling", provenance=kept).strength is None
