"""The command that replays one record: what was searched, found, decided and written, step by step."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.text import Text

from shaketable.cli.console import guarded, out, print_json
from shaketable.cli.running import JsonOption, RunArgument
from shaketable.errors import RunError
from shaketable.identity import canonical
from shaketable.report.words import count
from shaketable.store import RecordStore, Run
from shaketable.store.score_file import load_scores_of
from shaketable.types import Generate, Hit, Probe, Question, Record, Score, Search
from shaketable.viewer.shown_event import ShownEvent, ShownNote, show_event
from shaketable.viewer.shown_texts import ShownTexts, show_texts


@guarded
def show(
    run_folder: RunArgument,
    key: Annotated[str, typer.Argument(metavar="KEY", help="A record's key or its beginning; see `export` or `view`.")],
    json_: JsonOption = False,
) -> None:
    """Show one record: its trace of searches, decisions and texts, its evidence, prompts, gold answer and scores."""
    run = Run(run_folder)
    record, question = _find(run, key)
    events = [show_event(event, question) for event in record.trace]
    texts, scores = show_texts(record, question), load_scores_of(run.folder, record.trial.key)
    if json_:
        told = {
            "question": question.text,
            "gold_answers": list(question.answers),
            "scores": {score.metric: score.value for score in scores},
            "gold_hits": [event.evidence.gold_hit for event in events if event.evidence],
        }
        print_json({**told, **json.loads(canonical(record))})
        return
    trial = record.trial
    system = (trial.model, trial.method, trial.retriever, trial.perturbation)
    out.print(Text(trial.variant.text, style="bold"))
    out.print(Text(f"{' · '.join(filter(None, system))} · temperature {trial.temperature:g}, repeat {trial.repeat}"))
    for n, event in enumerate(events, 1):
        heading, lines = _format_event(event)
        out.print(Text(f"{n:>3}. ").append(heading, style="bold"))
        for line in lines:
            out.print(Text("     ").append(line))
    _print_texts(texts)
    said = record.answer.text if record.answer else record.failure.message if record.failure else ""
    _print_named("Answer" if record.answer else "Failed", said)
    _print_named("Gold answer", " / ".join(question.answers) or "none, it is unanswerable")
    _print_named("Scores", ", ".join(map(_format_score, scores)) or "none yet; make them: shaketable score")


def _print_texts(texts: ShownTexts) -> None:
    """The evidence with its text, and the last prompt, as the model read it."""
    if texts.evidence:
        out.print(Text("Evidence", style="bold"))
    for hit, is_gold in texts.evidence:
        out.print(Text("     ").append(_hit_words(hit, is_gold)))
        for line in hit.passage.text.splitlines():
            out.print(Text("        ").append(line, style="dim"))
    if texts.flags:
        _print_named("Flags", ", ".join(texts.flags))
    for n, messages in enumerate(texts.prompts, 1):
        which = f" {n} of {len(texts.prompts)}" if len(texts.prompts) > 1 else ""
        for message in messages:
            out.print(Text(f"Prompt{which}, {message.role}", style="bold"))
            for line in message.content.splitlines():
                out.print(Text("     ").append(line))


def _print_named(name: str, words: str) -> None:
    out.print(Text(f"{name}: ", style="bold").append(words, style="default not bold"))


def _format_score(score: Score) -> str:
    return f"{score.metric} {score.value:.3g}" if score.value is not None else f"{score.metric} – ({score.reason})"


def _find(run: Run, key: str) -> tuple[Record, Question]:
    with RecordStore(run.records_path, read_only=True) as store:
        keys = store.keys_beginning(key, limit=2)
        record = store.record(keys[0]) if len(keys) == 1 else None
        if record is None:
            trouble = "more than one record" if keys else "no record"
            raise RunError(f"{run.folder} has {trouble} whose key begins with '{key}'. See: shaketable export.")
        question = store.question(record.trial.question_id)
    assert question is not None
    return record, question


def _format_event(event: ShownEvent) -> tuple[str, list[str]]:
    """A step in one line, and what came of it."""
    failed = [f"failed: {event.failure.kind}: {event.failure.message}"] if event.failure else []
    match event.step:
        case Search(query=query, k=k):
            if event.evidence is None:
                return f"search “{query}”, k = {k}", failed
            gold = {True: ", gold hit", False: ", no gold hit", None: ""}[event.evidence.gold_hit]
            return f"search “{query}”, k = {k}{gold}", [_hit_words(*hit) for hit in event.evidence.hits]
        case Generate():
            reply = event.completion
            how = f", {count(reply.n_tokens, 'token')}, ended by {reply.finish_reason}" if reply else ""
            return f"{event.title.lower()}{how}", failed or (reply.text.splitlines() if reply else [])
        case Probe(text=text, wants=wants):
            return f"probe for {', '.join(wants)}: “{text}”", failed
        case _:
            note = event.note or ShownNote()
            scored = "  ".join(f"{'▸' if decides else ''}{word} {n:.3g}" for word, n, decides in note.words)
            return event.title, [*filter(None, [scored]), *(f"{k}: {v}" for k, v in note.values.items())]


def _hit_words(hit: Hit, is_gold: bool) -> str:
    score = "" if hit.score is None else f", {hit.score:.4g}"
    return f"{hit.rank}. {hit.passage.title or hit.passage.id} ({hit.source}{score}){' ★ gold' if is_gold else ''}"
