"""A Study → TOML, as a run freezes it: every value spelled out, and which components this process alone has."""

from __future__ import annotations

import dataclasses
from typing import Any

import tomli_w

from shaketable import catalog
from shaketable.types import Scan, Study


def format_study(study: Study) -> str:
    """The study as TOML again, every value spelled out: what a run freezes."""
    tables: list[dict[str, Any]] = []
    for choice in study.datasets:
        table: dict[str, Any] = {"name": choice.name, **choice.settings}
        if choice.where:
            table["where"] = {tag: list(values) for tag, values in choice.where.items()}
        if choice.with_rewrites:
            table["with_rewrites"] = True
        if choice.balance_by:
            table["balance"] = {"by": list(choice.balance_by)} | (
                {"per_cell": choice.per_cell} if choice.per_cell else {}
            )
        if choice.limit:
            table["limit"] = choice.limit
        if choice.shard:
            table["shard"] = "{}/{}".format(*choice.shard)
        tables.append(table)
    scan = {} if study.scan is None else {"scan": _written(study.scan)}
    shake = {} if study.shake is None else {"shake": dataclasses.asdict(study.shake)}
    return tomli_w.dumps(
        {
            "name": study.name,
            "seed": study.seed,
            "dataset": tables[0] if len(tables) == 1 else tables,
            "cross": {
                "models": list(study.models),
                "methods": list(study.methods),
                "retrievers": list(study.retrievers),
                "variations": list(study.variations),
                "perturbations": list(study.perturbations),
                "temperatures": list(study.temperatures),
                "repeats": _written_repeats(study),
            },
            "generation": dict(study.generation)
            | (
                {"models": {name: dict(own) for name, own in study.generation_of.items()}}
                if study.generation_of
                else {}
            ),
            **scan,
            **shake,
            "score": {"metrics": list(study.metrics), "reference": study.reference}
            | ({} if study.reference_prompt is None else {"reference_prompt": study.reference_prompt})
            | ({"reference_temperature": study.reference_temperature} if study.reference_temperature else {})
            | ({"reference_max_tokens": study.reference_max_tokens} if study.reference_max_tokens != 100 else {}),
            "analyze": _given(metric=study.main_metric, margin=study.margin)
            | {
                "confidence": study.confidence,
                "n_resamples": study.n_resamples,
                "without_flags": list(study.without_flags),
                "analyses": list(study.analyses),
            },
            "gate": _given(**dataclasses.asdict(study.gate)),
            **({"limits": limits} if (limits := _given(**dataclasses.asdict(study.limits))) else {}),
            **({"in_process": {kind: dict(own) for kind, own in study.in_process.items()}} if study.in_process else {}),
        }
    )


def _given(**values: Any) -> dict[str, Any]:
    """TOML has no word for nothing: what is absent is left out."""
    return {name: value for name, value in values.items() if value is not None}


def _written(scan: Scan) -> dict[str, Any]:
    """An absent limit is left out, an absent metric is empty."""
    return _given(**{**dataclasses.asdict(scan), "known": scan.known or ""})


def _written_repeats(study: Study) -> int | dict[str, Any]:
    if study.precision is None:
        return study.repeats
    return {"until": f"±{study.precision.until!r}", "max": study.repeats, "min": study.precision.least}


def note_registered(study: Study) -> Study:
    """The same with the place of each part that is in this process alone, so that another can tell what it lacks."""
    listed = {
        "dataset": [choice.name for choice in study.datasets],
        "model": study.models,
        "method": study.methods,
        "retriever": study.retrievers,
        "perturbation": study.perturbations,
        "variation": study.variations,
        "metric": study.metrics,
        "analysis": study.analyses,
    }
    noted = {kind: dict(origins) for kind, origins in study.in_process.items()}
    for kind, texts in listed.items():
        for name in (text.partition("(")[0].strip() for text in texts):
            if part := catalog.registered(kind).get(name):
                noted.setdefault(kind, {})[name] = f"{part.origin} (source {part.source_digest[:8]})"
    return dataclasses.replace(study, in_process=noted)
