"""Commands that make a run, stage by stage."""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import shlex
import time
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from shaketable import catalog
from shaketable.cli.batching import describe_underway, resuming, tell_pending
from shaketable.cli.caching import CacheOption
from shaketable.cli.console import guarded, out, print_json, say, say_left_out, typed
from shaketable.cli.endpoint_words import describe_checks
from shaketable.cli.executing import (
    AddressOption,
    Executor,
    ExecutorOption,
    WorkerCpusOption,
    WorkerGpusOption,
    WorkersOption,
    executor_of,
)
from shaketable.cli.failing import ALLOWED, MaxFailuresOption, refuse_failures, tell_failures
from shaketable.cli.forecasting import forecast, notes_on_plan, verdict_lines
from shaketable.cli.progress import answering, wording
from shaketable.cli.spending import say_spent, tell_stop
from shaketable.cli.telling import tell_findings
from shaketable.errors import INTERRUPTED, RepliesPending, RunError, UsageError, need_packages
from shaketable.identity import digest
from shaketable.protocols import EndpointModel
from shaketable.report.time_words import duration
from shaketable.report.words import count
from shaketable.stages.analyze import analyze as analyze_stage
from shaketable.stages.analyze import holding_findings, holding_scores
from shaketable.stages.answer import Answered, is_adaptive, is_all_answered
from shaketable.stages.answer import answer as answer_stage
from shaketable.stages.cluster.executor import Ray
from shaketable.stages.extend import n_answered
from shaketable.stages.forecast.afterwards import seconds_afterwards
from shaketable.stages.measured import remember_measures, remember_rate
from shaketable.stages.meter import asked_in_batches
from shaketable.stages.plan import Plan, plan
from shaketable.stages.readiness import refuse_unready
from shaketable.stages.reuse import count_shared
from shaketable.stages.run import ask, follow
from shaketable.stages.score import score as score_stage
from shaketable.stages.selection import describe_selection
from shaketable.stages.vary import vary
from shaketable.store import Run
from shaketable.store.repeats import AdaptiveRepeats
from shaketable.store.user_cache import open_cache
from shaketable.study import load_study
from shaketable.study.naming import name_after
from shaketable.types import Limits, Study

