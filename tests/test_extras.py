"""The core works without the packages of any extra, and what needs one says which, before a call is spent."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import shaketable
from shaketable import catalog, errors
from shaketable.errors import EXTRAS, PackageError, lacks_packages, need_packages

PACKAGE = Path(shaketable.__file__).parent
ROOT = PACKAGE.parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MODULE_OF = {"ir-measures": "ir_measures", "pystemmer": "Stemmer", "rouge-score-rs": "rouge_score_rs"} | {
    "tomli-w": "tomli_w",
    "vl-convert-python": "vl_convert",
}
"""How a package of the core is imported, where that is not its name."""
COMES_ALONG = {
    "grpc": "pymilvus",
    "markupsafe": "jinja2",
    "pydantic_core": "pydantic",
    "triton": "torch",
    "pytest": "its user",
}
"""What is imported beside a package that brings it."""
WITHOUT_EXTRAS = """
import importlib.machinery, sys
from shaketable.errors import EXTRAS
away = {module for extra in EXTRAS.values() for module in extra.packages}
usual = importlib.machinery.PathFinder.find_spec
importlib.machinery.PathFinder.find_spec = classmethod(
    lambda own, name, path=None, target=None: None if name.partition(".")[0] in away else usual(name, path, target)
)
"""
SMALL_STUDY = """
import dataclasses
from shaketable import catalog, make_study
from shaketable.errors import PartError
from shaketable.stages.analyze import analyze
from shaketable.stages.run import ask
from shaketable.stages.score import score

def ready(kind):
    for name in catalog.known(kind):
        try:
            part = catalog.build(kind, name)
        except PartError:  # It needs a file or a model.
            continue
        if catalog.lacks_packages(kind, part) is None and not getattr(part, "wants", ()):
            yield name

metrics = [name for name in ready("metric") if name not in ("margin", "query_loss")]
study = make_study(
    "light",
    models="scripted(replies=('Paris', 'It is Rome. I am sure.'))",
    methods=list(ready("method")),
    retrievers="gold",
    perturbations=list(ready("perturbation")),
    variations=list(ready("variation")),
    metrics=metrics,
    limit=2,
)
run = ask(dataclasses.replace(study, n_resamples=99), "run")
assert run.summary().done == run.summary().trials, run.summary()
score(run)
findings = analyze(run, list(catalog.known("analysis")))
print(len(metrics), len(study.perturbations), len(study.methods), len(study.variations))
print([finding.failure for finding in findings.findings if finding.failure])
assert not away & {name.partition(".")[0] for name in sys.modules}, away & sys.modules.keys()
"""


def packages_of(extra: str) -> set[str]:
    """Names as they are installed, those of other extras that it contains among them."""
    names: set[str] = set()
    for line in PROJECT["optional-dependencies"][extra]:
        name = re.split(r"[<>=\[ ]", line)[0]
        if name == "shaketable":
            names |= {own for inner in line.split("[")[1].rstrip("]").split(",") for own in packages_of(inner)}
        else:
            names.add(name)
    return names


def imported() -> dict[str, str]:
    """Package that a line of ours imports → the file."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            found |= {name.partition(".")[0]: str(file.relative_to(PACKAGE)) for name in names}
    return found


def run_without_extras(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS + code], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_brings_what_its_parts_ask_for(extra):
    assert packages_of(extra) == set(EXTRAS[extra].packages.values())


def test_all_is_every_extra_and_the_tests_have_all():
    others = PROJECT["optional-dependencies"].keys() - {"all", "dev"}
    assert others == EXTRAS.keys()
    assert packages_of("all") == {package for extra in EXTRAS.values() for package in extra.packages.values()}
    assert packages_of("all") <= packages_of("dev")


