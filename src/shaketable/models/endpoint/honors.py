"""What an endpoint really honors, by about fifteen small requests, one after another."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import cast

from shaketable.errors import ModelError
from shaketable.models.endpoint.negotiation import Negotiated
from shaketable.models.endpoint.verdict import KEPT
from shaketable.types import Completion, EndpointFact, Failure, Message, Prompt, Sampling

CHECK_WORDING = ("Invent a name for a town.", "Write the first line of a story.")
CHECK_TOKENS = 8
PROBE_TOKENS = 24
N_LIKELIEST = 20
"""As many as most endpoints list."""
LEAST_TOKENS, LEAST_UNLIKELY = 12, 0.25
"""The share of tokens beyond the likeliest that a sampler without truncation draws at least at temperature 2."""
LEAST_WORDS, GARBLED, FLUENT = 8, 0.15, 0.3
"""Shares of function words: English text has about half."""
FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by for from had has have he her him his i if in into is it its me my no not of "
        "on or our she so that the their them there they this to upon was we were what when where which who with you",
    )
)
SEED_SEEN = (
    "the same seed gave different texts at temperature 1. Servers such as llama.cpp honor seeds, and their numbers "
    "depend on batch and cache: extra_body={'cache_prompt': False} with concurrency=1 makes their texts repeat"
)
EXTRAS = ("n_honored", "logprobs_given")
"""What is asked for beside a plain request: a server that refuses it does not give it."""
HOTTEST = (2.0, 1.0)
"""Some take no temperature above 1."""


class CheckError(Exception):
    """A check's request failed."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


@dataclass(frozen=True, kw_only=True, slots=True)
class Honors:
    generate: Callable[[Sequence[Prompt]], list[Completion | Failure]]
    choices: Callable[[Prompt, int], int | None]
    """How many replies come to a prompt that asks for so many at once; None: the endpoint's reply does not say."""
    sends_seed: bool
    sends_temperature: bool
    negotiated: Negotiated
    may_drop_extensions: bool
    library_defaults: bool
    """Of the study: then top_p is not sent, which some endpoints refuse beside a temperature."""

    def check(self) -> dict[str, EndpointFact]:
        checks = {
            "n_honored": self.n_honored,
            "logprobs_given": self.logprobs_given,
            "seed_honored": self.seed_honored,
            "temperature_applied": self.temperature_applied,
            "unlikely_drawn": self.unlikely_drawn,
        }
        facts: dict[str, EndpointFact] = {}
        for name, check in checks.items():
            if name == "unlikely_drawn" and not facts["temperature_applied"].value:
                continue
            try:
                facts[name] = self._without_extensions_if_refused(check)
            except CheckError as error:
                # A refusal is an answer; a broken connection is not. What a server does with a temperature or a seed is
                # told by its replies alone: a request may be refused for its words.
                is_no = name in EXTRAS and error.failure.kind in ("bad_request", "refused_setting")
                facts[name] = EndpointFact(value=False if is_no else None, reason=error.failure.message)
        return facts

    def n_honored(self) -> EndpointFact:
        choices = self.choices(self._prompt(CHECK_WORDING[0], temperature=1.0, seed=1), 3)
        if choices is None:
            return EndpointFact(value=None, reason="the reply holds no choices")
        return EndpointFact(value=choices == 3, reason=f"asked for 3, it gave {choices}")

    def logprobs_given(self) -> EndpointFact:
        prompt = self._prompt(CHECK_WORDING[0], temperature=0.0, seed=1, wants=("logprobs", "top_logprobs"))
        reply = self._completion(prompt)
        if "logprobs" not in reply.extras:
            return EndpointFact(value=False, reason="asked for logprobs, got none")
        return EndpointFact(value=True, reason=f"got logprobs for {len(reply.tokens)} of {reply.n_tokens} tokens")

    def seed_honored(self) -> EndpointFact:
        if not self.sends_seed:
            return EndpointFact(value=None, reason="send_seed is off")
        first, again, other = (self._texts(temperature=1.0, seed=seed) for seed in (1, 1, 2))
        if "seed" in self.negotiated.left_out:
            return EndpointFact(value=False, reason=self.negotiated.left_out["seed"])
        if not any(first + again + other):
            return EndpointFact(value=None, reason=f"replies of {CHECK_TOKENS} tokens were empty")
        if first != again:
            return EndpointFact(value=False, reason=SEED_SEEN)
        if first == other:
            return EndpointFact(value=None, reason="different seeds gave the same texts at temperature 1")
        return EndpointFact(
            value=True, reason="the same seed gave the same texts at temperature 1, another seed gave others"
        )

    def temperature_applied(self) -> EndpointFact:
        if not self.sends_temperature:
            return EndpointFact(value=False, reason="send_temperature is off")
        cold, cold_again = (self._texts(temperature=0.0, seed=seed) for seed in (1, 2))
        highest, hot = self._hot_texts()
        hot_again = self._texts(temperature=highest, seed=2)
        if not any(cold + cold_again + hot + hot_again):
            return EndpointFact(value=None, reason=f"replies of {CHECK_TOKENS} tokens were empty")
        n_cold = _count_differences(cold, cold_again)
        n_hot = max(_count_differences(cold, hot), _count_differences(hot, hot_again))
        counted = f"of {len(CHECK_WORDING)} texts, {n_cold} changed between two seeds at temperature 0, "
        counted += f"{n_hot} at {highest:g}"
        if n_hot > n_cold:
            return EndpointFact(value=True, reason=counted)
        # Texts that never change, or always do, do not heed the temperature; between these it is luck.
        return EndpointFact(value=False if n_cold in (0, len(CHECK_WORDING)) else None, reason=counted)

    def unlikely_drawn(self) -> EndpointFact:
        """Whether tokens beyond the likeliest are drawn at a high temperature, as a sampler without truncation does."""
        wants = ("logprobs", "top_logprobs")
        prompt = self._prompt(CHECK_WORDING[1], temperature=HOTTEST[0], seed=1, wants=wants, max_tokens=PROBE_TOKENS)
        (reply,) = self.generate([prompt])
        if isinstance(reply, Failure):  # It gives no log-probabilities, or takes no such temperature.
            reply = self._completion(replace(prompt, wants=()))
        return judge_truncation(reply, HOTTEST[0])

    def ask_at(self, temperatures: Collection[float]) -> None:
        """Ask once at each; what is refused is known then."""
        for temperature in temperatures:
            self.generate([self._prompt(CHECK_WORDING[0], temperature=temperature, seed=1)])

    def _without_extensions_if_refused(self, check: Callable[[], EndpointFact]) -> EndpointFact:
        """A server may refuse settings that it does not know without naming them."""
        try:
            return check()
        except CheckError as error:
            self._refuse_unusable(error.failure)
            if error.failure.kind != "bad_request" or not self.may_drop_extensions:
                raise
            prompt = self._prompt(CHECK_WORDING[0], temperature=1.0, seed=1)
            (plain,) = self.generate([prompt])
            if isinstance(plain, Completion) or not self.negotiated.try_without_extensions():
                raise
            (plain,) = self.generate([prompt])
            self.negotiated.settle_extensions(error.failure.message, is_taken=isinstance(plain, Completion))
            if isinstance(plain, Failure):
                raise
            return check()

    def _refuse_unusable(self, failure: Failure) -> None:
        """Raises ModelError where the endpoint takes no request of ours: nothing would be answered."""
        if failure.kind == "not_found":
            # A server of base models may know no chat, and is asked in the plain layout.
            prompt = self._prompt(CHECK_WORDING[0], temperature=1.0, seed=1)
            (plain,) = self.generate([replace(prompt, layout="plain")])
            if isinstance(plain, Completion) or plain.kind != "not_found":
                return
        elif failure.kind not in ("authentication", "payment"):
            return
        raise ModelError(f"{failure.message}\n{KEPT}")

    def _hot_texts(self) -> tuple[float, list[str]]:
        """The highest temperature that is taken, and texts at it."""
        for temperature in HOTTEST[:-1]:
            with contextlib.suppress(CheckError):
                return temperature, self._texts(temperature=temperature, seed=1)
        return HOTTEST[-1], self._texts(temperature=HOTTEST[-1], seed=1)

    def _texts(self, temperature: float, seed: int) -> list[str]:
        """One text per wording, asked one by one: under load, rounding alone may change a text."""
        prompts = [self._prompt(wording, temperature=temperature, seed=seed) for wording in CHECK_WORDING]
        replies = [self._completion(prompt) for prompt in prompts]
        return [reply.thoughts + reply.text for reply in replies]

    def _prompt(
        self,
        wording: str,
        temperature: float,
        seed: int,
        wants: tuple[str, ...] = (),
        max_tokens: int = CHECK_TOKENS,
    ) -> Prompt:
        return Prompt(
            messages=(Message(role="user", content=wording),),
            sampling=Sampling(temperature=temperature, max_tokens=max_tokens, library_defaults=self.library_defaults),
            seed=seed,
            wants=wants,
        )

    def _completion(self, prompt: Prompt) -> Completion:
        (reply,) = self.generate([prompt])
        if isinstance(reply, Failure) and reply.kind == "bad_request":
            (reply,) = self.generate([prompt])  # Some refuse a request now and then.
        if isinstance(reply, Failure):
            raise CheckError(reply)
        return reply


