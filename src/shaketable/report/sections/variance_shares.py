"""What explains the variation: one bar that the shares fill, and every share in a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from shaketable.analyses.together.variance_shares import ONE_RUN, Share, Split, VarianceShares
from shaketable.factors import word_for
from shaketable.report.charts.bars import shares as draw_shares
from shaketable.report.charts.looks import Look
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.claim_words import UNADJUSTED, describe_unshown
from shaketable.report.notes import describe_intervals
from shaketable.report.section import Figure, Headline, Page, Section, Table
from shaketable.report.words import (
    count_questions,
    describe_bootstrap,
    format_interval,
    format_level,
    format_value,
    name_part,
    sentence_case,
)
from shaketable.statistics.intervals import within
from shaketable.types import Estimate

FEW = 20
"""In a simulated study, intervals of 95 % held the true share in 94 % of samples of 100 questions, in 93 % of 25, in
91 % of 12 and in 86 % of 6, on average over the components."""
REST = {
    "interactions": "settings together",
    "question": "which question is asked",
    "by_question": "settings acting otherwise on one question",
    "sampling": "sampling noise at one setting",
}
COLORS = {
    "temperature": "#D55E00",
    "evidence": "#0072B2",
    "wording": "#009E73",
    "method": "#E69F00",
    "retriever": "#F0E442",
    "model": "#CC79A7",
    "interactions": "#56B4E9",
    "question": "#5B6068",
    "by_question": "#878D96",
    "sampling": "#AEB3BA",
}
"""Settings in colours, what no setting explains in greys."""
TITLES = Titles(panel="Dataset", x="Explained by", value="Share of the variation")
COLUMNS = ("Dataset", "Explained by", "Share", "Questions", "Questions left out", "Records missing")


def section(result: VarianceShares, page: Page) -> Section:
    explained = [
        (split, settings)
        for split in result.splits
        if (settings := _settings(split, result)) and settings[0].share.low is not None
    ]
    return Section(
        chapter="together",
        title="Shares of the variation",
        question="What explains the variation in correctness?",
        headlines=tuple(_headline(split, settings, result, page) for split, settings in explained),
        figures=_figures(result, page),
        tables=_tables(result),
        caveats=_caveats(result, page),
    )


def _settings(split: Split, result: VarianceShares) -> list[Share]:
    """The shares of single settings of a dataset, the largest first."""
    known = [share for share in _whole(split, result) if share.kind == "setting"]
    return sorted(known, key=lambda share: -(share.share.value or 0.0))


def _whole(split: Split, result: VarianceShares) -> list[Share]:
    """The shares of a dataset that add up to 1."""
    return [
        share
        for share in result.shares
        if share.cell == split.cell and not share.is_piece and share.share.value is not None
    ]


def name_component(share: Share) -> str:
    match share.kind:
        case "setting":
            return share.settings[0]
        case "interactions":
            return (" × ".join(share.settings) or "three or more together") if share.is_piece else "interactions"
        case "by_question":
            factor = "".join(share.settings) or "interactions"
            return f"{factor} × question" if share.is_piece else "settings, by question"
        case "sampling":
            return "sampling noise"
        case "question":
            return "question"


# --- words ----------------------------------------------------------------------------------------


def _headline(split: Split, settings: Sequence[Share], result: VarianceShares, page: Page) -> Headline:
    first = next((share for share in settings if _is_shown(share, page)), settings[0])
    headline = Headline(
        kind="variance_shares",
        cell=split.cell,
        system=", ".join(split.models),
        sentence=_sentence(settings, f" on {split.cell.dataset}" if len(result.splits) > 1 else "", page),
        detail=_detail(split, result),
        number=format_value(within(first.share, 0, 1)),
        interval=format_interval(within(first.share, 0, 1)),
        links=("variance_bar",),
    )
    return headline.with_claims(*(page.claim_of(share.subject) for share in settings))


def _is_shown(share: Share, page: Page) -> bool:
    claim = page.claim_of(share.subject)
    return claim is not None and claim.is_shown


def _sentence(settings: Sequence[Share], where: str, page: Page) -> str:
    shown = [share for share in settings if _is_shown(share, page)]
    hidden = [name_component(share) for share in settings if share not in shown]
    metric = word_for(settings[0].metric) + where
    if not shown:
        behind = describe_unshown(page.claim_of(settings[0].subject))
        return f"No setting is shown to explain any of the variation in {metric}: {_listed(hidden)} ({behind})."
    first, *others = shown
    text = f"{sentence_case(name_component(first))} explains {_format_share(first.share)} of the variation in {metric}"
    text += "".join(f", {name_component(share)} {_format_share(share.share)}" for share in others)
    return text + (f"; of {_listed(hidden)} no share is shown." if hidden else ".")


def _detail(split: Split, result: VarianceShares) -> str:
    rest = {share.kind: share for share in _whole(split, result) if share.kind != "setting"}
    levels = [f"{words} {_format_share(rest[kind].share)}" for kind, words in REST.items() if kind in rest]
    left_out = f"; {', '.join(map(name_part, split.unsearching))} not in it" if split.unsearching else ""
    return f"The rest: {'; '.join(levels)} ({count_questions(split.n)}, {split.n_settings} settings{left_out})."


def _format_share(share: Estimate) -> str:
    """A share below 0 is an estimate of nothing, shown as 0; one above 1 is of everything."""
    return format_level(within(share, 0, 1))


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


# --- what is shown --------------------------------------------------------------------------------


def _figures(result: VarianceShares, page: Page) -> tuple[Figure, ...]:
    drawn = [share for split in result.splits for share in _whole(split, result)]
    marks = tuple(
        Mark.of(share.share, x=name_component(share), series=name_component(share), panel=str(share.cell.dataset))
        for share in drawn
    )
    if not marks:
        return ()
    return (
        Figure(
            name="variance_bar",
            title="What explains the variation?",
            note="Shares of the variance of single answers. Settings are in colour; grey is what no setting explains: "
            "which question is asked, settings that act otherwise on one question than on another, and "
            "sampling noise at one setting. An estimate below 0 has no place in the bar. "
            f"{describe_intervals(marks, page)}",
            marks=marks,
            titles=TITLES,
            draw=partial(draw_shares, marks, TITLES, looks=_looks(drawn)),
        ),
    )


def _looks(shares: Sequence[Share]) -> dict[str, Look]:
    return {
        name_component(share): Look(COLORS["".join(share.settings) or share.kind], (1, 0), "circle") for share in shares
    }


def _tables(result: VarianceShares) -> tuple[Table, ...]:
    splits = {split.cell: split for split in result.splits}

    def rows(is_piece: bool) -> tuple[tuple[str | int | None, ...], ...]:
        return tuple(
            (
                share.cell.dataset,
                name_component(share),
                _format_share(share.share),
                share.share.n,
                splits[share.cell].n_left_out,
                splits[share.cell].n_missing,
            )
            for share in result.shares
            if share.is_piece == is_piece
        )

    if not any(share.share.value is not None for share in result.shares):
        return ()
    pieces = Table(
        title="Interactions and differences by question, piece by piece",
        columns=COLUMNS,
        rows=rows(True),
        is_folded=True,
    )
    return (Table(columns=COLUMNS, rows=rows(False)), *([pieces] if pieces.rows else []))


def _caveats(result: VarianceShares, page: Page) -> tuple[str, ...]:
    if not any(share.share.value is not None for share in result.shares):
        return ()
    splits = result.splits
    caveats = [
        describe_bootstrap(page.bootstrap),
        "Settings are tested by flipping the signs of all that a setting does to a question.",
        UNADJUSTED,
        "Shares depend on the values that were tried: a higher temperature or a harsher disturbance explains more.",
        "Variances are estimated without bias, so a share without effect may be estimated below 0, which is "
        "shown as 0.",
    ]
    if any(0 < split.n < FEW for split in splits):
        caveats.append(f"With fewer than {FEW} questions these intervals are too narrow.")
    if any(split.unsearching for split in splits):
        caveats.append("Methods that do not search have no evidence to cross, and are left out of the split.")
    if any(split.reason is None and not split.has_sampling for split in splits):
        caveats.append(f"Sampling is not split off: {ONE_RUN}.")
    if any(split.n_wordings > 1 for split in splits):
        caveats.append("Several wordings of one variation count as runs of it, so their differences are in sampling.")
    if any(split.n_left_out for split in splits):
        caveats.append("Questions without enough scores in every setting are left out of the split and counted.")
    return tuple(caveats)
