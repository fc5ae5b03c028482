"""The proof finds how many rows a product needs, and no product is made with fewer.

`few_rows_differ` stands for AMD processors with MKL, `all_sizes_differ` for machines where no number is enough; both
behave so on any processor.
"""

from dataclasses import replace

import pytest
from rounding import Double, all_sizes_differ, few_rows_differ
from tiny import write_model

from shaketable.engine.batch_invariance import prove
from shaketable.engine.fixed_products import PRODUCT_ROWS
from shaketable.engine.proof import Proof
from shaketable.engine.sweep import SweepEngine
from shaketable.types import Message, Prompt, Sampling

TURNS = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}{% if add_generation_prompt %}[a]{% endif %}"
EXAMPLE = (Message(role="user", content="two and two?"), Message(role="assistant", content="four"))
QUESTIONS = ("one and six?", "1?", "how many are nine and ten?")
CLOSED_BOOK, AFTER_AN_EXAMPLE = (), EXAMPLE


def answered(engine, prompts):
    """Texts, and the log-probabilities with all their digits."""
    return [(reply.text, reply.extras["logprobs"]) for reply in engine.generate(prompts)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write_model("llama", tmp_path_factory.mktemp("llama"))


@pytest.fixture
def start(path, monkeypatch):
    monkeypatch.setattr("shaketable.engine.prompt_reader.LEAST_OPENING", 8)

    def start(n_rows):
        engine = SweepEngine(path, n_rows=n_rows)
        engine.tokenizer.chat_template = TURNS
        return engine

    return start


def prompts():
    return [
        Prompt(
            messages=(*before, Message(role="user", content=question)),
            sampling=Sampling(temperature=1.5, max_tokens=5),
            seed=seed,
            wants=("logprobs",),
        )
        for before in (CLOSED_BOOK, AFTER_AN_EXAMPLE)
        for question in QUESTIONS
        for seed in range(2)
    ]


@pytest.mark.slow
def test_where_few_rows_round_otherwise_products_are_filled_up_and_answers_are_those_of_any_batch(start, monkeypatch):
    library = Double(monkeypatch, few_rows_differ)
    engine = start(n_rows=16)
    assert engine.proof == Proof(way="any", least_rows=4, retraces=True)
    assert engine.environment()["batching"] == "any"
    library.sizes.clear()
    together = answered(engine, prompts())
    assert [answered(engine, [prompt])[0] for prompt in prompts()] == together
    assert min(library.sizes) == 4
    assert len({text for text, _ in together}) > 1
    for n_rows in (1, 2, 3, 5):
        assert answered(start(n_rows), prompts()) == together


def test_without_filling_up_the_double_changes_answers(start, monkeypatch):
    """What the test before this one would see if nothing were done."""
    Double(monkeypatch, few_rows_differ)
    monkeypatch.setattr(
        "shaketable.engine.sweep.prove", lambda engine, checks: replace(prove(engine, checks), least_rows=1)
    )
    engine = start(n_rows=16)
    together = answered(engine, prompts())
    assert [answered(engine, [prompt])[0] for prompt in prompts()] != together


def test_where_every_number_of_rows_rounds_otherwise_products_are_pieces_and_answers_still_the_same(start, monkeypatch):
    library = Double(monkeypatch, all_sizes_differ)
    engine = start(n_rows=16)
    assert engine.proof == Proof(way="fixed", product_rows=PRODUCT_ROWS, retraces=True)
    assert engine.environment()["batching"] == "fixed"
    library.sizes.clear()
    together = answered(engine, prompts())
    assert answered(engine, prompts()[::-1]) == together[::-1]
    for prompt in (0, 7):
        assert answered(engine, [prompts()[prompt]]) == [together[prompt]]
    assert library.sizes == {PRODUCT_ROWS}


def test_more_rows_and_prompts_than_one_piece_holds_have_the_same_answers(start, monkeypatch):
    Double(monkeypatch, all_sizes_differ)
    monkeypatch.setattr(
        "shaketable.engine.sweep.prove", lambda engine, checks: Proof(way="fixed", product_rows=PRODUCT_ROWS)
    )
    many = [replace(prompt, seed=prompt.seed + 2 * n) for prompt in prompts() for n in range(7)]
    together = answered(start(n_rows=128), many)
    assert answered(start(n_rows=1), many[::-11]) == together[::-11]


def test_rows_that_drew_the_same_tokens_are_computed_once(start, monkeypatch):
    """Cold rows of one prompt write one text; hot ones part from them and are those that they are alone."""
    engine, computed = start(n_rows=16), []
    assert engine.takes_any_number
    advance = engine.advance
    monkeypatch.setattr(engine, "advance", lambda *given: (computed.append(len(given[1])), advance(*given))[1])
    [asked, *_] = prompts()
    cold = [replace(asked, seed=n, sampling=replace(asked.sampling, temperature=1e-3)) for n in range(6)]
    assert len({text for text, _ in answered(engine, cold)}) == 1
    assert set(computed) == {1}
    hot = [replace(asked, seed=n) for n in range(6)]
    alone = [answered(engine, [prompt])[0] for prompt in [*cold, *hot]]
    computed.clear()
    assert answered(engine, [*cold, *hot]) == alone
    assert 1 < max(computed) <= 7