StudyArgument = Annotated[
    str, typer.Argument(metavar="STUDY", help="A study file (TOML), a run's folder, or the name of a study that ships.")
]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder.")]
JsonOption = Annotated[bool, typer.Option("--json", help="End with one JSON object on standard output.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", help="The run's folder. The same study into the same folder resumes it.")
]
LimitOption = Annotated[
    int | None, typer.Option("--limit", min=1, metavar="N", help="Take this many questions, balanced over the cells.")
]
ShardOption = Annotated[
    str | None,
    typer.Option("--shard", metavar="N/OF", help="Ask one shard of the questions: 2/8 is the second of eight."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key of the study: --set generation.max_tokens=48."),
]
MaxCostOption = Annotated[
    float | None,
    typer.Option(
        "--max-cost", min=0.0, metavar="USD", help="Stop when answers have cost this many USD, to be resumed."
    ),
]
MaxCallsOption = Annotated[
    int | None,
    typer.Option("--max-calls", min=1, metavar="N", help="Stop after this many calls of models, to be resumed."),
]
MaxMinutesOption = Annotated[
    float | None,
    typer.Option("--max-minutes", min=0.0, metavar="MIN", help="Stop after this many minutes of answering."),
]
WaitOption = Annotated[
    bool,
    typer.Option(
        "--wait/--no-wait",
        help="Of models asked in batches: wait for the replies, or send, take what has come, and end. Run again later.",
    ),
]
NoLimitsOption = Annotated[bool, typer.Option("--no-limits", help="Run to the end, whatever the study limits.")]


class Band(enum.StrEnum):
    interval = "interval"
    sd = "sd"


@guarded
def demo(
    out_folder: Annotated[Path, typer.Option("--out", help="Where the run goes.")] = Path("runs/demo"),
    limit: LimitOption = None,
    json_: JsonOption = False,
) -> None:
    """Run a small real study: built-in questions, embedded model, four kinds of evidence, six temperatures.

    Takes a few minutes on two cores and ends with a report. Interrupt it and run it again: it goes on.
    """
    need_packages("The demo", "torch", "transformers", "spacy")
    _whole_line(load_study("demo", (), limit), out_folder, json_, Asking())
    say(f"Look into it, answer by answer: {typed()} view {shlex.quote(str(out_folder))}", quiet=json_)


@guarded
def run(
    study: StudyArgument,
    out_folder: OutOption = None,
    limit: LimitOption = None,
    shard: ShardOption = None,
    set_: SetOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say trials, calls, tokens, time and money; run nothing.")
    ] = False,
    max_cost: MaxCostOption = None,
    max_calls: MaxCallsOption = None,
    max_minutes: MaxMinutesOption = None,
    no_limits: NoLimitsOption = False,
    max_failures: MaxFailuresOption = ALLOWED,
    cache: CacheOption = None,
    executor: ExecutorOption = Executor.local,
    address: AddressOption = None,
    workers: WorkersOption = None,
    worker_cpus: WorkerCpusOption = None,
    worker_gpus: WorkerGpusOption = None,
    wait: WaitOption = True,
    json_: JsonOption = False,
) -> None:
    """Plan, answer, score, analyze and report a study. Run it again to resume.

    More questions, repeats, temperatures or components into the same folder (--out) extend the run: what is new is
    asked. A limit counts all goes at the run; one that is reached stops it with a report of what there is.
    Shards (--shard) can be asked by several machines, and joined: shaketable merge.

    Exit codes: 0 done, 1 failed (also when more trials failed than --max-failures allows), 2 wrong usage, 130
    interrupted; 0 too where a limit was reached.

    Examples: `shaketable run demo` · `shaketable run context_temperature --limit 12 --set generation.max_tokens=48`
    · `shaketable run my.toml --dry-run` · `shaketable run my.toml --max-cost 2`
    · `shaketable run my.toml --executor ray --address 10.0.0.1:6379`
    """
    spread = executor_of(executor, address, workers, worker_cpus, worker_gpus)
    overrides = [*(set_ or ()), *([] if shard is None else [f"dataset.shard={shard}"])]
    loaded = with_limits(load_study(study, overrides, limit), max_cost, max_calls, max_minutes, none=no_limits)
    if dry_run:
        planned = plan(_answerable(loaded))
        forecast(planned, json_, 0 if out_folder is None else n_answered(planned, out_folder))
        return
    folder = out_folder or _default_folder(loaded, study, bool(overrides or limit))
    how = Asking(cache=cache, executor=spread, waits=wait, max_failures=max_failures)
    _whole_line(loaded, folder, json_, how)


def with_limits(
    study: Study, max_cost: float | None, max_calls: int | None, max_minutes: float | None, *, none: bool
) -> Study:
    """The study with the limits that were given in the place of its own."""
    given = {"max_cost": max_cost, "max_calls": max_calls, "max_minutes": max_minutes}
    for name, value in given.items():
        if value == 0:
            raise UsageError(f"--{name.replace('_', '-')} is 0, and nothing could be asked. Give more than 0.")
    own = Limits() if none else study.limits
    limits = Limits(
        max_cost=own.max_cost if max_cost is None else max_cost,
        max_calls=own.max_calls if max_calls is None else max_calls,
        max_minutes=own.max_minutes if max_minutes is None else max_minutes,
    )
    return dataclasses.replace(study, limits=limits)


