from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_records import record, scores, value

from shaketable.metrics.gibberish import Gibberish, scripts
from shaketable.types import Passage, Question, Sentence

# Written by SmolLM2-135M-Instruct at temperatures 2.0 and 2.5, all tokens allowed.
WORD_SALAD = [
    "MR Ah underworld people coron  hidden Jack blue cant cans Van Cur fac thrown Ron flown Queen Protocols stalonkan "
    "perfectly Demmassraised Scul deprived Soviet enchika surrendered marginalized marked diffusion death aside",
    " execute leather bakery origin stage melting delectable sesame barrel lettleetum source Zed rabbi talking red "
    "praxis whose \"' love mayrom sprangredded've Romeab abbreviatedLater kil       Babylonian sanctuary from ע",
]
TOKEN_SALAD = [
    "getElemById ünktlich_qtyp rszr vrtlObj zqp hdrNamespc brxt",
    "flownury behaken stalonkan enchika passagedefocious lettleetum resembl mayrom",
    "the ответ это город который is",
    "Paris 東京 Москва",
    "кошка",
    "वह मेंtheir 東京",
]
ANSWERS = [
    "",
    "1937",
    "3.14 km 1,234 42",
    "The Café de Flore in Paris",
    "Mary Shelley is buried in the town of Bournemouth on the south coast of England.",
    "Zoë Kravitz and Björk Guðmundsdóttir were both born in the same year.",
    "Nguyễn Phú Trọng was the general secretary of the party in Vietnam.",
    "Kwasniewski Wojciechowski",
    "No.",
    "The constants α and β are used by the µ-calculus.",
    "Paris",
    "1984",
    "Ag",
    "NaOH, KMnO4 and K2Cr2O7",
    "E = mc^2",
    "Łódź",
    "Þingvellir",
    "DiCaprio and McConaughey",
    "Johann Sebastian Bach, Wolfgang Amadeus Mozart and Ludwig van Beethoven",
    "Wojciech Jaruzelski Aleksander Kwaśniewski Bronisław Komorowski Mieczysław Rakowski",
    "iron, copper, gold, silver, tin, lead, zinc, mercury, yttrium, praseodymium",
    "customs inspector",
    "Yes",
    "The Great Barrier Reef lies off the coast of Queensland.",
    "Antoine de Saint-Exupéry and Consuelo Suncín de Sandoval",
]


@pytest.mark.weights
@pytest.mark.parametrize("text", TOKEN_SALAD)
def test_token_salad_is_gibberish(text: str) -> None:
    assert value(Gibberish(), text, "Paris") == 1.0


@pytest.mark.weights
@pytest.mark.parametrize("text", ANSWERS)
def test_a_fine_answer_is_not_gibberish(text: str) -> None:
    assert value(Gibberish(), text, "Paris") == 0.0


@pytest.mark.weights
@pytest.mark.parametrize("text", WORD_SALAD)
def test_salad_of_real_words_is_gibberish(text: str) -> None:
    assert value(Gibberish(), text, "Paris") == 1.0
    assert value(Gibberish(max_strange=1.0), text, "Paris") == 1.0  # by its lack of function words alone
    assert value(Gibberish(max_strange=1.0, min_function_words=0.0), text, "Paris") == 0.0  # as version 1 had it


@pytest.mark.weights
def test_words_run_together_are_gibberish() -> None:
    assert value(Gibberish(), "ScienceEducationAuthorsStukakis", "Paris") == 1.0
    assert value(Gibberish(), "YouTube, JavaScript and PostgreSQL", "Paris") == 0.0


@pytest.mark.weights
def test_words_of_the_documents_are_known() -> None:
    text = "Blaqzirn toluweff grinskar vondelrup"
    passage = Passage(id="p", title="Blaqzirn", sentences=(Sentence(id="p#0", text="Toluweff of Grinskar Vondelrup."),))
    plain = Question(id="q", text="?", answers=())
    told = Question(id="q", text="?", answers=(), documents=(passage,))
    assert Gibberish().score([record(text)], {"q": plain})[0][0].value == 1.0
    assert Gibberish().score([record(text)], {"q": told})[0][0].value == 0.0


@pytest.mark.weights
def test_half_of_the_words_may_be_unknown_but_not_more() -> None:
    assert value(Gibberish(), "the town blaqzirn toluweff", "x") == 0.0
    assert value(Gibberish(), "town blaqzirn toluweff", "x") == 1.0
    assert value(Gibberish(max_unknown=0.9), "town blaqzirn toluweff", "x") == 0.0


def test_a_failed_trial_is_not_gibberish() -> None:
    score = scores(Gibberish(), None)["gibberish"]
    assert (score.value, score.reason) == (None, "failed: timeout")


@pytest.mark.weights
def test_a_foreign_word_is_fine_where_it_is_accepted() -> None:
    # 3 of 4 letters lie outside ASCII.
    assert value(Gibberish(), "łódź", "łódź") == 0.0
    assert value(Gibberish(), "łódź", "Paris") == 1.0


@pytest.mark.weights
def test_a_fifth_of_the_letters_may_lie_outside_ascii_but_not_more() -> None:
    assert value(Gibberish(), "zoë is 100 !!", "x") == 0.0  # 1 of 5
    assert value(Gibberish(), "zoë 100 !!", "x") == 1.0  # 1 of 3


@pytest.mark.weights
@pytest.mark.parametrize(
    "text",
    [
        "Y'all起き.post",
        "yes科幻(",
        "St George宫 emblem",
        "It was Парижis then.",
        "in the townの名",
        "It is 起き or 科幻 here",
    ],
)
def test_another_script_in_latin_text_is_gibberish(text: str) -> None:
    assert value(Gibberish(), text, "Paris") == 1.0


@pytest.mark.weights
@pytest.mark.parametrize(
    "text", ["Hawaiʻi", "5 µm and αB", "Tokyo (東京) is the capital of the country.", "It is 1990年.", "Café", "Ａ Ｂ"]
)
def test_symbols_and_signs_beside_words_are_no_gibberish(text: str) -> None:
    assert value(Gibberish(), text, "Paris") == 0.0


@pytest.mark.weights
def test_an_answer_in_the_script_of_its_question_is_no_gibberish() -> None:
    asked = Question(id="q", text="法国的首都是哪里？", answers=("巴黎",))
    for text in ("答案是巴黎。", "巴黎", "法国的首都是巴黎Paris。", "Париж"):
        expected = 1.0 if text == "Париж" else 0.0
        assert Gibberish().score([record(text)], {"q": asked})[0][0].value == expected


def test_scripts_are_counted_by_letters_and_japanese_is_one() -> None:
    assert scripts("Tokyo 東京 とうきょう トウキョウ") == {"LATIN", "EAST ASIAN"}
    assert scripts("5 µm Ａ") == {"GREEK", "LATIN"}
    assert scripts("12 — !") == set()


@pytest.mark.weights
@settings(deadline=None)
@given(st.text())
def test_the_value_is_zero_or_one(text: str) -> None:
    assert value(Gibberish(), text, "Paris") in (0.0, 1.0)
