"""The local engine: on small random models of several families, and on the embedded weights."""

import functools
import random
from dataclasses import replace

import pytest
import torch
from scipy import stats
from sweeps import LONG, SHORT, after_an_example, in_turns, library_text, prompt, sweep, texts
from tiny import FAMILIES, write_model
from transformers import AutoModelForCausalLM

from shaketable import weights
from shaketable.engine.batch_invariance import decode, prove
from shaketable.engine.completing import complete
from shaketable.engine.row_pool import FIXED_ROWS
from shaketable.engine.sweep import SweepEngine
from shaketable.errors import ModelError
from shaketable.types import Completion, Failure, Message

SENTENCES = "The station opened in 1931 and closed in 2001. It was built by Ann Lee. "
EMBEDDED = [
    (SENTENCES + "When did it open?", "chat"),
    (SENTENCES * 2 + "Who built it?", "chat"),
    ("One, two,", "plain"),
]


def embedded_sweep():
    return [
        prompt(text, temperature, seed, layout=layout, max_tokens=6)
        for text, layout in EMBEDDED
        for temperature in (0.0, 1.4)
        for seed in range(2)
    ]


def forced(engine, checks, way):
    """The proof is made, and something else comes out."""
    return replace(prove(engine, checks), way=way, product_rows=0)


