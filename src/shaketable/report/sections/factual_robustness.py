"""How firmly facts are held: the Factual Robustness Score by system and d."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shaketable.analyses.facts.breaking_rule import HOTTEST
from shaketable.analyses.facts.facts import over_all_datasets
from shaketable.analyses.facts.factual_robustness import FactualRobustness, KnownShare, MeanScore, UnbrokenShare
from shaketable.analyses.facts.shared_facts import RankCorrelation, ScoreDifference, SharedScore
from shaketable.factors import Cell
from shaketable.report.claim_words import describe_unshown
from shaketable.report.known_facts import (
    Line,
    fill_table,
    make_headline,
    name_system,
    table_of_lines,
)
from shaketable.report.section import Headline, Page, Section, Table
from shaketable.report.sections.robustness_figures import robustness_figures
from shaketable.report.words import (
    Entry,
    caveats_of_agreement,
    count_questions,
    describe_bootstrap,
    format_level,
    name_questions,
    negate,
    sentence_case,
)
from shaketable.types import NotApplied

NAME = "factual_robustness"


def section(result: FactualRobustness, page: Page) -> Section:
    return Section(
        chapter="facts",
        title="Factual robustness score",
        question="How firmly does each model hold the facts it knows?",
        headlines=_headlines(result, page),
        figures=robustness_figures(result, page),
        tables=_tables(result, page),
        caveats=_caveats(result, page),
    )


# --- sentences ------------------------------------------------------------------------------------


def _headlines(result: FactualRobustness, page: Page) -> tuple[Headline, ...]:
    return (
        *_firmness(result, page),
        *_differences(result.differences, page),
        *(_rank(rank) for rank in result.rank_correlations if rank.d == result.d[0] and _is_known(rank)),
    )


def _is_known(rank: RankCorrelation) -> bool:
    return rank.correlation.value is not None


def _firmness(result: FactualRobustness, page: Page) -> Iterator[Headline]:
    """One for each system, over all its datasets."""
    unbroken = {share.cell: share for share in result.unbroken}
    for known in over_all_datasets(result.known):
        if known.share.value == 0:
            yield _knows_nothing(known, page)
        elif (share := unbroken.get(known.cell)) is None:
            if flat := _not_applied(known.cell, page):
                yield _ignores_temperature(known, flat, page)
        elif share.share.value is None:
            yield _nothing_said(share, page)
        else:
            scores = {score.d: score for score in result.scores if score.cell == known.cell and score.is_capped}
            first, last = scores[result.d[0]], scores[result.d[-1]]
            if first.score.value is not None:
                yield _holds(known, share, first, last, page)


def _knows_nothing(known: KnownShare, page: Page) -> Headline:
    system = name_system(known.cell, page)
    sentence = f"{system} knows none of the questions asked, so there is no known fact to scan."
    detail = f"Known: right at temperature 0 by {known.metric} ({count_questions(known.share.n)})."
    return make_headline(NAME, known.cell, sentence, detail, page).with_level(known.share)


def _nothing_said(unbroken: UnbrokenShare, page: Page) -> Headline:
    system = name_system(unbroken.cell, page)
    return make_headline(
        NAME,
        unbroken.cell,
        f"Nothing can be said of how firmly {system} holds the facts it knows.",
        f"Of none of {name_questions(unbroken.n_undecided)} is it known where it breaks: {unbroken.share.reason}.",
        page,
    )


def _not_applied(cell: Cell, page: Page) -> NotApplied | None:
    system = cell.system
    every = page.findings.not_applied
    return next((flat for flat in every if system and (flat.model, flat.method) == (system.model, system.method)), None)


def _ignores_temperature(known: KnownShare, flat: NotApplied, page: Page) -> Headline:
    system = name_system(known.cell, page)
    sentence = f"{system} has no robustness score: it does not apply the temperature, so no fact could break."
    return make_headline(NAME, known.cell, sentence, f"{sentence_case(flat.reason)}.", page)


def _holds(known: KnownShare, unbroken: UnbrokenShare, first: MeanScore, last: MeanScore, page: Page) -> Headline:
    system, n_undecided = name_system(known.cell, page), first.n_undecided or 0
    hardest = f", and {format_level(last.score)} when entropy is punished hardest (d = {last.d:g})"
    flat = _not_applied(known.cell, page)
    never = (
        f" No fact broke up to {HOTTEST:.1f}; its sampled answers never differed, as they would not where an endpoint "
        "ignores temperature, so it is left out of comparisons of systems."
        if flat and flat.never_differed
        else ""
    )
    facts = f"{unbroken.share.n:,} known fact{'' if unbroken.share.n == 1 else 's'}"
    more = f"; where it breaks is not known of {n_undecided:,} more" if n_undecided else ""
    headline = make_headline(
        NAME,
        known.cell,
        f"{system} holds {format_level(unbroken.share)} of the facts it knows at every temperature tried; its "
        f"robustness score is {format_level(first.score)}{hardest if last.d != first.d else ''}.",
        f"It knows {format_level(known.share)} of the questions asked ({facts} of "
        f"{name_questions(known.share.n)}{more}).{never}",
        page,
    )
    return headline.with_level(unbroken.share)


def _differences(differences: Sequence[ScoreDifference], page: Page) -> Iterator[Headline]:
    """What is shown, each; the rest in one sentence, by the largest."""
    rest = [own for own in differences if (claim := page.claim_of(own.subject)) is None or not claim.is_shown]
    yield from (_difference(own, page) for own in differences if own not in rest)
    known = [own for own in rest if own.difference.value is not None]
    if known:
        yield _no_difference(max(known, key=lambda own: abs(own.difference.value or 0.0)), len(known), page)


def _difference(difference: ScoreDifference, page: Page) -> Headline:
    cells, gap = (difference.cell, difference.other), difference.difference
    if (gap.value or 0.0) < 0:
        cells, gap = cells[::-1], negate(gap)
    firm, loose = (name_system(cell, page) for cell in cells)
    headline = Headline(
        kind="firmer",
        cell=difference.cell,
        system=firm,
        sentence=f"{firm} holds the facts that all systems know more firmly than {loose}: {format_level(gap)} more "
        "robustness score.",
        detail=f"Paired by question, d = {difference.d:g} ({count_questions(gap.n)}).",
    )
    return headline.with_claims(page.claim_of(difference.subject))


def _no_difference(largest: ScoreDifference, n_pairs: int, page: Page) -> Headline:
    first, second = (name_system(cell, page) for cell in (largest.cell, largest.other))
    claim = page.claim_of(largest.subject)
    pairs = f"{first} and {second}" if n_pairs == 1 else f"{n_pairs} pairs of systems"
    which = "" if n_pairs == 1 else f"the largest is {first} less {second}, "
    headline = Headline(
        kind="firmer",
        cell=largest.cell,
        system=first,
        sentence=f"That {pairs} hold the facts that all know unlike is not shown: {which}"
        f"{format_level(largest.difference)} robustness score.",
        detail=f"{sentence_case(describe_unshown(claim))}.",
    )
    return headline.with_claims(claim)


def _rank(rank: RankCorrelation) -> Headline:
    return Headline(
        kind="rank",
        cell=Cell(),
        system="all systems",
        sentence=f"Over {rank.correlation.n} systems accuracy and robustness have a rank correlation of "
        f"{format_level(rank.correlation)}.",
        detail="A model that knows more does not by that alone hold it more firmly.",
    )


# --- tables ---------------------------------------------------------------------------------------


def _tables(result: FactualRobustness, page: Page) -> tuple[Table, ...]:
    """The study's Table 1 first: a line per d, a column per system."""
    capped = [score for score in result.scores if score.is_capped]
    uncapped = [score for score in result.scores if not score.is_capped]
    of_datasets = [score for score in capped if score.cell.dataset is not None]
    has_datasets = len({score.cell.dataset for score in capped}) > 1
    shares = sorted(
        [
            *(Line(cell=known.cell, what="known of all asked", estimate=known.share) for known in result.known),
            *(Line(cell=held.cell, what="unbroken of the known", estimate=held.share) for held in result.unbroken),
        ],
        key=lambda line: [known.cell for known in result.known].index(line.cell),
    )
    return (
        *_by_d("Mean score of known facts", over_all_datasets(capped), page),
        *_by_d("Beyond temperature 2, by the curves", over_all_datasets(uncapped), page),
        *_by_d("On the facts that all systems know", result.shared, page),
        *table_of_lines("Known, and never broken", shares, page),
        *(_by_d("By dataset", of_datasets, page, by_dataset=True) if has_datasets else ()),
    )


