"""The command that shakes a system: a target, a table of questions and a budget; no study file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from shaketable.analyses.arms import Levels
from shaketable.cli.budget import parse_budget
from shaketable.cli.console import guarded, print_json
from shaketable.cli.failing import ALLOWED, MaxFailuresOption, refuse_failures
from shaketable.cli.running import Asking, JsonOption, OutOption, SetOption, run_line, summarize
from shaketable.cli.shake_forecast import tell_plan
from shaketable.cli.targets import Given, name_model
from shaketable.cli.telling_shake import describe_confirmation, tell_shake, values_of
from shaketable.errors import UsageError
from shaketable.factors import ORIGINAL, UNCHANGED
from shaketable.stages.plan import plan
from shaketable.stages.shaking.confirm import plan_confirmation, write_confirmation
from shaketable.stages.shaking.design import least_calls
from shaketable.stages.shaking.study import prepare_shake
from shaketable.types import Study

TargetArgument = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="A function (app.py:answer or package.module:name), the address of an endpoint, or a model as in studies "
        "(smollm2, openai(model='…')).",
    ),
]
DataOption = Annotated[
    Path,
    typer.Option(
        "--data", help="Questions: a CSV or Parquet with a column question, if there are any answer, context."
    ),
]
BudgetOption = Annotated[
    list[str],
    typer.Option("--budget", metavar="AMOUNT", help="'300 calls', '2 usd' or '10 min'; of several the first ends it."),
]
SeedOption = Annotated[int, typer.Option("--seed", help="Of the order of the questions, and of all that is drawn.")]
TemplateOption = Annotated[
    str | None, typer.Option("--template", help="Of an endpoint: the JSON to post, with {question} in it.")
]
AnswerOption = Annotated[
    str | None, typer.Option("--answer", help="Of an endpoint: where the answer stands in the reply, such as $.answer.")
]
HeaderOption = Annotated[
    list[str] | None,
    typer.Option("--header", help="Of an endpoint: 'Authorization: Bearer ${MY_TOKEN}', read from the environment."),
]
ModelNameOption = Annotated[
    str | None, typer.Option("--model-name", help="Of an endpoint that speaks OpenAI's API: the model to ask.")
]
ConcurrencyOption = Annotated[
    int | None, typer.Option("--concurrency", min=1, help="Questions under way at once, each in a process of its own.")
]


@guarded
def shake(
    target: TargetArgument,
    data: DataOption,
    budget: BudgetOption,
    out_folder: OutOption = None,
    seed: SeedOption = 0,
    set_: SetOption = None,
    template: TemplateOption = None,
    answer: AnswerOption = None,
    header: HeaderOption = None,
    model_name: ModelNameOption = None,
    concurrency: ConcurrencyOption = None,
    max_failures: MaxFailuresOption = ALLOWED,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be tried; ask nothing.")] = False,
    json_: JsonOption = False,
) -> None:
    """Find where a system breaks within a budget: wordings, evidence and temperatures, as far as it can vary them.

    It asks all of them a little, then more where the system seems to break, and stops when the budget is spent. It ends
    with the worst case, examples of it, a report, and the study that would confirm it. Run it again to go on; with a
    larger budget it goes further.

    Examples: `shaketable shake app.py:answer --data questions.csv --budget '300 calls'` · `shaketable shake
    https://example.org/ask --data my.csv --budget '10 min' --template '{"query": "{question}"}' --answer '$.text'`
    """
    limits = parse_budget(budget)
    given = Given(
        template=template,
        answer=answer,
        headers=tuple(header or ()),
        model_name=model_name,
        concurrency=concurrency,
    )
    model = name_model(target, given)
    prepared = prepare_shake(model, data, _study_name(target), limits=limits, seed=seed, overrides=set_ or ())
    study = prepared.study
    levels = levels_of(study)
    n_questions = min(prepared.n_questions, study.datasets[0].limit or prepared.n_questions)
    _refuse_small(study, levels, n_questions, budget)
    if dry_run:
        plan(study)  # What is wrong with it is told now.
    tell_plan(prepared, levels, n_questions, json_=json_, is_dry=dry_run)
    if dry_run:
        return
    folder = out_folder or Path("runs") / f"{study.name}-{prepared.key[:6]}"
    run, answered, _ = run_line(study, folder, json_, Asking(max_failures=max_failures))
    confirmation = plan_confirmation(run)
    file = write_confirmation(run, confirmation, describe_confirmation(run, confirmation))
    if json_:
        print_json({**summarize(run, answered), **values_of(run, confirmation, file)})
    else:
        tell_shake(run, answered, confirmation, file)
    refuse_failures(run, max_failures)


def _study_name(target: str) -> str:
    """`shake-answer` for app.py:answer."""
    last = re.sub(r"\(.*", "", re.sub(r"^https?://", "", target.strip()), flags=re.DOTALL)
    words = re.sub(r"[^\w]+", "-", last.rpartition(":")[2] or last).strip("-")
    return f"shake-{words[:40] or 'system'}"


def levels_of(study: Study) -> Levels:
    """What is tried beside the clean case."""
    return Levels(
        variations=tuple(variation for variation in study.variations if variation != ORIGINAL),
        perturbations=tuple(perturbation for perturbation in study.perturbations if perturbation != UNCHANGED),
        temperatures=tuple(sorted(study.temperatures))[1:],
    )


def _refuse_small(study: Study, levels: Levels, n_questions: int, budget: list[str]) -> None:
    least, most = least_calls(levels, n_questions), study.limits.max_calls
    if not levels.single:
        raise UsageError(
            "There is nothing to shake: one wording, one kind of evidence and one temperature. Add some, such as "
            '--set \'cross.variations=["original", "spelling"]\'.'
        )
    if most is not None and most < least:
        ways = len(levels.single)
        raise UsageError(
            f"--budget '{', '.join(budget)}' is too small: to ask a few questions plainly and in each of {ways} other "
            f"ways takes {least} calls. Give at least as many, better {3 * least}; or try less, such as "
            '--set \'cross.variations=["original", "spelling"]\'.'
        )
