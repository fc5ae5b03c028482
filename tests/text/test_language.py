import pytest

from shaketable.errors import WeightsError
from shaketable.text import language

TEXTS = [
    "Barack Obama was born in Honolulu in 1961.",
    "",
    "nothing here",
    "Überlingen lies on Lake Constance in Germany.",
]


@pytest.mark.weights
def test_sentences_are_split_and_stripped():
    text = " Dr. Smith lives in Paris.  He moved there in 1990. "
    assert language.sentences(text) == ["Dr. Smith lives in Paris.", "He moved there in 1990."]
    assert language.sentences("") == []


@pytest.mark.weights
def test_entities_are_character_ranges_with_labels():
    text = TEXTS[0]
    found = {text[start:end]: label for start, end, label in language.entities(text)}
    assert found == {"Barack Obama": "PERSON", "Honolulu": "GPE", "1961": "DATE"}


@pytest.mark.weights
def test_a_text_alone_gives_what_it_gives_among_others():
    together = language.entities_of_each(TEXTS)
    assert together == [language.entities(text) for text in TEXTS]
    assert together == language.entities_of_each(TEXTS[::-1])[::-1]
    assert language.entities_of_each([]) == []


@pytest.mark.weights
def test_a_pipeline_loads_once():
    assert language.pipeline() is language.pipeline()


def test_missing_weights_are_said(tmp_path, monkeypatch):
    monkeypatch.setenv("SHAKETABLE_OFFLINE", "1")
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path))
    language.pipeline.cache_clear()
    with pytest.raises(WeightsError, match="'en_core_web_sm' are not in"):
        language.pipeline("en_core_web_sm")


def test_a_folder_that_is_no_pipeline_is_said(tmp_path):
    with pytest.raises(WeightsError, match=r"is no spaCy pipeline.*use 'en_core_web_sm'"):
        language.pipeline(str(tmp_path))