def test_every_package_that_is_imported_is_of_the_core_or_of_an_extra():
    core = {re.split(r"[<>=]", line)[0] for line in PROJECT["dependencies"]}
    known = {MODULE_OF.get(name, name) for name in core} | COMES_ALONG.keys()
    known |= {module for extra in EXTRAS.values() for module in extra.packages}
    foreign = {name: file for name, file in imported().items() if name not in sys.stdlib_module_names}
    assert {name: file for name, file in foreign.items() if name not in known | {"shaketable"}} == {}
    assert {MODULE_OF.get(name, name) for name in core} <= foreign.keys(), "Nothing imports the rest."


def test_torch_is_a_range_in_the_package_and_exact_in_constraints_and_makefile():
    wanted = [line for line in PROJECT["optional-dependencies"]["local"] if line.startswith("torch")]
    assert wanted == ["torch>=2.6"]
    [pinned] = re.findall(r"^torch==.*$", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE)
    assert f" {pinned}\n" in (ROOT / "Makefile").read_text("utf-8")


@pytest.mark.slow
def test_without_any_extra_every_part_is_listed_and_what_needs_nothing_works(tmp_path):
    counts, failures = run_without_extras(SMALL_STUDY, tmp_path).splitlines()
    n_metrics, n_perturbations, n_methods, n_variations = map(int, counts.split())
    assert n_metrics >= 10 and n_perturbations >= 7 and n_methods >= 5 and n_variations >= 3
    assert failures == "[]"


def test_without_any_extra_every_part_can_be_built_or_says_what_it_needs(tmp_path):
    code = """
from shaketable import catalog
for kind in catalog.KINDS:
    for name in catalog.known(kind):
        catalog.find(kind, name)
print(catalog.lacks_packages("retriever", catalog.build("retriever", "dense")))
print(catalog.lacks_packages("retriever", catalog.build("retriever", "milvus(mode='vector')")))
print(catalog.lacks_packages("variation", catalog.build("variation", "spelling(misspellings='nlpaug-misspellings')")))
"""
    dense, milvus, spelling = run_without_extras(code, tmp_path).splitlines()
    assert dense == "Retriever 'dense' needs the packages torch and transformers: pip install 'shaketable[dense]'."
    assert milvus.endswith("pip install 'shaketable[milvus,local]'.")
    assert spelling == "None"


@pytest.mark.parametrize(
    ("modules", "sentence"),
    [
        (("torch", "transformers"), "X needs the packages torch and transformers: pip install 'shaketable[local]'."),
        (("spacy",), "X needs the package spacy: pip install 'shaketable[language]'."),
        (("numba",), "X needs the package numba: pip install 'shaketable[bm25]'."),
        (("torch", "spacy"), "X needs the packages torch and spacy: pip install 'shaketable[local]'."),
        (("harper",), "X needs the package harper-py: pip install 'shaketable[language]'."),
        (("faiss",), "X needs the package faiss-cpu: pip install 'shaketable[dense]'."),
    ],
)
def test_what_is_missing_is_named_with_the_smallest_extra_that_has_it(monkeypatch, modules, sentence):
    monkeypatch.setattr(errors, "is_installed", lambda module: False)
    assert lacks_packages("X", modules) == sentence
    with pytest.raises(PackageError, match=re.escape(sentence)):
        need_packages("X", *modules)


def test_only_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(errors, "is_installed", lambda module: module == "torch")
    assert lacks_packages("X", ("torch", "transformers")).startswith("X needs the package transformers:")
    assert lacks_packages("X", ("torch",)) is None


def test_a_reworded_question_needs_what_its_gate_measures(monkeypatch):
    monkeypatch.setattr(errors, "is_installed", lambda module: False)
    by_model = "by='scripted', min_similarity=0.0, max_span_rise=0.0"
    named = catalog.lacks_packages("variation", catalog.build("variation", f"formality({by_model})"))
    assert named == "Variation 'formality' needs the package spacy: pip install 'shaketable[language]'."
    free = catalog.build("variation", f"formality({by_model}, keep_names=False)")
    assert catalog.lacks_packages("variation", free) is None