def token_ids(engine, prompts, monkeypatch):
    """The generated ids of each prompt, which texts of random bytes do not show."""
    seen = {}
    monkeypatch.setattr(
        "shaketable.engine.sweep.complete",
        lambda row, *rest: (seen.update(dict.fromkeys(row.tickets, row.tokens)), complete(row, *rest))[1],
    )
    engine.generate(prompts)
    return [seen[ticket] for ticket in range(len(prompts))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return functools.cache(lambda family: write_model(family, tmp_path_factory.mktemp(family)))


@pytest.fixture(scope="module")
def embedded():
    return SweepEngine(weights.locate("smollm2"), n_rows=24)


# --- the promise: a row's text depends on nothing but the row -------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_same_seed_same_text_whatever_the_batch_the_order_or_the_company(folder, family):
    engine = SweepEngine(folder(family), n_rows=16)
    prompts = sweep()
    together = texts(engine.generate(prompts))
    assert len(set(together)) > len(together) / 2, "the sweep should not give one text everywhere"
    shuffled = list(range(len(prompts)))
    random.Random(4).shuffle(shuffled)
    again = texts(engine.generate([prompts[i] for i in shuffled]))
    assert [together[i] for i in shuffled] == again
    for i in (0, 7, 13, 23):
        assert texts(engine.generate([prompts[i]])) == [together[i]]
    for n_rows in (3, 64):
        assert texts(SweepEngine(folder(family), n_rows=n_rows).generate(prompts)) == together


@pytest.mark.slow
@pytest.mark.weights
def test_the_embedded_model_gives_the_same_text_in_any_batch_and_after_a_resume(embedded):
    prompts = embedded_sweep()
    together = texts(embedded.generate(prompts))
    assert texts(embedded.generate(prompts[::-1])) == together[::-1]
    rest = texts(embedded.generate(prompts[7:]))
    assert rest == together[7:], "the second half after a resume in the middle of a prompt's rows"
    for i in (3, 10):
        assert texts(embedded.generate([prompts[i]])) == [together[i]]


@pytest.mark.weights
@pytest.mark.slow
@pytest.mark.parametrize("n_opening", [0, 20])
@torch.inference_mode()
def test_every_batch_size_gives_the_embedded_model_the_same_bits(embedded, n_opening):
    most = 139 if embedded.invariance == "any" else FIXED_ROWS
    [(read, _)] = embedded.read_prompts([([(7 * i) % 49_000 for i in range(53)], n_opening)])
    expected = decode(embedded, [read], [[3]])[0][0]
    for size in range(1, most + 1):
        rows = list(range(10, 10 + size))
        rows[size // 2] = 3
        assert torch.equal(decode(embedded, [read], [rows])[0][size // 2], expected), size


@pytest.mark.weights
@pytest.mark.slow
@torch.inference_mode()
def test_a_prompt_read_beside_any_number_of_tokens_has_the_same_bits(embedded):
    if embedded.invariance != "any":
        pytest.skip("the proof does not allow reading prompts beside others here")
    opening = [(5 * i) % 49_000 for i in range(90)]
    prompt = (opening + [(7 * i) % 49_000 for i in range(53)], 90)
    [(alone, expected)] = embedded.read_prompts([prompt])
    for n_beside in range(1, 520, 13):
        beside = (opening + [(11 * i + n_beside) % 49_000 for i in range(n_beside)], 90 if n_beside % 2 else 0)
        for order, place in (([beside, prompt], 1), ([prompt, beside], 0)):
            read, logits = embedded.read_prompts(order)[place]
            assert torch.equal(logits, expected), n_beside
            assert torch.equal(read.keys[-1], alone.keys[-1])


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("way", ["fixed", "alone"])
def test_the_slower_ways_of_batching_keep_the_promise_too(folder, family, way, monkeypatch):
    """A processor stands in for a GPU, whose proof ends with `fixed`."""
    prompts = sweep(repeats=3)
    usual = texts(SweepEngine(folder(family), n_rows=16).generate(prompts))
    monkeypatch.setattr("shaketable.engine.sweep.prove", lambda engine, checks: forced(engine, checks, way))
    engine = SweepEngine(folder(family), n_rows=6)
    together = texts(engine.generate(prompts))
    assert engine.invariance == way
    assert texts(engine.generate(prompts[::-1])) == together[::-1]
    assert texts(engine.generate([prompts[8]])) == [together[8]]
    assert [text for text, one in zip(together, prompts, strict=True) if one.sampling.temperature == 0] == [
        text for text, one in zip(usual, prompts, strict=True) if one.sampling.temperature == 0
    ]


def test_the_way_of_batching_is_proved_not_assumed(folder):
    """A last digit that depends on how many rows are computed at once stands in for a library that rounds by shape."""
    engine = SweepEngine(folder("llama"), n_rows=8)
    engine.model.lm_head.register_forward_hook(lambda layer, given, logits: logits + 1e-5 * given[0].numel())
    assert engine.invariance != "any"


@pytest.mark.parametrize("proved", ["any", "fixed", "alone"])
def test_what_the_proof_gives_is_obeyed(folder, proved, monkeypatch):
    """Prompts are read together, and as many rows decoded at once, as was proved and no more."""
    monkeypatch.setattr("shaketable.engine.sweep.prove", lambda engine, checks: forced(engine, checks, proved))
    engine = SweepEngine(folder("llama"), n_rows=4)
    read, decoded, read_prompts, step = [], [], engine.read_prompts, engine._step
    assert engine.invariance == proved
    monkeypatch.setattr(engine, "read_prompts", lambda asked: (read.append(len(asked)), read_prompts(asked))[1])
    monkeypatch.setattr(
        engine, "_step", lambda: (decoded.append(sum(len(group.rows) for group in engine.groups)), step())[1]
    )
    engine.generate([prompt(f"{LONG} {n}", 1.0, n, max_tokens=2) for n in range(9)])
    assert max(decoded) == {"any": 4, "fixed": 9, "alone": 1}[proved]
    assert max(read, default=0) == {"any": 4, "fixed": 1, "alone": 0}[proved]


def test_a_model_that_the_shared_prefix_does_not_fit_is_run_plainly(folder, monkeypatch):
    monkeypatch.setattr("shaketable.engine.shared_prefix.PrefixCache.attend", lambda *_: torch.zeros(1))
    engine = SweepEngine(folder("llama"), n_rows=8)
    assert engine.invariance == "alone"
    assert texts(engine.generate([prompt(SHORT, 0.0, 1)])) == [library_text(folder("llama"), SHORT)]


# --- the same model as the library's ---------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_text_is_that_of_the_library(folder, family):
    """The windows of mistral and gemma2 are shorter than the long prompt."""
    engine = SweepEngine(folder(family), n_rows=8)
    for text in (LONG, SHORT):
        assert texts(engine.generate([prompt(text, 0.0, 1)])) == [library_text(folder(family), text)]
    assert engine.invariance != "alone", "every family here fits the shared prefix"


@pytest.mark.slow
@pytest.mark.weights
def test_the_embedded_model_answers_as_the_library_does(embedded):
    model = AutoModelForCausalLM.from_pretrained(embedded.path)
    for text, layout in EMBEDDED:
        asked = prompt(text, 0.0, 1, layout=layout, max_tokens=8)
        ids = torch.tensor([embedded.encode(asked.messages, layout)])
        made = model.generate(ids, do_sample=False, max_new_tokens=8)[0, ids.shape[1] :]
        expected = embedded.tokenizer.decode(made, skip_special_tokens=True)
        assert texts(embedded.generate([asked])) == [expected]


def test_sampled_first_tokens_follow_the_model_s_own_distribution(folder, monkeypatch):
    engine = SweepEngine(folder("llama"), n_rows=64)
    ids = torch.tensor([engine.encode((Message(role="user", content=SHORT),), "plain")])
    expected = torch.softmax(engine.model(ids).logits[0, -1].detach() / 1.5, -1)
    n = 4000
    drawn = token_ids(engine, [prompt(SHORT, 1.5, seed, max_tokens=1) for seed in range(n)], monkeypatch)
    counts = torch.bincount(torch.tensor(drawn)[:, 0], minlength=len(expected))
    common = expected * n >= 5
    observed = [*counts[common].tolist(), int(counts[~common].sum())]
    wanted = [*(expected[common] * n).tolist(), float(expected[~common].sum() * n)]
    assert stats.chisquare(observed, wanted, sum_check=False).pvalue > 0.001


def test_greedy_repeats_are_one_computation(folder):
    engine = SweepEngine(folder("llama"), n_rows=8)
    _ = engine.invariance
    replies = engine.generate([prompt(SHORT, 0.0, seed) for seed in range(9)])
    assert len({reply.text for reply in replies}) == 1
    assert engine.n_positions == replies[0].n_tokens


# --- what a completion says ------------------------------------------------------------------------


def test_log_probabilities_belong_to_the_tokens_and_are_those_at_temperature_one(folder, monkeypatch):
    engine = SweepEngine(folder("llama"), n_rows=8)
    asked = prompt(SHORT, 1.7, 3, wants=("logprobs", "top_logprobs", "entropy"), max_tokens=6)
    [reply] = engine.generate([asked])
    [drawn] = token_ids(engine, [asked], monkeypatch)
    ids = engine.encode((Message(role="user", content=SHORT),), "plain")
    assert reply.n_tokens == len(drawn) == len(reply.tokens)
    for i, token_id in enumerate(drawn):
        line = torch.log_softmax(engine.model(torch.tensor([ids])).logits[0, -1].detach(), -1)
        assert reply.extras["logprobs"][i] == pytest.approx(line[token_id].item(), abs=1e-3)
        assert reply.extras["entropy"][i] == pytest.approx(-(line.exp() * line).sum().item(), abs=1e-3)
        assert reply.extras["top_logprobs"][i][0][1] == pytest.approx(line.max().item(), abs=1e-3)
        ids = [*ids, token_id]


def test_processed_numbers_are_of_the_distribution_really_sampled(folder):
    engine = SweepEngine(folder("llama"), n_rows=8)
    wants = ("processed_logprobs", "processed_entropy", "token_ids")
    hot = prompt(SHORT, 1.7, 3, wants=wants, max_tokens=6, top_k=5)
    cold = prompt(SHORT, 0.0, 3, wants=wants, max_tokens=6)
    reply, greedy = engine.generate([hot, cold])
    ids = engine.encode((Message(role="user", content=SHORT),), "plain")
    assert len(reply.extras["token_ids"]) == reply.n_tokens
    for i, token_id in enumerate(reply.extras["token_ids"]):
        logits = engine.model(torch.tensor([ids])).logits[0, -1].detach() / 1.7
        kept = torch.topk(logits, 5)
        line = torch.log_softmax(kept.values, -1)
        place = kept.indices.tolist().index(token_id)
        assert reply.extras["processed_logprobs"][i] == pytest.approx(line[place].item(), abs=1e-3)
        assert reply.extras["processed_entropy"][i] == pytest.approx(-(line.exp() * line).sum().item(), abs=1e-3)
        ids = [*ids, token_id]
    assert greedy.extras["processed_logprobs"] == greedy.extras["processed_entropy"] == [0.0] * greedy.n_tokens


def test_generation_ends_after_a_stop_string_and_keeps_it(folder):
    engine = SweepEngine(folder("llama"), n_rows=8)
    [whole] = texts(engine.generate([prompt(SHORT, 0.0, 1)]))
    word = whole[3:5]
    [reply] = engine.generate([prompt(SHORT, 0.0, 1, stop=(word,))])
    assert reply.finish_reason == "stop"
    assert whole.startswith(reply.text)
    assert reply.text.endswith(word)


def test_a_prompt_longer_than_the_window_fails_alone_and_says_what_to_do(folder):
    engine = SweepEngine(folder("llama"), n_rows=8)
    failed, answered = engine.generate([prompt(LONG, 0.0, 1, max_tokens=120), prompt(SHORT, 0.0, 1)])
    assert isinstance(failed, Failure)
    assert failed.kind == "too_long"
    assert not failed.may_retry
    assert "40 tokens" in failed.message
    assert "128" in failed.message
    assert "max_tokens" in failed.message
    assert isinstance(answered, Completion)


def test_library_defaults_are_those_of_the_checkpoint_and_are_stored(folder, tmp_path):
    engine = SweepEngine(folder("llama"), n_rows=8)
    engine.defaults.top_p, engine.defaults.top_k, engine.defaults.repetition_penalty = 0.8, 20, 1.05
    neutral, shipped = engine.generate([prompt(SHORT, 1.0, 1), prompt(SHORT, 1.0, 1, library_defaults=True)])
    assert (neutral.decoding["top_p"], neutral.decoding["top_k"]) == (1.0, 0)
    used = [shipped.decoding[name] for name in ("top_p", "top_k", "repetition_penalty")]
    assert used == [0.8, 20, 1.05]


def test_early_rows_come_back_before_late_ones(folder):
    engine = SweepEngine(folder("llama"), n_rows=8)
    engine.submit(1, prompt(SHORT, 0.0, 1, max_tokens=12))
    engine.submit(2, prompt(LONG, 0.0, 1, max_tokens=2))
    assert [ticket for ticket, _ in engine.collect()] == [2]
    assert [ticket for ticket, _ in engine.collect()] == [1]
    assert engine.collect() == []


def test_what_was_begun_first_goes_on_first(folder, monkeypatch):
    monkeypatch.setattr("shaketable.engine.sweep.prove", lambda engine, checks: forced(engine, checks, "any"))
    engine = SweepEngine(folder("llama"), n_rows=1)
    for ticket in (1, 2):
        engine.submit(ticket, prompt(SHORT * ticket, 0.0, 1, max_tokens=2))
    assert [ticket for ticket, _ in engine.collect()] == [1]
    engine.submit(1, prompt(LONG, 0.0, 1, max_tokens=2))  # the second step of the first trial
    assert [ticket for ticket, _ in engine.collect()] == [1]
    assert [ticket for ticket, _ in engine.collect()] == [2]


def test_after_an_error_no_reply_reaches_another_prompt(folder, monkeypatch):
    engine = SweepEngine(folder("llama"), n_rows=8)
    expected = texts(engine.generate([prompt(SHORT, 0.0, 1)]))
    with monkeypatch.context() as broken, pytest.raises(ZeroDivisionError):
        broken.setattr("shaketable.engine.sweep.complete", lambda *_: 1 / 0)
        engine.generate([prompt(LONG, 0.0, 1)])
    assert texts(engine.generate([prompt(SHORT, 0.0, 1)])) == expected


def test_too_little_memory_is_said_with_a_way_out_and_leaves_an_engine_that_works(folder, monkeypatch):
    """No GPU can be filled here: the library's own error stands in for a full one."""

    def full(*_):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    engine = SweepEngine(folder("llama"), n_rows=8)
    expected = texts(engine.generate([prompt(SHORT, 0.0, 1)]))
    with monkeypatch.context() as broken, pytest.raises(ModelError, match="batching='free' with a smaller n_rows"):
        broken.setattr(engine, "_advance", full)
        engine.generate([prompt(LONG, 0.0, 1)])
    assert texts(engine.generate([prompt(SHORT, 0.0, 1)])) == expected


def test_a_folder_without_a_model_is_named(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="does not load as a causal language model"):
        SweepEngine(tmp_path)


def test_a_cuda_device_that_is_not_there_is_named(folder):
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.raises(ModelError, match="no CUDA device"):
        SweepEngine(folder("llama"), device="cuda")


@pytest.mark.weights
@pytest.mark.slow
def test_a_gguf_file_loads_as_it_is(embedded):
    file = next(weights.locate("smollm2-gguf").glob("*.gguf"))
    engine = SweepEngine(file, n_rows=4)
    asked = prompt(EMBEDDED[0][0], 0.0, 1, layout="chat", max_tokens=8)
    assert texts(engine.generate([asked])) == texts(embedded.generate([asked]))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_gpu_keeps_the_promise_too(folder, family, dtype):
    engine = SweepEngine(folder(family), device="cuda", dtype=dtype, n_rows=16)
    prompts = sweep()
    together = texts(engine.generate(prompts))
    assert texts(engine.generate(prompts[::-1])) == together[::-1]
    for i in (0, 7, 13, 23):
        assert texts(engine.generate([prompts[i]])) == [together[i]]


def test_free_batching_mixes_prompts_where_exact_batching_may_not(folder, monkeypatch):
    """A processor stands in for a GPU, whose proof ends with `fixed`."""
    monkeypatch.setattr("shaketable.engine.sweep.prove", lambda engine, checks: forced(engine, checks, "fixed"))
    engines = [SweepEngine(folder("llama"), n_rows=16, batching=batching) for batching in ("exact", "free")]
    exact, free = (texts(engine.generate(sweep())) for engine in engines)
    assert [engine.invariance for engine in engines] == ["fixed", "any"]
    assert [engine.environment()["batching"] for engine in engines] == ["fixed", "free"]
    assert free == exact


def test_an_opening_that_prompts_share_is_read_once_and_changes_no_text(folder, monkeypatch):
    """Whether its opening was read for another prompt before, or is read now, a prompt is read in two parts."""
    monkeypatch.setattr("shaketable.engine.prompt_reader.LEAST_OPENING", 8)
    together = in_turns(SweepEngine, folder("llama"))
    before = texts(together.generate(after_an_example("one and one?")))
    after = texts(together.generate(after_an_example("one and six?")))
    assert len(together.openings) == 1
    assert texts(in_turns(SweepEngine, folder("llama")).generate(after_an_example("one and six?"))) == after
    assert texts(in_turns(SweepEngine, folder("llama")).generate(after_an_example("one and one?"))) == before
    assert before != after


@pytest.mark.gpu
@pytest.mark.parametrize("batching", ["exact", "free"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_gpu_goes_on_after_shared_openings_as_a_processor_does(folder, family, batching, monkeypatch):
    monkeypatch.setattr("shaketable.engine.prompt_reader.LEAST_OPENING", 8)
    prompts = [one for n in range(6) for one in after_an_example(f"one and {n}{n * 'x'}?", temperature=0.0)]
    on_gpu = in_turns(SweepEngine, folder(family), device="cuda", n_rows=16, batching=batching)
    on_processor = in_turns(SweepEngine, folder(family), n_rows=16)
    assert texts(on_gpu.generate(prompts)) == texts(on_processor.generate(prompts))
    assert len(on_gpu.openings) == 1 or on_gpu.invariance == "alone"
    hot = [one for n in range(6) for one in after_an_example(f"one and {n}?")]
    together = texts(on_gpu.generate(hot))
    if batching == "exact":
        assert texts(on_gpu.generate(hot[::-1])) == together[::-1]
        assert [texts(on_gpu.generate([one]))[0] for one in hot[::5]] == together[::5]
