"""The command that rewords: one question as a diff, or a whole set, frozen in a file."""

from __future__ import annotations

import dataclasses
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from shaketable import catalog
from shaketable.cli.console import guarded, out, print_json, say
from shaketable.cli.diffs import word_diff
from shaketable.cli.progress import wording
from shaketable.cli.running import JsonOption, SetOption
from shaketable.errors import INTERRUPTED, PackageError, UsageError
from shaketable.identity import canonical
from shaketable.protocols import Variation
from shaketable.report.words import count, name_wording
from shaketable.stages.extend import prepare
from shaketable.stages.plan import load_questions, plan
from shaketable.stages.vary import Progress, WordingTick, is_ready, reword, with_strength
from shaketable.stages.vary import vary as vary_stage
from shaketable.store import Run
from shaketable.study import load_study
from shaketable.types import STRENGTH, Json, Question, Strength, Variant
from shaketable.variations.variant_set import Journal, WordingCounts, count_wordings, write_variant_set


@guarded
def vary(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A variation, such as formality or spelling(seed=1).")
    ] = None,
    question: Annotated[str | None, typer.Argument(help="The question to reword; absent: a dataset's.")] = None,
    also: Annotated[list[str] | None, typer.Option("--also", help="Another variation; may be given again.")] = None,
    dataset: Annotated[str, typer.Option(help="A dataset loader.")] = "builtin",
    path: Annotated[str | None, typer.Option(help="The dataset's file.")] = None,
    study: Annotated[
        str | None, typer.Option(help="Take a study's questions, and its variations where none is named.")
    ] = None,
    set_: SetOption = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="So many questions: the first of a dataset, a study's sample.")
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(help="Make a run's wordings and keep them in its folder, as `run` would; those there are read."),
    ] = None,
    out_: Annotated[
        Path | None, typer.Option("--out", help="Freeze the wordings in this file, for frozen(path=…).")
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Reword questions: shown as a diff, or frozen in a file so that everyone asks the same.

    Examples: `shaketable vary formality "Who directed Jaws?"` ·
    `shaketable vary original --also spelling --dataset squad --path dev.json --out variants.jsonl` ·
    `shaketable vary --study query_variation --limit 30 --out variants.jsonl` ·
    `shaketable vary --run runs/query-variation --out variants.jsonl`
    """
    if study is None and run is None and (name is None or set_):
        raise UsageError("Name a variation, such as formality, or give a --study, which --set can change.")
    if run is not None and (name or also):
        raise UsageError("A run has the variations of its study. Name a variation, or give a --run, not both.")
    loaded = load_study(study, set_ or (), limit) if study else Run(run).study if run is not None else None
    parts = _parts([*([name] if name else loaded.variations if loaded else ()), *(also or [])])
    questions = list(load_questions(loaded)[0]) if loaded else _questions(question, dataset, path, limit)
    journal = Journal(out_) if out_ is not None else None
    with _said(), wording(quiet=json_ or len(questions) == 1) as progress:
        if run is not None and loaded is not None:
            prepared = prepare(plan(loaded), run, lambda words: say(words, quiet=json_))
            made = _by_variation(questions, vary_stage(loaded, questions, prepared, progress))
        else:
            made = _made_for_file(parts, questions, progress, journal)
    summary = {label: count_wordings(wordings) for label, wordings in made.items()}
    sealed = None
    if out_ is not None:
        described = [{"label": catalog.label(part), **catalog.describe(part)} for part in parts]
        sealed = write_variant_set(out_, questions, made, described)
        Journal(out_).end()
    if json_:
        counts_by_label = {label: dataclasses.asdict(counts) for label, counts in summary.items()}
        frozen = {"digest": sealed, "file": str(out_) if out_ else None}
        print_json({"variations": counts_by_label, **frozen, "variants": None if out_ else _variant_values(made)})
        return
    if out_ is None and run is None:
        for place, asked in enumerate(questions):
            _show(asked, [variant for wordings in made.values() for variant in wordings[place]])
        return
    _say_counts(summary)
    _say_where(run, out_, sealed)


def _say_where(run: Path | None, file: Path | None, sealed: str | None) -> None:
    if run is not None:
        say(f"Kept in {run}. Go on with: shaketable answer {run}")
    if file is not None:
        say(f"Frozen in {file}, digest {sealed}. In a study: variations = [\"frozen(path='{file}')\"].")


def _variant_values(made: Mapping[str, Sequence[Sequence[Variant]]]) -> list[Json]:
    """Every wording for programs."""
    return [json.loads(canonical(variant)) for wordings in made.values() for row in wordings for variant in row]


def _say_counts(summary: Mapping[str, WordingCounts]) -> None:
    for label, counts in summary.items():
        reasons = "; ".join(f"{reason.replace('_', ' ')} ({n})" for reason, n in counts.reasons.items())
        left_out = f"; left out: {reasons}" if reasons else ""
        say(f"{label}: {count(counts.made, 'wording')}, {counts.accepted} accepted{left_out}.")


def _parts(texts: list[str]) -> list[Variation]:
    parts = [catalog.build("variation", text) for text in texts]
    labels = [catalog.label(part) for part in parts]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise UsageError(f"'{twice}' is named twice. Name each variation once.")
    if problem := next(filter(None, (catalog.lacks_packages("variation", part) for part in parts)), None):
        raise PackageError(problem)
    return parts


def _made_for_file(
    parts: Sequence[Variation], questions: list[Question], progress: Progress, journal: Journal | None
) -> dict[str, list[list[Variant]]]:
    try:
        return {catalog.label(part): _made(part, questions, progress, journal) for part in parts}
    except KeyboardInterrupt as interrupt:
        if journal is None or not journal.path.is_file():
            raise
        say(f"Interrupted; every finished wording is kept in {journal.path}. Give the same command to resume.")
        raise typer.Exit(INTERRUPTED) from interrupt


def _made(
    part: Variation, questions: list[Question], progress: Progress, journal: Journal | None
) -> list[list[Variant]]:
    """Return what a variation makes of each question, outside of any run: what the journal keeps is not made again."""
    if is_ready(part):
        journal = None  # Nothing is asked or loaded for it.
    made_by = catalog.spelled(part)
    kept: dict[tuple[str, str], list[Variant]] = {}
    for frozen in journal.read(made_by) if journal else ():
        kept.setdefault((frozen.variant.question_id, frozen.original), []).append(frozen.variant)
    made = {q.id: kept[q.id, q.text] for q in questions if (q.id, q.text) in kept}
    for batch in reword(part, [question for question in questions if question.id not in made]):
        for question, rewording in with_strength(batch):
            made[question.id] = list(rewording.variants)
            if journal and not rewording.may_retry:
                journal.add(made_by, question.text, rewording.variants)
        if not is_ready(part):
            progress(WordingTick(variation=catalog.label(part), n_done=len(made), n_questions=len(questions)))
    return [made[question.id] for question in questions]


def _by_variation(questions: list[Question], variants: Sequence[Variant]) -> dict[str, list[list[Variant]]]:
    """The wordings of each question, by who made them."""
    made: dict[str, list[list[Variant]]] = {}
    places = {question.id: place for place, question in enumerate(questions)}
    for variant in variants:
        wordings = made.setdefault(variant.variation, [[] for _ in questions])
        wordings[places[variant.question_id]].append(variant)
    return made


def _questions(text: str | None, dataset: str, path: str | None, limit: int | None) -> list[Question]:
    if text is not None:
        if path is not None:
            raise UsageError("Give a question or a dataset's --path, not both.")
        return [Question(id="asked", text=text, answers=())]
    loaded = catalog.find("dataset", dataset)(**({"path": path} if path else {}))
    return list(loaded.questions[:limit])


@contextmanager
def _said() -> Iterator[None]:
    """What a variation warns of is said in plain words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        if warning.category is UserWarning:
            say(f"Note: {warning.message}")


def format_strength(strength: Strength) -> str:
    """`keeps 67 % of the search terms · 40 % of the words changed · loss +0.52 · reading ease −12 · meaning 0.84`."""
    numbers = [
        (strength.terms_kept, "keeps {:.0%} of the search terms"),
        (strength.edit_distance, "{:.0%} of the words changed"),
        (strength.loss, "loss {:+.2f}"),
        (strength.reading_ease, "reading ease {:+.0f}"),
        (strength.meaning, "meaning {:.2f}"),
    ]
    told = [form.format(value).replace("%", " %").replace("-", "−") for value, form in numbers if value is not None]
    return " · ".join([*told, *([f"not all measured: {strength.reason}"] if strength.reason else [])])


def _show(question: Question, variants: list[Variant]) -> None:
    out.print(Text.assemble((question.id, "bold"), "  ", question.text))
    for variant in variants:
        out.print(Text(f"  {name_wording(variant.variation)}", style="bold"))
        out.print(Text("  ").append_text(word_diff(question.text, variant.text)))
        for name, value in variant.provenance.items():
            if name != STRENGTH:
                out.print(Text(f"    {name}: {value}", style="dim"))
        if variant.strength is not None:
            out.print(Text(f"    strength: {format_strength(variant.strength)}", style="dim"))
        if variant.rejected:
            out.print(Text(f"    rejected: {variant.rejected}", style="yellow"))
