"""Misspellings against nlpaug's own SpellingAug, and against the study's sample."""

import math
import random
import re
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_questions import mixed, needs_data

from shaketable import weights
from shaketable.datasets.builtin import load_builtin
from shaketable.types import Question
from shaketable.variations.english import misspellings
from shaketable.variations.english.known_words import is_word
from shaketable.variations.spelling import Spelling, detokenized, tokenized
from shaketable.variations.strength import share_of_terms_kept

AS_PUBLISHED = Spelling(p=0.3, misspellings=misspellings.NAME)
SAMPLE = "Who is the child of the director of film Sleepers (1996 Film)?"
LINES = st.text(alphabet="ab c.,:;?!%()[]{}<>'\"`-_é", max_size=40)


def asked(text, question_id="q"):
    return Question(id=question_id, text=text, answers=("x",))


@pytest.fixture(scope="module")
def nlpaug_word():
    """Slow to import: it brings every augmenter."""
    return pytest.importorskip("nlpaug.augmenter.word", reason="nlpaug is a development dependency")


@pytest.mark.slow
@given(LINES)
def test_words_are_cut_and_joined_as_nlpaug_does(text):
    tokenizer = pytest.importorskip("nlpaug.util.text.tokenizer").Tokenizer
    assert tokenized(text) == tokenizer.tokenizer(text.strip())
    assert detokenized(tokenized(text)) == tokenizer.reverse_tokenizer(tokenizer.tokenizer(text.strip()))


def test_a_mark_at_the_end_is_drawn_in_before_brackets():
    # The study's sample ends in `(1996 Film )?`.
    assert detokenized(tokenized("of film Sleepers (1996 Film)?")) == "of film Sleepers (1996 Film )?"


@pytest.mark.slow
@pytest.mark.weights
def test_the_list_is_the_one_of_nlpaug(nlpaug_word):
    file = next(weights.locate(misspellings.NAME).glob("*.txt"))
    theirs = nlpaug_word.SpellingAug(dict_path=str(file)).model.dict
    ours = misspellings.load()
    assert len(ours) == 57_690
    assert {word: set(others) for word, others in ours.items()} == {word: set(o) for word, o in theirs.items()}


@pytest.mark.weights
def test_the_pairs_of_the_study_are_in_the_list():
    pairs = [("the", "ght"), ("child", "childer"), ("of", "ar"), ("director", "directer"), ("film", "filme")]
    assert all(after in misspellings.load()[before] for before, after in pairs)


@pytest.mark.weights
def test_the_sample_of_the_study_gets_five_changes():
    # Who is the child of the director of film Sleepers ( 1996 ) ? → 14 tokens; 0.3 · 14 = 4.2, rounded up 5.
    text = "Who is the child of the director of film Sleepers (1996)?"
    assert len(tokenized(text)) == 14
    ((variant,),) = AS_PUBLISHED.vary([asked(text)])
    assert len(variant.provenance["changes"]) == 5


@pytest.mark.slow
@pytest.mark.weights
def test_the_same_draws_give_the_text_of_nlpaug(nlpaug_word, monkeypatch):
    """nlpaug with our dice: same places, same words, so the same text."""
    for number in range(40):
        ((variant,),) = Spelling(p=0.3, keep_numbers=False, misspellings=misspellings.NAME).vary(
            [asked(SAMPLE, f"q{number}")]
        )
        changes = list(variant.provenance["changes"])
        theirs = nlpaug_word.SpellingAug()
        places = _places(tokenized(SAMPLE), variant.text, changes)
        draws = iter([places, *([after] for _, after in changes)])
        monkeypatch.setattr(theirs, "sample", lambda among, n, draws=draws: next(draws))
        assert theirs.augment(SAMPLE)[0] == variant.text


def _places(tokens, text, changes):
    """Where the changes were made, by walking along both texts."""
    found, wanted, made, place = [], [tuple(change) for change in changes], tokenized(text), 0
    for i, token in enumerate(tokens):
        after = tokenized(wanted[0][1]) if wanted and wanted[0][0] == token else None
        if after and made[place : place + len(after)] == after:
            found.append(i)
            place += len(after)
            wanted.pop(0)
        else:
            place += 1
    assert not wanted, (changes, text)
    return found


@pytest.mark.weights
def test_a_capital_at_the_beginning_stays():
    for number in range(60):
        ((listed,),) = AS_PUBLISHED.vary([asked("When was it?", f"q{number}")])
        assert re.match(r"[A-Z\W\d]", listed.text), listed.text
        ((natural,),) = Spelling().vary([asked("When was it?", f"q{number}")])
        assert re.match("[A-Z]", natural.text), natural.text


