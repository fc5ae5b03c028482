"""How far the judge agrees with the rules on which answers are correct, and what it was asked."""

from __future__ import annotations

from shaketable.analyses.evidence.judge_agreement import RULES, JudgeAgreement, RuleAgreement
from shaketable.report.section import Headline, Page, Section
from shaketable.report.words import count
from shaketable.types import JudgeEffort


def section(result: JudgeAgreement, page: Page) -> Section:
    pooled = [agreement for agreement in result.agreements if agreement.cell.system is None]
    needed = f"judge and one of {', '.join(RULES)} are needed; add them to score.metrics."
    return Section(
        chapter="answers",
        question="How far does the judge agree with the rules on which answers are correct?",
        headlines=tuple(
            Headline(
                kind="judge_agreement",
                cell=agreement.cell,
                system=page.labels.system(agreement.cell.system),
                sentence=_sentence(agreement),
            )
            for agreement in pooled
            if agreement.share.value is not None
        ),
        shown=(),
        caveats=(*(_describe_effort(effort) for effort in result.efforts), *([] if result.is_scored else [needed])),
    )


def _sentence(agreement: RuleAgreement) -> str:
    share, kappa, rule = agreement.share, agreement.kappa, agreement.metric
    interval = f" [{share.low:.0%}, {share.high:.0%}]" if share.low is not None else ""
    chance = f"Cohen's kappa {kappa.value:.2f}" if kappa.value is not None else "no kappa"
    return (
        f"The judge agrees with {rule} on {share.value:.0%}{interval} of {share.n:,} answers ({chance}): "
        f"{agreement.n_judge_only:,} are correct by the judge alone, {agreement.n_rule_only:,} by {rule} alone."
    )


def _describe_effort(effort: JudgeEffort) -> str:
    return (
        f"{effort.judge} was asked {count(effort.n_calls, 'time')}: {effort.n_prompt_tokens:,} tokens read, "
        f"{effort.n_tokens:,} written; {effort.n_unclear:,} replies had no verdict."
    )
