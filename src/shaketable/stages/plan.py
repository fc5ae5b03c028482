"""A study → what there is to answer, worked out without loading a model."""

from __future__ import annotations

import collections
import functools
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shaketable import catalog
from shaketable.datasets.reading.hops import Hops, hops_of
from shaketable.datasets.reading.select import ShortCell, select
from shaketable.errors import PartError, StudyError, did_you_mean
from shaketable.factors import main_metric, numbers_of
from shaketable.facts.scans import GREEDY, most_repeats
from shaketable.identity import canonical, digest, seed_from, trial_key
from shaketable.protocols import (
    CalledPart,
    DatasetMethod,
    InstructedMethod,
    Method,
    Model,
    Perturbation,
    PipelineModel,
    Retriever,
    TemperatureModel,
    WrittenVariation,
)
from shaketable.stages.check import refuse_data_without_evidence, refuse_shared_numbers, refuse_unscored
from shaketable.stages.parts import each_once, refuse_shared_names, told_where
from shaketable.stages.pipelines import AS_ASKED, Case, not_varied, pipeline_cases
from shaketable.stages.repeating.judging import judge_of
from shaketable.stages.vary import preview
from shaketable.store.dimensions import UsedPart
from shaketable.study import WITHOUT_MODEL
from shaketable.types import DatasetChoice, NotVaried, Question, Rejected, Remark, Study, Trial, Variant

KEPT = ("logprobs", "top_logprobs")
"""Settings of generation that say what is kept of a reply; the others say how it is drawn."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One combination of parts. Factors that a method does not have are not crossed."""

    model: Model
    method: Method
    retriever: Retriever | None
    perturbation: Perturbation | None
    generation: str
    """The study's settings for this model, as canonical text."""
    seed: int
    as_written: Method | None = None
    """The method as the study writes it, where the dataset or a pipeline settled one of its settings; people see this
    one, and keys the settled one. None: it is the same."""

    @functools.cached_property
    def identity(self) -> str:
        parts = (self.model, self.method, self.retriever, self.perturbation)
        spelled = [catalog.spelled(part) if part is not None else None for part in parts]
        return canonical([*spelled, self.generation, self.seed])

    @functools.cached_property
    def decoding(self) -> dict[str, Any]:
        """The same settings as values."""
        settings: dict[str, Any] = json.loads(self.generation)
        return settings

    @functools.cached_property
    def drawing(self) -> dict[str, Any]:
        """Those that say how a reply is drawn."""
        return {name: value for name, value in self.decoding.items() if name not in KEPT}

    @functools.cached_property
    def system_message(self) -> str | None:
        return self.method.system_message if isinstance(self.method, InstructedMethod) else None

    @functools.cached_property
    def labels(self) -> dict[str, str | None]:
        parts = {
            "model": self.model,
            "method": self.method,
            "retriever": self.retriever,
            "perturbation": self.perturbation,
        }
        shown = parts | {"method": self.as_written or self.method}
        return {kind: None if part is None else catalog.label(part) for kind, part in shown.items()}

    @property
    def parts(self) -> list[UsedPart]:
        parts = {
            "model": self.model,
            "method": self.method,
            "retriever": self.retriever,
            "perturbation": self.perturbation,
        }
        return [
            UsedPart(kind=kind, label=catalog.label(part), **catalog.describe(part))
            for kind, part in parts.items()
            if part is not None
        ]


