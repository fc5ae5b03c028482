"""The command that writes a first study: from somebody's questions and documents, with comments."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from shaketable import catalog
from shaketable.cli.confirming import confirm_columns, example_of, is_somebody_there, refuse_doubt
from shaketable.cli.console import guarded, out, print_json, say, typed
from shaketable.cli.first_study import write_study_text
from shaketable.cli.forecasting import notes_on_plan, verdict_lines
from shaketable.cli.running import JsonOption
from shaketable.datasets.reading.guess import Guess
from shaketable.errors import HOSTED, REASONING, PartError, UsageError, at_home
from shaketable.factors import short_name
from shaketable.report.words import count, name_questions
from shaketable.stages.plan import Plan, plan
from shaketable.stages.readiness import unready
from shaketable.stages.starting.documents import MAX_WORDS, CutDocuments, cut_documents, write_corpus
from shaketable.stages.starting.draft import Draft, draft_study, name_endpoint
from shaketable.stages.starting.table import Opened, choose_columns, dataset_table, doubt_about, open_table
from shaketable.study import load_study
from shaketable.study.naming import name_after
from shaketable.types import Json

USUAL_MODEL = "gpt-4o-mini"
"""Asked where there is a key for OpenAI's endpoint, and no model is named."""
EMBEDDED = "smollm2"

PathArgument = Annotated[
    Path | None, typer.Argument(metavar="[STUDY.toml]", help="The file to write; absent: named after the data.")
]
DataOption = Annotated[
    str | None,
    typer.Option("--data", help="Questions: a CSV, JSON lines or Parquet file, or owner/name of the data hub."),
]
DocumentsOption = Annotated[
    Path | None,
    typer.Option("--documents", help="A .txt or .md file, or a folder of them, to be searched. PDF is not read."),
]
WordsOption = Annotated[
    int, typer.Option("--passage-words", min=10, help="Words of a passage that documents are cut into, at most.")
]
ModelOption = Annotated[
    str | None,
    typer.Option("--model", help="A model's name at an endpoint (gpt-4o-mini), or a model as in studies (smollm2)."),
]
UrlOption = Annotated[
    str | None,
    typer.Option("--base-url", help="An endpoint that speaks OpenAI's API, such as http://127.0.0.1:8000/v1."),
]
QuestionOption = Annotated[str | None, typer.Option("--question", metavar="COLUMN", help="The column of questions.")]
AnswerOption = Annotated[
    str | None, typer.Option("--answer", metavar="COLUMN", help="The column of accepted answers; - for none.")
]
ContextOption = Annotated[
    str | None, typer.Option("--context", metavar="COLUMN", help="The column of passages; - for none.")
]
IdOption = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="The column of ids; - for none.")]
ConfigurationOption = Annotated[str | None, typer.Option(help="Of a hub dataset or folder with several parts.")]
SplitOption = Annotated[str | None, typer.Option(help="Of a hub dataset or folder: validation, test, train.")]


@guarded
def init(
    path: PathArgument = None,
    data: DataOption = None,
    documents: DocumentsOption = None,
    passage_words: WordsOption = MAX_WORDS,
    model: ModelOption = None,
    base_url: UrlOption = None,
    question: QuestionOption = None,
    answer: AnswerOption = None,
    context: ContextOption = None,
    id_: IdOption = None,
    configuration: ConfigurationOption = None,
    split: SplitOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Take the guessed columns; ask nothing.")] = False,
    json_: JsonOption = False,
) -> None:
    """Write a first study, with comments, from your questions and documents. Nothing is asked of any model.

    The columns of the table are guessed, shown and confirmed. Without --data the study asks the built-in questions.

    Examples: `shaketable init --data questions.csv --model gpt-4o-mini` · `shaketable init --data rows.jsonl
    --documents handbook/ --model llama3 --base-url http://127.0.0.1:11434/v1`
    """
    if documents is not None and data is None:
        raise UsageError("--documents are searched for answers to questions. Give those too: --data questions.csv.")
    is_asked = not yes and not json_ and is_somebody_there()
    file = path or Path(f"{_stem(data)}.toml")
    _refuse_taken(file, is_asked)
    written_model = name_model(model, base_url)
    opened = open_table(data, configuration, split) if data is not None else None
    columns = {"question": question, "answer": answer, "context": context, "id": id_}
    dataset, chosen = _dataset(opened, columns, is_asked=is_asked, is_quiet=json_, is_taken=yes)
    cut = cut_documents(documents, passage_words) if documents is not None else None
    corpus = file.with_name(f"{file.stem}_corpus.jsonl") if cut is not None else None
    if corpus is not None and cut is not None:
        _write_corpus(corpus, cut, is_asked, is_quiet=json_)
    draft = _draft(file, dataset, written_model, corpus)
    planned = _write(file, draft)
    made = _Made(
        file=file,
        draft=draft,
        planned=planned,
        opened=opened,
        chosen=chosen,
        corpus=corpus,
        cut=cut,
        is_confirmed=is_asked,
    )
    _tell(made, json_)


