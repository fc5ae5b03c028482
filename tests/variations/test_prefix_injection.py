import pytest

from shaketable.catalog import build, label
from shaketable.errors import PartError
from shaketable.types import Question
from shaketable.variations.prefix_injection import PREFIXES, PrefixInjection

ASKED = [Question(id=f"q{i}", text=f"Who wrote book {i}?", answers=("a",)) for i in range(40)]


def texts(part, asked=ASKED):
    return [variant.text for (variant,) in part.vary(asked)]


def test_a_short_prefix_goes_before_the_question():
    drawn = set()
    for question, (variant,) in zip(ASKED, PrefixInjection().vary(ASKED), strict=True):
        prefix = variant.provenance["prefix"]
        assert variant.text == f"{prefix} {question.text}"
        assert variant.rejected is None
        drawn.add(prefix)
    assert drawn == set(PREFIXES)


def test_no_prefix_is_longer_than_m():
    assert set(texts(PrefixInjection(m=2))) <= {
        f"{prefix} {question.text}" for prefix in ("Quick question:", "Just wondering,") for question in ASKED
    }
    assert texts(PrefixInjection(prefixes=("a b c", "Hm:"), m=2), ASKED[:1]) == ["Hm: Who wrote book 0?"]


def test_no_words_change_nothing():
    for (variant,), question in zip(PrefixInjection(m=0).vary(ASKED), ASKED, strict=True):
        assert (variant.text, variant.rejected) == (question.text, None)


def test_a_question_that_gets_no_prefix_is_kept_and_not_asked():
    ((variant,),) = PrefixInjection(prefixes=("far too long",), m=2).vary(ASKED[:1])
    assert variant.rejected == "nothing to add: no prefix has 2 words or fewer"


def test_the_search_climbs_to_the_worst_prefix():
    def harm(question, wording):
        return wording.removesuffix(question.text).count("e")

    part = PrefixInjection(mode="search", m=3, score=harm, n_candidates=30)
    ((found,),) = part.vary(ASKED[:1])
    ((start,),) = PrefixInjection(mode="search", m=3, score=lambda *_: 0.0).vary(ASKED[:1])
    assert len(found.provenance["prefix"].split()) == 3
    assert harm(ASKED[0], found.text) > harm(ASKED[0], start.text)
    assert part.vary(ASKED[:1]) == [[found]]


def test_a_study_cannot_search():
    part = build("variation", "prefix_injection(mode='search')")
    with pytest.raises(PartError, match="needs a score function, which only Python can give"):
        part.vary(ASKED)


def test_the_score_function_is_no_part_of_the_name():
    assert label(PrefixInjection(score=max, m=3)) == "prefix_injection(m=3)"
