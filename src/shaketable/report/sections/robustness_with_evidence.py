"""Whether evidence makes a model hold facts more firmly, and what disturbances of it cost."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable.analyses.facts.robustness_with_evidence import EvidenceScore, RobustnessWithEvidence
from shaketable.factors import Cell
from shaketable.report.claim_words import UNADJUSTED, describe_unshown
from shaketable.report.section import Headline, Page, Section, Table
from shaketable.report.words import (
    Entry,
    count_questions,
    describe_bootstrap,
    format_level,
    name_part,
    negate,
    sentence_case,
)

NAME = "robustness_with_evidence"


def section(result: RobustnessWithEvidence, page: Page) -> Section:
    return Section(
        chapter="facts",
        title="Robustness with evidence",
        question="Does evidence make a model hold facts more firmly?",
        headlines=_headlines(result, page),
        tables=_tables(result),
        caveats=_caveats(result, page),
    )


def _headlines(result: RobustnessWithEvidence, page: Page) -> tuple[Headline, ...]:
    scores = {score.cell: score for score in _of_first_d(result, result.scores)}
    changes = [
        *((_gain_sentence(gain, page), gain) for gain in _of_first_d(result, result.gains)),
        *((_loss_sentence(loss, page), loss) for loss in _of_first_d(result, result.losses)),
    ]
    models = [(cell.dataset, _model(cell)) for cell in scores]
    changes.sort(key=lambda pair: models.index((pair[1].cell.dataset, _model(pair[1].cell))))
    return tuple(
        Headline(
            kind=NAME,
            cell=change.cell,
            system=_model(change.cell),
            sentence=sentence,
            detail=_detail(change, scores[change.cell]),
        ).with_claims(page.claim_of(change.subject))
        for sentence, change in changes
        if change.score.value is not None
    )


def _of_first_d(result: RobustnessWithEvidence, scores: Sequence[EvidenceScore]) -> list[EvidenceScore]:
    return [score for score in scores if score.d == result.d[0]]


def _model(cell: Cell) -> str:
    """Methods and retrievers are what is compared, so the model alone is named."""
    return cell.system.model if cell.system else ""


def _gain_sentence(gain: EvidenceScore, page: Page) -> str:
    model, size, claim = _model(gain.cell), _size(gain), page.claim_of(gain.subject)
    if claim is None or not claim.is_shown:
        return (
            f"That original evidence changes how firmly {model} holds facts is not shown ({size}; "
            f"{describe_unshown(claim)})."
        )
    more = "more" if (gain.score.value or 0.0) > 0 else "less"
    return f"With original evidence {model} holds facts {more} firmly than closed book, by {size}."


def _loss_sentence(loss: EvidenceScore, page: Page) -> str:
    model, size, claim = _model(loss.cell), _size(loss), page.claim_of(loss.subject)
    disturbance = name_part(loss.cell.perturbation or "")
    if claim is None or not claim.is_shown:
        behind = describe_unshown(claim)
        return f"That {disturbance} changes how firmly {model} holds facts is not shown ({size}; {behind})."
    costs = "costs" if (loss.score.value or 0.0) > 0 else "adds to the facts of"
    return f"{sentence_case(disturbance)} {costs} {model} {size} of robustness score."


def _size(change: EvidenceScore) -> str:
    """Without a sign, which the sentence tells, and so with the interval turned round."""
    return format_level(negate(change.score) if (change.score.value or 0.0) < 0 else change.score)


def _detail(change: EvidenceScore, score: EvidenceScore) -> str:
    level = "" if score.score.value is None else f", score {format_level(score.score)}"
    n = count_questions(change.score.n)
    return f"Over the facts known with any evidence or none{level}, d = {change.d:g} ({n})."


def _tables(result: RobustnessWithEvidence) -> tuple[Table, ...]:
    """A line for each kind of evidence: its score, and what it brings or costs."""
    columns = {
        "Score": _of_first_d(result, result.scores),
        "More than closed book": _of_first_d(result, result.gains),
        "Less than with original evidence": _of_first_d(result, result.losses),
        "Range over wordings": _of_first_d(result, result.spreads),
    }
    shown = {title: {score.cell: score for score in scores} for title, scores in columns.items() if scores}
    cells = [score.cell for score in columns["Score"]]
    if not cells:
        return ()
    rows = [
        (
            _model(cell),
            cell.dataset,
            cell.system.method if cell.system else None,
            _evidence(cell),
            *(_entry(scores.get(cell)) for scores in shown.values()),
            max(scores[cell].score.n for scores in shown.values() if cell in scores),
        )
        for cell in cells
    ]
    titles = ("System", "Dataset", "Method", "Evidence", *shown, "Facts")
    return (Table(title=f"d = {result.d[0]:g}", columns=titles, rows=tuple(rows)),)


def _evidence(cell: Cell) -> str:
    if cell.perturbation is None or cell.system is None:
        return "closed book"
    return f"{cell.system.retriever}, {name_part(cell.perturbation)}"


def _entry(score: EvidenceScore | None) -> Entry:
    return None if score is None else format_level(score.score)


def _caveats(result: RobustnessWithEvidence, page: Page) -> tuple[str, ...]:
    if not result.scores:
        return ()
    caveats = [
        describe_bootstrap(page.bootstrap),
        UNADJUSTED,
        "A fact counts if it is right at temperature 0 with any evidence or none; where it is wrong its breaking "
        "temperature is 0.",
    ]
    every = (*result.scores, *result.spreads, *result.gains, *result.losses)
    if any(score.n_missing for score in every):
        caveats.append(
            "Facts that are right in a cell but were not scanned there, whose scan is undecided, or whose evidence "
            "could not be disturbed, have no score and are counted. scan.union = true scans each fact wherever it is "
            "right."
        )
    return tuple(caveats)
