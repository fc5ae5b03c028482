"""The command that shakes a system: a target, a table of questions and a budget; no study file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from shaketable import catalog
from shaketable.analyses.arms import Levels
from shaketable.cli.budget import parse_budget
from shaketable.cli.console import guarded, print_json
from shaketable.cli.running import JsonOption, OutOption, SetOption, run_line, summarize
from shaketable.cli.telling_shake import describe_confirmation, tell_plan, tell_shake, values_of
from shaketable.errors import StudyError
from shaketable.models.calling.target import model_of
from shaketable.stages.confirm import plan_confirmation, write_confirmation
from shaketable.stages.plan import plan
from shaketable.stages.shake_design import least_calls
from shaketable.stages.shake_study import prepare_shake
from shaketable.types import Study

SPEAKS_CHAT = re.compile(r"https?://.*(/v1|/openai)/?$|https?://.*/chat/completions/?$")
OWN_NAME = re.compile(r"[\w.:/ -]+")


@guarded
def shake(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="A function (app.py:answer or package.module:name), the address of an endpoint, or a model as in "
            "studies (smollm2, openai(model='…')).",
        ),
    ],
    data: Annotated[
        Path,
        typer.Option("--data", help="Questions: a CSV with a column question, and if there are any answer, context."),
    ],
    budget: Annotated[
        list[str],
        typer.Option(
            "--budget", metavar="AMOUNT", help="'300 calls', '2 usd' or '10 min'; several: the first ends it."
        ),
    ],
    out_folder: OutOption = None,
    seed: Annotated[
        int, typer.Option("--seed", help="Of the order of the questions, and of all else that is drawn.")
    ] = 0,
    set_: SetOption = None,
    template: Annotated[
        str | None, typer.Option("--template", help="Of an endpoint: the JSON to post, with {question} in it.")
    ] = None,
    answer: Annotated[
        str | None, typer.Option("--answer", help="Of an endpoint: where the answer stands in the reply, $.answer.")
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(
            "--header", help="Of an endpoint: 'Authorization: Bearer ${MY_TOKEN}', read from the environment."
        ),
    ] = None,
    model_name: Annotated[
        str | None, typer.Option("--model-name", help="Of an endpoint that speaks OpenAI's API: the model to ask.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be tried; ask nothing.")] = False,
    json_: JsonOption = False,
) -> None:
    """Find where a system breaks within a budget: wordings, evidence and temperatures, as far as it can vary them.

    It asks all of them a little, then more where the system seems to break, and stops when the budget is spent. It ends
    with the worst case, examples of it, a report, and the study that would confirm it. Run it again to go on; with a
    larger budget it goes further.

    Examples: `shaketable shake app.py:answer --data questions.csv --budget '300 calls'` · `shaketable shake
    https://example.org/ask --data my.csv --budget '2 usd' --template '{"query": "{question}"}' --answer '$.text'`
    """
    limits = parse_budget(budget)
    model = name_model(target, template, answer, header or [], model_name)
    prepared = prepare_shake(model, data, _study_name(target), limits=limits, seed=seed, overrides=set_ or ())
    study = prepared.study
    levels = levels_of(study)
    n_questions = min(prepared.n_questions, study.datasets[0].limit or prepared.n_questions)
    _refuse_small(study, levels, n_questions, budget)
    tell_plan(prepared, levels, n_questions, json_=json_, is_dry=dry_run)
    if dry_run:
        plan(study)  # What a study could not do is told now.
        return
    folder = out_folder or Path("runs") / f"{study.name}-{prepared.key[:6]}"
    run, answered = run_line(study, folder, json_)
    confirmation = plan_confirmation(run)
    file = write_confirmation(run, confirmation, describe_confirmation(run, confirmation))
    if json_:
        print_json({**summarize(run, answered), **values_of(run, confirmation, file)})
    else:
        tell_shake(run, confirmation, file)


def name_model(
    target: str, template: str | None, answer: str | None, headers: list[str], model_name: str | None
) -> str:
    """The target as a study writes it, under a name that people recognize."""
    text = target.strip()
    is_address = re.match(r"https?://", text) is not None
    settings: dict[str, object] = {}
    if headers:
        settings["headers"] = dict(_header(header) for header in headers)
    if is_address and template is None and (model_name is not None or SPEAKS_CHAT.match(text)):
        if model_name is None:
            raise StudyError(
                f"TARGET {text} looks like an endpoint that speaks OpenAI's API, and which model to ask is not said. "
                "Name it with --model-name; or, if it is an endpoint of your own, say what to post with --template."
            )
        address = re.sub(r"/chat/completions/?$", "", text)
        return catalog.write("openai", {"model": model_name, "base_url": address, **settings})
    settings |= {key: value for key, value in (("template", template), ("answer", answer)) if value is not None}
    given = {"template": template, "answer": answer, "header": headers or None, "model-name": model_name}
    if not is_address and (unused := [name for name, value in given.items() if value is not None]):
        raise StudyError(f"--{unused[0]} is of endpoints, and TARGET {text} is none. Leave it out, or give an address.")
    if is_address:
        return catalog.write("pipeline", {"http": text, **settings, **_called(text)})
    written = model_of(text)
    if written == text:
        _refuse_file(text)
        return text
    module, _, name = text.rpartition(":")
    whole = f"{Path(module).expanduser().absolute()}:{name}" if module.endswith(".py") else text
    return catalog.write("pipeline", {"python": whole, **_called(text)})


def _refuse_file(text: str) -> None:
    if text.endswith(".py"):
        raise StudyError(
            f"TARGET {text} names a file and no function in it. Write the function's name after a colon: {text}:answer."
        )
    if text.rpartition(":")[0].endswith(".py"):
        name = text.rpartition(":")[2]
        raise StudyError(f"TARGET {text}: '{name}' is no name of a function. Write it as in {text.rpartition(':')[0]}.")


def _called(text: str) -> dict[str, str]:
    """A short name for charts and sentences; none where it could be taken for something else."""
    name = re.sub(r"^https?://", "", text).partition("?")[0]
    is_short = len(name) <= catalog.LONGEST_NAME and OWN_NAME.fullmatch(name) is not None
    return {"name": name} if is_short and name.partition("(")[0] not in catalog.known("model") else {}


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip() or not value.strip():
        raise StudyError(f"--header '{text}': write NAME: VALUE, such as 'Authorization: Bearer ${{MY_TOKEN}}'.")
    return name.strip(), value.strip()


def _study_name(target: str) -> str:
    """`shake-answer` for app.py:answer."""
    last = re.sub(r"\(.*", "", re.sub(r"^https?://", "", target.strip()), flags=re.DOTALL)
    words = re.sub(r"[^\w]+", "-", last.rpartition(":")[2] or last).strip("-")
    return f"shake-{words[:40] or 'system'}"


def levels_of(study: Study) -> Levels:
    """What is tried beside the clean case."""
    return Levels(
        variations=study.variations[1:],
        perturbations=study.perturbations[1:],
        temperatures=tuple(sorted(study.temperatures))[1:],
    )


def _refuse_small(study: Study, levels: Levels, n_questions: int, budget: list[str]) -> None:
    least, most = least_calls(levels, n_questions), study.limits.max_calls
    if not levels.single:
        raise StudyError(
            "There is nothing to shake: one wording, one kind of evidence and one temperature. Add some, such as "
            '--set \'cross.variations=["original", "spelling"]\'.'
        )
    if most is not None and most < least:
        ways = len(levels.single)
        raise StudyError(
            f"--budget '{', '.join(budget)}' is too small: to ask a few questions plainly and in each of {ways} other "
            f"ways takes {least} calls. Give at least as many, better {3 * least}; or try less, such as "
            '--set \'cross.variations=["original", "spelling"]\'.'
        )
