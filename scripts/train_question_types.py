"""TREC's questions → a classifier of question types, and its accuracy on TREC's test questions.

    python scripts/train_question_types.py TREC --head
    python scripts/train_question_types.py TREC --fine-tune --encoder all-MiniLM-L6-v2 --out types

TREC is the folder with `train_5500.label` and `TREC_10.label`. `--head` fits the head that ships, on the embedded
encoder, and writes it into the package; `--fine-tune` trains a whole encoder as the study of factual robustness
trained its own (by default with its learning rate, batch, epochs and weight decay), and `--out` keeps it as a folder
for `question_type(model='types')`. `--dev 0.1` holds a tenth of the training questions back and reports on these
instead: that is where settings are chosen, never on the test questions.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shaketable import weights
from shaketable.errors import DataError
from shaketable.text import question_types
from shaketable.text.question_types import LABELS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TARGET = Path(question_types.__file__).parents[1] / "resources" / "question_types" / question_types.HEAD
PENALTIES = (3e-6, 1e-5, 3e-5)
"""Of the squared weights of the head; cross-validation chooses."""
N_FOLDS = 5


def load_trec(file: Path) -> tuple[list[str], list[str]]:
    """Questions and their coarse types. Printers' quotes become plain ones, as questions have elsewhere."""
    texts, labels = [], []
    for number, line in enumerate(file.read_text("latin-1").splitlines(), start=1):
        label, _, text = line.partition(" ")
        coarse = label.partition(":")[0]
        if coarse not in LABELS:
            raise DataError(f"{file.name} line {number}: found the type '{coarse}'. Types: {', '.join(LABELS)}.")
        texts.append(text.strip().replace("``", '"').replace("''", '"'))
        labels.append(coarse)
    return texts, labels


def fit_head(features: NDArray[np.float32], labels: Sequence[str], penalty: float) -> dict[str, NDArray[np.float32]]:
    """Multinomial logistic regression with penalized weights; it has one optimum, so nothing is drawn."""
    import torch

    given = torch.tensor(features, dtype=torch.float64)
    wanted = torch.tensor([LABELS.index(label) for label in labels])
    weight = torch.zeros(len(LABELS), given.shape[1], dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(len(LABELS), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=500, tolerance_change=1e-10, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        value = torch.nn.functional.cross_entropy(given @ weight.T + bias, wanted) + penalty * weight.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    return {"weight": weight.detach().float().numpy(), "bias": bias.detach().float().numpy()}


def choose_penalty(features: NDArray[np.float32], labels: Sequence[str], texts: Sequence[str]) -> float:
    """The penalty with most right answers to questions that were held back; equal questions share a fold."""
    import numpy as np

    distinct = sorted(set(texts))
    random.Random(0).shuffle(distinct)
    fold_of = {text: index % N_FOLDS for index, text in enumerate(distinct)}
    folds = np.array([fold_of[text] for text in texts])
    names = np.array(labels)
    n_right = dict.fromkeys(PENALTIES, 0)
    for penalty in PENALTIES:
        for fold in range(N_FOLDS):
            back = folds == fold
            head = fit_head(features[~back], names[~back].tolist(), penalty)
            found = np.array(LABELS)[question_types.best_label(features[back], head)]
            n_right[penalty] += int((found == names[back]).sum())
        print(f"penalty {penalty}: cross-validated accuracy {n_right[penalty] / len(texts):.4f}", flush=True)
    return max(PENALTIES, key=lambda penalty: n_right[penalty])


def fine_tune(texts: Sequence[str], labels: Sequence[str], given: argparse.Namespace) -> tuple[Any, Any]:
    """Tokenizer and classifier: AdamW without decay of biases and norms, a rate that falls linearly to 0, gradients
    of norm 1 at most, as the Trainer of transformers has by default."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    torch.manual_seed(given.seed)
    folder = weights.locate(given.encoder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(
        folder, dtype=torch.float32, id2label=dict(enumerate(LABELS)), label2id={x: i for i, x in enumerate(LABELS)}
    ).to(given.device)
    decayed = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": given.weight_decay}, {"params": others, "weight_decay": 0.0}],
        lr=given.learning_rate,
    )
    n_steps = given.epochs * -(-len(texts) // given.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / n_steps)
    model.train()
    for epoch in range(given.epochs):
        order = random.Random(f"{given.seed}/{epoch}").sample(range(len(texts)), len(texts))
        losses = []
        for start in range(0, len(order), given.batch):
            rows = order[start : start + given.batch]
            inputs = tokenizer([texts[row] for row in rows], padding=True, truncation=True, return_tensors="pt")
            wanted = torch.tensor([LABELS.index(labels[row]) for row in rows])
            loss = model(**inputs.to(given.device), labels=wanted.to(given.device)).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        print(f"epoch {epoch + 1} of {given.epochs}: mean loss {sum(losses) / len(losses):.4f}", flush=True)
    return tokenizer, model.eval()


def held_back(
    texts: Sequence[str], labels: Sequence[str], share: float
) -> tuple[tuple[list[str], list[str]], tuple[list[str], list[str]]]:
    """(texts, labels) to train with and to report on; equal questions stay on one side."""
    distinct = sorted(set(texts))
    back = set(random.Random(0).sample(distinct, round(share * len(distinct))))
    sides: tuple[tuple[list[str], list[str]], tuple[list[str], list[str]]] = (([], []), ([], []))
    for text, label in zip(texts, labels, strict=True):
        sides[text in back][0].append(text)
        sides[text in back][1].append(label)
    return sides


def write_head(head: dict[str, NDArray[np.float32]], file: Path) -> None:
    from safetensors.numpy import save

    file.parent.mkdir(exist_ok=True)
    file.write_bytes(save(head))


def report(found: Sequence[str], labels: Sequence[str], where: str) -> None:
    n_right = sum(a == b for a, b in zip(found, labels, strict=True))
    print(f"{where}: {n_right} of {len(labels)} right, accuracy {n_right / len(labels):.4f}")
    for label in LABELS:
        of_label = [a for a, b in zip(found, labels, strict=True) if b == label]
        print(f"  {label}: {of_label.count(label)} of {len(of_label)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--head", action="store_true")
    way.add_argument("--fine-tune", action="store_true")
    parser.add_argument("--dev", type=float, default=0.0)
    parser.add_argument("--encoder", default="all-MiniLM-L6-v2")
    parser.add_argument("--learning-rate", type=float, default=2e-5)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--weight-decay", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    texts, labels = load_trec(given.folder / "train_5500.label")
    asked, right = load_trec(given.folder / "TREC_10.label")
    where = "TREC test"
    if given.dev:
        (texts, labels), (asked, right) = held_back(texts, labels, given.dev)
        where = "held back"
    if given.head:
        known = question_types.features(texts)
        head = fit_head(known, labels, choose_penalty(known, labels, texts))
        best = question_types.best_label(question_types.features(asked), head)
        report([LABELS[index] for index in best], right, where)
        if given.out or not given.dev:
            write_head(head, given.out or TARGET)
        return
    tokenizer, model = fine_tune(texts, labels, given)
    report(question_types.classify(tokenizer, model, asked), right, where)
    if given.out:
        model.save_pretrained(given.out)
        tokenizer.save_pretrained(given.out)


if __name__ == "__main__":
    main()
