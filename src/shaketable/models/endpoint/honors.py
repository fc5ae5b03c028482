"""What an endpoint really honors, by about fifteen small requests, one after another."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from shaketable.errors import ModelError
from shaketable.models.endpoint.verdict import KEPT
from shaketable.types import Completion, EndpointFact, Failure, Message, Prompt, Sampling

CHECK_WORDING = ("Invent a name for a town.", "Write the first line of a story.")
CHECK_TOKENS = 8
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

    def check(self) -> dict[str, EndpointFact]:
        checks = {
            "n_honored": self.n_honored,
            "logprobs_given": self.logprobs_given,
            "seed_honored": self.seed_honored,
            "temperature_applied": self.temperature_applied,
        }
        facts: dict[str, EndpointFact] = {}
        for name, check in checks.items():
            try:
                facts[name] = check()
            except CheckError as error:
                self._refuse_unusable(error.failure)
                # A refusal is an answer; a broken connection is not. What a server does with a temperature or a seed is
                # told by its replies alone: a request may be refused for its words.
                is_no = name in EXTRAS and error.failure.kind in ("bad_request", "refused_setting")
                facts[name] = EndpointFact(value=False if is_no else None, reason=error.failure.message)
        return facts

    def n_honored(self) -> EndpointFact:
        choices = self.choices(_check_prompt(CHECK_WORDING[0], temperature=1.0, seed=1), 3)
        if choices is None:
            return EndpointFact(value=None, reason="the reply holds no choices")
        return EndpointFact(value=choices == 3, reason=f"asked for 3, it gave {choices}")

    def logprobs_given(self) -> EndpointFact:
        prompt = _check_prompt(CHECK_WORDING[0], temperature=0.0, seed=1, wants=("logprobs", "top_logprobs"))
        reply = self._completion(prompt)
        if "logprobs" not in reply.extras:
            return EndpointFact(value=False, reason="asked for logprobs, got none")
        return EndpointFact(value=True, reason=f"got logprobs for {len(reply.tokens)} of {reply.n_tokens} tokens")

    def seed_honored(self) -> EndpointFact:
        if not self.sends_seed:
            return EndpointFact(value=None, reason="send_seed is off")
        first, again, other = (self._texts(temperature=1.0, seed=seed) for seed in (1, 1, 2))
        if not any(first + again + other):
            return EndpointFact(value=None, reason=f"replies of {CHECK_TOKENS} tokens were empty")
        if first != again:
            return EndpointFact(value=False, reason="the same seed gave different texts at temperature 1")
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

    def _refuse_unusable(self, failure: Failure) -> None:
        """Raises ModelError where the endpoint takes no request of ours: nothing would be answered."""
        if failure.kind == "not_found":
            # A server of base models may know no chat, and is asked in the plain layout.
            (plain,) = self.generate(
                [replace(_check_prompt(CHECK_WORDING[0], temperature=1.0, seed=1), layout="plain")]
            )
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
        prompts = [_check_prompt(wording, temperature=temperature, seed=seed) for wording in CHECK_WORDING]
        replies = [self._completion(prompt) for prompt in prompts]
        return [reply.thoughts + reply.text for reply in replies]

    def _completion(self, prompt: Prompt) -> Completion:
        (reply,) = self.generate([prompt])
        if isinstance(reply, Failure) and reply.kind == "bad_request":
            (reply,) = self.generate([prompt])  # Some refuse a request now and then.
        if isinstance(reply, Failure):
            raise CheckError(reply)
        return reply


def _check_prompt(wording: str, temperature: float, seed: int, wants: tuple[str, ...] = ()) -> Prompt:
    return Prompt(
        messages=(Message(role="user", content=wording),),
        sampling=Sampling(temperature=temperature, max_tokens=CHECK_TOKENS),
        seed=seed,
        wants=wants,
    )


def _count_differences(some: list[str], others: list[str]) -> int:
    return sum(one != other for one, other in zip(some, others, strict=True))
