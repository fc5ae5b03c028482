"""The file format of a run: append, resume, verify, migrate."""

from shaketable.store.records import RecordStore
from shaketable.store.run import Run

__all__ = ["RecordStore", "Run"]
