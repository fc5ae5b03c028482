"""The answers of the demo study do not depend on the batches they are written in."""

import pytest
from sweep_speed import demo_prompts

from shaketable import weights
from shaketable.engine.sweep import SweepEngine

N_PROMPTS = 2


@pytest.mark.weights
@pytest.mark.slow
def test_answers_of_the_demo_are_those_of_one_row_at_a_time():
    """Every temperature and repeat of a few prompts, in batches and each by itself, on whatever machine this is."""
    prompts = demo_prompts(N_PROMPTS)
    engine = SweepEngine(weights.locate("smollm2"))
    together = [reply.text for reply in engine.generate(prompts)]
    assert len({prompt.sampling.temperature for prompt in prompts}) > 2
    assert len(set(together)) > N_PROMPTS
    assert [engine.generate([prompt])[0].text for prompt in prompts] == together
