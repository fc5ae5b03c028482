"""What is said of the medians of single questions."""

from __future__ import annotations

import pytest

from shaketable.report.sections.single_questions import Box, _describe_disturbed


def boxes(**medians: float) -> list[Box]:
    return [
        Box(perturbation=name, temperature=0.6, n=20, quartiles=(0.0, 0.0, median, 1.0, 1.0))
        for name, median in medians.items()
    ]


@pytest.mark.parametrize(
    ("disturbed", "told"),
    [
        (boxes(), ""),
        (boxes(typos=0.25), ", and 25 % with typos"),
        (boxes(entity_masking=0.0, typos=0.5), "; of the disturbed it is lowest with entity masking: 0 %"),
        (boxes(a=0.0, b=0.0, c=0.5), "; of the disturbed it is lowest with a and b: 0 %"),
        (boxes(a=0.0, b=0.0, c=0.0), "; every kind of disturbed evidence has a median of 0 %"),
    ],
)
def test_no_kind_is_called_the_lowest_where_several_are(disturbed: list[Box], told: str) -> None:
    assert _describe_disturbed(disturbed, "share") == told