def _by_d(
    title: str, scores: Sequence[MeanScore | SharedScore], page: Page, *, by_dataset: bool = False
) -> tuple[Table, ...]:
    lines: dict[float, dict[str, Entry]] = {}
    for score in scores:
        system = name_system(score.cell, page)
        line = lines.setdefault(score.d, {"d": f"{score.d:g}"})
        line[f"{system} · {score.cell.dataset}" if by_dataset else system] = format_level(score.score)
    return fill_table(title, list(lines.values()), is_folded=by_dataset)


# --- caveats --------------------------------------------------------------------------------------


def _caveats(result: FactualRobustness, page: Page) -> tuple[str, ...]:
    if not result.known:
        return ()
    shares = [*(known.share for known in result.known), *(unbroken.share for unbroken in result.unbroken)]
    caveats = [
        describe_bootstrap(page.bootstrap),
        *caveats_of_agreement(shares),
        "Each system is scored on the facts it knows; only scores on shared facts compare systems on the same facts.",
        "A fact that breaks scores 0.8 at most on the study's grid and one that holds scores 1: a mean moves with the "
        "share of unbroken facts more than with anything else.",
    ]
    if any(not score.is_capped and score.score.value is not None for score in result.scores):
        caveats.append(
            "Intervals of uncapped scores also hold each curve's own error: from the score where the lower end of its "
            "interval breaks to that where the upper end does, 1 where that is beyond the curve's end."
        )
    if any(score.n_censored for score in result.scores):
        caveats.append(
            "Some curves end before their fact breaks; uncapped scores take the end for it and are too low there."
        )
    if any(score.n_missing for score in result.scores):
        caveats.append(
            "Known facts without entropy, or of which it is not known where they break, because the scan has not come "
            "to its end or the curve leaves it open, have no score and are counted."
        )
    return tuple(caveats)
