"""Shaketable puts question-answering systems on a shake table."""

import importlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

_is_command = os.path.basename(sys.argv[0] if sys.argv else "") == "shaketable"  # noqa: PTH119 (nothing is imported yet)
if (_is_command or sys.orig_argv[1:3] == ["-m", "shaketable"]) and (
    signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    # A Ctrl-C while modules are imported ends the command without a word, until `main` can say one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from shaketable.weights import is_offline  # noqa: E402

# All are read once, before the first matrix product, so they are set before anything imports PyTorch.
# Intel's matrix library promises a row the same bits whatever the batch around it only in this mode
# (docs/decisions/0003). Threads that wait by spinning for long stall each other on a busy machine: a short
# spin decoded as fast as a long one on an idle machine and several times as fast beside other work.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")
os.environ.setdefault("GOMP_SPINCOUNT", "20000")
# oneDNN keeps what it made for each number of rows, half a megabyte each: a few hundred numbers are a gigabyte. Making
# one anew takes less than a millisecond.
for _cache in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
    os.environ.setdefault(_cache, "64")
# Nobody is told that this program runs; and where it must not leave the machine, nothing that it loads may.
for _telling, _no in {"RAY_USAGE_STATS_ENABLED": "0", "HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}.items():
    os.environ.setdefault(_telling, _no)
if is_offline():
    os.environ |= {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
        "LANGSMITH_TRACING": "false",
        "LANGSMITH_TRACING_V2": "false",
        "LANGCHAIN_TRACING_V2": "false",
        "NO_PROXY": "*",  # A server on this machine is asked itself.
        "no_proxy": "*",
    }

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from shaketable.catalog import build, known
    from shaketable.errors import ShaketableError
    from shaketable.stages.analyze import analyze
    from shaketable.stages.answer import answer
    from shaketable.stages.cluster.executor import Ray
    from shaketable.stages.own.registering import (
        analysis,
        method,
        metric,
        model,
        perturbation,
        pipeline,
        retriever,
        variation,
    )
    from shaketable.stages.own.studies import make_study
    from shaketable.stages.plan import plan
    from shaketable.stages.report import report as write_report
    from shaketable.stages.run import run
    from shaketable.stages.score import score
    from shaketable.store import Run
    from shaketable.study import load_study
    from shaketable.types import Answer, Completion, Evidence, Failure, Finding, Hit, Question, Record, Score, Study

_HOMES = {
    "build": "catalog",
    "known": "catalog",
    "ShaketableError": "errors",
    "plan": "stages.plan",
    "answer": "stages.answer",
    "score": "stages.score",
    "analyze": "stages.analyze",
    "run": "stages.run",
    "Ray": "stages.cluster.executor",
    "write_report": "stages.report:report",  # `shaketable.report` is the folder, once anything of it is loaded.
    "Run": "store",
    "load_study": "study",
    "make_study": "stages.own.studies",
    **dict.fromkeys(
        ("analysis", "method", "metric", "model", "perturbation", "pipeline", "retriever", "variation"),
        "stages.own.registering",
    ),
    **dict.fromkeys(
        ("Answer", "Completion", "Evidence", "Failure", "Finding", "Hit", "Question", "Record", "Score", "Study"),
        "types",
    ),
}

__all__ = [
    "Answer",
    "Completion",
    "Evidence",
    "Failure",
    "Finding",
    "Hit",
    "Question",
    "Ray",
    "Record",
    "Run",
    "Score",
    "ShaketableError",
    "Study",
    "analysis",
    "analyze",
    "answer",
    "build",
    "known",
    "load_study",
    "make_study",
    "method",
    "metric",
    "model",
    "perturbation",
    "pipeline",
    "plan",
    "retriever",
    "run",
    "score",
    "variation",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Names are looked up when they are used, so that importing the package stays instant."""
    if name not in _HOMES:
        raise AttributeError(f"module 'shaketable' has no attribute '{name}'")
    home, _, own_name = _HOMES[name].partition(":")
    return getattr(importlib.import_module(f"shaketable.{home}"), own_name or name)


def __dir__() -> list[str]:
    """What tab completion offers: the public names, and no module that this file happens to use."""
    return sorted([*__all__, "__version__"])