# --- the model ------------------------------------------------------------------------------------


def name_model(model: str | None, base_url: str | None) -> str:
    """What is asked, as a study writes it: a part of the catalog, or a model behind an endpoint."""
    if model is None and base_url is not None:
        raise UsageError(f"--base-url {base_url}: which model is asked there? Name it: --model NAME.")
    if model is None:
        return name_endpoint({"model": USUAL_MODEL}) if os.environ.get("OPENAI_API_KEY") else EMBEDDED
    if base_url is None and _is_part(model):
        return model
    settings: dict[str, str] = {"model": model}
    for beginning, (address, variable) in HOSTED.items():
        if base_url is None and model.casefold().startswith(beginning):
            settings |= {"base_url": address, "api_key_variable": variable}
    if base_url is not None:
        settings["base_url"] = re.sub(r"/chat/completions/?$", "", base_url)
    text = name_endpoint(settings)
    if base_url is None and REASONING.match(model):  # They refuse a temperature, and count tokens by another name.
        text = text.replace(")", ", max_tokens_field='max_completion_tokens', send_temperature=False)")
    catalog.build("model", text, "--model")
    return text


def _is_part(model: str) -> bool:
    try:
        name, _ = catalog.parse(model)
    except PartError:
        return False
    if name not in catalog.known("model"):
        return False
    catalog.build("model", model, "--model")
    return True


# --- files ----------------------------------------------------------------------------------------


def _stem(data: str | None) -> str:
    if data is None:
        return "study"
    return re.sub(r"\W+", "-", Path(data.removesuffix(".gz")).stem).strip("-") or "study"


def _refuse_taken(file: Path, is_asked: bool) -> None:
    """No file is written over unless somebody says so."""
    if file.suffix != ".toml":
        raise UsageError(f"{file}: a study is a TOML file. Name it {file.with_suffix('.toml')}.")
    _may_write(file, is_asked)
    file.parent.mkdir(parents=True, exist_ok=True)


def _may_write(file: Path, is_asked: bool) -> None:
    if not file.exists():
        return
    if (
        file.is_file()
        and is_asked
        and typer.confirm(f"{file} is there already. Write over it?", default=False, err=True)
    ):
        return
    raise UsageError(
        f"{file} is there already, and nothing is written over. Give another name: shaketable init NAME.toml."
    )


def _write_corpus(corpus: Path, cut: CutDocuments, is_asked: bool, *, is_quiet: bool) -> None:
    _may_write(corpus, is_asked)
    write_corpus(corpus, cut.passages)
    say(f"{corpus}: {count(len(cut.passages), 'passage')} of {count(len(cut.files), 'document')}.", quiet=is_quiet)
    for name, reason in cut.left_out[:5]:
        say(f"Left out: {name}: {reason}", quiet=is_quiet)
    if len(cut.left_out) > 5:
        say(f"and {len(cut.left_out) - 5:,} more.", quiet=is_quiet)


def _dataset(
    opened: Opened | None, given: Mapping[str, str | None], *, is_asked: bool, is_quiet: bool, is_taken: bool
) -> tuple[dict[str, Json], tuple[Guess, ...]]:
    """The table [dataset], and the columns behind it."""
    if opened is None:
        if named := next((role for role, column in given.items() if column is not None), None):
            raise UsageError(f"--{named} names a column, and there is no table. Give one: --data questions.csv.")
        return {"name": "builtin"}, ()
    chosen = choose_columns(opened, given)
    if not is_quiet:
        chosen = confirm_columns(opened, chosen, is_asked=is_asked, why="--yes" if is_taken else "no terminal")
    if not (is_asked or is_taken):
        refuse_doubt(opened, chosen)
    return dataset_table(opened, chosen), chosen


