"""Words that perturbations draw: none is unfit for anybody's document, and none tears a name or an answer apart."""

from dataclasses import replace

import pytest
from unfit_words import unfit

from shaketable.errors import DataError
from shaketable.identity import digest_text
from shaketable.perturbations.entity_replacement import EntityReplacement
from shaketable.perturbations.random_noise import RandomNoise
from shaketable.text.lexicon import vocabulary


def test_the_list_is_seen():
    assert unfit(["Murdered", "slut", "raping", "table"]) == {"murder", "murdered", "slut", "rape", "raping"}


def test_a_hundred_thousand_words_of_noise_are_fit(example, shake):
    drawn = [
        word
        for seed in range(100)
        for word in shake(RandomNoise(r=1000, seed=seed), example(1)).edits[0].note.split()[1:]
    ]
    assert len(drawn) == 100_000
    assert unfit(set(drawn)) == set()
    assert len(set(drawn)) > 3000


def test_a_hundred_thousand_names_become_fit_words(example, shake, known_entities):
    question = example(1, alpha=["Berlin " * 1000, "x"])
    drawn = [
        word
        for seed in range(100)
        for word in shake(EntityReplacement(seed=seed), question).hits[0].passage.text.split()
    ]
    assert len(drawn) == 100_000
    assert unfit(set(drawn)) == set()


def test_own_words_are_drawn(example, shake, tmp_path):
    (tmp_path / "words.txt").write_text("# ours\nvalve\ngasket\n")
    part = RandomNoise(r=50, lexicon=str(tmp_path / "words.txt"))
    assert set(shake(part, example(1)).edits[0].note.split()[1:]) == {"valve", "gasket"}
    assert part.contents() == {"lexicon": digest_text("# ours\nvalve\ngasket\n")}
    (tmp_path / "table.tsv").write_text("noun\tpump\t1\tcompressor\t\n")
    assert vocabulary(str(tmp_path / "table.tsv")).synonyms("pump", "noun") == ("compressor",)
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(DataError, match=r"empty.txt has no word\. Write one word a line"):
        vocabulary(str(tmp_path / "empty.txt"))


# --- answers and names stay whole -------------------------------------------------------------------


@pytest.fixture
def noisy(example, shake):
    """A sentence with so much noise that every gap is met."""

    def run(text, answers, **settings):
        question = replace(example(1, alpha=[text, "x"]), answers=answers)
        return shake(RandomNoise(r=300, **settings), question).hits[0].passage.text

    return run


@pytest.mark.parametrize(
    ("text", "answer", "whole"),
    [
        ("it was built by clara  jarvie in spring.", "Clara Jarvie", "clara  jarvie"),
        ("The tower of Pellan Rock is 112 metres tall.", "112 metres", "112 metres"),
        ("The tower of Pellan Rock is 112 metres tall.", "Pellan", "Pellan Rock"),
        ("Her name was Anna van der Berg then.", "no", "Anna van der Berg"),
    ],
)
def test_noise_stays_out_of_answers_and_names(noisy, text, answer, whole):
    assert whole in noisy(text, (answer,))
    assert whole not in noisy(text, (answer,), inside_names=True)
    assert len(noisy(text, (answer,)).split()) == len(text.split()) + 300


def test_an_answer_without_a_gap_gets_its_noise_before_it(noisy):
    assert noisy("Clara Jarvie", ("Clara Jarvie",)).endswith(" Clara Jarvie")
