"""Antonym, synonym, entity replacement and random noise: the methods that change single words."""

import re
from collections import Counter

import pytest

from shaketable.errors import DataError
from shaketable.perturbations.antonym import Antonym
from shaketable.perturbations.entity_replacement import EntityReplacement
from shaketable.perturbations.random_noise import RandomNoise
from shaketable.perturbations.synonym import Synonym
from shaketable.perturbations.word_forms import cased_like, inflected
from shaketable.text.lexicon import load, vocabulary

OLD = "Large old magazine, founded in Berlin, is large."


@pytest.fixture
def changed(example, shake):
    """The last of two facts after a part, and the evidence."""

    def run(part, text, others=()):
        question = example(facts=[("Alpha", 0), ("Beta", 0)], alpha=["Alpha is old.", "x"], beta=[text], others=others)
        evidence = shake(part, question)
        return evidence.hits[-1].passage.text, evidence

    return run


# --- forms ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lemma", "tag", "form"),
    [
        ("magazine", "NNS", "magazines"),
        ("city", "NNS", "cities"),
        ("church", "NNS", "churches"),
        ("virus", "NNS", "viruses"),
        ("bus", "NNS", None),
        ("day", "NNS", "days"),
        ("child", "NNS", None),
        ("monarch", "NNS", None),
        ("photo", "NNS", None),
        ("headquarters", "NNS", None),
        ("found", "VBD", "founded"),
        ("move", "VBN", "moved"),
        ("carry", "VBD", "carried"),
        ("play", "VBD", "played"),
        ("begin", "VBD", None),
        ("stop", "VBD", None),
        ("clap", "VBG", None),
        ("panic", "VBG", None),
        ("move", "VBG", "moving"),
        ("agree", "VBG", "agreeing"),
        ("die", "VBG", None),
        ("begin", "VBZ", "begins"),
        ("carry", "VBZ", "carries"),
        ("large", "JJ", "large"),
        ("large", "JJR", None),
        ("o'clock", "RB", None),
    ],
)
def test_forms_follow_a_plain_rule_or_are_not_made(lemma, tag, form):
    assert inflected(lemma, tag, load()) == form


@pytest.mark.parametrize(
    ("before", "after"), [("large", "small"), ("Large", "Small"), ("LARGE", "SMALL"), ("A", "Small")]
)
def test_letter_case_is_kept(before, after):
    assert cased_like(before, "small") == after


# --- antonym ----------------------------------------------------------------------------------------


def test_words_become_their_opposites(changed, known_tags):
    text, evidence = changed(Antonym(m=9), OLD)
    assert text == "Small young magazine, founded in Berlin, is small."
    assert evidence.edits[0].note == "Large → Small, old → young, large → small"


