"""All that is fuzzed, by name."""

from __future__ import annotations

from collections.abc import Mapping

from faults.fuzz import disturbing, loading, prompting, scoring, showing, studies
from faults.fuzz.target import Target

TARGETS: Mapping[str, Target] = {
    target.name: target
    for module in (loading, studies, scoring, disturbing, prompting, showing)
    for target in module.TARGETS
}
WEIGHTS: Mapping[str, float] = {
    **dict.fromkeys((name for name in TARGETS if name.startswith("study_")), 0.3),
    "import": 0.2,
    "metrics": 0.5,
    "terminal": 0.3,
    "viewer_addresses": 0.3,
    "perturbations": 0.05,
    "viewer_texts": 0.02,
    "variations": 0.005,
    "commands": 0.01,
}
"""Targets that take long, and their share of the cases that others get."""
SLOW = ("variations", "commands", "viewer_texts", "perturbations")
"""Those that load a pipeline or a model; the parts' own tests give them odd texts in every run."""
