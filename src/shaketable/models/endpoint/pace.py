"""How fast calls may follow one another: a rate that is found from what the server accepts."""

from __future__ import annotations

from collections import deque

PERIOD_SECONDS = 1.0
"""How long calls are counted before the rate is judged, where so many go in it …"""
PERIOD_CALLS = 10
"""… or until the rate has let so many go."""
START_CALLS = 4
"""So many are enough where none was refused and no limit was met yet; and of the first second so many at least."""
LAGS = 3
"""A period is so many times as long, at least, as a refusal takes to come back."""
LONGEST_PERIOD_SECONDS = 10.0
SLOWEST = 0.1
"""Calls a second, to a server that accepts none: it is asked now and then."""
SETTLE_SECONDS = 0.25
"""After the first refusal nothing is sent for so long: what else is refused shows what was accepted."""
RETURN_SECONDS, RETURN_CALLS = 0.5, 5
"""Over so long, and so many calls at least, the places of refused calls are given to others, not at once: some servers
count to the millisecond."""
CREDIT_SECONDS = 0.05
"""How much is made up for where a call came later than the rate allowed: timers are not exact."""
TEST = 0.8
"""Of what was accepted: a rate at which only those are refused that are refused whatever the load."""
START_SHARE = 0.45
"""As long as no limit was met, the rate is too high when less than this share of it is accepted: where a third is
refused by chance, half of twenty calls often are."""
MOST_USUAL = 0.5
"""More refusals than this are never taken as usual."""
MOST_SEEN = 300
"""Calls by which the usual share is known; older ones count less."""
MORE_REFUSED = 0.05
"""The rate is too high when this share of the calls is refused beyond the usual."""
REST = 0.98
"""Of what was accepted when the rate was too high: the rate after it."""
FIRST_GROWTH, MOST_GROWTH = 0.01, 0.5
"""Each quiet period's growth is twice that of the one before: near the limit that was met the rate is raised gently,
and a limit that was lifted is followed in seconds."""
FEW, MOST_REFUSED = 20, 2 / 3
"""When so many calls were sent and more than this share of them was refused, the period ends early."""


