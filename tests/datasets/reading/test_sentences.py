import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.datasets.reading.sentences import sentence_bounds


def cut(text):
    return [text[start:end].strip() for start, end in sentence_bounds(text)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["Beta began in 1985.", "It closed in 2001."],
        ["Who did it?", '"Nobody!"', "(He left.)", "2 stayed."],
        ["The U.S. Army met Dr. J. R. Smith on Jan. 5 in St. Paul.", "He spoke."],
        ["It costs $3.50 approx. 4 euro, e.g. in Rome... they say.", "Fine."],
        ["“It ends here.”", "‘New.’"],
        ["no mark at the end"],
    ],
)
def test_sentences_are_cut_where_a_reader_cuts(sentences):
    assert cut(" ".join(sentences)) == sentences


@given(st.text())
def test_nothing_is_lost_and_no_piece_is_empty(text):
    pieces = [text[start:end] for start, end in sentence_bounds(text)]
    assert "".join(pieces) == (text if text.strip() else "")
    assert all(piece.strip() for piece in pieces)
