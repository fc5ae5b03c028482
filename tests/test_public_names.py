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


def test_the_list_of_names_is_what_there_is():
    assert set(shaketable.__all__) == shaketable._HOMES.keys()
    with pytest.raises(AttributeError):
        shaketable.nothing  # noqa: B018
