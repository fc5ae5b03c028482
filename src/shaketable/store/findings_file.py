"""`findings.json`: what the analyses of a run gave, and what they were made from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shaketable.errors import RunError
from shaketable.identity import canonical
from shaketable.types import Finding

NAME = "findings.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredFindings:
    findings: tuple[Finding, ...]
    source: str | None
    """The digest of what they were made from; None: version 0.1 wrote the findings alone."""
    asked: tuple[str, ...] | None
    """The analyses that were asked for instead of the study's; None: the study's."""


def has_findings(folder: Path) -> bool:
    return (folder / NAME).is_file()


def load_findings(folder: Path) -> StoredFindings:
    if not has_findings(folder):
        raise RunError(f"{folder} has no findings yet. Run: shaketable analyze {folder}.")
    body = json.loads((folder / NAME).read_text("utf-8"))
    if isinstance(body, list):
        body = {"made_from": None, "asked": None, "findings": body}
    findings = [
        Finding(**finding | {name: tuple(finding[name]) for name in ("rows", "sentences", "caveats")})
        for finding in body["findings"]
    ]
    asked = body["asked"]
    return StoredFindings(
        findings=tuple(findings), source=body["made_from"], asked=None if asked is None else tuple(asked)
    )


def write_findings(folder: Path, findings: Sequence[Finding], source: str, asked: Sequence[str] | None) -> None:
    body = {"made_from": source, "asked": asked, "findings": findings}
    temporary = folder / f"{NAME}.tmp"
    temporary.write_text(json.dumps(json.loads(canonical(body)), indent=1, ensure_ascii=False), "utf-8")
    temporary.replace(folder / NAME)