class Pace:
    """The rate of accepted calls that a server sustains. Nothing is held back until it refuses a call.

    A refused call gives its place back, so that the rate counts accepted calls. Refusals alone say nothing then: where
    a share of the calls is refused whatever the load, the accepted ones still go at the rate, and it grows. Where it
    is too high fewer are accepted than it lets go, and it falls to what was accepted. Replies may take minutes and
    refusals come soon, so a call counts as accepted until it is refused.
    """

    def __init__(self) -> None:
        self.rate: float | None = None
        """Accepted calls a second; None: as many as the window holds."""
        self._due = 0.0
        """When the next call may go."""
        self._settles_at: float | None = None
        self._lag = 0.0
        """Seconds after which a refusal comes back."""
        self._sent: deque[float] = deque()
        """Times of the last second, as long as there is no rate."""
        self._set_at = 0.0
        """When the rate fell last."""
        self._n_returned = 0.0
        """Places in the rate that refused calls gave back."""
        self._is_starting = True
        self._growth = 0.0
        self._n_usual = self._n_seen = 0.0
        """Refused, of calls that went when the rate was not too high."""
        self._is_fresh = False
        """Whether the rate has just fallen to what was accepted."""
        self._after_test: float | None = None
        """The rate to go on with when it was seen, at a lower one, which share is refused whatever the load."""
        self._proven: float | None = None
        """The last rate that was not too high, if it was not fallen back to since."""
        self._answered_at = 0.0
        self._away_seconds = LONGEST_PERIOD_SECONDS
        """Without a reply for so long, a slow server counts as one that was away."""
        self._begin(0.0)

    def ready_at(self, now: float) -> float:
        """When the next call may be sent."""
        if self._settles_at is not None:
            if now < self._settles_at:
                return self._settles_at
            self._settle(now)
        if self.rate is None:
            return now
        return self._due

    def sent(self, now: float) -> None:
        if self.rate is None:
            self._sent.append(now)
            while self._sent[0] < now - PERIOD_SECONDS:
                self._sent.popleft()
            return
        earliest = now - max(CREDIT_SECONDS, 1 / self.rate)
        self._idle += max(earliest - self._due, 0.0)
        extra = self._n_returned / max(RETURN_SECONDS, RETURN_CALLS / self.rate)
        gap = 1 / (self.rate + extra)
        self._n_returned = max(self._n_returned - extra * gap, 0.0)
        self._due = max(self._due, earliest) + gap
        if now >= self._begun:
            self._n_sent += 1
            self._judge(now)

    def answered(self, now: float) -> None:
        if self.rate is not None and self.rate <= 2 * SLOWEST and now - self._answered_at > self._away_seconds:
            # It is back, and what it can take now is not known. Where it is as slow as that, it is asked more seldom.
            self.rate, self._after_test, self._is_starting = None, None, True
            self._n_usual = self._n_seen = 0.0
            self._away_seconds *= 2
            self._sent.clear()
        self._answered_at = now

    def refused(self, now: float, sent_at: float) -> None:
        self._lag += (now - sent_at - self._lag) * (0.2 if self._lag else 1.0)
        if self.rate is None:
            if self._sent:
                self._sent.popleft()
            if self._settles_at is None:
                self._settles_at = now + max(SETTLE_SECONDS, 2 * self._lag)
            return
        if sent_at < self._set_at:
            return  # It went at a rate that was given up.
        self._n_returned += 1
        if now >= self._begun:
            self._n_refused += 1
            if self._n_sent >= FEW and self._n_refused > self._n_sent * (
                self._usual_share + (1 - self._usual_share) * MOST_REFUSED
            ):
                # Far too fast: it is not waited for the end of the period, nor believed to the last call.
                self._fall(now, max(self.rate / 2, self._n_kept / PERIOD_SECONDS))

    @property
    def _n_kept(self) -> int:
        return self._n_sent - self._n_refused

    def _settle(self, now: float) -> None:
        self._settles_at = None
        self.rate = max(len(self._sent), START_CALLS) / PERIOD_SECONDS
        self._sent.clear()
        self._due = now
        self._begin(now + self._warm_up())

    def _warm_up(self) -> float:
        """How long calls at a new rate are not counted: what comes back then is of the old one."""
        return max(2 * SETTLE_SECONDS, 2 * self._lag)

    def _begin(self, at: float) -> None:
        """A new period."""
        self._begun, self._idle = at, 0.0
        self._n_sent = self._n_refused = 0

    def _judge(self, now: float) -> None:
        assert self.rate is not None, "Before the first refusal there is nothing to judge."
        seconds = now - self._begun
        is_easy = self._is_starting and not self._n_refused
        shortest = max(SETTLE_SECONDS if self._is_starting else PERIOD_SECONDS, LAGS * self._lag)
        n_calls = START_CALLS if is_easy else FEW if self._is_starting else PERIOD_CALLS
        if seconds < min(max(shortest, n_calls / self.rate), LONGEST_PERIOD_SECONDS):
            return
        accepted = REST * self._n_kept / seconds
        share = self._n_refused / self._n_sent
        if self._after_test is not None:
            self._n_usual, self._n_seen = 0.0, 0.0
            self._note_usual()
            self.rate, self._after_test = self._after_test, None
            self._begin(now)
        elif not self._is_too_fast(share, accepted):
            self._rise(is_busy=self._idle < 0.5 * seconds)
            self._begin(now)
        elif self._is_fresh:
            # It is what was accepted before, and as many are refused: whatever the load, or is it still too high?
            self._set(max(TEST * accepted, SLOWEST), now)
            self._after_test = max(accepted, SLOWEST)
        else:
            self._fall(now, accepted)

    def _is_too_fast(self, share: float, accepted: float) -> bool:
        assert self.rate is not None, "Before the first refusal there is no rate."
        if self._is_starting:
            return self._n_refused > 0 and accepted < START_SHARE * self.rate
        return share > self._usual_share + max(MORE_REFUSED, self._chance())

    @property
    def _usual_share(self) -> float:
        return min((self._n_usual + 1) / (self._n_seen + 2), MOST_USUAL) if self._n_seen else 0.0

    def _chance(self) -> float:
        """Shares that are drawn by chance vary; two standard deviations of their difference are no news."""
        variance = self._usual_share * (1 - self._usual_share)
        return float(2 * (variance * (1 / self._n_sent + 1 / max(self._n_seen, 1.0))) ** 0.5)

    def _note_usual(self) -> None:
        kept = min(1.0, MOST_SEEN / (self._n_seen + self._n_sent))
        self._n_usual = kept * (self._n_usual + self._n_refused)
        self._n_seen = kept * (self._n_seen + self._n_sent)

    def _rise(self, *, is_busy: bool) -> None:
        assert self.rate is not None, "Before the first refusal there is no rate."
        self._is_fresh, self._proven = False, self.rate
        if not self._is_starting:
            self._note_usual()
        if not is_busy:
            return  # Too few calls wanted to go to tell whether more could.
        if self._is_starting:
            self.rate *= 2 if self._n_refused else 4
        else:
            self.rate *= 1 + self._growth
            self._growth = min(max(2 * self._growth, FIRST_GROWTH), MOST_GROWTH)

    def _fall(self, now: float, accepted: float) -> None:
        """To what was accepted, or to the last rate that was not too high, once: calls that come a little too early
        may all be refused, and less accepted than the server takes."""
        assert self.rate is not None, "Before the first refusal there is no rate."
        proven = self._proven if self._proven is not None and accepted < self._proven < self.rate else None
        self._proven, self._is_fresh, self._is_starting = None, proven is None, False
        self._set(proven or max(accepted, SLOWEST), now)

    def _set(self, rate: float, now: float) -> None:
        self.rate, self._growth = rate, 0.0
        # Places that come back would go beyond the new rate, but for those of refusals that do not depend on it.
        self._set_at = now
        n_usual = self._usual_share / (1 - self._usual_share) * max(rate * RETURN_SECONDS, RETURN_CALLS)
        self._n_returned = min(self._n_returned, n_usual)
        self._due = max(self._due, now + 1 / rate)
        self._begin(now + self._warm_up())
