import subprocess
import sys

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


SPAN = "from shaketable.text import language; print(language.entities('Barack Obama was born in Honolulu.'))\n"
TORCH = "import torch; print(torch.ones(3).sum().item())\n"
LOADED = "import sys; print('torch' in sys.modules)\n"


@pytest.mark.weights
@pytest.mark.parametrize(
    ("code", "shown"),
    [
        (SPAN + LOADED + TORCH + SPAN, ["spans", "False", "3.0", "spans"]),
        (TORCH + SPAN + TORCH, ["3.0", "spans", "3.0"]),
    ],
    ids=["the pipeline first", "PyTorch first"],
)
def test_the_pipeline_loads_without_pytorch_and_both_work_in_either_order(code, shown):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    spans = str([(0, 12, "PERSON"), (25, 33, "GPE")])
    assert [line.replace(spans, "spans") for line in done.stdout.splitlines()] == shown


def test_stop_words_are_read_without_pytorch():
    code = "from shaketable.text.language import stop_words; assert 'the' in stop_words()\n" + LOADED
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
