"""Numbers as people read them: every sentence of report, viewer and command line is made from these."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from shaketable.factors import measure_of, short_name, word_for
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Crossed, Estimate, LeftOut, NotApplied, NothingToLose, NotVaried, Unit

Entry = str | int | float | None
"""What stands in a table: words and formatted numbers, or a bare count."""
AGREED = "Where all questions agree on a share, or almost, its interval reaches as far as the exact binomial one."
MISSING = "Records without a score are left out and counted; they are never zeros."


DIRECTIONS = {"formality": "more casual", "readability": "harder to read"}
"""Variation → what its wordings are, beside the original."""


def name_part(part: str) -> str:
    """`random_noise(sentences='all')` → `random noise (sentences: all)`."""
    name, _, settings = part.partition("(")
    told = re.sub(r"(\w+)=", lambda key: f"{key[1].replace('_', ' ')}: ", settings.removesuffix(")")).replace("'", "")
    return name.replace("_", " ") + (f" ({told})" if told else "")


def name_wording(variation: str) -> str:
    """`formality` → `formality (more casual)`: where a name alone leaves open which way the question was changed."""
    direction = DIRECTIONS.get(variation.partition("(")[0])
    return name_part(variation) + (f" ({direction})" if direction else "")


def name_evidence(perturbation: str | None) -> str:
    """How legends and tables name evidence; a method that does not search has none."""
    return name_part(perturbation or "no_evidence")


def sentence_case(text: str) -> str:
    """With a capital; `n = 24 questions` stays, because N is another number."""
    return text if text.startswith("n = ") else text[:1].upper() + text[1:]


ROUNDING = 1e-12
"""Smaller numbers are zeros of which floating point is a little off."""


def format_number(value: float, unit: Unit) -> str:
    """A share as whole percent, or two digits where it is small; anything else with three digits."""
    if unit == "temperature":
        return f"{value:g}"
    if abs(value) < ROUNDING:
        value = 0.0  # What a sum of shares leaves, not a number that anybody measured.
    if unit == "share":
        percent = 100 * value
        text = f"{percent:.0f}" if abs(percent) >= 9.5 else f"{percent:.2g}"
    else:
        text = f"{value:#.3g}".removesuffix(".") if 0 < abs(value) < 1000 else f"{value:,.0f}"
    return text.replace("-", "−")


def format_apart(first: float, second: float, unit: Unit) -> tuple[str, str, str]:
    """Return two numbers and how far apart they are, in texts that add up.

    `100`, `42`, `58`. Where rounding would contradict, one more digit is shown and the difference is that of what is
    shown: `100.0`, `42.5`, `57.5`.
    """
    numbers = (first, second, abs(first - second))
    texts = [format_number(number, unit) for number in numbers]
    if _add_up(texts):
        return texts[0], texts[1], texts[2]
    scale, places = (100, 1) if unit == "share" else (1, len(texts[2].partition(".")[2]))
    one, other = (f"{scale * number:,.{places}f}" for number in numbers[:2])
    return one.replace("-", "−"), other.replace("-", "−"), f"{abs(_decimal(one) - _decimal(other)):,}"


def _add_up(texts: Sequence[str]) -> bool:
    first, second, apart = map(_decimal, texts)
    return abs(first - second) == apart


def _decimal(text: str) -> Decimal:
    return Decimal(text.replace("−", "-").replace(",", ""))


def format_interval(estimate: Estimate) -> str:
    """`[41, 63]`, or nothing where there is no interval, or one without a width."""
    if estimate.low is None or estimate.high is None or estimate.low == estimate.high:
        return ""
    return f"[{format_number(estimate.low, estimate.unit)}, {format_number(estimate.high, estimate.unit)}]"


def format_level(estimate: Estimate) -> str:
    """`52 % [41, 63]` or `0.912 [0.9, 0.92]`; its reason where there is no value."""
    return _joined(format_value(estimate), format_interval(estimate))


def format_value(estimate: Estimate) -> str:
    """A level without its interval."""
    if estimate.value is None:
        return estimate.reason or "–"
    return format_number(estimate.value, estimate.unit) + (" %" if estimate.unit == "share" else "")


def describe_repeats(spread: Estimate) -> str:
    """What repeating a question does: how often another answer comes out, or how far the score moves."""
    percent = format_level(replace(spread, unit="share"))
    if spread.unit == "share":
        return f"two answers to the same question are judged differently in {percent}"
    return f"repeating the same question changes the score by {percent} of its mean on average"


def format_difference(estimate: Estimate) -> str:
    """`19 points [8, 30]`: between two shares lie points, not percent."""
    return _joined(format_amount(estimate), format_interval(estimate))


def format_amount(estimate: Estimate) -> str:
    """A difference without its interval."""
    if estimate.value is None:
        return estimate.reason or "–"
    return format_number(estimate.value, estimate.unit) + (" points" if estimate.unit == "share" else "")


LOSS, GAIN = "loss", "gain"
"""Which way a difference goes; the interval counts in the direction that the word names."""
DIRECTED = {True: (LOSS, GAIN), False: ("fall", "rise"), None: ("fall", "rise")}
"""By whether more of a number is better: what it is called that there is less of it, and more."""


def name_direction(loss: Estimate, metric: str) -> str:
    """`loss` or `gain` of what is lost; `fall` or `rise` of a number of which more is not better."""
    less, more = DIRECTED[measure_of(metric).higher_is_better]
    return more if (loss.value or 0.0) < 0 else less


def without_sign(difference: Estimate) -> Estimate:
    """In the direction that a word beside it names."""
    return negate(difference) if (difference.value or 0.0) < 0 else difference


def format_loss(loss: Estimate, metric: str) -> str:
    """`a loss of 11 points [−6, 26]` or `a gain of 11 points [−6, 26]`: the word says which way, not a sign. Nothing
    goes neither way: `a difference of 0 points [−20, 26]`."""
    if loss.value is None:
        return format_difference(loss)
    if loss.value == 0:
        return f"a difference of {format_difference(loss)}"
    return f"a {name_direction(loss, metric)} of {format_difference(without_sign(loss))}"


def format_more(change: Estimate) -> str:
    """`11 points more [−6, 26]` or `11 points less [−6, 26]`: of what is added, whatever is better."""
    if change.value is None:
        return format_difference(change)
    size = without_sign(change)
    if change.value == 0:
        return _joined("no difference", format_interval(size))
    return _joined(f"{format_amount(size)} {'less' if change.value < 0 else 'more'}", format_interval(size))


def format_cost(estimate: Estimate, metric: str) -> str:
    """`19 points [8, 30] of correctness` or `0.0300 [0.0200, 0.0400] bertscore`."""
    return f"{format_difference(estimate)} {'of ' if estimate.unit == 'share' else ''}{word_for(metric)}"


def format_lost_lines(loss: Estimate, metric: str) -> tuple[str, ...]:
    """`loss 11 points` over its interval, as `format_lines` has them."""
    if loss.value is None:
        return format_lines(loss)
    amount, *interval = format_lines(without_sign(loss))
    return f"{name_direction(loss, metric)} {amount}", *interval


def format_lines(estimate: Estimate) -> tuple[str, ...]:
    """A difference and its interval with a fixed number of decimals, so that cells of a matrix line up."""
    if estimate.value is None:
        return (estimate.reason,) if estimate.reason else ()
    is_share = estimate.unit == "share"
    places = {"share": 0, "ratio": 2}.get(estimate.unit, 3)

    def text(value: float) -> str:
        # Adding 0 turns a rounded −0.000 into 0.000.
        return f"{round(100 * value if is_share else value, places) + 0:.{places}f}".replace("-", "−")

    first = text(estimate.value) + (" points" if is_share else "")
    if estimate.low is None or estimate.high is None:
        return (first,)
    return first, f"[{text(estimate.low)}, {text(estimate.high)}]"


def format_entry(value: Entry, unit: Unit | None = None) -> str:
    """Three digits for numbers, percent for shares, thousands separated, a dash for what is not there."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return (f"{100 * value:.3g} %" if unit == "share" else f"{value:.3g}").replace("-", "−")
    return f"{value:,}" if isinstance(value, int) else value


