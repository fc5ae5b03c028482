"""Every name that the package offers has a docstring with an example, and the examples hold."""

from __future__ import annotations

import doctest
import inspect

import pytest

import shaketable


@pytest.mark.parametrize("name", shaketable.__all__)
def test_a_public_name_has_an_example_that_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    public = getattr(shaketable, name)
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(public) or "", {name: public}, name, None, None)
    assert examples.examples, f"{name} has no example"
    told: list[str] = []
    doctest.DocTestRunner(verbose=False).run(examples, out=told.append)
    assert not told, "".join(told)


def methods_with_examples():
    """Of the classes that the package offers."""
    for name in shaketable.__all__:
        public = getattr(shaketable, name)
        for method, value in vars(public).items() if inspect.isclass(public) else ():
            if not method.startswith("_") and ">>>" in (inspect.getdoc(value) or ""):
                yield f"{name}.{method}", value


@pytest.mark.parametrize(("name", "method"), [pytest.param(*own, id=own[0]) for own in methods_with_examples()])
def test_the_example_of_a_method_runs(name, method, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(method), {}, name, None, None)
    told: list[str] = []
    doctest.DocTestRunner(verbose=False).run(examples, out=told.append)
    assert examples.examples and not told, "".join(told)


def test_the_list_of_names_is_what_there_is():
    assert set(shaketable.__all__) == shaketable._HOMES.keys()
    with pytest.raises(AttributeError):
        shaketable.nothing  # noqa: B018


def test_tab_completion_offers_the_public_names_alone():
    assert dir(shaketable) == sorted([*shaketable.__all__, "__version__"])
