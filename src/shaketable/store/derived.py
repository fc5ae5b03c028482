"""What is made once and kept beside the records: wordings, reference answers, verdicts of judges, curves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from shaketable.identity import canonical
from shaketable.store.codec import decode
from shaketable.store.database import Database
from shaketable.store.sealing.seals import insert_sealed
from shaketable.store.wordings import (
    WordedQuestion,
    WordingEffort,
    read_checks,
    read_efforts,
    read_worded,
    write_worded,
)
from shaketable.types import Curve, Verdict


class Derived(Database):
    def add_worded(self, worded: Sequence[WordedQuestion]) -> None:
        """What a variation made of some questions, in one transaction."""
        with self._writing() as connection:
            write_worded(connection, self._changes, worded)

    def worded(self, part: str) -> dict[str, WordedQuestion]:
        """Question id → what is stored of one variation, which is named by its label."""
        return {question.question_id: question for question in read_worded(self.rows, part)}

    def wording_checks(self) -> list[tuple[str, str]]:
        """Variations whose wordings passed another check than the full one, with that check."""
        return read_checks(self.rows)

    def wording_efforts(self) -> list[WordingEffort]:
        return read_efforts(self.rows)

    def add_references(self, made_by: str, rows: Sequence[tuple[str, str, str, Sequence[str]]]) -> None:
        """Reference answers: question id, text, the whole text it was cut from, flags."""
        values = [(question_id, made_by, text, whole, canonical(flags)) for question_id, text, whole, flags in rows]
        with self._writing() as connection:
            insert_sealed(connection, self._changes, "reference_answers", "question_id, made_by", values)

    def add_verdicts(self, judge: str, verdicts: Mapping[str, Verdict]) -> None:
        """What a judge said, by the digest of its prompt."""
        rows = [(judge, prompt, canonical(verdict)) for prompt, verdict in verdicts.items()]
        with self._writing() as connection:
            insert_sealed(connection, self._changes, "verdicts", "judge, prompt", rows)

    def verdicts(self, judge: str) -> dict[str, Verdict]:
        """Digest of the prompt → verdict."""
        if not self.has_table("verdicts"):
            return {}
        rows = self.rows("SELECT prompt, body FROM verdicts WHERE judge = ? ORDER BY prompt", judge)
        return {prompt: decode(Verdict, json.loads(body)) for prompt, body in rows}

    def add_curves(self, settings: str, curves: Sequence[Curve]) -> None:
        """Curves with the digest of the settings that made them; a newer one takes the place of an older."""
        rows = [(curve.key, settings, canonical(curve)) for curve in curves]
        with self._writing() as connection:
            insert_sealed(connection, self._changes, "curves", "key", rows)

    def curves(self, settings: str | None = None) -> Iterator[Curve]:
        if not self.has_table("curves"):
            return
        where, values = ("1", ()) if settings is None else ("settings = ?", (settings,))
        for (body,) in self.stream(f"SELECT body FROM curves WHERE {where} ORDER BY key", values):
            yield decode(Curve, json.loads(body))

    def curves_of(self, keys: Sequence[str]) -> list[Curve]:
        """The curves of these records."""
        if not self.has_table("curves"):
            return []
        marks = ", ".join("?" * len(keys))
        found = self.rows(f"SELECT body FROM curves WHERE key IN ({marks}) ORDER BY key", *keys)
        return [decode(Curve, json.loads(body)) for (body,) in found]