def format_p(p: float | None) -> str:
    if p is None:
        return "–"
    return f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"


def format_margin(delta: float, unit: Unit) -> str:
    """`5 points` or `0.0182`."""
    return f"{100 * delta:.3g} points" if unit == "share" else f"{delta:.3g}"


def too_few(n: int, purpose: str) -> str:
    """`4 questions are too few to claim anything`."""
    return f"{name_questions(n)} {'is' if n == 1 else 'are'} too few to {purpose}"


def name_questions(n: int) -> str:
    """`24 questions`."""
    return f"{n:,} question{'' if n == 1 else 's'}"


def join_words(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def count(n: int, single: str) -> str:
    """`1 trial`, `1,728 trials`."""
    return f"{n:,} {single}{'' if n == 1 else 's'}"


def count_questions(n: int, most: int | None = None) -> str:
    """`n = 24 questions`, or `n = 3 to 24 questions` where there are `most` somewhere."""
    return f"n = {f'{n:,} to ' if most not in (None, n) else ''}{name_questions(n if most is None else most)}"


def join_temperatures(some: Sequence[float], tried: Sequence[float]) -> str:
    """`at every temperature tried`, or `at temperature 0 to 0.6, 2`, where neighbours are drawn together."""
    if len(some) == len(tried) > 1:
        return "at every temperature tried"
    order = sorted(tried)
    runs: list[list[float]] = []
    for temperature in sorted(some):
        if runs and order.index(temperature) == order.index(runs[-1][-1]) + 1:
            runs[-1].append(temperature)
        else:
            runs.append([temperature])
    spans = [
        f"{run[0]:g} to {run[-1]:g}" if len(run) > 2 else ", ".join(f"{temperature:g}" for temperature in run)
        for run in runs
    ]
    return "at temperature " + ", ".join(spans)


def holds_zero(estimate: Estimate) -> bool:
    """Whether the interval allows no difference; without an interval nothing is claimed."""
    return estimate.low is None or estimate.high is None or estimate.low <= 0 <= estimate.high


def is_above_zero(estimate: Estimate) -> bool:
    """Whether the interval of a level claims that there is something; without an interval nothing is claimed."""
    return estimate.low is not None and estimate.low > 0


def negate(estimate: Estimate) -> Estimate:
    """A loss as a gain, a gain as a loss."""

    def minus(number: float | None) -> float | None:
        return None if number is None else 0.0 - number  # Minus 0 would be shown as such.

    return replace(estimate, value=minus(estimate.value), low=minus(estimate.high), high=minus(estimate.low))


def name_resamples(bootstrap: Bootstrap, of: str = "such questions") -> str:
    """`the true value in 95 % of samples of such questions`."""
    return f"the true value in {100 * bootstrap.confidence:g} % of samples of {of}"


def describe_bootstrap(bootstrap: Bootstrap) -> str:
    return f"Intervals hold {name_resamples(bootstrap)}."


def caveats_of_agreement(estimates: Iterable[Estimate]) -> tuple[str, ...]:
    """Where questions agreed on a share and its interval was widened; that of a difference goes below 0."""
    is_widened = any(
        estimate.unit == "share"
        and estimate.value in (0.0, 1.0)
        and estimate.low is not None
        and estimate.high is not None
        and 0 <= estimate.low < estimate.high
        for estimate in estimates
    )
    return (AGREED,) if is_widened else ()


def describe_not_applied(flat: NotApplied) -> str:
    return (
        f"Temperature was not applied by {short_name(flat.model)} · {flat.method}: {flat.reason}. It counts only at "
        "its lowest temperature, and the report draws no conclusions about temperature."
    )


def describe_processed_at_zero(method: str) -> str:
    return (
        f"{method} decides by the probabilities that were sampled, which are all 1 at temperature 0: it never searches "
        "there. Set distribution='raw', or temperatures above 0."
    )


def describe_truncation(environment: Mapping[str, Any]) -> str | None:
    """That an endpoint may cut off unlikely tokens though the study switches that off; None: nothing says so."""
    model, left_out = environment.get("model"), environment.get("settings_left_out") or {}
    drawn = (environment.get("checks") or {}).get("unlikely_drawn") or {}
    if drawn.get("value") is False:
        reason = f"its endpoint seems to cut off unlikely tokens ({drawn.get('reason')})"
    elif "top_k" in left_out and drawn.get("value") is None:
        reason = f"its endpoint refuses these settings ({left_out['top_k']})"
    else:
        return None
    return (
        f"The settings top_k, top_p and min_p may not apply to {model}: {reason}. High temperatures then look safer "
        "than they are."
    )


NOT_VARIED: Mapping[Crossed, str] = {
    "methods": "it answers in its own way, so methods are not crossed with it",
    "retrievers": "it finds its own evidence, so retrievers are not crossed with it",
    "evidence": "it takes no context and hands none over, so its evidence is not shaken",
    "temperatures": "it takes no temperature, so it runs with its own and is counted at the lowest",
}


def describe_not_varied(remark: NotVaried) -> str:
    return f"Not varied for {short_name(remark.model)}: {'; '.join(NOT_VARIED[factor] for factor in remark.factors)}."


def describe_left_out(left_out: LeftOut) -> str:
    cause, why = sentence_case(name_part(left_out.perturbation)), ", ".join(left_out.flags)
    if left_out.n == left_out.n_asked:
        return f"{cause} was done on none of the {left_out.n_asked} questions ({why}): it has no effect to tell."
    return f"{cause}: {left_out.n} of {left_out.n_asked} questions are left out of its effect ({why})."


FLOORS = {
    "shuffled answers": "its answers to other questions score {floor}",
    "closed book": "without evidence the model scores {floor}",
    "nothing right": "a system that is never right scores {floor}",
}
"""What a baseline is not confirmed to be above."""


def describe_disagreement(n_apart: int, n: int, n_judge_only: int) -> str:
    """Of a judge and the rules that look for an accepted answer."""
    return (
        f"The judge and the metric correct disagree on {n_apart:,} of {n:,} answers ({n_apart / n:.0%}): "
        f"{n_judge_only:,} are right for the judge alone, {n_apart - n_judge_only:,} for correct alone. "
        "Read some of these answers before you trust either number."
    )


def describe_nothing_to_lose(entry: NothingToLose, system: str) -> str:
    of_type = f" on {entry.group} questions" if entry.group else ""
    level = f"{format_level(entry.level)} {word_for(entry.metric)}{of_type} ({count_questions(entry.level.n)})"
    floor = FLOORS[entry.against].format(floor=format_value(entry.baseline))
    if entry.against == "closed book":
        if not entry.is_confirmed:
            return f"Too few questions to tell whether evidence helps {system}: it scores {level}, and {floor}."
        return (
            f"Evidence adds nothing for {system}: it scores {level}, and {floor}. Robustness to perturbed evidence "
            "cannot be measured."
        )
    if not entry.is_confirmed:
        return (
            f"Too few questions to tell whether the baseline of {system} is above chance level: it scores {level}, "
            f"and {floor}. The absence of a drop is no evidence of robustness."
        )
    return (
        f"The baseline of {system} is at chance level: it scores {level}, and {floor}. Robustness cannot be measured "
        "until the system answers more questions correctly."
    )


def _joined(text: str, interval: str) -> str:
    return f"{text} {interval}" if interval else text
