"""The command that proves a run to be sound."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from shaketable.cli.console import guarded, out, print_json, say
from shaketable.cli.running import JsonOption, RunArgument
from shaketable.report.words import count
from shaketable.stages.verify import Verified
from shaketable.stages.verify import verify as verify_stage
from shaketable.store import Run


@guarded
def verify(
    run_folder: RunArgument,
    full: Annotated[
        bool, typer.Option("--full", help="Work scores out anew by metrics that read weights, too.")
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Prove that nothing stored was lost, doubled or altered, and that the scores are those that the records give.

    Exit 1 if something is wrong. Scores by metrics that read weights are worked out anew with --full; those by judges
    are proven not to be altered.
    """
    verified = verify_stage(Run(run_folder), full=full, progress=lambda words: say(words, quiet=json_))
    if json_:
        counts = {} if verified.records is None else dataclasses.asdict(verified.records)
        values = {name: own for name, own in dataclasses.asdict(verified).items() if name != "records"}
        print_json({"run": str(run_folder), "sound": not verified.problems, **counts, **values})
    else:
        for problem in verified.problems:
            out.print(f"✗ {problem}", highlight=False, markup=False)
        for sentence in _sentences(verified):
            out.print(sentence, highlight=False, markup=False)
    raise typer.Exit(1 if verified.problems else 0)


def _sentences(verified: Verified) -> list[str]:
    records = verified.records
    words = "Sound" if not verified.problems else f"{verified.n_problems:,} problems"
    locks = [] if verified.has_locks else ["The disk refuses locks: all was read without, and nothing may write to it."]
    if records is None:
        return [f"{words}: the records cannot be read.", *locks]
    missing = f", {count(records.missing, 'trial')} still to answer" if records.missing else ""
    sentences = [f"{words}: {count(records.n_records, 'record')} checked{missing}.", *locks]
    if verified.are_scores_current is False:
        sentences.append("The scores are of other records than there are now, and were not compared.")
    if verified.recomputed:
        sentences.append(f"Scores worked out anew: {', '.join(verified.recomputed)}.")
    if verified.only_sealed:
        sentences.append(f"Scores that were not altered since they were made: {', '.join(verified.only_sealed)}.")
    if not records.is_sealed:
        sentences.append("This run is of an older version: that nothing is gone cannot be proven.")
    if verified.unsealed:
        sentences.append(f"Written by an older version, and not sealed: {', '.join(verified.unsealed)}.")
    return sentences
