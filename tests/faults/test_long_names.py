"""Names that are longer than those of files may be: an export is whole, and its parts are told apart."""

from __future__ import annotations

import json
from pathlib import Path

from made_answers import answer_rows, made_run

from shaketable.stages.interchange.lm_eval_writing import export_lm_eval


def test_an_export_for_lm_eval_with_long_names_is_whole(tmp_path: Path) -> None:
    names = {name: f"{name} " * 40 for name in ("dataset", "method", "retriever", "variation")}
    names["model"] = "m" * 300
    perturbations = ["p" * 200, "p" * 199 + "q"]
    rows = [row for last in perturbations for row in answer_rows([1, 0, 1], perturbation=last, **names)]
    run = made_run(tmp_path / ("long" * 20), rows)
    files = export_lm_eval(run, tmp_path / "out")
    samples, results = [file for file in files if "samples_" in file.name], files[-1]
    assert len(set(samples)) == 2 and all(len(file.read_text().splitlines()) == 3 for file in samples)
    tasks = json.loads(results.read_text())["results"]
    assert len(tasks) == 2 and all(f"samples_{task}_" in " ".join(file.name for file in samples) for task in tasks)