def _draft(file: Path, dataset: Mapping[str, Json], model: str, corpus: Path | None) -> Draft:
    settings = {key: value for key, value in dataset.items() if key != "name"}
    load = catalog.find("dataset", str(dataset["name"]))
    questions = load(**settings).questions
    written = {**dataset, **({"path": _beside(file, str(dataset["path"]))} if "path" in dataset else {})}
    return draft_study(name_after(file.stem), written, questions, model, None if corpus is None else corpus.name)


def _beside(file: Path, data: str) -> str:
    """The path of the data as the study finds it from wherever it is run: a path is looked for beside the study too."""
    given = at_home(data)
    if given.is_absolute():
        return str(given)
    return Path(os.path.relpath(given, file.parent)).as_posix()


def _write(file: Path, draft: Draft) -> Plan:
    """Planned from a file beside it first, so that what cannot be planned changes nothing."""
    with tempfile.NamedTemporaryFile("w", dir=file.parent, suffix=".toml", encoding="utf-8") as trial:
        trial.write(write_study_text(draft, 0))
        trial.flush()
        planned = plan(load_study(trial.name))
    file.write_text(write_study_text(draft, planned.n_trials), "utf-8")
    return planned


# --- words ----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Made:
    file: Path
    draft: Draft
    planned: Plan
    opened: Opened | None
    chosen: tuple[Guess, ...]
    corpus: Path | None
    cut: CutDocuments | None
    is_confirmed: bool
    """Whether a person said that these are the columns."""

    @property
    def commands(self) -> list[tuple[str, str]]:
        """What to type next, and what it does."""
        study, run = shlex.quote(str(self.file)), shlex.quote(f"runs/{self.draft.name}")
        return [
            (f"{typed()} run {study} --dry-run", "what it would ask, and cost; nothing is asked"),
            (f"{typed()} run {study}", f"ask, score and analyze; ends with runs/{self.draft.name}/report.html"),
            (f"{typed()} view {run}", "every answer, in the browser"),
        ]

    @property
    def notes(self) -> list[str]:
        problems = [f"Before it can run here: {problem}" for problem in unready(self.planned)]
        return [*self._doubts(), *notes_on_plan(self.planned), *problems]

    def _doubts(self) -> list[str]:
        doubt = doubt_about(self.chosen)
        if doubt is None or self.is_confirmed:
            return []
        return [f"Look whether '{doubt.column}' holds the accepted answers: only its content says so."]


def _tell(made: _Made, json_: bool) -> None:
    planned, draft = made.planned, made.draft
    if json_:
        print_json(_values(made))
        return
    n = len(planned.questions)
    asked = name_questions(n) if n == draft.n_questions else f"{n:,} of {name_questions(draft.n_questions)}"
    say(
        f"{made.file}: {asked}, {count(planned.n_trials, 'answer')} by {short_name(draft.model)}. "
        "Read it: each line says what it does."
    )
    for note in (*made.notes, *verdict_lines(planned)):
        say(note)
    say("Next:")
    width = max(len(command) for command, _ in made.commands)
    for command, about in made.commands:
        out.print(f"  {command:<{width}}   # {about}", highlight=False, markup=False)


def _values(made: _Made) -> dict[str, Json]:
    opened, draft = made.opened, made.draft
    return {
        "study": str(made.file),
        "dataset": dict(draft.dataset),
        "columns": [
            {**dataclasses.asdict(guess), "example": "" if opened is None else example_of(opened, guess)}
            for guess in made.chosen
        ],
        "model": draft.model,
        "corpus": None if made.corpus is None else str(made.corpus),
        "passages": 0 if made.cut is None else len(made.cut.passages),
        "left_out": [] if made.cut is None else [list(pair) for pair in made.cut.left_out],
        "questions": len(made.planned.questions),
        "trials": made.planned.n_trials,
        "verdicts": [*verdict_lines(made.planned)],
        "notes": [*(made.opened.remarks if made.opened else ()), *made.notes],
        "next": [command for command, _ in made.commands],
    }