def judge_truncation(reply: Completion, temperature: float) -> EndpointFact:
    """By log-probabilities: how many tokens lie beyond the likeliest that the endpoint lists. By words: unlikely tokens
    make word salad, which has next to no function words. Of SmolLM2 at temperature 2, 23 of 24 tokens lie beyond the 20
    likeliest, and 1 or 2 of 24 with top_k 40 and min_p .05."""
    listed = reply.extras.get("top_logprobs")
    if isinstance(listed, list) and len(listed) >= LEAST_TOKENS and len(listed) == len(reply.tokens):
        rows = cast(list[list[tuple[str, float]]], listed)
        likeliest = [{token for token, _ in sorted(top, key=lambda pair: -pair[1])[:N_LIKELIEST]} for top in rows]
        if all(len(tokens) == N_LIKELIEST for tokens in likeliest):
            n = sum(token not in tokens for token, tokens in zip(reply.tokens, likeliest, strict=True))
            counted = (
                f"at temperature {temperature:g}, {n} of {len(listed)} tokens lie beyond the {N_LIKELIEST} likeliest"
            )
            return EndpointFact(value=n / len(listed) >= LEAST_UNLIKELY, reason=counted)
    words = re.findall(r"[a-z]+", (reply.thoughts + " " + reply.text).lower())
    if len(words) < LEAST_WORDS:
        return EndpointFact(value=None, reason=f"a reply of {PROBE_TOKENS} tokens had {len(words)} words")
    share = sum(word in FUNCTION_WORDS for word in words) / len(words)
    counted = f"at temperature {temperature:g}, {share:.0%} of {len(words)} words are function words"
    return EndpointFact(value=None if GARBLED < share < FLUENT else share <= GARBLED, reason=counted)


def _count_differences(some: list[str], others: list[str]) -> int:
    return sum(one != other for one, other in zip(some, others, strict=True))
