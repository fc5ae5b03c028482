"""Claim: at a server that takes 50 requests a second and answers in 20 ms, more than nine tenths of the limit are used
over 5,000 calls, also when a third of the calls is refused by chance, whether or not refusals say Retry-After, and when
the limit is stated, and no call is lost; a limit that is doubled is followed within 10 seconds. Where there is no
limit, calls are no slower than with 16 under way at any time, and hundreds are under way where replies take long. The
peer, measured in the same run, is 16 calls at a time, as it was before.

    python benchmarks/endpoint_flow.py [N_CALLS]
"""

import sys
import threading
import time
from pathlib import Path

from machine import describe

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from limited_endpoint import Limited, Limits, limited

from shaketable.types import Completion, Message, Prompt, Sampling

LIMIT, LATENCY_SECONDS = 50.0, 0.02
LATENCIES = {0.001: 6_000, 0.02: 6_000, 0.2: 6_000, 1.0: 4_000}
"""Seconds of a reply → calls, enough for some seconds of steady work."""


def ask(server: Limited, n_calls: int, **settings: object) -> tuple[float, int]:
    """Calls a second, and how many were lost."""
    model = server.model(**settings)
    sampling = Sampling(temperature=0.7, max_tokens=8)
    prompts = [
        Prompt(messages=(Message(role="user", content=f"q{i}"),), sampling=sampling, seed=i) for i in range(n_calls)
    ]
    start = time.perf_counter()
    replies = model.generate(prompts)
    seconds = time.perf_counter() - start
    return n_calls / seconds, sum(not isinstance(reply, Completion) for reply in replies)


def share_of_the_limit(n_calls: int, refused_share: float, retry_after: str | None = None, **settings: object) -> str:
    limits = {"per_second": LIMIT, "latency_seconds": LATENCY_SECONDS, "refused_share": refused_share}
    with limited(**limits, retry_after=retry_after) as server:
        rate, n_lost = ask(server, n_calls, **settings)
        counted = server.counted()
    return (
        f"{rate / LIMIT:.1%} of {LIMIT:g} requests a second used over {n_calls:,} calls, {n_lost} lost; "
        f"{counted.n_refused:,} of {counted.n_requests:,} requests refused"
    )


def seconds_to_follow(n_calls: int) -> str:
    """After the limit is doubled, until nine tenths of the new one are used over a second."""
    with limited(per_second=LIMIT, latency_seconds=LATENCY_SECONDS) as server:
        raised: list[float] = []

        def lift() -> None:
            time.sleep(n_calls / 3 / LIMIT)
            raised.append(server.become(Limits(per_second=2 * LIMIT, latency_seconds=LATENCY_SECONDS)))

        lifting = threading.Thread(target=lift)
        lifting.start()
        _, n_lost = ask(server, n_calls)
        lifting.join()
        at = [one for one in server.counted().answered_at if one >= raised[0]]
    needed = round(0.9 * 2 * LIMIT)
    followed = next((later for one, later in zip(at, at[needed:], strict=False) if later - one <= 1.0), None)
    when = "never" if followed is None else f"after {followed - raised[0]:.1f} s"
    return (
        f"a limit raised from {LIMIT:g} to {2 * LIMIT:g} requests a second is used to nine tenths {when}; {n_lost} lost"
    )


def without_limits(latency_seconds: float, n_calls: int) -> str:
    told = []
    for name, settings in {"adaptive": {}, "16 at a time, as before": {"concurrency": 16}}.items():
        with limited(latency_seconds=latency_seconds) as server:
            ask(server, 200, **settings)  # Connections are made, modules are loaded.
            rate, n_lost = ask(server, n_calls if not settings else min(n_calls, 2_000), **settings)
            told.append(
                f"{name} {rate:,.0f} calls a second, {server.counted().most_at_once} at once at most, {n_lost} lost"
            )
    return f"replies after {latency_seconds * 1000:g} ms: " + "; ".join(told)


def main(n_calls: int) -> None:
    print(f"a steady limit: {share_of_the_limit(n_calls, 0.0)}", flush=True)
    print(f"and a third refused by chance: {share_of_the_limit(n_calls, 1 / 3)}", flush=True)
    print(f"the same, which says Retry-After: 1: {share_of_the_limit(n_calls, 1 / 3, '1')}", flush=True)
    print(f"a steady limit that says Retry-After: 1: {share_of_the_limit(n_calls, 0.0, '1')}", flush=True)
    print(
        f"a steady limit that is stated: {share_of_the_limit(n_calls, 0.0, requests_per_minute=60 * LIMIT)}", flush=True
    )
    print(seconds_to_follow(n_calls), flush=True)
    for latency_seconds, n in LATENCIES.items():
        print(without_limits(latency_seconds, n), flush=True)
    print(describe())


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 5_000)
