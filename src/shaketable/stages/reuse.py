"""Answers of other runs in the place of questions to a model, where the user switched that on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from shaketable.protocols import AddressedModel, Model, PipelineModel, PricedModel
from shaketable.stages.forecast.tally import Kind
from shaketable.stages.plan import Condition, Plan
from shaketable.stages.sources import Planned, Source
from shaketable.store import RecordStore
from shaketable.store.answer_cache import AnswerCache
from shaketable.store.shared_answers import name_answer, pack_answer, unpack_answer
from shaketable.types import Json, Record

Taken = list[tuple[Record, Condition]]


def is_shared(model: Model) -> bool:
    """What may cost money and is what its key says. The code of a pipeline may change beside the file that is named,
    and a local model is asked again for nothing."""
    return isinstance(model, PricedModel) and not isinstance(model, PipelineModel)


def _name(planned: Planned) -> str:
    trial, condition = planned
    model = condition.model
    return name_answer(trial.key, model.address if isinstance(model, AddressedModel) else "")


def count_shared(plan: Plan, store: RecordStore, cache: AnswerCache) -> int:
    """Trials that are not answered here and are elsewhere, of a study whose trials are all known beforehand."""
    finished = store.finished_keys()
    conditions = [condition for condition in plan.conditions if is_shared(condition.model)]
    waiting = [planned for planned in plan.trials(conditions) if planned[0].key not in finished]
    return cache.n_known(list(map(_name, waiting)))


class Reusing:
    """A source whose trials are taken from the cache as far as they are there; the others are handed out."""

    def __init__(self, source: Source, cache: AnswerCache, take_over: Callable[[Taken], None]) -> None:
        self.source, self.cache, self.take_over = source, cache, take_over

    def take(self, n: int) -> list[Planned]:
        missing: list[Planned] = []
        while len(missing) < n and (taken := self.source.take(n - len(missing))):
            names = [_name(planned) for planned in taken]
            bodies = self.cache.find(names)
            shared: Taken = []
            for name, (trial, condition) in zip(names, taken, strict=True):
                if name in bodies:
                    shared.append((unpack_answer(trial, bodies[name]), condition))
                else:
                    missing.append((trial, condition))
            if shared:
                self.take_over(shared)
                for record, _ in shared:
                    self.source.done(record)
        return missing

    def done(self, record: Record) -> None:
        self.source.done(record)

    def expected(self) -> Mapping[Kind, float]:
        return self.source.expected()


class Sharing:
    """A store whose new answers are put into the cache too, once they are stored. Failures are not."""

    def __init__(self, store: RecordStore, cache: AnswerCache, study: str) -> None:
        self.store, self.cache, self.study = store, cache, study

    def append(self, records: Sequence[tuple[Record, Condition]], environment: Mapping[str, Json]) -> None:
        self.store.append(records, environment)
        self.cache.add(
            {
                _name((record.trial, condition)): pack_answer(record, environment, self.study)
                for record, condition in records
                if record.answer is not None and not record.reused and is_shared(condition.model)
            }
        )
