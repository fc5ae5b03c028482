"""Makes the logs in `tests/stages/interchange/logs/` with the tools themselves.

Run it with an interpreter that has inspect-ai, or lm-eval with its extra for endpoints:

    PYTHON tests/helpers/make_logs.py inspect FOLDER
    PYTHON tests/helpers/make_logs.py lm-eval FOLDER

Both ask the same questions and get the same replies, so that what comes in can be compared with what was said.
"""

from __future__ import annotations

import http.server
import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from typing import Any, ClassVar

QUESTIONS = {
    "France": ("What is the capital of France?", "Paris"),
    "Peru": ("What is the capital of Peru?", "Lima"),
    "Ghana": ("What is the capital of Ghana?", "Accra"),
    "Fiji": ("What is the capital of Fiji?", "Suva"),
}
REPLIES = {"France": ("Paris", "It is Paris."), "Peru": ("Cuzco", "Lima"), "Ghana": ("Accra", "Kumasi")}
"""One for each repeat; Fiji is not answered: its call fails."""
CHOICES = ("Paris", "Lima", "Accra", "Suva")
TEMPERATURE = 0.7
N_REPEATS = 2
OF_THE_MACHINE = (
    "traceback",
    "traceback_ansi",
    "pretty_env_info",
    "config_source",
    "location",
    "task_file",
    "git_hash",
)


def without_machine(text: bytes) -> bytes:
    """A log less what tells of the machine that made it; nothing else is touched."""

    def stripped(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: "" if name in OF_THE_MACHINE and own else stripped(own) for name, own in value.items()}
        return [stripped(own) for own in value] if isinstance(value, list) else value

    return json.dumps(stripped(json.loads(text)), indent=1).encode()


# --- Inspect ------------------------------------------------------------------------------------------


MODEL = "mockllm/model"


def make_inspect(folder: pathlib.Path) -> None:
    """A task with two epochs and an error in each format, and one with choices."""
    capitals = _capitals()
    for task, ending, replies in (
        (capitals, "json", None),
        (capitals, "eval", None),
        (_choices(), "json", [f"ANSWER: {letter}" for letter in "AACA"]),
        (_plain(), "eval", ["Paris", "Cuzco"]),
    ):
        _keep(_inspect(task, ending, replies, folder / "made"), folder, f"{task.name}.{ending}")
    shutil.rmtree(folder / "made")


def _capitals() -> Any:
    """Asked twice for each question; one of them fails."""
    from inspect_ai import Epochs, Task
    from inspect_ai.dataset import MemoryDataset
    from inspect_ai.model import GenerateConfig
    from inspect_ai.scorer import includes, match

    return Task(
        name="capitals",
        dataset=MemoryDataset(_samples(), name="capitals"),
        solver=_in_turn(),
        scorer=[includes(), match()],
        epochs=Epochs(N_REPEATS, "mean"),
        config=GenerateConfig(temperature=TEMPERATURE, max_tokens=32),
        fail_on_error=False,
    )


def _choices() -> Any:
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import choice
    from inspect_ai.solver import multiple_choice

    samples = [
        Sample(id=place + 1, input=text, target="ABCD"[CHOICES.index(gold)], choices=list(CHOICES))
        for place, (text, gold) in enumerate(QUESTIONS.values())
    ]
    dataset = MemoryDataset(samples, name="choices")
    return Task(name="choices", dataset=dataset, solver=[multiple_choice()], scorer=choice())


def _plain() -> Any:
    """Two questions, with nothing set."""
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset
    from inspect_ai.scorer import match
    from inspect_ai.solver import generate

    return Task(name="plain", dataset=MemoryDataset(_samples()[:2]), solver=generate(), scorer=match())


def _samples() -> list[Any]:
    from inspect_ai.dataset import Sample

    return [
        Sample(id=country, input=text, target=[gold, f"{gold} City"], metadata={"type": "place"})
        for country, (text, gold) in QUESTIONS.items()
    ]


def _in_turn() -> Any:
    """A solver that says what `REPLIES` has, and fails where there is no reply."""
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    @solver
    def in_turn() -> Any:
        async def solve(state: Any, ask: Any) -> Any:
            replies = REPLIES.get(state.sample_id)
            if replies is None:
                raise RuntimeError("the endpoint is down")
            state.output = ModelOutput.from_content(MODEL, replies[state.epoch - 1])
            state.messages.append(state.output.message)
            return state

        return solve

    return in_turn()