@pytest.mark.parametrize("m", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_m_words_change_where_there_are_as_many(changed, known_tags, m, seed):
    text, _ = changed(Antonym(m=m, seed=seed), OLD)
    n_changed = sum(a != b for a, b in zip(text.split(), OLD.split(), strict=True))
    assert n_changed == min(m, 3)


def test_each_word_is_as_likely(changed, known_tags):
    drawn = Counter(changed(Antonym(seed=seed), OLD)[0] for seed in range(300))
    # Three words, 300 draws: 100 ± 5 standard deviations (8.2).
    assert len(drawn) == 3
    assert all(abs(n - 100) < 41 for n in drawn.values())


def test_words_without_an_opposite_are_said(changed, known_tags):
    text, evidence = changed(Antonym(), "It is in Berlin.")
    assert (text, evidence.flags) == ("It is in Berlin.", ("nothing_to_replace",))


def test_a_sentence_among_others_without_an_opposite_is_said(example, shake, known_tags):
    evidence = shake(Antonym(), example(beta=["Beta is large.", "Beta.", "x", "y"]))
    assert evidence.flags == ("partly_replaced",)


def test_an_article_must_fit_and_names_stay(changed, known_tags):
    assert changed(Antonym(m=9), "An old one.")[1].flags == ("nothing_to_replace",)
    assert changed(Antonym(m=9), "It is Large here.")[1].flags == ("nothing_to_replace",)


def test_every_sentence_when_asked(example, shake, known_tags):
    evidence = shake(Antonym(sentences="all"), example(2, alpha=["An old one.", "x", "A large one."]))
    assert [hit.passage.text for hit in evidence.hits] == ["An old one.", "A small one."]


def test_a_wordnet_that_is_not_there_is_said(changed, known_tags):
    with pytest.raises(DataError, match="is no WordNet folder"):
        changed(Antonym(lexicon="/no/such/wordnet"), OLD)


# --- synonym ----------------------------------------------------------------------------------------


def test_words_become_others_of_their_sense_in_the_same_form(changed, known_tags):
    text, evidence = changed(Synonym(m=9), OLD + " It buys magazines quickly; it began.")
    # `old` has no synonym in its first sense, `began` follows no rule, and `buys` has fewer than four letters.
    assert text == "Big old magazine, established in Berlin, is big. It buys magazines rapidly; it began."
    assert evidence.flags == ()


@pytest.mark.parametrize("m", [1, 2, 3])
def test_m_words_are_exchanged(changed, known_tags, m):
    text, _ = changed(Synonym(m=m), OLD)
    assert sum(a != b for a, b in zip(text.split(), OLD.split(), strict=True)) == m


def test_the_rarest_words_come_first_when_asked(changed, known_tags):
    others = [("C", ["A large thing."]), ("D", ["A large thing, founded."])]
    for seed in range(5):
        part = Synonym(important_only=True, seed=seed)
        assert changed(part, "A large magazine was founded.", others)[0] == "A large magazine was established."


def test_no_synonym_is_said(changed, known_tags):
    assert changed(Synonym(), "Berlin began.")[1].flags == ("nothing_to_replace",)


@pytest.mark.weights
def test_the_tagger_tells_nouns_from_verbs(changed):
    assert changed(Antonym(), "The small town rose to fame.")[1].edits[0].note in ("small → large", "fame → infamy",
                                                                                 "rose → fell")  # fmt: skip
    assert changed(Synonym(m=5), "Walter Gropius founded the school.")[0] == "Walter Gropius established the school."


# --- entity replacement -----------------------------------------------------------------------------


def test_entities_become_random_nouns(changed, known_entities):
    text, evidence = changed(EntityReplacement(), "Beta is a weekly founded in 1985 in Berlin.")
    match = re.fullmatch(r"Beta is a weekly founded in ([a-z]+) in ([A-Z][a-z]+)\.", text)
    assert match
    assert {match[1], match[2].lower()} <= set(vocabulary().lemmas("noun"))
    assert evidence.edits[0].note == "2 of 2 entities"


def test_entities_become_masks(changed, known_entities):
    assert changed(EntityReplacement(pool="mask"), "It left Berlin in 1985.")[0] == "It left [MASK] in [MASK]."


def test_a_share_of_the_entities_is_replaced(changed, known_entities):
    text = "From Berlin to Paris, Bonn and Berlin in 1985."
    for p, n in ((0.2, 1), (0.21, 2), (0.5, 3), (1.0, 5)):
        assert changed(EntityReplacement(pool="mask", p=p), text)[0].count("[MASK]") == n


def test_entities_of_the_record_take_the_place(changed, known_entities):
    part = EntityReplacement(pool="same_type")
    others = [("C", ["Paris, Bonn and berlin."])]
    outputs = {changed(EntityReplacement(pool="same_type", seed=s), "It is in Berlin.", others)[0] for s in range(20)}
    assert outputs == {"It is in Paris.", "It is in Bonn."}
    text, evidence = changed(part, "It is in Berlin.")
    assert (text, evidence.flags) == ("It is in Berlin.", ("no_same_type", "nothing_to_replace"))


def test_nouns_are_replaced_by_their_tags(changed, known_tags):
    text, _ = changed(EntityReplacement(mode="pos", pool="mask"), "Beta buys old magazines.")
    assert text == "[MASK] buys old [MASK]."


def test_no_entity_is_said(changed, known_entities):
    assert changed(EntityReplacement(), "Nothing here.")[1].flags == ("nothing_to_replace",)


# --- random noise -----------------------------------------------------------------------------------


@pytest.mark.parametrize("r", [1, 2, 5])
@pytest.mark.parametrize("seed", range(5))
def test_r_words_enter_and_the_old_ones_stay_in_order(changed, r, seed):
    before = "Beta  closed in\t2001, in Bonn."
    text, evidence = changed(RandomNoise(r=r, seed=seed), before)
    noise = evidence.edits[0].note.split()[1:]
    assert len(noise) == r
    assert set(noise) <= set(load().words)
    assert len(text.split()) == len(before.split()) + r
    assert Counter(text.split()) - Counter(noise) == Counter(before.split())
    # Inside: the first and the last word stay where they were.
    assert (text.split()[0], text.split()[-1]) == ("Beta", "Bonn.")
    rest = iter(text.split())
    assert all(word in rest for word in before.split())


def test_a_single_word_gets_its_noise_before_it(changed):
    text, _ = changed(RandomNoise(r=1), "Closed.")
    assert re.fullmatch(r"[a-z]+ Closed\.", text)


def test_noise_around_a_passage_makes_sentences_of_its_own(example, shake):
    evidence = shake(RandomNoise(r=3, around=True), example(3))
    texts = [[s.text for s in hit.passage.sentences] for hit in evidence.hits]
    assert [len(sentences) for sentences in texts] == [1, 1, 3]
    assert len(texts[2][0].split()) == len(texts[2][2].split()) == 3
    assert [s.id for s in evidence.hits[2].passage.sentences] == ["Beta#0/before", "Beta#0", "Beta#0/after"]


def test_a_sentence_gets_the_same_noise_in_any_company(example, shake, gold):
    question = example()
    whole = shake(RandomNoise(sentences="all"), question)
    alone = shake(RandomNoise(sentences="all"), question, gold(question)[2:3])
    assert alone.hits[0].passage == whole.hits[2].passage


def test_too_few_sentences_are_said(example, shake):
    assert shake(RandomNoise(), example(1), []).flags == ("too_few_sentences",)
    assert shake(RandomNoise(sentences="all"), example(1), []).flags == ("too_few_sentences",)
