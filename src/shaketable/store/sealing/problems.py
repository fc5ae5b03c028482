"""What a check of a run has found: each kind of problem with a few examples and a count, however many there are."""

from __future__ import annotations

N_EXAMPLES = 3


class Problems:
    """Gathered one by one; kept is no more than examples."""

    def __init__(self) -> None:
        self._examples: dict[str, list[str]] = {}
        self._counts: dict[str, int] = {}

    def add(self, kind: str, example: str | None = None) -> None:
        """`kind` says what is wrong; `example`: of what, such as `record 0f3a`."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        examples = self._examples.setdefault(kind, [])
        if example is not None and len(examples) < N_EXAMPLES:
            examples.append(example)

    @property
    def n(self) -> int:
        return sum(self._counts.values())

    def sentences(self) -> tuple[str, ...]:
        lines = []
        for kind, examples in self._examples.items():
            lines += [f"{example}: {kind}" for example in examples] or [kind]
            if (n_more := self._counts[kind] - len(examples)) and examples:
                lines.append(f"{n_more:,} more: {kind}")
        return tuple(lines)
