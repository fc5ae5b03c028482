"""A cluster that is started for the run alone; in a process of its own: other tests leave Ray with their settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

TWICE = """
import json, os, sys
import shaketable

told = []
for name in ("first", "second"):
    study = shaketable.make_study(
        name, models=["scripted(replies=('Paris',))", "scripted(replies=('Rome',))"], limit=2
    )
    run = shaketable.run(study, name, executor=shaketable.Ray(workers=1))
    records = list(run.store.records())
    told.append(sorted(record.answer.text for record in records))
told.append([name for name in os.environ if name.startswith("RAY_AUTH")])
print(json.dumps(told), file=sys.stderr)
"""


@pytest.mark.slow
def test_two_models_are_asked_on_a_cluster_of_the_run_and_a_second_run_of_the_process_starts_another(tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    ended = subprocess.run(
        [sys.executable, "-c", TWICE], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=500
    )
    assert ended.returncode == 0, ended.stderr
    *runs, left = json.loads(ended.stderr.splitlines()[-1])
    assert runs == [["Paris", "Paris", "Rome", "Rome"]] * 2
    assert left == []