@dataclass(frozen=True, kw_only=True)
class Plan:
    study: Study
    questions: tuple[Question, ...]
    variants: tuple[Variant, ...]
    """Accepted and rejected; only the accepted are asked."""
    conditions: tuple[Condition, ...]
    rejected_rows: tuple[Rejected, ...] = ()
    remarks: tuple[Remark, ...] = ()
    """On rows that were kept, but not as they were read."""
    short_cells: tuple[ShortCell, ...] = ()
    not_varied: tuple[NotVaried, ...] = ()
    """What the study crosses and its pipelines cannot vary."""
    unworded: tuple[str, ...] = ()
    """Variations whose wordings are not made yet: the question stands in for each, to be counted, never asked."""

    def worded(self, variants: Sequence[Variant]) -> Plan:
        """The same with the wordings that were made."""
        return replace(self, variants=tuple(variants), unworded=())

    @property
    def asked(self) -> tuple[Variant, ...]:
        return tuple(variant for variant in self.variants if variant.rejected is None)

    @property
    def rejected(self) -> tuple[Variant, ...]:
        """What is not asked; a copy of a wording that is asked is not among them."""
        asked = {(variant.question_id, variant.variation, variant.text) for variant in self.asked}
        return tuple(
            variant
            for variant in self.variants
            if variant.rejected and (variant.question_id, variant.variation, variant.text) not in asked
        )

    def temperatures_of(self, condition: Condition) -> tuple[float, ...]:
        """Those that the study crosses; the lowest alone, at which it counts, of a model that takes none."""
        crossed = self.study.temperatures
        return crossed if _takes_temperature(condition) else (min(crossed),)

    def hot_temperatures_of(self, condition: Condition) -> tuple[float, ...]:
        """What a scan walks through."""
        return hot_temperatures(self.study) if _takes_temperature(condition) else ()

    @property
    def n_conditions(self) -> int:
        """Systems with their evidence, in each wording and at each temperature."""
        n_wordings = len({variant.variation for variant in self.asked})
        return sum(len(self.temperatures_of(condition)) for condition in self.conditions) * n_wordings

    @property
    def n_cells(self) -> int:
        """Trials without their repeats."""
        return sum(len(self.temperatures_of(condition)) for condition in self.conditions) * len(self.asked)

    @property
    def n_trials(self) -> int:
        """Trials in all; with a scan, repeats that end of themselves, or within limits, the most there can be."""
        n, most = self.n_trials_of(self.conditions), self.study.limits.max_calls
        return n if self.study.shake is None or most is None else min(n, most)

    def n_trials_of(self, conditions: Sequence[Condition]) -> int:
        """The same of some conditions."""
        scan, repeats = self.study.scan, self.study.repeats
        if scan is None:
            return sum(len(self.temperatures_of(condition)) for condition in conditions) * len(self.asked) * repeats
        datasets = {question.id: question.dataset for question in self.questions}
        groups = collections.Counter((datasets[variant.question_id], variant.variation) for variant in self.asked)
        facts = sum(min(n, scan.limit or n) for n in groups.values())
        n_hot = sum(len(self.hot_temperatures_of(condition)) for condition in conditions)
        return len(conditions) * len(self.asked) + n_hot * facts * most_repeats(scan, repeats)

    @functools.cached_property
    def items(self) -> dict[str, str]:
        """Question id → digest of the item as a system may see it: never its answers, never its tags."""
        return {q.id: digest([q.id, q.documents, q.supporting]) for q in self.questions}

    @functools.cached_property
    def fingerprint(self) -> str:
        """The digest of all trial keys there would be, without making them."""
        asked = [(self.items[variant.question_id], variant.variation, variant.spelled) for variant in self.asked]
        identities = [condition.identity for condition in self.conditions]
        scan = [one for one in (self.study.scan, self.study.shake, self.study.precision) if one is not None]
        hops = [self._hops] if any(map(_follows_dataset, self.conditions)) else []
        return digest([identities, asked, self.study.temperatures, self.study.repeats, *scan, *hops])

    @functools.cached_property
    def _hops(self) -> dict[str, Hops | None]:
        return {question.id: hops_of(question) for question in self.questions}

    @functools.cached_property
    def _suited(self) -> dict[tuple[str, Hops], Condition]:
        return {}

    def suited(self, variant: Variant, condition: Condition) -> Condition:
        """The condition with the settings of its method that follow the dataset settled for this question."""
        method = condition.method
        if not isinstance(method, DatasetMethod) or not method.follows_dataset:
            return condition
        hops = self._hops[variant.question_id]
        assert hops is not None, "Planning refuses such questions."
        place = (condition.identity, hops)
        if place not in self._suited:
            settled = method.suited_to(hops)
            settled = catalog.call(settled, method.given_name) if isinstance(method, CalledPart) else settled
            self._suited[place] = replace(condition, method=settled, as_written=condition.as_written or method)
        return self._suited[place]

    def by_model(self) -> list[tuple[Model, list[Condition]]]:
        """Each model with its conditions."""
        found: dict[str, list[Condition]] = {}
        for condition in self.conditions:
            found.setdefault(catalog.spelled(condition.model), []).append(condition)
        return [(own[0].model, own) for own in found.values()]

    def trials(self, conditions: Sequence[Condition] | None = None) -> Iterator[tuple[Trial, Condition]]:
        """Every trial, one prompt's temperatures and repeats next to each other, model after model."""
        for own in [conditions] if conditions is not None else [own for _, own in self.by_model()]:
            for variant in self.asked:
                for condition in own:
                    yield from self.trials_of(variant, condition)

    def trials_of(self, variant: Variant, condition: Condition) -> Iterator[tuple[Trial, Condition]]:
        scan, repeats = self.study.scan, self.study.repeats
        if scan is None:
            asks = [(temperature, n) for temperature in self.temperatures_of(condition) for n in range(repeats)]
        else:
            most = most_repeats(scan, repeats)
            asks = [GREEDY, *((t, repeat) for t in self.hot_temperatures_of(condition) for repeat in range(most))]
        condition = self.suited(variant, condition)
        for temperature, repeat in asks:
            yield self.trial(variant, condition, temperature, repeat), condition

    def trial(self, variant: Variant, condition: Condition, temperature: float, repeat: int) -> Trial:
        item = self.items[variant.question_id]
        key = trial_key(condition.identity, item, variant.variation, variant.spelled, temperature, repeat)
        return Trial(
            key=key,
            question_id=variant.question_id,
            variant=variant,
            temperature=temperature,
            repeat=repeat,
            seed=seed_from(self.study.seed, key),
            **condition.labels,  # type: ignore[arg-type]
        )


