"""The identity of a checkpoint depends on its own weights alone."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")

from shaketable.engine.checkpoint import Checkpoint


def revision(path: Path) -> str:
    config = SimpleNamespace(to_json_string=lambda: "{}")
    loaded: Any = SimpleNamespace(path=path, model=SimpleNamespace(config=config))
    made: str = Checkpoint.revision.func(loaded)  # type: ignore[attr-defined]
    return made


def test_a_single_file_does_not_depend_on_its_neighbors(tmp_path: Path) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(b"123")
    before = revision(file)
    (tmp_path / "b.gguf").write_bytes(b"45")
    assert revision(file) == before
    file.write_bytes(b"1234")
    assert revision(file) != before


def test_a_folder_depends_on_all_its_weights(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(b"123")
    before = revision(tmp_path)
    (tmp_path / "b.safetensors").write_bytes(b"45")
    assert revision(tmp_path) != before
