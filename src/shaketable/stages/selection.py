"""How the questions of a plan were chosen, in words and counts."""

from __future__ import annotations

import json
from typing import Any

from shaketable.datasets.reading.select import ShortCell
from shaketable.identity import canonical
from shaketable.stages.plan import Plan


def describe_selection(planned: Plan) -> dict[str, Any]:
    """What a run keeps of it."""
    return {
        "datasets": [json.loads(canonical(choice)) for choice in planned.study.datasets],
        "questions": len(planned.questions),
        "rejected_rows": len(planned.rejected_rows),
        "remarks": len(planned.remarks),
        "short_cells": {cell_words(cell): cell.n for cell in planned.short_cells},
        "rejected_variants": len(planned.variants) - len(planned.asked),
    }


def cell_words(cell: ShortCell) -> str:
    return ", ".join(f"{name} {value}" for name, value in cell.values.items())