def _takes_temperature(condition: Condition) -> bool:
    return not isinstance(condition.model, TemperatureModel) or condition.model.takes_temperature


def _follows_dataset(condition: Condition) -> bool:
    return isinstance(condition.method, DatasetMethod) and condition.method.follows_dataset


def hot_temperatures(study: Study) -> tuple[float, ...]:
    """What a scan walks through; temperature 0 comes first of itself, once."""
    return tuple(sorted(t for t in study.temperatures if t > 0))


def plan(study: Study) -> Plan:
    """All that there is to answer, with the wordings that are at hand: nothing is loaded or asked. `worded` takes those
    that the stage `vary` has made.

    >>> import shaketable
    >>> planned = shaketable.plan(shaketable.load_study("demo", limit=4))
    >>> len(planned.questions), planned.n_trials > 4
    (4, True)
    """
    _check_shards(study)
    questions, rejected, remarks, short = load_questions(study)
    conditions = conditions_of(study)
    _check_hops(questions, conditions)
    refuse_unscored(study)
    refuse_data_without_evidence(questions, [c.retriever for c in conditions if c.retriever is not None])
    variants, unworded = preview(study, questions)
    return Plan(
        study=study,
        questions=questions,
        variants=variants,
        conditions=conditions,
        rejected_rows=rejected,
        remarks=remarks,
        short_cells=short,
        not_varied=not_varied(study, [condition.model for condition in conditions]),
        unworded=unworded,
    )


def _check_hops(questions: Sequence[Question], conditions: Sequence[Condition]) -> None:
    for condition in filter(_follows_dataset, conditions):
        unknown = next((question for question in questions if hops_of(question) is None), None)
        if unknown is not None:
            raise StudyError(
                f"cross.methods: {condition.labels['method']} follows the dataset, and nothing says whether the "
                f"questions of '{unknown.dataset}' need one fact or several. Name the task in the method, or tag the "
                'rows with their number of hops: "tags": {"hops": 2}.'
            )