@pytest.mark.weights
def test_nothing_to_misspell_is_kept_and_not_asked():
    for part in (Spelling(), AS_PUBLISHED):
        ((variant,),) = part.vary([asked("Xqzt Vbnm?")])
        assert variant.text == "Xqzt Vbnm?"
        assert variant.rejected == "no word of the question can be misspelled"


def test_a_list_of_ones_own_by_path(tmp_path):
    (tmp_path / "own.txt").write_text("who hoo woh\nwrote rote\n")
    part = Spelling(p=1.0, misspellings=str(tmp_path / "own.txt"))
    ((variant,),) = part.vary([asked("who wrote it?")])
    assert variant.text in ("hoo rote it?", "woh rote it?")
    assert variant.rejected is None


@pytest.mark.parametrize(("n_tokens", "expected"), [(1, 1), (3, 1), (4, 2), (10, 3), (15, 5), (33, 10), (80, 10)])
def test_three_of_ten_tokens_change_between_one_and_ten(n_tokens, expected):
    # ceil(0.3 n), at least 1, at most 10: worked by hand.
    assert AS_PUBLISHED.n_changes(n_tokens) == expected


# ceil(0.07 n): worked by hand.
@pytest.mark.parametrize(("n_tokens", "expected"), [(3, 1), (14, 1), (15, 2), (28, 2), (29, 3), (60, 5)])
def test_one_or_two_errors_in_a_question_of_usual_length(n_tokens, expected):
    assert Spelling().n_changes(n_tokens) == expected


@needs_data
@pytest.mark.weights
def test_500_real_questions_change_as_many_words_as_prescribed():
    words, questions = misspellings.load(), mixed(500)
    for question, (variant,) in zip(questions, AS_PUBLISHED.vary(questions), strict=True):
        tokens = re.findall(r"\w+|[^\w\s]", question.text)
        known = [token for token in tokens if set(words.get(token, ())) - {token} and token != "_"]
        expected = min(max(math.ceil(0.3 * len(tokens)), 1), 10, len(known))
        # A capitalized first word may have itself as its only misspelling; then it cannot change.
        assert len(variant.provenance["changes"]) in (expected, expected - 1 if len(known) <= expected else expected)
        assert all(before != after for before, after in variant.provenance["changes"])


@pytest.mark.parametrize(
    ("word", "wrong"),
    [
        ("film", "filme"),  # an ending of another language
        ("from", "form"),  # another word
        ("wrote", "write"),  # a form of the same word
        ("country", "county"),
        ("country", "contury"),  # nearer to century
        ("name", "names"),  # another number
        ("first", "forst"),  # frost, forest
        ("born", "dorn"),  # the first letter
        ("house", "hoxse"),  # a key that is not beside
    ],
)
def test_a_slip_that_is_read_as_something_else_is_refused(word, wrong):
    assert not misspellings.is_recognizable(word, wrong)
    assert wrong not in misspellings.typed(word)


@pytest.mark.parametrize(
    ("word", "wrong"),
    [("director", "driector"), ("country", "counttry"), ("country", "conutry"), ("tower", "towwr"), ("which", "whch")],
)
def test_a_letter_is_swapped_missing_doubled_or_hit_beside(word, wrong):
    assert wrong in misspellings.typed(word)


def test_common_misspellings_are_no_other_word():
    inflected = pytest.importorskip("lemminflect")
    words = {wrong for wrongs in misspellings.COMMON.values() for wrong in wrongs}
    # The table takes three for words by its own rules.
    assert {word for word in words if inflected.getAllLemmas(word)} <= {"departement", "developement", "occured"}
    assert all(set(word) <= set("abcdefghijklmnopqrstuvwxyz") for word in words)


@pytest.mark.parametrize(
    "word",
    ["wrote", "began", "children", "cities", "stopped", "biggest", "tries", "watches", "running", "the", "whose"],
)
def test_inflected_and_small_words_are_known(word):
    assert is_word(word)


@pytest.mark.parametrize("word", ["wrot", "childern", "citys", "tehre", "whcih", "xqzt"])
def test_misspelled_words_are_not_known(word):
    assert not is_word(word)


