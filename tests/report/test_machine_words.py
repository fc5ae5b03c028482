from __future__ import annotations

from shaketable.report.machine_words import tell_machine


def test_what_an_engine_proved_is_told_in_words() -> None:
    assert tell_machine({"batching": "any", "torch": "2"}) == {
        "batching": "exact: an answer has the same bits in any batch",
        "torch": "2",
    }
    assert tell_machine({"model": "gpt-x"}) == {"model": "gpt-x"}
    assert tell_machine({"batching": "of its own"}) == {"batching": "of its own"}
