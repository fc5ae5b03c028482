"""Models whose chat template has thoughts, and methods that leave no room for them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from made_studies import STUDY, small_study
from tiny import write_model
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.engine.chat_template import chat_template
from shaketable.models.transformers import Transformers
from shaketable.stages.advice import advice_on
from shaketable.stages.plan import plan

# The ends of two templates in our own words: the first opens a thought, as QwQ's and DeepSeek-R1's do.
TURNS = "{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\\n' }}{% endfor %}"
THINKING = TURNS + "{% if add_generation_prompt %}{{ 'assistant: <think>\\n' }}{% endif %}"
PLAIN = TURNS + "{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}"


def folder_with(folder: Path, template: str | None, *, in_configuration: bool = True) -> Path:
    """A small model with this template, in the tokenizer's configuration or in a file of its own."""
    write_model("llama", folder)
    if template is not None and in_configuration:
        path = folder / "tokenizer_config.json"
        path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"chat_template": template}), "utf-8")
    elif template is not None:
        (folder / "chat_template.jinja").write_text(template, "utf-8")
    return folder


@pytest.mark.parametrize("in_configuration", [True, False])
def test_a_template_is_read_without_loading_the_model(tmp_path: Path, in_configuration: bool) -> None:
    folder = folder_with(tmp_path, THINKING, in_configuration=in_configuration)
    for weights in folder.glob("*.safetensors"):
        weights.write_bytes(b"")
    assert chat_template(folder) == THINKING
    assert Transformers(path=str(folder)).thinks


def test_templates_of_several_uses_are_read_together(tmp_path: Path) -> None:
    write_model("llama", tmp_path)
    path = tmp_path / "tokenizer_config.json"
    several = [{"name": "default", "template": PLAIN}, {"name": "reasoning", "template": THINKING}]
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"chat_template": several}), "utf-8")
    assert chat_template(tmp_path) == f"{PLAIN}\n{THINKING}"


def test_what_is_not_at_hand_has_no_template(tmp_path: Path) -> None:
    assert chat_template(folder_with(tmp_path, None)) is None
    assert not Transformers(path="nobody/has-this-model").thinks


def test_a_study_that_leaves_no_room_for_thoughts_is_advised_before_it_runs(tmp_path: Path) -> None:
    thinking = folder_with(tmp_path / "thinking", THINKING)
    other = folder_with(tmp_path / "other", PLAIN)
    models = [f"transformers(path='{thinking}')", f"transformers(path='{other}')"]
    methods = ["dragin", "dragin(layout='plain')", "dragin(max_length=2000)", "closed_book"]
    of_steps, of_study = advice_on(plan(small_study(tmp_path, models=models, methods=methods)))
    assert of_steps.startswith(f"dragin gives transformers(path='{thinking}')")
    assert " 64 tokens at a time" in of_steps
    assert "layout='plain'" in of_steps
    assert of_study.startswith("closed_book gives")
    assert " 8 tokens at a time" in of_study, "the study's generation.max_tokens"


def test_validate_passes_the_advice_on(tmp_path: Path) -> None:
    thinking = folder_with(tmp_path / "thinking", THINKING)
    path = tmp_path / "study.toml"
    models, methods = f"models = [\"transformers(path='{thinking}')\"]", 'methods = ["flare"]'
    path.write_text(re.sub("models = .*", lambda _: f"{models}\n{methods}", STUDY), "utf-8")
    said = CliRunner().invoke(app, ["validate", str(path)])
    assert said.exit_code == 0, said.output
    assert "Note: flare gives transformers(" in said.output
