"""A fresh environment → `constraints.txt`: the newest versions that fit `pyproject.toml`, PyTorch as it is pinned.

    python scripts/refresh_constraints.py            # write it
    python scripts/refresh_constraints.py --check    # say what is behind, missing or not needed any more; exit 1 if so
    python scripts/refresh_constraints.py --torch 2.14.0

It installs everything anew into a folder that is thrown away: minutes, and gigabytes where PyTorch comes with CUDA.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / "constraints.txt"
OWN = ("shaketable", "pip", "setuptools", "wheel")
"""What is tested, and what every environment has."""
OF_TORCH = re.compile(r"(nvidia|cuda|triton)\b")
"""What PyTorch brings for a GPU pins itself, by its exact version."""


def canonical(name: str) -> str:
    """One spelling for `Foo_Bar`, `foo.bar` and `foo-bar`, as package indexes have it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def parse_constraints(text: str) -> dict[str, str]:
    """Name as it is written → version."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    pinned = {}
    for line in filter(None, lines):
        name, equals, version = line.partition("==")
        if not equals:
            raise SystemExit(f"{CONSTRAINTS.name}: '{line}' pins no version. Write name==version.")
        pinned[name.strip()] = version.strip()
    return pinned


def format_constraints(installed: Mapping[str, str]) -> str:
    lines = (f"{name}=={version}\n" for name, version in installed.items())
    return "".join(sorted(lines, key=str.lower))


def keep_pinned(installed: Mapping[str, str]) -> dict[str, str]:
    """Those that belong into the file; a build such as `2.13.0+cpu` counts as its version."""
    return {
        name: version.partition("+")[0]
        for name, version in installed.items()
        if canonical(name) not in OWN and not OF_TORCH.match(canonical(name))
    }


def compare(pinned: Mapping[str, str], newest: Mapping[str, str]) -> list[str]:
    """A sentence for each package that is behind, missing or not needed."""
    before = {canonical(name): version for name, version in pinned.items()}
    after = {canonical(name): version for name, version in newest.items()}
    told = []
    for name in sorted(before | after):
        if name not in before:
            told.append(f"{name} {after[name]} is needed and not pinned")
        elif name not in after:
            told.append(f"{name} {before[name]} is pinned and not needed")
        elif before[name] != after[name]:
            told.append(f"{name} is pinned at {before[name]}, and {after[name]} can be had")
    return told


def install_newest(torch: str) -> dict[str, str]:
    """What a fresh environment holds after PyTorch by its exact version and the package with all it is tested with."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        pip = [str(Path(folder, "bin", "python")), "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--quiet", f"torch=={torch}"], check=True)
        subprocess.run([*pip, "install", "--quiet", f"{ROOT}[dev]"], check=True)
        listed = subprocess.run([*pip, "list", "--format", "json"], check=True, capture_output=True, text=True)
    return {package["name"]: package["version"] for package in json.loads(listed.stdout)}


def main(words: Sequence[str]) -> int:
    pinned = parse_constraints(CONSTRAINTS.read_text("utf-8"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the file is behind")
    parser.add_argument("--torch", default=pinned["torch"], help="the version of PyTorch (default: %(default)s)")
    given = parser.parse_args(words)
    newest = keep_pinned(install_newest(given.torch))
    told = compare(pinned, newest)
    print("\n".join(told) or f"{CONSTRAINTS.name} is up to date: {len(newest)} packages.")
    if given.check:
        return int(bool(told))
    CONSTRAINTS.write_text(format_constraints(newest), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
