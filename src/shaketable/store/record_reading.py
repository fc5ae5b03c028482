"""Records as values, one after the other, chosen by typed queries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from shaketable.store import trace
from shaketable.store.shared_texts import SharedTexts
from shaketable.types import Cost, Record, Trial, Variant

COLUMNS = (
    *("key", "variant", "condition", "temperature", "repeat", "seed", "answer", "failure", "may_retry"),
    *("n_searches", "n_generations", "n_prompt_tokens", "n_tokens", "seconds", "environment", "trace"),
    *("dollars", "reused"),
)


class RecordReading(SharedTexts):
    def keys_beginning(self, beginning: str, limit: int) -> list[str]:
        """Whole keys of records, of their beginning."""
        sql = "SELECT key FROM records WHERE key >= ?1 AND key < ?1 || '~' LIMIT ?2"
        return [key for (key,) in self.rows(sql, beginning, limit)]

    def records(self, *, first_questions: int | None = None, with_trace: bool = True) -> Iterator[Record]:
        """Records one after the other, in the order they were stored; of the first questions alone, or of all.

        Without trace, also without evidence: faster.
        """
        return self.select_records(first_questions_where(first_questions), with_trace=with_trace)

    def record(self, key: str) -> Record | None:
        return next(self.select_records("r.key = ?", (key,)), None)

    def records_of(self, keys: Sequence[str]) -> Iterator[Record]:
        """The records of these keys, as far as they are there."""
        return self.select_records(f"r.key IN ({', '.join('?' * len(keys))})", keys)

    def greedy_records(self, identity: str) -> Iterator[Record]:
        """The first repeat of each trial at temperature 0, of the condition of this identity."""
        return self.select_records("r.temperature = 0 AND r.repeat = 0 AND c.identity = ?", (identity,))

    def clean_records(self) -> Iterator[Record]:
        """Those with the evidence as it was found, at the coolest temperature of their condition, without trace."""
        where = (
            "(c.perturbation IS NULL OR c.perturbation = 'unchanged') AND (r.condition, r.temperature) IN "
            "(SELECT condition, MIN(temperature) FROM records GROUP BY condition)"
        )
        return self.select_records(where, with_trace=False)

    def untouched(self, trial: Trial) -> Record | None:
        """The first record of the same wording and system whose evidence was left as it is."""
        where = (
            "v.question_id = ? AND v.wording = ? AND c.model = ? AND c.method = ? AND c.retriever IS ? "
            "AND c.perturbation = 'unchanged' AND r.answer IS NOT NULL"
        )
        same = (trial.question_id, trial.variant.text, trial.model, trial.method, trial.retriever)
        return next(self.select_records(where, same), None)

    def original_wording(self, trial: Trial) -> Record | None:
        """The record of the original wording under the same condition; None: this is it, or there is none."""
        if trial.variant.variation == "original":
            return None
        where = (
            "v.question_id = ? AND v.variation = 'original' AND c.model = ? AND c.method = ? AND c.retriever IS ? "
            "AND c.perturbation IS ? AND r.temperature = ? AND r.repeat = ?"
        )
        condition = (trial.model, trial.method, trial.retriever, trial.perturbation)
        same = (trial.question_id, *condition, trial.temperature, trial.repeat)
        return next(self.select_records(where, same), None)

    def select_records(
        self,
        where: str,
        values: Sequence[str | float | None] = (),
        *,
        with_trace: bool = True,
        order: str = "r.id",
    ) -> Iterator[Record]:
        """For the store's own queries: `where` and `order` are SQL over records r, variants v and conditions c."""
        environments = {i: json.loads(body) for i, body in self.rows("SELECT id, body FROM environments")}
        columns = [f"r.{name}" for name in COLUMNS]
        if not with_trace:
            columns[COLUMNS.index("trace")] = "json_set(json_remove(r.trace, '$.hits'), '$.events', json_array())"
        sql = f"""
            SELECT {", ".join(columns)}, v.question_id, v.variation, v.wording, v.provenance, v.rejected,
                   c.model, c.method, c.retriever, c.perturbation
            FROM records r JOIN variants v ON v.id = r.variant JOIN conditions c ON c.id = r.condition
            WHERE {where} ORDER BY {order}"""
        for row in self.stream(sql, values):
            r = dict(zip(COLUMNS, row[: len(COLUMNS)], strict=True))
            question_id, variation, wording, provenance, rejected, model, method, retriever, perturbation = row[
                len(COLUMNS) :
            ]
            trial = Trial(
                key=r["key"],
                question_id=question_id,
                variant=Variant(
                    question_id=question_id, text=wording, variation=variation,
                    provenance=json.loads(provenance), rejected=rejected,
                ),
                method=method, retriever=retriever, perturbation=perturbation, model=model,
                temperature=r["temperature"], repeat=r["repeat"], seed=r["seed"],
            )  # fmt: skip
            cost = Cost(
                n_searches=r["n_searches"], n_generations=r["n_generations"],
                n_prompt_tokens=r["n_prompt_tokens"], n_tokens=r["n_tokens"], seconds=r["seconds"],
                dollars=r["dollars"],
            )  # fmt: skip
            record = trace.unpack(
                trial, r["answer"], r["failure"], cost, environments[r["environment"]], r["trace"], self._fetch
            )
            yield replace(record, reused=True) if r["reused"] else record


def first_questions_where(n: int | None) -> str:
    """The condition on variants v that their question is among the first n; None: any question."""
    return "1" if n is None else f"v.question_id IN (SELECT id FROM questions ORDER BY place LIMIT {n:d})"