def load_questions(
    study: Study,
) -> tuple[tuple[Question, ...], tuple[Rejected, ...], tuple[Remark, ...], tuple[ShortCell, ...]]:
    """The questions that a study asks, the rows that were no questions, remarks, and cells with too few."""
    questions: list[Question] = []
    rejected: list[Rejected] = []
    remarks: list[Remark] = []
    short: list[ShortCell] = []
    for choice in study.datasets:
        loader = catalog.find("dataset", choice.name, "dataset.name")
        known = list(inspect.signature(loader).parameters)
        for setting in choice.settings:
            if setting not in known:
                raise StudyError(
                    f"dataset: {choice.name} has no setting '{setting}'.{did_you_mean(setting, known)} "
                    f"Settings: {', '.join([*known, 'where', 'with_rewrites', 'balance', 'limit', 'shard'])}."
                )
        path = choice.settings.get("path")
        if not isinstance(path, str | None):
            raise StudyError(f"dataset.path is {path!r}; give the path of a file, such as 'questions.jsonl'.")
        loaded = loader(**catalog.typed_settings(loader, choice.settings, "dataset"))
        selection = select(
            _with_rewrites(loaded.questions, study) if choice.with_rewrites else loaded.questions,
            where=choice.where,
            by=choice.balance_by,
            per_cell=choice.per_cell,
            limit=choice.limit,
            seed=study.seed,
        )
        asked = selection.questions if choice.shard is None else _shard(selection.questions, *choice.shard)
        rejected += loaded.rejected
        remarks += loaded.remarks
        short += selection.short
        name = _told_apart(choice, study)
        for question in asked:
            own_id = f"{name}:{question.id}" if len(study.datasets) > 1 else question.id
            questions.append(replace(question, id=own_id, dataset=name))
    if not questions:
        raise StudyError(
            "The dataset has no question left to ask. Check dataset.path, dataset.where, dataset.limit and "
            "dataset.shard."
        )
    return tuple(questions), tuple(rejected), tuple(remarks), tuple(short)


def _with_rewrites(questions: Sequence[Question], study: Study) -> list[Question]:
    """Those that have a rewrite in the file of one of the study's variations."""
    parts = [catalog.build("variation", text, "cross.variations") for text in study.variations]
    written = [part for part in parts if isinstance(part, WrittenVariation)]
    if not written:
        raise StudyError(
            "dataset.with_rewrites: no variation of the study is read from a file. Add \"rewrites(path='…')\" to "
            "cross.variations, or leave the key out."
        )
    rewritten = [question for question in questions if any(part.has_rewrite(question) for part in written)]
    if not rewritten:
        names = ", ".join(text for text, part in zip(study.variations, parts, strict=True) if part in written)
        raise StudyError(f"dataset.with_rewrites: no question has a rewrite in {names}. Check the ids of the file.")
    return rewritten


def _shard(questions: Sequence[Question], number: int, of: int) -> Sequence[Question]:
    """Every so many-th: the parts of a balanced selection are about as balanced, and together they are the whole."""
    return questions[number - 1 :: of]


def _check_shards(study: Study) -> None:
    """Where answers decide what is asked next over all questions, parts would not make the whole."""
    if all(choice.shard is None for choice in study.datasets):
        return
    if study.shake is not None:
        raise StudyError("dataset.shard: what a shake asks depends on all its answers. Leave the shard out.")
    if study.precision is not None:
        raise StudyError(
            "dataset.shard: with cross.repeats.until a condition stops by the mean over all its questions, and each "
            "shard would stop elsewhere. Leave one of them out, or divide the study by its models or temperatures."
        )
    if study.scan is not None and study.scan.limit is not None:
        raise StudyError(
            "dataset.shard: scan.limit counts facts over all questions, and would be reached in each shard. Leave one "
            "of them out."
        )


def _told_apart(choice: DatasetChoice, study: Study) -> str:
    """The dataset's name; of several files in one layout, with the file's."""
    if sum(other.name == choice.name for other in study.datasets) == 1:
        return choice.name
    file = Path(str(choice.settings.get("path", ""))).name.split(".")[0]
    return f"{choice.name} {file}".strip()


def _check_scan(study: Study) -> None:
    """What judges during the scan must also judge in the scores, or analyses would contradict the scan."""
    scan = study.scan
    if scan is None:
        return
    scored = {catalog.name_of(part): part for part in (catalog.build("metric", text) for text in study.metrics)}
    for key, text in (("scan.known", scan.known), ("scan.correct", scan.correct)):
        if text is None:
            continue
        part = catalog.build("metric", text, key)
        same = scored.get(catalog.name_of(part), part)
        if same != part:
            raise StudyError(
                f"{key} is '{text}', but score.metrics has '{catalog.label(same)}'. Write the same in both: analyses "
                "judge by the scores what the scan has chosen."
            )
    if scan.strategy != "none" and not hot_temperatures(study):
        raise StudyError("scan: cross.temperatures has none above 0 to scan. Give some, or scan.strategy='none'.")