def terms_kept(questions, **settings):
    variants = [variant for (variant,) in Spelling(**settings).vary(questions)]
    pairs = [(q, v) for q, v in zip(questions, variants, strict=True) if not v.rejected]
    assert len(pairs) >= 0.95 * len(questions)
    return [share_of_terms_kept(question.text, variant.text) or 0.0 for question, variant in pairs], pairs


def test_built_in_questions_keep_85_percent_of_their_search_terms():
    shares, pairs = terms_kept(load_builtin().questions)
    assert 0.8 <= mean(shares) <= 0.9
    for question, variant in pairs:
        n_tokens = len(tokenized(question.text))
        assert 1 <= len(variant.provenance["changes"]) <= (2 if n_tokens <= 28 else 5)


@needs_data
def test_real_questions_keep_85_percent_of_their_search_terms():
    shares, _ = terms_kept(mixed(500))
    assert 0.8 <= mean(shares) <= 0.9


def test_a_larger_p_leaves_fewer_search_terms():
    questions = load_builtin().questions
    assert mean(terms_kept(questions, p=0.3)[0]) < mean(terms_kept(questions)[0]) - 0.1


def test_names_numbers_negations_and_quotations_keep_their_spelling():
    text = 'Who was not the father of the twelve Knights of the Round Table in "the sword" (1963), O\'Neil-based?'
    for number in range(60):
        ((variant,),) = Spelling(p=1).vary([asked(text, f"q{number}")])
        changed = {before for before, _ in variant.provenance["changes"]}
        assert changed <= {"father", "the", "Who"}, changed
        assert variant.rejected is None
        assert variant.text.endswith(' twelve Knights of the Round Table in "the sword" (1963), O\'Neil-based?')


@pytest.mark.weights
def test_marks_and_spaces_stay_where_they_are():
    ((variant,),) = Spelling().vary([asked("Where's the  director of 'Jaws' (1975)  from?")])
    pattern = r"Where's \w+  \w+ of 'Jaws' \(1975\)  \w+\?"
    assert re.fullmatch(pattern, variant.text) and 1 <= len(variant.provenance["changes"]) <= 2


@pytest.mark.weights
def test_the_marks_of_a_csv_file_are_no_quotation():
    ((variant,),) = Spelling().vary([asked('"Who directed the movie ""Jaws""?"')])
    assert re.fullmatch(r'\w+ \w+ \w+ \w+ "Jaws"\?', variant.text) and variant.rejected is None


@pytest.mark.weights
@pytest.mark.parametrize(
    "text", ["Wer war der Regisseur von Jaws?", "quel est le nom de la capitale", "Wat is de hoofdstad van Nederland?"]
)
def test_another_language_is_refused(text):
    ((variant,),) = Spelling().vary([asked(text)])
    assert variant.refusal == "nothing_to_misspell" and variant.text == text


@needs_data
@pytest.mark.weights
def test_natural_misspellings_of_real_questions_are_letters_of_the_keyboard_and_no_other_word():
    for question, (variant,) in zip(questions := mixed(100), Spelling().vary(questions), strict=True):
        for before, after in variant.provenance["changes"]:
            is_listed = after.lower() in misspellings.common(before.lower())
            assert re.fullmatch("[A-Za-z]+", after) and (is_listed or not is_word(after.lower()))
            assert abs(len(after) - len(before)) <= 2 and before[0].lower() in after[:2].lower()
        assert len(variant.provenance["changes"]) <= Spelling().n_changes(len(tokenized(question.text)))


@pytest.mark.weights
@given(st.text(max_size=60))
def test_any_text_is_misspelled_in_letters_or_refused(text):
    ((variant,),) = Spelling().vary([asked(text)])
    assert (variant.rejected is None) == bool(variant.provenance["changes"])
    assert variant.rejected is None or variant.text == text


def test_settings_that_make_no_sense_are_named():
    with pytest.raises(ValueError, match=r"p is 1.5, expected a share from 0 to 1"):
        Spelling(p=1.5)
    with pytest.raises(ValueError, match=r"least is 4 and most is 3, expected 1 <= least <= most"):
        Spelling(least=4, most=3)


@given(st.randoms(use_true_random=False))
def test_order_changes_nothing(rng: random.Random):
    part = Spelling(p=1.0, misspellings=__file__)
    questions = [asked(f"import part number {i}", f"q{i}") for i in range(5)]
    shuffled = questions.copy()
    rng.shuffle(shuffled)
    assert {v.question_id: v for (v,) in part.vary(questions)} == {v.question_id: v for (v,) in part.vary(shuffled)}