def _inspect(task: Any, ending: str, replies: list[str] | None, folder: pathlib.Path) -> pathlib.Path:
    """The log of a task, as Inspect writes it. `replies`: of the model, one after the other; None: it is not asked."""
    from inspect_ai import eval
    from inspect_ai.model import ModelOutput, get_model

    outputs = [ModelOutput.from_content(MODEL, text) for text in replies or ()]
    model = get_model(MODEL, custom_outputs=outputs) if outputs else get_model(MODEL)
    (log,) = eval(
        task, model=model, log_dir=str(folder), log_format=ending, display="none", max_samples=1, log_model_api=False,
    )  # fmt: skip
    return pathlib.Path(log.location.removeprefix("file://"))


def _keep(made: pathlib.Path, folder: pathlib.Path, name: str) -> None:
    """The log less what tells of the machine, under a name with Inspect's version."""
    kept = folder / f"inspect_{importlib.metadata.version('inspect-ai')}_{name}"
    if kept.suffix == ".json":
        kept.write_bytes(without_machine(made.read_bytes()))
        return
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            new.writestr(member, without_machine(old.read(member)))


# --- lm-evaluation-harness ----------------------------------------------------------------------------


class Endpoint(http.server.BaseHTTPRequestHandler):
    """Says of each capital what `REPLIES` has, one after the other."""

    asked: ClassVar[dict[str, int]] = {}

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        content = body["messages"][-1]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        country = next(country for country in QUESTIONS if country in text)
        turn = self.asked.get(country, 0)
        self.asked[country] = turn + 1
        reply = REPLIES.get(country, ("", ""))[turn % N_REPEATS]
        said = {"choices": [{"index": 0, "message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}]}
        data = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words: object) -> None:
        """Nothing."""


TASK = """task: {name}
dataset_path: json
dataset_kwargs:
  data_files: {{test: questions.jsonl}}
test_split: test
output_type: {kind}
doc_to_text: "{{{{question}}}}"
doc_to_target: "{target}"
{more}
metadata: {{version: 1.0}}
"""
GENERATE = f"""repeats: {N_REPEATS}
generation_kwargs: {{{{until: ["\\n"], do_sample: true, temperature: {TEMPERATURE}, max_gen_toks: 32}}}}
filter_list:
  - name: all
    filter: [{{{{function: take_first_k, k: {N_REPEATS}}}}}]
  - name: first
    filter: [{{{{function: take_first}}}}]
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
    ignore_case: true"""
CHOOSE = """doc_to_choice: ["Paris", "Lima", "Accra", "Suva"]
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true"""


def make_lm_eval(folder: pathlib.Path) -> None:
    """A task that generates twice for each question, by a chat endpoint, and one with choices, by the dummy model."""
    made = pathlib.Path(tempfile.mkdtemp())
    tasks = made / "tasks"
    tasks.mkdir()
    rows = [{"id": country, "question": text, "answer": gold} for country, (text, gold) in QUESTIONS.items()]
    (tasks / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    generating = TASK.format(name="capitals", kind="generate_until", target="{{answer}}", more=GENERATE.format())
    (tasks / "capitals.yaml").write_text(generating)
    place = "{{['Paris', 'Lima', 'Accra', 'Suva'].index(answer)}}"
    (tasks / "choices.yaml").write_text(TASK.format(name="choices", kind="multiple_choice", target=place, more=CHOOSE))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    chat = ("--model", "local-chat-completions", "--apply_chat_template")
    settings = f"model=capital-knower,base_url={url},num_concurrent=1,max_retries=1,tokenized_requests=False"
    _lm_eval(tasks, made, "capitals", *chat, "--model_args", settings)
    _lm_eval(tasks, made, "choices", "--model", "dummy")
    server.shutdown()
    kept = folder / f"lm_eval_{importlib.metadata.version('lm-eval')}"
    for file in [*made.glob("out_*/*/samples_*"), *made.glob("out_*/*/results_*")]:
        task = file.parent.parent.name.removeprefix("out_")
        (kept / task).mkdir(parents=True, exist_ok=True)
        content = file.read_bytes()
        (kept / task / file.name).write_bytes(without_machine(content) if file.suffix == ".json" else content)
    shutil.rmtree(made)


def _lm_eval(tasks: pathlib.Path, folder: pathlib.Path, task: str, *words: str) -> None:
    command = [sys.executable, "-m", "lm_eval", "--include_path", str(tasks), "--tasks", task, "--log_samples"]
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "OPENAI_API_KEY": "none"}
    subprocess.run(
        [*command, "--output_path", str(folder / f"out_{task}"), *words],
        check=True, cwd=tasks, env={**os.environ, **offline, "HF_DATASETS_CACHE": str(folder / "cache")},
    )  # fmt: skip


if __name__ == "__main__":
    tool, out = sys.argv[1:]
    pathlib.Path(out).mkdir(parents=True, exist_ok=True)
    {"inspect": make_inspect, "lm-eval": make_lm_eval}[tool](pathlib.Path(out))
