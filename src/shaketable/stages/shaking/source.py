"""The trials of a shaken system: what the design asks for, as long as the budget lasts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from shaketable import catalog
from shaketable.analyses.arms import CLEAN, Levels
from shaketable.errors import StudyError
from shaketable.factors import ORIGINAL, UNCHANGED, judging_metric, numbers_of
from shaketable.identity import seed_from
from shaketable.protocols import Metric, PreparingMetric
from shaketable.stages.forecast.tally import Kind, kind_of
from shaketable.stages.plan import Condition, Plan
from shaketable.stages.shaking.design import Ask, Kept, walk
from shaketable.stages.sources import Planned
from shaketable.types import Answer, Question, Record, Shake


class Shaken:
    """A source whose next trials depend on what became of all before. Answers count in the order of the design, so
    that it does not matter which came first."""

    def __init__(
        self,
        plan: Plan,
        conditions: Sequence[Condition],
        stored: Mapping[str, str | None],
        n_affordable: Callable[[], float],
    ) -> None:
        """`n_affordable`: trials that the limits allow in all, those that are stored among them."""
        self.plan, self.stored, self.n_affordable = plan, stored, n_affordable
        self.questions = {question.id: question for question in plan.questions}
        self.metric = metric_of(plan)
        self.conditions = {condition.labels["perturbation"]: condition for condition in conditions}
        self.clean_condition = _clean_of(self.conditions)
        self.temperatures = tuple(sorted(plan.temperatures_of(self.clean_condition)))
        self.wordings = {(v.question_id, v.variation): v for v in reversed(plan.asked)}
        """The first of each variation."""
        self.order = in_random_order(plan)
        self.n_asked = 0
        """Stored or handed out."""
        self.walk = walk(levels_of(plan, conditions), len(self.order), n_affordable, plan.study.shake or Shake())
        self.asks: list[Ask] = []
        self.records: dict[int, Record] = {}
        """What the design waits for and has come, by its place among the asks."""
        self.under_way: dict[str, int] = {}
        """Key of a trial → its place among the asks."""
        self.ready: deque[Planned] = deque()
        self.is_over = False
        self._go_on(None)

    # --- what the scheduler calls -------------------------------------------------------------

    def take(self, n: int) -> list[Planned]:
        taken = [self.ready.popleft() for _ in range(min(n, len(self.ready)))]
        self.n_asked += len(taken)
        return taken

    def done(self, record: Record) -> None:
        self.records[self.under_way.pop(record.trial.key)] = record
        if not self.under_way:
            self._go_on(self._judge())

    def expected(self) -> Mapping[Kind, float]:
        """As many as the limits allow; of which kind shows on the way."""
        n = 0.0 if self.is_over else max(min(self.n_affordable(), self.plan.n_trials) - self.n_asked, 0.0)
        kinds = [kind_of(condition, t) for condition in self.conditions.values() for t in self.temperatures]
        return {kind: n / len(kinds) for kind in kinds}

    # --- what the design asks for -------------------------------------------------------------

    def _go_on(self, outcomes: list[Kept] | None) -> None:
        """Hand the design what became of its trials; what is stored counts at once."""
        try:
            while not self.under_way:
                self.asks = next(self.walk) if outcomes is None else self.walk.send(outcomes)
                self.records = {}
                for i, ask in enumerate(self.asks):
                    self._ask(i, ask)
                outcomes = self._judge() if not self.under_way else None
        except StopIteration:
            self.is_over = True

    def _ask(self, i: int, ask: Ask) -> None:
        planned = self.trial_of(ask)
        if planned is None:
            return
        trial, _ = planned
        if trial.key in self.stored:
            self.n_asked += 1
            text = self.stored[trial.key]
            self.records[i] = Record(trial=trial, answer=None if text is None else Answer(text=text))
        else:
            self.under_way[trial.key] = i
            self.ready.append(planned)

    def _judge(self) -> list[Kept]:
        """All at once: what others are compared with may come last."""
        if isinstance(self.metric, PreparingMetric):
            clean = [record for i, record in self.records.items() if self.asks[i].arm == CLEAN]
            self.metric.prepare(clean, self.questions)
        scores = self.metric.score(list(self.records.values()), self.questions)
        values = {i: own[0].value for i, own in zip(self.records, scores, strict=True)}
        return [values.get(i) for i in range(len(self.asks))]

    def trial_of(self, ask: Ask) -> Planned | None:
        """None: there is no such wording of the question."""
        arm = ask.arm
        variant = self.wordings.get((self.order[ask.place].id, arm.variation or ORIGINAL))
        if variant is None:
            return None
        condition = self.clean_condition if arm.perturbation is None else self.conditions[arm.perturbation]
        temperature = self.temperatures[0] if arm.temperature is None else arm.temperature
        condition = self.plan.suited(variant, condition)
        return self.plan.trial(variant, condition, temperature, ask.repeat), condition


def metric_of(plan: Plan) -> Metric:
    """The metric that tells right answers from wrong ones."""
    judging = judging_metric(numbers_of(plan.study.metrics), plan.study.main_metric)
    for text in plan.study.metrics:
        if judging in numbers_of([text]):
            return catalog.build("metric", text, "score.metrics")
    raise StudyError(
        f"shake: none of score.metrics ({', '.join(plan.study.metrics)}) tells right answers from wrong ones. Add "
        "correct, or same_answer where the questions have no answers."
    )


def levels_of(plan: Plan, conditions: Sequence[Condition]) -> Levels:
    """What can be changed of the one system that is shaken."""
    systems = {(c.labels["model"], c.labels["method"], c.labels["retriever"]) for c in plan.conditions}
    if len(systems) > 1:
        raise StudyError(
            f"shake: the study has {len(systems)} systems, and one is shaken at a time. Leave one in cross.models, "
            "cross.methods and cross.retrievers."
        )
    variations = dict.fromkeys(variant.variation for variant in plan.asked)
    if ORIGINAL not in variations:
        raise StudyError("shake: cross.variations lacks 'original', with which the others are compared. Add it.")
    perturbations = dict.fromkeys(condition.labels["perturbation"] for condition in conditions)
    levels = Levels(
        variations=tuple(name for name in variations if name != ORIGINAL),
        perturbations=tuple(name for name in perturbations if name is not None and name != UNCHANGED),
        temperatures=tuple(sorted(plan.temperatures_of(conditions[0])))[1:],
    )
    if not levels.single:
        raise StudyError(
            "shake: there is nothing to shake: one wording, one kind of evidence and one temperature. Add some to "
            "cross.variations, cross.perturbations or cross.temperatures."
        )
    return levels


def in_random_order(plan: Plan) -> list[Question]:
    """The questions in an order that nothing but the seed and their ids decide."""
    return sorted(plan.questions, key=lambda question: (seed_from(plan.study.seed, "shake", question.id), question.id))


def _clean_of(conditions: Mapping[str | None, Condition]) -> Condition:
    for name in (None, UNCHANGED):
        if name in conditions:
            return conditions[name]
    raise StudyError("shake: cross.perturbations lacks 'unchanged', with which the others are compared. Add it.")
