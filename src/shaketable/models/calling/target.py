"""`app.py:answer`, `package.module:name` or a web address → where it is, what it holds, and how a study writes it."""

from __future__ import annotations

import importlib.machinery
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shaketable.errors import PartError, at_home, did_you_mean
from shaketable.identity import digest_text

EXPECTED = "expected a file and a name in it, such as app.py:answer, or package.module:name"
MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """Where a callable is."""

    module: str
    """The path of a file that ends in `.py`, or a dotted name."""
    name: str
    """In the module; dots lead into objects."""

    @property
    def is_file(self) -> bool:
        return self.module.endswith(".py")

    @property
    def file(self) -> Path:
        """The file behind it; raises PartError where there is none."""
        return _file(self.module) if self.is_file else _module_file(self.module)

    @property
    def digest(self) -> str:
        """Of the file's text: other text, other keys. What it imports is not read."""
        return digest_text(self.file.read_bytes().decode("utf-8", "surrogateescape"))


def parse_target(text: str) -> Target:
    """Raises ValueError, in words, where it is neither a file nor a module with a name."""
    module, colon, name = text.rpartition(":")
    if not colon or not module.strip() or not MODULE.fullmatch(name):
        raise ValueError(f"python is '{text}'; {EXPECTED}")
    if not module.endswith(".py") and not MODULE.fullmatch(module):
        raise ValueError(f"python is '{text}', and '{module}' is neither a file of Python nor a module; {EXPECTED}")
    return Target(module=module, name=name)


def model_of(target: str) -> str:
    """A target as people write it → the model as a study writes it: what is no pipeline is a model already."""
    text = target.strip()
    if re.match(r"https?://", text):
        return f"pipeline(http={text!r})"
    module, colon, name = text.rpartition(":")
    is_python = bool(colon) and "(" not in text and (module.endswith(".py") or MODULE.fullmatch(module) is not None)
    if is_python and MODULE.fullmatch(name):
        return f"pipeline(python={text!r})"
    return text


def _file(path: str) -> Path:
    file = at_home(path, PartError)
    if file.is_file():
        return file
    folder = file.parent
    if not folder.is_dir():
        raise PartError(f"There is no folder {folder} for the pipeline {path}. Give the path from the working folder.")
    near = did_you_mean(file.name, [other.name for other in folder.glob("*.py")])
    raise PartError(f"There is no file {path}.{near} Give its path from the working folder, or the whole path.")


def _module_file(name: str) -> Path:
    """Found as an import would, without importing anything."""
    where: Sequence[str] = [str(Path.cwd()), *sys.path]
    steps = name.split(".")
    for i, _ in enumerate(steps, 1):
        spec = importlib.machinery.PathFinder.find_spec(".".join(steps[:i]), list(where))
        if spec is None:
            found = f"in {'.'.join(steps[: i - 1])}" if i > 1 else "in the working folder, nor is it installed"
            raise PartError(
                f"There is no module '{name}': '{steps[i - 1]}' is not {found}. Write package.module:name, or the path "
                "of a file: app.py:answer."
            )
        where = spec.submodule_search_locations or []
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        raise PartError(f"The module '{name}' has no file of its own. Name the module that holds the function.")
    return Path(spec.origin)
