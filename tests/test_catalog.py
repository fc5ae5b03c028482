import sys
from dataclasses import dataclass, field
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable import catalog
from shaketable.errors import PartError
from shaketable.methods.single_retrieval import SingleRetrieval
from shaketable.models.scripted import Scripted

values = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@dataclass(frozen=True, kw_only=True)
class Priced:
    version: ClassVar[int] = 4

    size: int
    price: float = field(default=0.0, compare=False)


def test_a_bare_name_has_no_settings():
    assert catalog.parse(" scripted ") == ("scripted", {})


def test_settings_are_python_literals():
    assert catalog.parse("x(n=2, names=['a', 'b'], on=True)") == ("x", {"n": 2, "names": ["a", "b"], "on": True})


def test_a_text_may_go_over_lines_and_so_may_the_settings():
    assert catalog.parse("x(prompt='a\n\nb', n=2)") == ("x", {"prompt": "a\n\nb", "n": 2})
    assert catalog.parse("x(\n  n=2,\n)") == ("x", {"n": 2})


@given(st.dictionaries(st.sampled_from(["alpha", "beta", "gamma", "delta"]), values))
def test_what_is_written_parses_back(settings):
    assert catalog.parse(catalog.write("part", settings)) == ("part", settings)


def test_python_s_own_warnings_about_a_setting_are_not_shown(recwarn):
    with pytest.raises(PartError, match="Cannot read the component"):
        catalog.parse("smollm2(n=1or 2)")
    assert not recwarn.list


@pytest.mark.parametrize(
    "text", ["", "2", "a.b", "a(1)", "a(n=open('x'))", "a(**{})", "a(n=", "a b", "a(n=b)", "a\0", "__import__('os')"]
)
def test_what_is_no_part_is_refused_and_never_run(text):
    with pytest.raises(PartError, match=r"Cannot read the component .* Write name or name\(setting=value\)"):
        catalog.parse(text)


def test_a_part_prints_and_builds_back_to_itself():
    part = catalog.build("model", "scripted(replies=['a \\'quote\\'', 'Zürich'])")
    assert part == Scripted(replies=("a 'quote'", "Zürich"))
    assert catalog.build("model", catalog.label(part)) == part


def test_a_label_shows_only_what_differs_from_the_defaults():
    assert catalog.label(SingleRetrieval()) == "single_retrieval"
    assert catalog.label(SingleRetrieval(k=5, with_titles=True)) == "single_retrieval(with_titles=True)"


def test_a_key_spells_every_setting_the_version_and_the_prompts():
    spelled = catalog.spelled(SingleRetrieval())
    prompts = "".join(f"+{prompt.identity}" for prompt in SingleRetrieval.prompts)
    assert spelled == (
        f"single_retrieval(k=5, with_titles=False, joined=False, n_examples=0, layout='chat')@2{prompts}"
    )


def test_settings_that_do_not_shape_answers_are_in_no_key_and_no_label():
    dear, cheap = Priced(size=2, price=9.0), Priced(size=2)
    assert catalog.spelled(dear) == catalog.spelled(cheap) == "priced(size=2)@4"
    assert catalog.label(dear) == "priced(size=2)"
    assert catalog.describe(dear) == {"name": "priced", "version": 4, "settings": {"size": 2}}


def test_an_unknown_name_is_answered_with_the_nearest_and_all_known():
    with pytest.raises(PartError) as caught:
        catalog.build("metric", "exact_mach", "score.metrics[0]")
    known = ", ".join(catalog.known("metric"))
    assert str(caught.value) == (
        f"score.metrics[0]: Unknown metric 'exact_mach'. Did you mean 'exact_match'? Known metrics: {known}."
    )


def test_an_unknown_setting_is_answered_with_the_known_ones():
    with pytest.raises(PartError) as caught:
        catalog.build("method", "single_retrieval(kk=3)", "cross.methods[2]")
    assert str(caught.value) == (
        "cross.methods[2]: single_retrieval has no setting 'kk'. Did you mean 'k'? "
        "Settings: prompt, system, k, with_titles, joined, n_examples, layout."
    )


def test_a_missing_setting_is_named():
    with pytest.raises(PartError, match=r"^openai needs the setting model: openai\(model=…\)\.$"):
        catalog.build("model", "openai")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("single_retrieval(k='five')", "m: single_retrieval: 'k' is 'five'; input should be a valid integer."),
        ("single_retrieval(k=2.0)", "m: single_retrieval: 'k' is 2.0; input should be a valid integer."),
        (
            "single_retrieval(with_titles=1)",
            "m: single_retrieval: 'with_titles' is 1; input should be a valid boolean.",
        ),
    ],
)
def test_a_setting_of_a_wrong_type_is_named(text, message):
    with pytest.raises(PartError) as caught:
        catalog.build("method", text, "m")
    assert str(caught.value) == message


def test_a_parts_own_words_about_a_setting_go_first():
    with pytest.raises(PartError, match=r"^scripted\(replies='Paris'\): replies is a list of texts"):
        catalog.build("model", "scripted(replies='Paris')")


def test_two_spellings_of_one_number_are_one_part():
    one, other = (catalog.build("metric", f"gibberish(max_non_ascii={value})") for value in ("1", "1.0"))
    assert catalog.spelled(one) == catalog.spelled(other)


def test_a_function_gets_its_settings_and_refuses_others():
    assert catalog.bind("analysis", "correctness").func is catalog.find("analysis", "correctness")
    with pytest.raises(PartError, match=r"^analyze\.analyses\[0\]: correctness has no setting 'levle'\."):
        catalog.bind("analysis", "correctness(levle=0.9)", "analyze.analyses[0]")


def test_a_setting_of_a_function_is_checked_too():
    with pytest.raises(PartError, match=r"^latent_facts: 'least' is 'high'; input should be a valid number"):
        catalog.bind("analysis", "latent_facts(least='high')")


@pytest.fixture
def other_package(tmp_path, monkeypatch):
    """A package of somebody else, installed as far as Python can tell."""
    (tmp_path / "their_parts.py").write_text(
        "from dataclasses import dataclass\n"
        "from typing import ClassVar\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class TheirMetric:\n"
        "    power: int = 2\n"
        "    version: ClassVar[int] = 1\n"
    )
    info = tmp_path / "their_parts-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-parts\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[shaketable.metrics]\ntheir_metric = their_parts:TheirMetric\ncontains = their_parts:TheirMetric\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    catalog._installed.cache_clear()
    yield
    catalog._installed.cache_clear()
    sys.modules.pop("their_parts", None)


def test_a_package_of_your_own_offers_parts_through_entry_points(other_package):
    assert catalog.label(catalog.build("metric", "their_metric(power=3)")) == "their_metric(power=3)"
    assert "their_metric" in catalog.known("metric")


def test_another_package_cannot_take_the_name_of_a_part(other_package):
    assert catalog.known("metric")["contains"] == "shaketable.metrics.contains:Contains"
