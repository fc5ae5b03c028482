"""Batches that go on at an endpoint when a command ends, in words."""

from __future__ import annotations

import shlex
from pathlib import Path

from shaketable.cli.console import print_json, say, typed
from shaketable.cli.executing import words_of
from shaketable.errors import RepliesPending
from shaketable.models.endpoint.batches.ledger import underway_in
from shaketable.stages.cluster.executor import Ray
from shaketable.store import Run
from shaketable.store.folder import batches_of


def resuming(folder: Path, executor: Ray | None = None) -> str:
    """The command that goes on with a run."""
    return f"{typed()} {shlex.join(['run', str(folder / 'study.toml'), '--out', str(folder), *words_of(executor)])}"


def describe_underway(folder: Path) -> str:
    """The run's batches that an endpoint works on; empty: there are none."""
    batches = underway_in(batches_of(folder))
    if not batches:
        return ""
    names = ", ".join(str(batch.batch_id) for batch in batches)
    n_requests = sum(batch.n_requests for batch in batches)
    return f" {names}: {n_requests:,} requests go on at the endpoint, and the next go takes their replies."


def tell_pending(run: Run, pending: RepliesPending, json_: bool) -> None:
    """Batches were sent, and nobody waits for them now."""
    if json_:
        summary = run.summary()
        print_json({"run": str(run.folder), "done": summary.done, "failed": summary.failed, "pending": str(pending)})
    else:
        say(f"{pending} Take the replies later with: {resuming(run.folder)}")
