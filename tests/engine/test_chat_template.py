"""Weights without a chat template are told before they are loaded, and work with layout='plain' in every method."""

from __future__ import annotations

import json

import numpy as np
import pytest
from gguf import GGUFWriter
from made_studies import answered, row, study_of, write_rows
from tiny import SHAPE, VOCABULARY, write_letters
from transformers import LlamaConfig, LlamaForCausalLM, set_seed

from shaketable import catalog
from shaketable.engine.chat_template import chat_template
from shaketable.engine.sweep import SweepEngine
from shaketable.errors import ModelError, StudyError
from shaketable.stages.plan import plan
from shaketable.stages.readiness import refuse_unready
from shaketable.types import Completion, Message, Prompt, Sampling

TEMPLATE = "{% for m in messages %}{{ m.content }}{% endfor %}"
SMALL = {**SHAPE, "hidden_size": 24, "intermediate_size": 32, "num_hidden_layers": 1, "max_position_embeddings": 8192}
TOKENS = [*VOCABULARY, "ab"]
METHODS = {
    "dragin": ", n_examples=1, max_length=8",
    "fixed_length": ", n_examples=1, max_length=8, block_tokens=4",
    "fixed_sentence": ", n_examples=1, max_length=8",
    "flare": ", n_examples=1, max_length=8",
    "interleaved": ", n_examples=1, max_length=8, max_sentences=2",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("base")
    set_seed(3)
    LlamaForCausalLM(LlamaConfig(**SMALL)).eval().save_pretrained(made)
    write_letters(made)
    return made


def write_gguf(path, template=None):
    """A Llama of one layer with letters for tokens, as a conversion of a base model leaves it."""
    writer, rng = GGUFWriter(path, "llama"), np.random.default_rng(3)
    writer.add_context_length(8192)
    writer.add_embedding_length(24)
    writer.add_block_count(1)
    writer.add_feed_forward_length(32)
    writer.add_head_count(6)
    writer.add_head_count_kv(2)
    writer.add_rope_dimension_count(4)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(len(TOKENS))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(TOKENS)
    writer.add_token_types([3, *[1] * (len(TOKENS) - 1)])
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    if template:
        writer.add_chat_template(template)
    shapes = {
        "token_embd": (len(TOKENS), 24), "output": (len(TOKENS), 24), "output_norm": (24,),
        "blk.0.attn_norm": (24,), "blk.0.ffn_norm": (24,), "blk.0.attn_q": (24, 24), "blk.0.attn_k": (8, 24),
        "blk.0.attn_v": (8, 24), "blk.0.attn_output": (24, 24), "blk.0.ffn_gate": (32, 24), "blk.0.ffn_up": (32, 24),
        "blk.0.ffn_down": (24, 32),
    }  # fmt: skip
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", rng.normal(0, 0.5, shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def a_study(tmp_path, model, *methods):
    path = write_rows(tmp_path / "questions.jsonl", [row(1)])
    return study_of(path, models=[model], methods=list(methods), retrievers=["gold"], generation={"max_tokens": 4})


def test_a_folder_without_a_template_is_refused_before_it_is_loaded(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(SweepEngine, "_load", lambda self: pytest.fail("the weights were loaded"))
    study = a_study(tmp_path, f"transformers(path='{folder}')", "closed_book", "recall(layout='plain')")
    with pytest.raises(StudyError, match="have no chat template, so closed_book cannot ask") as told:
        refuse_unready(plan(study))
    assert "layout='plain'" in str(told.value)
    refuse_unready(plan(a_study(tmp_path, f"transformers(path='{folder}')", "closed_book(layout='plain')")))


@pytest.mark.parametrize("where", ["chat_template.jinja", "tokenizer_config.json"])
def test_a_template_is_found_where_it_is_kept(tmp_path, where):
    (tmp_path / "tokenizer_config.json").write_text("{}")
    assert not chat_template(tmp_path)
    (tmp_path / where).write_text(TEMPLATE if where.endswith("jinja") else json.dumps({"chat_template": TEMPLATE}))
    assert chat_template(tmp_path)


def test_the_header_of_a_gguf_file_tells(tmp_path):
    assert not chat_template(write_gguf(tmp_path / "base.gguf"))
    assert chat_template(write_gguf(tmp_path / "chat.gguf", TEMPLATE)) == TEMPLATE
    (tmp_path / "cut.gguf").write_bytes((tmp_path / "base.gguf").read_bytes()[:100])
    assert not chat_template(tmp_path / "cut.gguf")


def test_a_gguf_file_without_a_template_answers_in_the_plain_layout(tmp_path):
    engine = SweepEngine(write_gguf(tmp_path / "base.gguf"), n_rows=4)
    message = (Message(role="user", content="Who?"),)
    sampling = Sampling(temperature=0.0, max_tokens=4)
    [reply] = engine.generate([Prompt(messages=message, sampling=sampling, seed=0, layout="plain")])
    assert isinstance(reply, Completion)
    with pytest.raises(ModelError, match=r"has no chat template\. Write layout='plain'"):
        engine.generate([Prompt(messages=message, sampling=sampling, seed=0)])


@pytest.mark.weights
def test_every_method_works_with_weights_without_a_template(folder, tmp_path):
    names = set(catalog.known("method")) - {"as_asked"}  # It asks pipelines, which make their own prompts.
    methods = [f"{name}(layout='plain'{METHODS.get(name, '')})" for name in sorted(names)]
    study = a_study(tmp_path, f"transformers(path='{folder}')", *methods)
    records = answered(study, tmp_path / "records.sqlite")[1].values()
    assert {record.trial.method.partition("(")[0] for record in records} == names
    assert [record.failure for record in records if record.failure] == []
