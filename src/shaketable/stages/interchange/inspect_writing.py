"""A run → logs of Inspect, one for each condition: JSON, or the zip files `.eval` that its viewer reads by parts."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from shaketable import __version__
from shaketable.errors import OutputError
from shaketable.identity import digest
from shaketable.stages.interchange.log_rows import OWN
from shaketable.stages.interchange.scored import (
    Means,
    Scored,
    last_prompt,
    own_fields,
    passages_of,
    safe_name,
    sample_id,
    scored_records,
)
from shaketable.store import Run
from shaketable.store.cells import AskedCell, asked_cells
from shaketable.types import Completion, Record

Ending = Literal["json", "eval"]
VERSION = 2
"""Of Inspect's format."""
N_SHORT = 300
"""Characters of a text in a list of samples."""
STOPS = {"end": "stop", "stop": "stop", "length": "max_tokens"}


def export_inspect(run: Run, out: Path) -> list[Path]:
    """Returns the logs. A file takes one condition; a folder gets a log for each."""
    cells = asked_cells(run.store)
    ending = out.suffix.lstrip(".")
    if not cells:
        raise OutputError(f"{run.folder} holds no answers yet. Run: shaketable run {run.folder}.")
    if ending not in ("json", "eval"):
        out.mkdir(parents=True, exist_ok=True)
        return [_write(run, cell, out / _name(run, cell)) for cell in cells]
    if len(cells) > 1:
        raise OutputError(
            f"{out}: a log of Inspect has one model, one task and one temperature, and this run has {len(cells)} "
            "conditions. Give a folder with --out: it gets a log for each; `inspect view --log-dir FOLDER` reads it."
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    return [_write(run, cells[0], out)]


def _name(run: Run, cell: AskedCell) -> str:
    """As Inspect names its logs: time, task, id."""
    created = _created(run).replace(":", "-")
    return f"{created}_{safe_name(_task(run, cell)).replace('_', '-')}_{_id(run, cell, 'task')}.eval"


def _task(run: Run, cell: AskedCell) -> str:
    evidence = cell.perturbation or "no evidence"
    return f"{run.study.name} {cell.method} {evidence} {cell.variation} t{cell.temperature:g}"


def _id(run: Run, cell: AskedCell, kind: str) -> str:
    return digest([kind, run.study.name, run.study.seed, *cell.condition.values()])[:22]


def _created(run: Run) -> str:
    """When the run was finished, so that the same run gives the same logs."""
    meta = run.store.meta()
    return meta.get("finished") or meta.get("created") or "1970-01-01T00:00:00+00:00"


def _write(run: Run, cell: AskedCell, path: Path) -> Path:
    log = _Header(run=run, cell=cell, means=Means())
    # Samples come first: what is told of all of them is known at the end.
    if path.suffix == ".eval":
        _write_zip(log, path)
    else:
        _write_json(log, path)
    return path


def _write_zip(log: _Header, path: Path) -> None:
    summaries: list[dict[str, Any]] = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr(
            _member("_journal/start.json"), _text({name: log.parts()[name] for name in ("version", "eval", "plan")})
        )
        for sample in log.samples():
            out.writestr(_member(f"samples/{sample['id']}_epoch_{sample['epoch']}.json"), _text(sample))
            summaries.append(_summary(sample))
        out.writestr(_member("summaries.json"), _text(summaries))
        parts = log.parts()
        out.writestr(_member("reductions.json"), _text(parts.pop("reductions")))
        out.writestr(_member("header.json"), _text(parts))


def _member(name: str) -> zipfile.ZipInfo:
    """Without a time of its own: the same run gives the same bytes."""
    member = zipfile.ZipInfo(name)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def _write_json(log: _Header, path: Path) -> None:
    """Inspect reads what stands before the samples without them; the results are there, so samples are read twice."""
    for _ in log.samples():
        pass
    parts = log.parts()
    reductions = parts.pop("reductions")
    with path.open("w", encoding="utf-8") as out:
        out.write(_text(parts).removesuffix("\n}") + ',\n  "samples": [')
        for place, sample in enumerate(_Header(run=log.run, cell=log.cell, means=Means()).samples()):
            out.write(("," if place else "") + "\n" + _text(sample))
        out.write('\n  ],\n  "reductions": ' + _text(reductions) + "\n}\n")


def _text(value: object) -> str:
    return json.dumps(value, indent=2)


def _summary(sample: dict[str, Any]) -> dict[str, Any]:
    """What a list of samples shows."""
    names = ("id", "epoch", "input", "target", "scores", "model_usage", "total_time", "working_time", "uuid")
    failed = {"error": sample["error"]["message"][:N_SHORT]} if "error" in sample else {}
    shown = {"metadata": {}, "completed": True, "retries": 0, "message_count": len(sample["messages"])}
    return {**{name: sample[name] for name in names}, **shown, "input": sample["input"][:N_SHORT], **failed}


@dataclass(frozen=True, kw_only=True)
class _Header:
    """What stands around the samples."""

    run: Run
    cell: AskedCell
    means: Means
    """Filled while samples are made."""

    def samples(self) -> Iterator[dict[str, Any]]:
        turns: dict[str, list[str]] = {}
        for scored in scored_records(self.run, self.cell):
            self.means.add(scored)
            wordings = turns.setdefault(scored.question.id, [])
            wording = scored.record.trial.variant.spelled
            if wording not in wordings:
                wordings.append(wording)
            yield _sample(scored, sample_id(scored, wordings.index(wording)))

    def parts(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "status": "success",
            "eval": self._eval(),
            "plan": {
                "name": "plan",
                "steps": [{"solver": self.cell.method, "params": {}}],
                "config": self._config(),
            },
            "results": {
                "total_samples": self.cell.n_records,
                "completed_samples": self.cell.n_records,
                "scores": [self._score(name) for name in self.means.by_number],
            },
            "stats": {"started_at": _created(self.run), "completed_at": _created(self.run), "model_usage": {}},
            "reductions": [
                {
                    "scorer": name,
                    "reducer": "mean",
                    "samples": [
                        {"value": value, "sample_id": id} for id, value in self.means.of_questions(name).items()
                    ],
                }
                for name in self.means.by_number
            ],
        }

    def _config(self) -> dict[str, Any]:
        used = {"temperature": self.cell.temperature}
        limit = self.run.study.generation.get("max_tokens")
        return used | ({"max_tokens": limit} if isinstance(limit, int) else {})

    def _eval(self) -> dict[str, Any]:
        run, cell = self.run, self.cell
        ids = [question.id for question in run.store.questions() if question.dataset == cell.dataset]
        mean = [{"name": "inspect_ai/mean", "options": {}}, {"name": "inspect_ai/stderr", "options": {}}]
        return {
            "eval_id": _id(run, cell, "eval"),
            "run_id": digest([run.study.name, run.study.seed, "run"])[:22],
            "created": _created(run),
            "task": _task(run, cell),
            "task_id": _id(run, cell, "task"),
            "task_version": 0,
            "task_attribs": {},
            "task_args": {name: value for name, value in cell.condition.items() if value is not None},
            "dataset": {"name": cell.dataset, "samples": cell.n_questions, "sample_ids": ids, "shuffled": False},
            "model": cell.model,
            "model_generate_config": self._config(),
            "model_args": {},
            "config": {"epochs": cell.n_repeats, "epochs_reducer": ["mean"], "fail_on_error": False},
            "packages": {"shaketable": __version__},
            "metadata": {OWN: cell.condition, "study": run.study.name, "seed": run.study.seed},
            "scorers": [
                {"name": name, "options": {}, "metrics": mean, "metadata": {}} for name in run.score_tables().metrics
            ],
        }

    def _score(self, name: str) -> dict[str, Any]:
        mean, error = self.means.mean(name)
        metrics = {"mean": mean} | ({} if error is None else {"stderr": error})
        n = len(self.means.by_number[name])
        return {
            "name": name,
            "scorer": name,
            "reducer": "mean",
            "scored_samples": n,
            "unscored_samples": max(self.cell.n_questions - n, 0),
            "params": {},
            "metrics": {own: {"name": own, "value": value, "params": {}} for own, value in metrics.items()},
        }


def _sample(scored: Scored, id: str) -> dict[str, Any]:
    record, question = scored.record, scored.question
    model, said = record.trial.model, record.answer.text if record.answer else ""
    prompt = [
        {"id": f"{record.trial.key[:16]}-{n}", **asdict(message)} for n, message in enumerate(last_prompt(record))
    ]
    written = _last_reply(record)
    reply = {
        "id": f"{record.trial.key[:16]}-reply",
        "content": written.text if written else said,
        "source": "generate",
        "role": "assistant",
        "model": model,
    }
    usage = {
        "input_tokens": record.cost.n_prompt_tokens,
        "output_tokens": record.cost.n_tokens,
        "total_tokens": record.cost.n_prompt_tokens + record.cost.n_tokens,
    }
    # Inspect takes the completion from the message, so the final answer of a longer way is a message of its own.
    final = {**reply, "content": said}
    stop = STOPS[written.finish_reason] if written else "stop"
    sample = {
        "id": id,
        "epoch": record.trial.repeat + 1,
        "input": record.trial.variant.text,
        "target": list(question.answers) if len(question.answers) != 1 else question.answers[0],
        "messages": [*prompt, *([reply] if record.answer else [])],
        "output": {
            "model": model,
            "choices": [{"message": final, "stop_reason": stop}] if record.answer else [],
            "completion": said,
            "usage": usage,
            "time": record.cost.seconds,
        },
        "scores": {name: {"value": value, "answer": said, "history": []} for name, value in scored.values.items()},
        "metadata": {
            OWN: own_fields(scored) | {"working": record.answer.working if record.answer else ""},
            "key": record.trial.key,
            "passages": passages_of(record),
            "missing_scores": dict(scored.reasons),
        },
        "store": {},
        "events": [],
        "model_usage": {model: usage},
        "total_time": record.cost.seconds,
        "working_time": record.cost.seconds,
        "uuid": record.trial.key[:22],
        "error_retries": [],
        "attachments": {},
    }
    if record.failure is not None:
        told = f"{record.failure.kind}: {record.failure.message}"
        sample["error"] = {"message": told, "traceback": told, "traceback_ansi": told}
        sample["metadata"][OWN] |= {"failure": record.failure.kind, "failure_message": record.failure.message}  # type: ignore[index]
    return sample


def _last_reply(record: Record) -> Completion | None:
    replies = [event.reply for event in record.trace if isinstance(event.reply, Completion)]
    return replies[-1] if replies else None
