"""Wordings that readers labelled: `good`, `broken`, `changed` (another thing is asked) or `yesno` (it invites `yes`).

`own_labels.jsonl` holds wordings of the built-in questions in full. `labels.jsonl` points at published wordings by
file, id and kind, and tells what rules made by its edits of the original; it needs the folder of real data.
"""

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from real_questions import DATA, FOLDER, lines

from shaketable.identity import seed_from
from shaketable.variations.gate.meaning import MODEL_MADE, RULE_MADE, Gate, Judgement

HERE = Path(__file__).parents[1] / "variations" / "gate"
MISSPELLED = frozenset({"spelling", "keyboard_natural", "keyboard_synthetic", "asr_natural"})
WITH_ERRORS = MISSPELLED | {"grammar", "disfluency"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Labelled:
    id: str
    kind: str
    maker: str
    """`model`, `human`, or the rules with their version."""
    label: str
    original: str
    wording: str

    @property
    def is_good(self) -> bool:
        return self.label == "good"

    @property
    def is_held_out(self) -> bool:
        """Not among those on which the bounds were set."""
        return seed_from("gate", self.id) % 2 == 1

    @property
    def gate(self) -> Gate:
        """As the variation of this kind would ask it."""
        gate = RULE_MADE if self.maker.startswith("rules") else MODEL_MADE
        if self.kind in MISSPELLED:
            gate = replace(gate, min_similarity=0, keep_names=False, asks=False)
        return replace(gate, is_natural=self.kind not in WITH_ERRORS, corrects_itself=self.kind == "disfluency")


def judge(labelled: Sequence[Labelled], **settings: float) -> list[Judgement]:
    by_gate: dict[Gate, list[int]] = {}
    for i, each in enumerate(labelled):
        by_gate.setdefault(replace(each.gate, **settings), []).append(i)
    judged: dict[int, Judgement] = {}
    for gate, places in by_gate.items():
        verdicts = gate.judge([labelled[i].original for i in places], [labelled[i].wording for i in places])
        judged.update(zip(places, verdicts, strict=True))
    return [judged[i] for i in range(len(labelled))]


def load_own() -> list[Labelled]:
    rows = [json.loads(line) for line in (HERE / "own_labels.jsonl").read_text("utf-8").splitlines()]
    return [
        Labelled(
            id=row["original"],
            kind=row["kind"],
            maker="model",
            label=row["label"],
            original=row["original"],
            wording=row["wording"],
        )
        for row in rows
    ]


def load_published() -> list[Labelled]:
    """Less what a person or a translator left as it was, which is no other wording."""
    rows = [json.loads(line) for line in (HERE / "labels.jsonl").read_text("utf-8").splitlines()]
    return [each for each in map(_published, rows) if each.wording.strip() != each.original.strip()]


def _published(row: dict) -> Labelled:
    original, wording = _texts(row)
    return Labelled(
        id=row["id"],
        kind=row["kind"],
        maker=row["maker"],
        label=row["label"],
        original=original,
        wording=wording,
    )


def _texts(row: dict) -> tuple[str, str]:
    source, id, kind = row["source"], row["id"], row["kind"]
    if source.startswith("out_of_style/"):
        found = _rewrites()[kind, source.removeprefix("out_of_style/"), id]
        return found["question"], found["rewrite"]
    if source == "disfl_qa":
        found = _by_id("query_variations/disfl_qa_dev_test.jsonl", "squad_v2_id")[id]
        return found["original"], found["disfluent"]
    if source == "noiseqa":
        found = _by_id("query_variations/noiseqa_xquad.jsonl.gz", "id")[id]
        return found["question"], found[kind]
    name = next(FOLDER.glob(f"{source}.jsonl*")).relative_to(DATA)
    original = _by_id(str(name), "qid")[id]["question_text"]
    wording = original
    for start, end, text in reversed(row["edits"]):
        wording = wording[:start] + text + wording[end:]
    return original, wording


@functools.cache
def _by_id(file: str, key: str) -> dict[str, dict]:
    return {row[key]: row for row in lines(DATA / file)}


@functools.cache
def _rewrites() -> dict[tuple[str, str, str], dict]:
    rows = lines(DATA / "query_variations" / "out_of_style_rewrites.jsonl")
    return {(row["dimension"], row["dataset"], row["id"]): row for row in rows}
