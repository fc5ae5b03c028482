"""The answers of the demo study do not depend on the batches they are written in."""

import pytest

from shaketable import weights
from shaketable.engine.sweep import SweepEngine
from shaketable.stages.answer import Scheduler
from shaketable.stages.plan import plan
from shaketable.stages.sources import Listed
from shaketable.study import load_study
from shaketable.types import Completion

N_PROMPTS = 2


class Listener:
    """Takes the prompts of a study down and answers none."""

    def __init__(self):
        self.prompts = []

    def generate(self, prompts):
        self.prompts += prompts
        return [Completion(text="", finish_reason="end", n_prompt_tokens=0, n_tokens=0, seconds=0) for _ in prompts]

    def environment(self):
        return {}

    def append(self, records, environment):
        pass


@pytest.mark.weights
@pytest.mark.slow
def test_answers_of_the_demo_are_those_of_one_row_at_a_time():
    """Every temperature and repeat of a few prompts, in batches and each by itself, on whatever machine this is."""
    listener, planned = Listener(), plan(load_study("demo"))
    Scheduler(planned, listener, lambda tick: None).run(listener, Listed(planned.trials()))
    asked = list(dict.fromkeys(prompt.messages for prompt in listener.prompts))[:N_PROMPTS]
    prompts = [prompt for prompt in listener.prompts if prompt.messages in asked]
    engine = SweepEngine(weights.locate("smollm2"))
    together = [reply.text for reply in engine.generate(prompts)]
    assert len({prompt.sampling.temperature for prompt in prompts}) > 2
    assert len(set(together)) > N_PROMPTS
    assert [engine.generate([prompt])[0].text for prompt in prompts] == together