def _check_metrics(study: Study) -> None:
    names = numbers_of(study.metrics)
    refuse_shared_numbers(study.metrics)
    try:
        main_metric(names, study.main_metric)
    except PartError as error:
        raise PartError(f"analyze.{error}") from error


def conditions_of(study: Study) -> tuple[Condition, ...]:
    """What the study crosses, with a look at all else that it names."""
    conditions = crossed(study)
    _check_metrics(study)
    if study.reference not in WITHOUT_MODEL:
        catalog.build("model", study.reference, "score.reference")
    _check_scan(study)
    if study.precision is not None:
        judge_of(study, {})
    for i, text in enumerate(study.analyses):
        catalog.bind("analysis", text, f"analyze.analyses[{i}]")
    return conditions


def crossed(study: Study) -> tuple[Condition, ...]:
    """Its models, methods, retrievers and perturbations, crossed."""
    models = each_once("models", study.models, lambda text, where: catalog.build("model", text, where))
    methods = each_once("methods", study.methods, lambda text, where: catalog.build("method", text, where))
    retrievers = each_once("retrievers", study.retrievers, lambda text, where: catalog.build("retriever", text, where))
    perturbations = each_once(
        "perturbations", study.perturbations, lambda text, where: catalog.build("perturbation", text, where)
    )
    refuse_shared_names({"models": models, "methods": methods, "retrievers": retrievers})
    evidence = [(retriever, perturbation) for retriever in retrievers for perturbation in perturbations]
    conditions = []
    for i, (text, model) in enumerate(zip(study.models, models, strict=True)):
        differing = dict(study.generation_of.get(text, {}))
        of_methods: Mapping[str, Any] = differing.pop("methods", {})  # type: ignore[assignment]
        generation = canonical({**study.generation, **differing})
        with told_where(f"cross.models[{i}]: {text}"):
            is_pipeline = isinstance(model, PipelineModel)  # Looks at what it takes, so its code is imported.
        if isinstance(model, PipelineModel):
            cases = pipeline_cases(model, evidence, perturbations)
        else:
            _check_methods(of_methods, methods, f"generation.models.{text!r}.methods")
            cases = [case for method in methods for case in _cases(model, method, evidence)]
        conditions += [
            Condition(
                model=model,
                method=(own := _for_model(method, of_methods)),
                retriever=retriever,
                perturbation=perturbation,
                generation=generation,
                seed=study.seed,
                as_written=AS_ASKED if is_pipeline else None if own is method else method,
            )
            for method, retriever, perturbation in cases
        ]
    return tuple(conditions)


def _check_methods(differing: Mapping[str, Any], methods: Sequence[Method], where: str) -> None:
    names = [catalog.name_of(method) for method in methods]
    for name in differing:
        if name not in names:
            raise StudyError(
                f"{where}: '{name}' is none of the study's methods.{did_you_mean(name, names)} "
                f"Methods: {', '.join(names)}."
            )


def _for_model(method: Method, differing: Mapping[str, Any]) -> Method:
    """The method with the settings that the study gives it for one model; the same object where it gives none."""
    name = catalog.name_of(method)
    if name not in differing:
        return method
    settings = {field: value for field, value in catalog.settings_of(method).items() if value is not None}
    settled: Method = catalog.build("method", catalog.write(name, {**settings, **differing[name]}), "generation.models")
    return catalog.call(settled, method.given_name) if isinstance(method, CalledPart) else settled


def _cases(model: Model, method: Method, evidence: Sequence[tuple[Retriever, Perturbation]]) -> list[Case]:
    """What a method is crossed with, if the model gives what it needs."""
    missing = [want for want in method.wants if want not in model.gives]
    if missing:
        raise PartError(
            f"{catalog.label(method)} needs {', '.join(missing)} of its model, and {catalog.label(model)} "
            f"does not give it. Take '{catalog.name_of(method)}' out of cross.methods, or use a local model (smollm2, "
            "transformers)."
        )
    return [(method, *both) for both in evidence] if method.searches else [(method, None, None)]
