"""A run → a folder as lm-evaluation-harness writes it: `MODEL/samples_TASK_DATE.jsonl`, `MODEL/results_DATE.json`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from shaketable import __version__
from shaketable.errors import OutputError
from shaketable.identity import digest_text
from shaketable.stages.interchange.log_rows import OWN
from shaketable.stages.interchange.scored import (
    Means,
    Scored,
    last_prompt,
    own_fields,
    passages_of,
    safe_name,
    scored_records,
)
from shaketable.store import Run
from shaketable.store.cells import AskedCell, asked_cells

FILTER = "none"
LONGEST_TASK = 180
"""Characters; the name of a file has 255 at most."""


def export_lm_eval(run: Run, out: Path) -> list[Path]:
    """Returns the files. Each condition is a task; a model has a folder."""
    cells = asked_cells(run.store)
    if not cells:
        raise OutputError(f"{run.folder} holds no answers yet. Run: shaketable run {run.folder}.")
    if out.suffix in (".json", ".jsonl"):
        raise OutputError(f"{out}: lm-evaluation-harness writes several files. Give a folder with --out.")
    files: list[Path] = []
    for model in dict.fromkeys(cell.model for cell in cells):
        folder = out / safe_name(model)
        folder.mkdir(parents=True, exist_ok=True)
        files += _write_model(run, model, [cell for cell in cells if cell.model == model], folder)
    return files


def _write_model(run: Run, model: str, cells: Sequence[AskedCell], folder: Path) -> list[Path]:
    date = _date(run)
    results: dict[str, Any] = {}
    files: list[Path] = []
    for cell in cells:
        means, task = Means(), task_name(run, cell)
        files.append(folder / f"samples_{task}_{date}.jsonl")
        with files[-1].open("w", encoding="utf-8") as out:
            for line in _lines(run, cell, means):
                out.write(json.dumps(line, ensure_ascii=False) + "\n")
        results[task] = _result(task, cell, means)
    files.append(folder / f"results_{date}.json")
    told = json.dumps(_results(run, model, cells, results), indent=2, ensure_ascii=False)
    files[-1].write_text(told, encoding="utf-8")
    return files


def task_name(run: Run, cell: AskedCell) -> str:
    """Of letters, digits and underscores, as names of tasks are, and not too long for the name of a file."""
    parts = (run.study.name, cell.dataset, cell.method, cell.retriever, cell.perturbation, cell.variation)
    name = re.sub(r"\W", "_", "_".join(safe_name(part) for part in parts if part) + f"_t{cell.temperature:g}")
    return name if len(name) <= LONGEST_TASK else f"{name[:LONGEST_TASK]}_{digest_text(name)[:8]}"


def _date(run: Run) -> str:
    meta = run.store.meta()
    ended = meta.get("finished") or meta.get("created") or "1970-01-01T00:00:00"
    return ended[:19].replace(":", "-") + ".000000"


def _lines(run: Run, cell: AskedCell, means: Means) -> Iterator[dict[str, Any]]:
    """One for each wording of a question, with the answers of all repeats."""
    wordings = groupby(scored_records(run, cell), key=lambda scored: scored.record.trial.variant)
    for place, (_, repeats) in enumerate(wordings):
        yield _line(run, place, cell, list(repeats), means)


def _line(run: Run, place: int, cell: AskedCell, repeats: Sequence[Scored], means: Means) -> dict[str, Any]:
    for scored in repeats:
        means.add(scored)
    first = repeats[0]
    own = own_fields(first)
    for name in ("searches", "n_searches", "n_generations"):
        own.pop(name, None)  # Of one repeat, where the line is of all.
    golds = first.question.answers
    doc = {
        "id": first.question.id,
        "question": first.record.trial.variant.text,
        "answers": list(golds),
        "passages": passages_of(first.record),
        OWN: own,
    }
    prompt = json.dumps([asdict(message) for message in last_prompt(first.record)], ensure_ascii=False)
    target = golds[0] if len(golds) == 1 else str(list(golds))
    settings = {"until": [], "do_sample": cell.temperature > 0, "temperature": cell.temperature}
    limit = run.study.generation.get("max_tokens")
    said = _said(repeats)
    numbers = list(dict.fromkeys(name for scored in repeats for name in scored.values))
    values = {name: [scored.values[name] for scored in repeats if name in scored.values] for name in numbers}
    return {
        "doc_id": place,
        "doc": doc,
        "target": target,
        "arguments": {
            "gen_args_0": {
                "arg_0": [prompt],
                "arg_1": settings | ({"max_gen_toks": limit} if isinstance(limit, int) else {}),
            }
        },
        "resps": [said],
        "filtered_resps": [said] if len(said) > 1 else said,
        "filter": FILTER,
        "metrics": numbers,
        "doc_hash": _hash(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": _hash(prompt),
        "target_hash": _hash(target),
        **{name: sum(own) / len(own) for name, own in values.items()},
    }


def _said(repeats: Sequence[Scored]) -> list[str | None]:
    """The answers by their repeats; null: it failed, or was not asked."""
    n = max(scored.record.trial.repeat for scored in repeats) + 1
    said: list[str | None] = [None] * n
    for scored in repeats:
        answer = scored.record.answer
        said[scored.record.trial.repeat] = None if answer is None else answer.text
    return said


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _result(task: str, cell: AskedCell, means: Means) -> dict[str, Any]:
    result: dict[str, Any] = {"name": task, "alias": task, "sample_len": cell.n_questions}
    for name in means.by_number:
        mean, error = means.mean(name)
        result[f"{name},{FILTER}"] = mean
        result[f"{name}_stderr,{FILTER}"] = "N/A" if error is None else error
    return result


def _results(run: Run, model: str, cells: Sequence[AskedCell], results: dict[str, Any]) -> dict[str, Any]:
    tasks = {task_name(run, cell): cell for cell in cells}
    return {
        "results": results,
        "group_subtasks": {},
        "configs": {task: _config(task, cell) for task, cell in tasks.items()},
        "versions": dict.fromkeys(tasks, 1.0),
        "n-shot": dict.fromkeys(tasks, 0),
        "higher_is_better": {task: {} for task in tasks},
        "n-samples": {
            task: {"original": cell.n_questions, "effective": cell.n_questions} for task, cell in tasks.items()
        },
        "config": {"model": model, "model_args": {"model": model}, "gen_kwargs": {}, "random_seed": run.study.seed},
        "git_hash": None,
        "shaketable_version": __version__,
        "model_source": "shaketable",
        "model_name": model,
        "model_name_sanitized": safe_name(model),
    }


def _config(task: str, cell: AskedCell) -> dict[str, Any]:
    return {
        "task": task,
        "dataset_name": cell.dataset,
        "doc_to_text": "{{question}}",
        "doc_to_target": "{{answers}}",
        "num_fewshot": 0,
        "output_type": "generate_until",
        "generation_kwargs": {"until": [], "do_sample": cell.temperature > 0, "temperature": cell.temperature},
        "repeats": cell.n_repeats,
        "metadata": {"version": 1.0, OWN: cell.condition},
    }
