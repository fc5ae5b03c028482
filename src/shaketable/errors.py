"""What a user can mend.

ShaketableError            prints without a traceback, exit 1
├── StudyError             a study file or a command's words, exit 2
│   └── PartError          a part's name or setting
├── DataError              a dataset, answers or rewrite file, exit 2
├── WeightsError           weights that are not there, or not what they should be
├── RunError               a run folder that cannot be used as asked
│   └── StoreError         a broken or foreign records file
├── RetrieverDown          a search engine that cannot be reached, or not any more; running again may help
└── ModelError             an engine or endpoint that cannot be used at all
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ShaketableError(Exception):
    exit_code = 1


class StudyError(ShaketableError):
    exit_code = 2


class PartError(StudyError):
    pass


class DataError(ShaketableError):
    exit_code = 2


class WeightsError(ShaketableError):
    pass


class RunError(ShaketableError):
    pass


class StoreError(RunError):
    pass


class RetrieverDown(ShaketableError):  # noqa: N818 (it says what is the matter)
    pass


class ModelError(ShaketableError):
    pass


def did_you_mean(found: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?` for the nearest known word, or nothing."""
    near = difflib.get_close_matches(found, list(known), n=1, cutoff=0.6)
    return f" Did you mean '{near[0]}'?" if near else ""
