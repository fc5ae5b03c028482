"""Machine variations by a model and by rules: attempts, refusals, what is kept."""

import pytest

from shaketable.catalog import build, label
from shaketable.errors import PartError
from shaketable.types import Question
from shaketable.variations.gate.replies import wording_of

pytestmark = pytest.mark.weights
QUESTION = Question(id="q", text="Who directed the film Jaws?", answers=("Steven Spielberg",))


def made(name, replies, question=QUESTION, **settings):
    given = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    part = build("variation", f"{name}(by={f'scripted(replies={tuple(replies)!r})'!r}{', ' + given if given else ''})")
    ((variant,),) = part.vary([question])
    assert variant.variation == label(part)
    return variant


def test_a_model_rewords_and_says_who_it_was():
    variant = made("declarative", ["I would like to know who directed the film Jaws."])
    assert variant.rejected is None
    assert variant.provenance["model"] == {"engine": "scripted"}
    assert variant.provenance["prompt"].startswith("reword_declarative:")
    assert variant.provenance["n_attempts"] == 1


@pytest.mark.parametrize(
    ("name", "reply", "reason"),
    [
        ("formality", "Steven Spielberg made the film Jaws.", "it does not ask"),
        ("formality", "Yes, the film Jaws.", "it answers instead of asking"),
        ("declarative", 'The answer to "Who directed the film Jaws?" is unknown.', "it answers instead of asking"),
        ("declarative", "The director who made the film Jaws was honored.", "it states something, expected the wish"),
        ("formality", "I'm sorry, I cannot help with that question.", "it declines instead of asking"),
        ("formality", "Who directed the film Jaws?", "the same as the original"),
        ("formality", "who directed the film jaws", "the words of the original, in other letters or marks"),
        ("formality", "yo who made that shark movie?", "names lost: Jaws"),
        ("formality", "ERROR", "the model failed: scripted"),
        ("formality", "", "empty"),
        ("formality", "What can Jaws be seen with in the city?", "similarity 0."),
        ("declarative", "Do you know who directed the film Jaws?", "it ends as a question, expected a statement"),
        ("imperative", "I want to know who directed the film Jaws.", "it is no command"),
        ("readability", "So who directed the film Jaws?", "reading ease"),
        ("grammar", "Who directed that film Jaws?", "the checker finds no error: harper"),
    ],
)
def test_what_is_no_rewording_is_kept_and_not_asked(name, reply, reason):
    variant = made(name, [reply])
    assert variant.rejected.startswith(reason)
    assert variant.provenance["n_attempts"] == 5
    assert len(variant.provenance["rejected_attempts"]) == 4
    assert all(attempt["reason"].startswith(reason) for attempt in variant.provenance["rejected_attempts"])


def test_a_refused_attempt_is_tried_again():
    replies = ["Steven Spielberg.", "hey, who was it that directed the film Jaws?"]
    seeds = [made("formality", replies, seed=seed) for seed in range(8)]
    again = [variant for variant in seeds if variant.provenance["n_attempts"] > 1 and variant.rejected is None]
    assert again
    for variant in again:
        assert variant.text == replies[1]
        assert {attempt["text"] for attempt in variant.provenance["rejected_attempts"]} == {replies[0]}


def test_thresholds_are_settings():
    reply = "yo who made that shark movie?"
    assert made("formality", [reply], keep_names=False, min_similarity=0.2).rejected is None


def test_a_model_that_is_not_there_is_named():
    with pytest.raises(PartError, match=r"formality, by: Unknown model 'smolm2'. Did you mean 'smollm2'\?"):
        build("variation", "formality(by='smolm2')").vary([QUESTION])


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


def test_without_the_encoder_a_wording_is_kept_and_not_asked(monkeypatch, tmp_path):
    monkeypatch.setenv("SHAKETABLE_OFFLINE", "1")
    part = build("variation", f"imperative(encoder={str(tmp_path / 'none')!r})")
    ((variant,),) = part.vary([QUESTION])
    assert variant.rejected.startswith("similarity was not measured: ")
    assert variant.rejected.endswith("Or set min_similarity=0.")
    assert "similarity" not in variant.provenance
    assert variant.provenance["n_attempts"] == 1
    assert variant.text != QUESTION.text
