"""Scoring that is killed while a judge is being asked: every verdict that came is there, and none is paid for twice."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from made_answers import answer_rows
from made_answers import made_run as imported
from stand_in_endpoint import StandIn, said

from shaketable.stages.score import score
from shaketable.store import Run

N_QUESTIONS, N_UNTIL_KILLED = 60, 25
SCORED = "import sys; from shaketable.stages.score import score; from shaketable.store import Run; "
SCORED += "score(Run(sys.argv[1]), [sys.argv[2]])"


def test_a_killed_judge_is_asked_only_what_is_missing(tmp_path: Path) -> None:
    run = imported(tmp_path / "run", answer_rows([1, 0] * (N_QUESTIONS // 2)))
    judges, killed = StandIn(), threading.Event()
    is_reached = threading.Event()

    def reply(body: dict[str, object], n: int) -> tuple[int, dict[str, str], object]:
        if n > N_UNTIL_KILLED and not killed.is_set():
            is_reached.set()
            killed.wait(60)  # What is asked now never gets a reply.
        return said("VERDICT: correct")

    judges.reply = reply
    judge = f"judge(model=\"openai(model='j', base_url='{judges.url}')\")"
    process = subprocess.Popen([sys.executable, "-c", SCORED, str(run.folder), judge])
    try:
        assert is_reached.wait(120)
        stored_soon(run, N_UNTIL_KILLED)
    finally:
        process.kill()
        process.wait()
        killed.set()
    kept = verdicts(run)
    assert kept == N_UNTIL_KILLED
    n_before = len(judges.requests)
    score(Run(run.folder), [judge])
    assert len(judges.requests) - n_before == N_QUESTIONS - kept
    assert verdicts(run) == N_QUESTIONS


def verdicts(run: Run) -> int:
    run = Run(run.folder)
    [(n,)] = run.store.rows("SELECT COUNT(*) FROM verdicts")
    run.store.close()
    return int(n)


def stored_soon(run: Run, n: int) -> None:
    """Replies that came a moment ago are on their way to the store."""
    waiting = threading.Event()
    for _ in range(600):
        if verdicts(run) == n:
            return
        waiting.wait(0.1)
