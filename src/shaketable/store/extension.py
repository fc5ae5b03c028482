"""What a study has more than the one a run was made of, and what of it the run cannot take."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from shaketable import catalog
from shaketable.errors import ShaketableError
from shaketable.identity import canonical
from shaketable.types import DatasetChoice, Json, Precision, Study

DONE_AGAIN = (
    *("metrics", "analyses", "reference", "reference_prompt", "main_metric", "margin", "confidence", "n_resamples"),
    *("without_flags", "gate", "limits", "in_process"),
)
"""What of a study may change: it is done again on stored answers, or no answer depends on it."""
PARTS = {
    "models": "model",
    "methods": "method",
    "retrievers": "retriever",
    "perturbations": "perturbation",
    "variations": "variation",
}
"""Lists of parts, to which others may be added, and their kinds."""
IN_A_UNION = ("methods", "retrievers", "perturbations", "variations")
"""What shares one list of facts in a scan with `union`."""
WHOLE_GRID = ("full", "none")
"""Strategies of a scan that ask every repeat at every temperature, or none."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One key of the study that differs."""

    key: str
    before: object
    after: object
    problem: str | None = None
    """Why a run cannot take it; empty: it is another value, and nothing more is to be said. None: there is more of it,
    and the answers so far stay."""

    def __str__(self) -> str:
        why = f" ({self.problem})" if self.problem else ""
        return f"{self.key} was {canonical(self.before)}, now {canonical(self.after)}{why}"


def compare_studies(frozen: Study, wanted: Study) -> tuple[Change, ...]:
    """The keys that answers depend on, as far as they differ."""
    changes: list[Change] = []
    for field in dataclasses.fields(Study):
        before, after = getattr(frozen, field.name), getattr(wanted, field.name)
        if field.name in DONE_AGAIN or canonical(before) == canonical(after):
            continue
        if field.name == "datasets":
            changes += _datasets(before, after)
        elif field.name in PARTS:
            changes += _parts(field.name, before, after)
        elif field.name == "temperatures":
            changes += _more(field.name, before, after, set(before) - set(after), set(after) - set(before))
        elif field.name == "repeats":
            problem = "fewer than there are answers of" if after < before else None
            changes.append(Change(key=field.name, before=before, after=after, problem=problem))
        elif field.name == "precision":
            changes += _precision(before, after)
        elif field.name not in ("generation", "generation_of"):
            changes.append(Change(key=field.name, before=before, after=after, problem=""))
    changes += _generation(frozen, wanted)
    return tuple(_adaptive(change, wanted) for change in changes)


def _more(
    key: str, before: Sequence[object], after: Sequence[object], left_out: object, added: object
) -> Iterator[Change]:
    """Of a list; in another order it is the same."""
    if left_out or added:
        problem = "what is left out is answered already, and a run is never shortened" if left_out else None
        yield Change(key=key, before=before, after=after, problem=problem)


def _parts(key: str, before: Sequence[str], after: Sequence[str]) -> Iterator[Change]:
    """Parts are the same when keys and people see the same: prices may be added."""
    old, new = ({part_identity(PARTS[key], text) for text in texts} for texts in (before, after))
    return _more(key, before, after, old - new, new - old)


def part_identity(kind: str, text: str) -> str:
    """A part as people and keys see it: two texts of one identity are one part."""
    try:
        part = catalog.build(kind, text)
        return f"{catalog.label(part)} {catalog.spelled(part)}"
    except (ShaketableError, OSError):
        return text  # It is named where the study is planned.


def _generation(frozen: Study, wanted: Study) -> Iterator[Change]:
    """The settings of each model that is answered already."""
    before, after = _settings(frozen), _settings(wanted)
    for model, settings in before.items():
        other = after.get(model, settings)
        differing = [name for name in settings if canonical(settings[name]) != canonical(other.get(name))]
        for name in differing:
            yield Change(key=f"generation.{name}", before=settings[name], after=other.get(name), problem="")
        if differing:
            return


def _settings(study: Study) -> dict[str, Mapping[str, Json]]:
    return {
        part_identity("model", text): {**study.generation, **study.generation_of.get(text, {})} for text in study.models
    }


def _datasets(before: Sequence[DatasetChoice], after: Sequence[DatasetChoice]) -> Iterator[Change]:
    """More questions of the same: the first ones of a selection stay the first ones."""
    if len(before) != len(after):
        other_ids = "with another number of datasets their questions have other ids"
        yield Change(key="dataset", before=_names(before), after=_names(after), problem=other_ids)
        return
    for old, new in zip(before, after, strict=True):
        for key in ("name", "settings", "where", "with_rewrites", "balance_by"):
            pair = getattr(old, key), getattr(new, key)
            if canonical(pair[0]) != canonical(pair[1]):
                yield Change(key=f"dataset.{key}", before=pair[0], after=pair[1], problem="")
        for key in ("limit", "per_cell"):
            most, wanted = getattr(old, key), getattr(new, key)
            if most != wanted:
                is_less = most is None or (wanted is not None and wanted < most)
                problem = "fewer questions than are answered already" if is_less else None
                yield Change(key=f"dataset.{key}", before=most, after=wanted, problem=problem)
        if old.shard != new.shard:
            problem = None if new.shard is None else "a part can become the whole, and no other part"
            yield Change(key="dataset.shard", before=old.shard, after=new.shard, problem=problem)


def _precision(before: Precision | None, after: Precision | None) -> Iterator[Change]:
    """A narrower interval takes more repeats; without one all are asked."""
    if before is None or after is None:
        yield Change(key="repeats.until", before=before and before.until, after=after and after.until)
        return
    for key, old, new, is_less in (
        ("until", before.until, after.until, after.until > before.until),
        ("min", before.least, after.least, after.least < before.least),
    ):
        if old != new:
            problem = "less than is answered already" if is_less else None
            yield Change(key=f"repeats.{key}", before=old, after=new, problem=problem)


def _names(datasets: Sequence[DatasetChoice]) -> list[str]:
    return [choice.name for choice in datasets]


def _adaptive(change: Change, wanted: Study) -> Change:
    """Where answers decide what is asked next, or were made elsewhere, not all can be added."""
    if change.problem is not None:
        return change
    return dataclasses.replace(change, problem=_adaptive_problem(change.key, wanted))


def _adaptive_problem(key: str, wanted: Study) -> str | None:
    scan = wanted.scan
    if wanted.shake is not None:
        return "in a shaken run all that is asked depends on it; only its budget may grow"
    if any(choice.name == "imported" for choice in wanted.datasets):
        return "answers that were imported are not added to"
    if scan is None:
        return None
    if key in ("temperatures", "repeats") and scan.strategy not in WHOLE_GRID:
        return f"a scan by the strategy '{scan.strategy}' would have asked other trials"
    if key in IN_A_UNION and scan.union and scan.limit is not None:
        return "scan.union counts facts over all of them, and would have scanned other ones"
    return None