@guarded
def answer(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder; what it holds is kept.")],
    max_cost: MaxCostOption = None,
    max_calls: MaxCallsOption = None,
    max_minutes: MaxMinutesOption = None,
    no_limits: NoLimitsOption = False,
    max_failures: MaxFailuresOption = ALLOWED,
    cache: CacheOption = None,
    executor: ExecutorOption = Executor.local,
    address: AddressOption = None,
    workers: WorkersOption = None,
    worker_cpus: WorkerCpusOption = None,
    worker_gpus: WorkerGpusOption = None,
    wait: WaitOption = True,
    json_: JsonOption = False,
) -> None:
    """Answer what a run has not answered yet, to its end or to a limit of all goes at it.

    Example: `shaketable answer runs/demo --max-minutes 10`
    """
    spread = executor_of(executor, address, workers, worker_cpus, worker_gpus)
    found = Run(run_folder)
    study = with_limits(found.study, max_cost, max_calls, max_minutes, none=no_limits)
    found = Run.prepare(run_folder, study)
    draft = plan(_answerable(found.study))
    if spread is not None:
        refuse_unready(draft, spread)  # Before a model rewords anything.
    worded = _word(found, draft, json_, spread)
    result = _answer(found, worded, json_, cache, executor=spread, waits=wait, max_failures=max_failures)
    if json_:
        print_json(summarize(found, result))
    else:
        tell_stop(found, result)
    refuse_failures(found, max_failures)


@guarded
def score(
    run_folder: RunArgument,
    metrics: Annotated[list[str] | None, typer.Option("--metric", help="Instead of the study's metrics.")] = None,
    json_: JsonOption = False,
) -> None:
    """Score the stored answers again, with the study's metrics or others."""
    found = Run(run_folder)
    n = score_stage(found, metrics, progress=lambda name: say(f"scoring {name}", quiet=json_))
    if json_:
        value = pl.col("value")
        means = found.scores().group_by("metric", maintain_order=True)
        rows = means.agg(mean=value.mean(), n=value.count(), missing=value.null_count()).to_dicts()
        print_json({"run": str(run_folder), "scores": n, "metrics": rows})
    else:
        say(f"{count(n, 'score')} in {run_folder / 'scores.parquet'}")


@guarded
def analyze(
    run_folder: RunArgument,
    analyses: Annotated[list[str] | None, typer.Option("--analysis", help="Instead of the study's analyses.")] = None,
    json_: JsonOption = False,
) -> None:
    """Ask the study's questions of its scores; scores first what is not scored, or was answered since."""
    found = Run(run_folder)
    with holding_scores(found, progress=lambda name: say(f"scoring {name}", quiet=json_)):
        findings = analyze_stage(found, analyses, progress=lambda name: say(f"analyzing {name}", quiet=json_))
        tell_findings(found, findings, json_)


@guarded
def report(
    run_folder: RunArgument,
    band: Annotated[
        Band, typer.Option(help="Shade confidence intervals, or ± one standard deviation over runs.")
    ] = Band.interval,
    json_: JsonOption = False,
) -> None:
    """Write the report and the figures from what is stored; scores and findings that are out of date are made anew."""
    # The drawing library takes a second to import; only the report needs it.
    from shaketable.stages.report import report as report_stage

    page = report_stage(Run(run_folder), band=band.value, progress=lambda words: say(words, quiet=json_))
    if json_:
        print_json({"run": str(run_folder), "report": str(page)})
    else:
        say(f"The report: {page}")


# --- parts of the way -----------------------------------------------------------------------------


