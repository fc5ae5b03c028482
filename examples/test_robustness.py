"""A team's own test: in the folder examples, `pytest test_robustness.py`."""

import pytest


@pytest.mark.robust(max_drop=0.2, max_failures=0.2)
def test_the_order_of_sources_does_not_matter(shake):
    shake("gate.toml")
