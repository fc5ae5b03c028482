"""No line of the package runs what it read: no pickles, no evaluated texts, no code of a model hub, no shell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import shaketable
from shaketable import weights

PACKAGE = Path(shaketable.__file__).parent
ROOT = PACKAGE.parents[1]

MODULES = ("pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "dbm")
"""Whoever reads with them runs what is in a file."""
CALLS = {
    "eval": "evaluates a text",
    "exec": "runs a text",
    "compile": "makes code of a text",
    "__import__": "imports by a name that is no import statement",
    "os.system": "starts a shell",
    "os.popen": "starts a shell",
    "subprocess.getoutput": "starts a shell",
    "subprocess.getstatusoutput": "starts a shell",
    "yaml.load": "makes objects of a text; use yaml.safe_load",
    "yaml.unsafe_load": "makes objects of a text",
    "torch.hub.load": "runs code of a repository",
    "pandas.read_pickle": "reads a pickle",
}
METHODS = {"extractall": "unpacks without looking at each member", "unpack_archive": "unpacks without looking"}
SETTINGS = ("weights_only", "trust_remote_code", "shell", "allow_pickle")
WORDS = re.compile(
    r"\b(?:"
    + "|".join((*MODULES, *SETTINGS, *METHODS))
    + r")\b|(?<![\w.])(?:"
    + "|".join(map(re.escape, CALLS))
    + r")\("
    r"|torch\.load\("
)
"""A file without any of them need not be read as code."""
EXCEPTIONS: dict[tuple[str, str], str] = {
    # (file below the package, what): why it may
}


def dangers(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Line, what, and why it is none of ours."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    if alias.name.partition(".")[0] in MODULES:
                        yield node.lineno, alias.name, "reads objects out of files"
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in MODULES:
                yield node.lineno, module, "reads objects out of files"
            case ast.Call(func=func, keywords=keywords):
                yield from _of_call(node.lineno, _dotted(func), keywords)


def _dotted(node: ast.expr) -> str:
    """`torch.load`; what is called on a value is `?.load`."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{_dotted(value)}.{name}"
    return "?"


def _of_call(line: int, name: str, keywords: list[ast.keyword]) -> Iterator[tuple[int, str, str]]:
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in keywords if keyword.arg in SETTINGS}
    if name in CALLS:
        yield line, name, CALLS[name]
    if (method := name.rpartition(".")[2]) in METHODS and name not in CALLS:
        yield line, name, METHODS[method]
    if name == "torch.load" and given.get("weights_only") != "True":
        yield line, name, "reads a pickle unless weights_only=True"
    for setting in SETTINGS[1:]:
        if given.get(setting, "False") != "False":
            yield line, f"{name}({setting}={given[setting]})", "runs what was read"


def test_nothing_in_the_package_runs_what_it_read() -> None:
    found = [
        f"{inside}:{line}: {what} {why}"
        for file in sorted(PACKAGE.rglob("*.py"))
        if WORDS.search(text := file.read_text("utf-8"))
        for line, what, why in dangers(ast.parse(text))
        if ((inside := str(file.relative_to(PACKAGE))), what) not in EXCEPTIONS
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from cloudpickle import loads",
        "eval('1')",
        "exec(text)",
        "compile(text, 'f', 'exec')",
        "AutoModel.from_pretrained(path, trust_remote_code=True)",
        "AutoModel.from_pretrained(path, trust_remote_code=given)",
        "torch.load(file)",
        "torch.load(file, weights_only=False)",
        "yaml.load(text)",
        "subprocess.run(command, shell=True)",
        "np.load(file, allow_pickle=True)",
        "archive.extractall(folder)",
        "shutil.unpack_archive(file)",
    ],
)
def test_each_danger_would_be_found(code: str) -> None:
    assert list(dangers(ast.parse(code)))


@pytest.mark.parametrize(
    "code", ["re.compile('a')", "model.eval()", "torch.load(file, weights_only=True)", "yaml.safe_load(text)"]
)
def test_what_only_sounds_like_it_is_left_alone(code: str) -> None:
    assert not list(dangers(ast.parse(code)))


def test_what_is_fetched_is_pinned_by_its_digest_and_holds_no_pickles() -> None:
    for wanted in weights.EMBEDDED.values():
        assert len(wanted.wheel_digest) == 64 and "==" in wanted.package
        assert all(len(digest) == 64 for digest in wanted.files.values())
        assert not [name for name in wanted.files if name.endswith((".bin", ".pt", ".pth", ".pkl", ".pickle", ".py"))
                    and name not in ("vocab/lookups.bin", "lemmatizer/lookups/lookups.bin")]  # fmt: skip