N_TOLD = 3
"""Headlines of a section that the terminal tells; the report has all."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Asking:
    """How the trials of a study are asked; the defaults are those of the options."""

    cache: bool | None = None
    executor: Ray | None = None
    waits: bool = True
    max_failures: float = ALLOWED


def run_line(study: Study, folder: Path, json_: bool, how: Asking) -> tuple[Run, Answered, tuple[str, ...]]:
    """The whole line, showing how it moves; what was answered, and which stages had something to do after that."""
    results: list[Answered] = []
    tell = functools.partial(say, quiet=json_)

    def answering(made: Run, planned: Plan) -> None:
        asked = functools.partial(
            _answer, is_whole=True, executor=how.executor, waits=how.waits, max_failures=how.max_failures
        )
        results.append(asked(made, planned, json_, how.cache))

    try:
        found = ask(
            _answerable(study),
            folder,
            tell=tell,
            wording=lambda made, draft: _word(made, draft, json_, how.executor),
            answering=answering,
            executor=how.executor,
        )
        stages = follow(found, tell, remembering=True)
    except KeyboardInterrupt as interrupt:
        if not (folder / "study.toml").exists():
            raise
        raise _interrupted(Run(folder), "trial", how.executor) from interrupt
    return found, results[0], stages


def _whole_line(study: Study, folder: Path, json_: bool, how: Asking) -> None:
    start = time.perf_counter()
    found, answered, stages = run_line(study, folder, json_, how)
    if json_:
        print_json(summarize(found, answered))
    elif stages:
        _tell_results(found, answered, time.perf_counter() - start)
    else:
        for headline in found.headlines():
            out.print(f"• {headline}", highlight=False, markup=False)
        tell_stop(found, answered)
        say(f"Nothing has changed since the report was written: {found.folder / 'report.html'}")
    refuse_failures(found, how.max_failures)


def _tell_results(found: Run, answered: Answered, seconds: float) -> None:
    from shaketable.report.page import describe_first, make_sections
    from shaketable.stages.report import page_of

    with holding_findings(found) as findings:
        page = page_of(found, findings)
        for sentence in describe_first(page):
            say(sentence)
        for section in make_sections(page):
            for headline in section.headlines[:N_TOLD]:
                out.print(f"• {headline.text}", highlight=False, markup=False)
            say_left_out(len(section.headlines) - N_TOLD)
    tell_stop(found, answered)
    say(f"Done in {duration(seconds)}. The report: {found.folder / 'report.html'}")


def _word(found: Run, draft: Plan, json_: bool, executor: Ray | None) -> Plan:
    try:
        with wording(quiet=json_ or not draft.unworded) as progress:
            return draft.worded(vary(draft.study, draft.questions, found, progress))
    except KeyboardInterrupt as interrupt:
        raise _interrupted(found, "wording", executor) from interrupt


def _interrupted(found: Run, kept: str, executor: Ray | None) -> typer.Exit:
    going = describe_underway(found.folder)
    say(f"\nInterrupted; every finished {kept} is kept.{going} Go on with: {resuming(found.folder, executor)}")
    return typer.Exit(INTERRUPTED)


def _answer(
    found: Run,
    planned: Plan,
    json_: bool,
    cached: bool | None,
    *,
    is_whole: bool = False,
    executor: Ray | None = None,
    waits: bool = True,
    max_failures: float = ALLOWED,
) -> Answered:
    """`is_whole`: scores, analyses and the report follow. `waits`: for batches."""
    then = seconds_afterwards(planned.study, planned.n_trials) if is_whole else 0.0
    with found.writing() as store, open_cache(cached) as cache:
        finished = store.n_finished()
        shared = 0 if cache is None or is_adaptive(planned.study) else count_shared(planned, store, cache)
        say(
            f"{planned.study.name}: {count(len(planned.questions), 'question')}, "
            f"{count(planned.n_conditions, 'condition')}, "
            f"{'' if planned.study.precision is None else 'at most '}{count(planned.n_trials, 'trial')}"
            + (f", {finished:,} already there" if finished else "")
            + (f", {shared:,} asked by other runs" if shared else ""),
            quiet=json_,
        )
        for note in (*notes_on_plan(planned), *verdict_lines(planned)):
            say(note, quiet=json_)
        # An endpoint may be dead already, and the page of the run tells what was planned.
        known = {} if "n_trials" in store.meta() else {"n_trials": planned.n_trials}
        store.set_meta(selection=json.dumps(describe_selection(planned)), **known)
        try:
            if finished + shared < planned.n_trials and not is_all_answered(planned, store):
                _check_endpoints(planned, json_)
            with answering(planned.n_trials - finished, quiet=json_, then=then) as progress:
                result = answer_stage(planned, store, progress, cache, executor, waits=waits)
        except KeyboardInterrupt as interrupt:
            raise _interrupted(found, "trial", executor) from interrupt
        except RepliesPending as pending:
            tell_pending(found, pending, json_)
            raise typer.Exit(pending.exit_code) from pending
        if result.has_asked:
            store.note_time(result.seconds)
    if result.n_done:
        remember_measures(found, planned.conditions)
    model = planned.conditions[0].model
    # How fast a cluster or a batch is says nothing about this machine.
    is_usual = executor is None and not asked_in_batches(model)
    if result.n_done and result.seconds > 1 and len(planned.study.models) == 1 and is_usual:
        remember_rate(catalog.written(model), result.n_tokens, result.seconds)
    tell_failures(found, max_failures, quiet=json_)
    say_spent(found, json_)
    return result


def _check_endpoints(planned: Plan, json_: bool) -> None:
    """Ask each endpoint, by a few small requests, what it honors; the answers are stored with its records."""
    for model in {catalog.label(condition.model): condition.model for condition in planned.conditions}.values():
        if not isinstance(model, EndpointModel):
            continue
        own = [condition for condition in planned.conditions if condition.model is model]
        temperatures = {
            temperature
            for condition in own
            for temperature in (*planned.temperatures_of(condition), *planned.hot_temperatures_of(condition))
        }
        library_defaults = any(condition.decoding["library_defaults"] for condition in own)
        facts = model.check(sorted(temperatures), library_defaults=library_defaults)
        judged = {name: fact for name, fact in facts.items() if fact.value is not True}
        if judged:
            say(f"Note: {catalog.label(model)}: {describe_checks(judged)}.", quiet=json_)


def _answerable(study: Study) -> Study:
    if any(choice.name == "imported" for choice in study.datasets):
        raise RunError(
            "This run was imported: its answers were made elsewhere, so there is nothing to answer. Score it."
        )
    return study


def summarize(found: Run, result: Answered) -> dict[str, Any]:
    """`failed` counts all failures of the run, also those of earlier goes."""
    summary = found.summary()
    return {
        "run": str(found.folder),
        "trials": result.n_trials,
        "done": summary.done,
        "failed": summary.failed,
        "reused": result.n_reused,
        "shared": result.n_shared,
        "repeats": None if summary.repeats is None else _summarize_repeats(summary.repeats),
        "spent": [dataclasses.asdict(system) for system in summary.spent],
        "stopped": None if result.stop is None else dataclasses.asdict(result.stop),
        "seconds": round(result.seconds, 3),
        "rewordings": [dataclasses.asdict(effort) for effort in summary.rewordings],
    }


def _summarize_repeats(repeats: AdaptiveRepeats) -> dict[str, Any]:
    saved = round(repeats.saved, 4) if repeats.is_over else None
    return dataclasses.asdict(repeats) | {"saved": saved, "n_narrow": repeats.n_narrow}


def _default_folder(study: Study, given: str, changed: bool) -> Path:
    """`runs/NAME`; a run's own folder when its frozen study was given; a suffix when keys were overridden."""
    path = Path(given)
    folder = path.parent if path.name == "study.toml" else path
    if (folder / "records.sqlite").is_file() and not changed:
        return folder
    crossing = dataclasses.replace(study, metrics=(), main_metric=None, analyses=(), limits=Limits())
    name = name_after(study.name)  # Of a run of an older version it may be anything.
    return Path("runs") / (f"{name}-{digest(crossing)[:6]}" if changed else name)
