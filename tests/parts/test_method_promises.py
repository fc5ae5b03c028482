"""What methods promise: steps that end in an answer, from the wording, the evidence and the replies alone."""

from __future__ import annotations

import importlib
import inspect

import numpy as np
import pytest
from promises import ODD_TEXTS, built, hits_of, questions

from shaketable import catalog
from shaketable.identity import canonical
from shaketable.prompts import Template
from shaketable.protocols import Method
from shaketable.types import Answer, Completion, Evidence, Generate, Note, Probe, Reading, Search

each_method = pytest.mark.parametrize("part", built("method"))

MOST_STEPS = 1000
REPLIES = ("Paris.", "So the answer is: Paris.", "", "I need to search.", "Yes", "No")
EXTRAS = {
    "tokens": lambda n: None,
    "logprobs": lambda n: [-0.5] * n,
    "entropy": lambda n: [0.7] * n,
    "processed_entropy": lambda n: [0.7] * n,
    "token_ids": lambda n: list(range(n)),
    "attention": lambda n: np.tril(np.ones((2, n, n), np.float32)) / np.arange(1, n + 1)[:, None],
    "top_logprobs": lambda n: [{"a": -0.5, "b": -1.5}] * n,
}
"""Hand-written extras. A method that wants others is driven in its own tests."""


def driven(part, wording, hits=(), replies=REPLIES):
    """The steps a method took and its answer, the replies handed over one after another."""
    run = Run(part, wording, hits, replies)
    while run.answer is None:
        run.step()
    return run.steps, run.answer


class Run:
    def __init__(self, part, wording, hits, replies):
        missing = set(part.wants) - EXTRAS.keys()
        if missing:
            pytest.skip(f"no hand-written {', '.join(sorted(missing))}; see the method's own tests")
        self.going, self.hits, self.replies = part.answer(wording), hits, replies
        self.steps, self.answer, self.n_generations = [], None, 0

    def step(self):
        reply = self._reply(self.steps[-1]) if self.steps else None
        try:
            self.steps.append(self.going.send(reply))
        except StopIteration as end:
            self.answer = end.value
            assert isinstance(self.answer, Answer)
        assert len(self.steps) <= MOST_STEPS, "the method does not end"

    def _reply(self, step):
        match step:
            case Search(k=k):
                return Evidence(hits=tuple(self.hits[:k]))
            case Generate(wants=wants, max_tokens=max_tokens):
                text = self.replies[self.n_generations % len(self.replies)]
                self.n_generations += 1
                tokens = tuple(f" {word}" for word in text.split())[:max_tokens]
                return Completion(
                    text=text,
                    finish_reason="end",
                    n_prompt_tokens=10,
                    n_tokens=len(tokens),
                    seconds=0.0,
                    tokens=tokens if wants else (),
                    extras={want: made for want in wants if (made := EXTRAS[want](len(tokens))) is not None},
                )
            case Probe(text=text, wants=wants):
                tokens = tuple(text.split())
                extras = {want: made for want in wants if (made := EXTRAS[want](len(tokens))) is not None}
                return Reading(tokens=tokens, extras=extras)
            case Note():
                return None
        raise AssertionError(f"{step} is no step")


def example():
    question = questions()[0]
    return question.text, hits_of("gold", [question])[0]


@each_method
def test_a_method_sees_the_wording_and_nothing_else(part):
    assert isinstance(part, Method)
    assert list(inspect.signature(part.answer).parameters) == ["wording"]


@each_method
def test_a_method_ends_in_an_answer(part):
    wording, hits = example()
    steps, answer = driven(part, wording, hits)
    assert any(isinstance(step, Generate) for step in steps)
    assert isinstance(answer.text, str)
    assert set(map(canonical, answer.hits)) <= set(map(canonical, hits))


@each_method
def test_a_method_does_what_it_declares(part):
    wording, hits = example()
    for replies in (REPLIES, REPLIES[::-1], ("",)):
        steps, _ = driven(part, wording, hits, replies)
        searches = [step for step in steps if isinstance(step, Search)]
        assert all(step.query.strip() and step.k >= 1 for step in searches)
        assert part.searches or not searches
        wanted = {want for step in steps if isinstance(step, Generate | Probe) for want in step.wants}
        assert wanted <= set(part.wants)


@each_method
def test_the_same_replies_give_the_same_steps_and_answer(part):
    wording, hits = example()
    assert driven(part, wording, hits) == driven(part, wording, hits)


@each_method
def test_methods_under_way_at_once_do_not_disturb_each_other(part):
    wordings = [question.text for question in questions()]
    _, hits = example()
    alone = [driven(part, wording, hits) for wording in wordings]
    runs = [Run(part, wording, hits, REPLIES) for wording in wordings]
    while any(run.answer is None for run in runs):
        for run in reversed([run for run in runs if run.answer is None]):
            run.step()
    assert [(run.steps, run.answer) for run in runs] == alone


@each_method
def test_the_model_is_asked_the_wording_as_it_is(part):
    """A prompt's slots are filled once: a wording that looks like a slot stays."""
    wording = "What do $question and ${document} cost, in $?"
    steps, _ = driven(part, wording, example()[1])
    asked = [message.content for step in steps if isinstance(step, Generate) for message in step.messages]
    assert any(wording in content for content in asked)


@each_method
def test_no_gold_answer_reaches_the_model(part):
    """Evidence and replies that lack the accepted answer make prompts that lack it."""
    for question in questions():
        gold = question.answers[0]
        if len(gold) < 5 or gold.lower() in question.text.lower():
            continue
        hits = [
            hit
            for hit in hits_of("distractor", [question])[0]
            if gold.lower() not in f"{hit.passage.title} {hit.passage.text}".lower()
        ]
        steps, _ = driven(part, question.text, hits, ("Nothing.",))
        assert gold.lower() not in canonical(steps).lower()


@each_method
def test_every_prompt_a_method_uses_is_part_of_its_key(part):
    """A changed prompt must make new trial keys."""
    module = importlib.import_module(type(part).__module__)
    used = {value for value in vars(module).values() if isinstance(value, Template)}
    assert used <= set(type(part).prompts)
    assert all(template.identity in catalog.spelled(part) for template in used)


@each_method
@pytest.mark.parametrize("name", ODD_TEXTS)
def test_a_method_takes_any_wording_evidence_and_reply(part, name):
    odd = ODD_TEXTS[name][:800]  # A method that reads its own text again takes time that grows with the square.
    _, hits = example()
    for wording, found, replies in ((odd, hits, REPLIES), ("Who?", [], (odd,)), (odd, [], (odd, "Paris."))):
        _, answer = driven(part, wording, found, replies)
        assert isinstance(answer.text, str)
