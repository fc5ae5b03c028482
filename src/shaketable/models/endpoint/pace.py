"""How fast calls may follow one another: a rate that is found from what the server accepts."""

from __future__ import annotations

import math
from collections import deque

from shaketable.models.endpoint.rows import Rows

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


ROW, ROW_SECONDS = 8, 1.0
"""So many calls, sent over so long a time, that are all refused: the server is shut. Fewer are refused in a row by
chance, or at the end of each second by one that counts from one second to the next."""
SHORT_ROW = 3
"""The same of a server that was shut before."""
LEAST_PAUSE, PAUSE_CALLS, PAUSE_SHARE = 0.1, 3, 0.1
"""Seconds until a shut server is asked again, calls that would have gone meanwhile, and the share of the time for which
it was shut: the longest of these."""
MUCH_LESS = 0.8
"""Of the calls that were taken at a lower rate: a server that does not count what it refuses takes no less of more."""
OPEN_SECONDS = 0.05
"""A call that is not refused for so long shows that it is open."""
SOON_SECONDS = 2.0
"""One that is shut again so soon was sent too much."""
LOWER, SLIGHTLY_LOWER = 0.9, 0.97
"""The rate after that, and otherwise, of the last that was not too high."""
FULL = 5
"""Calls that it took, at least, to be full of them: within ten seconds, to be shut."""
ROUGH_GROWTH = 0.05
"""The most while it is known only what it took in all."""
GENTLE_GROWTH, GENTLE_MOST, GENTLE_STEPS, NEAR = 0.0005, 0.02, 4, 1.1
"""The first growth at a server that was shut, and the most up to a little above the rate that was too high, or so many
steps to it from the last that was not: to be shut costs more than to be refused a call."""
SCATTERED, MOST_IN_VAIN = 0.1, 4
"""A share of refusals that is too high, and so many lower rates in a row that did not help: they come by chance."""


class Pace:
    """The rate of accepted calls that a server sustains. Nothing is held back until it refuses a call.

    A refused call gives its place back, so that the rate counts accepted calls. Refusals alone say nothing then: where
    a share of the calls is refused whatever the load, the accepted ones still go at the rate, and it grows. Where it
    is too high fewer are accepted than it lets go, and it falls to what was accepted. Replies may take minutes and
    refusals come soon, so a call counts as accepted until it is refused.

    Some servers count the calls that they refuse. Whoever asks them too fast is refused everything until he asks less,
    and what was accepted meanwhile says nothing. They are known by rows of refusals, and then get single calls until
    one is taken, a rate below the last that was not too high, and no calls in place of those that were refused.
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
        self._rows = Rows()
        self._is_strict = False
        """Whether it was shut, so that refused calls give no place back."""
        self._is_doubtful = False
        """Whether that was an error once: calls are refused by chance, so that only a long row shows it."""
        self._shut_since: float | None = None
        self._asked_at: float | None = None
        """When a shut server was asked again; None: it was refused since."""
        self._opened_at: float | None = None
        self._met = math.inf
        """The rate at which it was shut last; infinity: it is not known."""
        self._gentle_growth = GENTLE_MOST
        self._taken = math.inf
        """What it took, a second, when it was open for long and then shut; infinity: it was not yet."""
        self._n_in_vain = 0
        """Rates in a row that were lowered and still too high."""
        self._n_taken = 0
        """Calls since it was open that were not refused."""
        self._longest_row = 0
        self._went_back = False
        """Whether the rate is one that it took before."""
        self._begin(0.0)

    def ready_at(self, now: float) -> float:
        """When the next call may be sent."""
        if self._settles_at is not None:
            if now < self._settles_at:
                return self._settles_at
            self._settle(now)
        if self.rate is None:
            return now
        if self._asked_at is not None and now >= self._asked_at + self._answer_seconds:
            self._open(now)
        return self._due

    @property
    def _answer_seconds(self) -> float:
        """A refusal comes sooner."""
        return max(OPEN_SECONDS, 2 * self._lag)

    def sent(self, now: float) -> None:
        self._rows.sent(now)
        self._n_taken += 1
        self._opened_at = now if self._opened_at is None else self._opened_at
        if self._shut_since is not None:
            self._asked_at, self._due = now, now + self._answer_seconds
            return
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
            self._begin_anew()
        self._answered_at = now

    def _begin_anew(self) -> None:
        self.rate, self._after_test, self._is_starting = None, None, True
        self._is_strict = self._is_doubtful = False
        self._shut_since, self._asked_at, self._opened_at, self._n_taken = None, None, None, 0
        self._met = self._taken = math.inf
        self._n_usual = self._n_seen = 0.0
        self._away_seconds *= 2
        self._sent.clear()

    def refused(self, now: float, sent_at: float) -> None:
        self._lag += (now - sent_at - self._lag) * (0.2 if self._lag else 1.0)
        row = self._rows.refused(sent_at)
        self._n_taken -= 1
        if self._shut_since is not None:
            if self._asked_at is not None and sent_at >= self._asked_at:
                self._pause(now, self._shut_since)
            return
        if self.rate is None:
            if self._sent:
                self._sent.popleft()
            if self._settles_at is None:
                self._settles_at = now + max(SETTLE_SECONDS, 2 * self._lag)
            return
        self._longest_row = max(self._longest_row, len(row))
        if self._is_row(row):
            self._shut_since, self._is_strict = row[0], True
            self._pause(now, row[0])
            return
        if sent_at < self._set_at:
            return  # It went at a rate that was given up.
        self._n_returned += not self._is_strict
        if now >= self._begun:
            self._n_refused += 1
            if (
                not self._is_strict
                and self._n_sent >= FEW
                and self._n_refused > self._n_sent * (self._usual_share + (1 - self._usual_share) * MOST_REFUSED)
            ):
                # Far too fast: it is not waited for the end of the period, nor believed to the last call.
                self._fall(now, max(self.rate / 2, self._n_kept / PERIOD_SECONDS))

    def _is_row(self, row: list[float]) -> bool:
        if self._is_strict:
            return len(row) >= SHORT_ROW
        if len(row) < ROW or row[-1] - row[0] < ROW_SECONDS:
            return False
        return self._takes_some(row[0])

    def _takes_some(self, before: float) -> bool:
        """One that takes a few calls a minute is asked seldom anyway."""
        return self._rows.n_taken_since(before - LONGEST_PERIOD_SECONDS) >= FULL

    def _pause(self, now: float, shut_since: float) -> None:
        self._asked_at = None
        assert self.rate is not None, "Before the first refusal there is no rate."
        pause = max(LEAST_PAUSE, PAUSE_CALLS / self.rate, PAUSE_SHARE * (now - shut_since))
        self._due = now + min(pause, 1 / SLOWEST)

    def _open(self, now: float) -> None:
        """It takes calls again. Where it was shut for longer than it was open, the rate is what it took in all."""
        assert self.rate is not None and self._shut_since is not None and self._opened_at is not None, "It was shut."
        open_seconds, shut_seconds = self._shut_since - self._opened_at, now - self._shut_since
        taken = self._n_taken / (now - self._opened_at)
        is_full = shut_seconds > open_seconds and self._n_taken >= FULL
        if is_full and (math.isinf(self._taken) or shut_seconds > SOON_SECONDS):
            rate, self._met, self._gentle_growth = taken, taken, ROUGH_GROWTH
            self._taken = taken
        elif open_seconds < SOON_SECONDS:
            rate, self._gentle_growth = min(LOWER * self.rate, SLIGHTLY_LOWER * self._taken), GENTLE_MOST
            self._met = min(self._met, self.rate)
            self._lower_in_vain(now)
        else:
            rate = self._go_back(min(self._proven or self.rate, self.rate))
            self._taken = taken
        if rate <= 2 * SLOWEST and shut_seconds > self._away_seconds:
            self._begin_anew()
            return
        self._shut_since, self._asked_at, self._opened_at, self._n_taken = None, None, now, 1
        self._proven, self._after_test, self._is_fresh, self._is_starting = None, None, False, False
        self._n_usual = self._n_seen = self._n_returned = 0.0
        self.rate, self._growth, self._set_at = max(min(rate, self.rate), SLOWEST), 0.0, now
        self._due = now
        self._begin(now)

    def _go_back(self, proven: float) -> float:
        """The rate after one at which it was shut."""
        assert self.rate is not None, "It was shut."
        self._met = self.rate if proven < self.rate else math.inf
        self._gentle_growth = max(GENTLE_MOST, (self.rate / proven - 1) / GENTLE_STEPS)
        self.rate = SLIGHTLY_LOWER * proven
        return self.rate

    def _took_less(self, now: float) -> bool:
        """At a higher rate it took less than before and refused many in a row, or most at a rate that it took before:
        it counts what it refuses."""
        seconds = now - self._begun
        if self._is_doubtful or self._longest_row < ROW or not self._takes_some(now):
            return False
        if self._went_back:
            return self._n_refused > MOST_REFUSED * self._n_sent
        if self._proven is None or seconds < PERIOD_SECONDS:
            return False
        return self._n_kept / seconds < MUCH_LESS * self._proven

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
        self._n_sent = self._n_refused = self._longest_row = 0

    def _judge(self, now: float) -> None:
        assert self.rate is not None, "Before the first refusal there is nothing to judge."
        seconds = now - self._begun
        is_easy = self._is_starting and not self._n_refused
        shortest = max(SETTLE_SECONDS if self._is_starting else PERIOD_SECONDS, LAGS * self._lag)
        n_calls = START_CALLS if is_easy else FEW if self._is_starting else PERIOD_CALLS
        if seconds < min(max(shortest, n_calls / self.rate), LONGEST_PERIOD_SECONDS):
            return
        if self._is_strict:
            self._judge_gently(now, seconds)
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

    def _judge_gently(self, now: float, seconds: float) -> None:
        """A server that was shut is open: the rate grows until it is shut again, or calls are refused by chance."""
        assert self.rate is not None, "Before the first refusal there is no rate."
        if self._n_refused > SCATTERED * self._n_sent:
            self._met = min(self._met, self.rate)
            self.rate, self._growth, self._proven = LOWER * self.rate, 0.0, None
            self._lower_in_vain(now)
        elif self._idle < 0.5 * seconds:
            self._n_in_vain = 0
            self._proven = self.rate
            self.rate *= 1 + self._growth
            is_near = self.rate <= NEAR * self._met < math.inf
            first, most = (GENTLE_GROWTH, self._gentle_growth) if is_near else (FIRST_GROWTH, MOST_GROWTH)
            self._growth = min(max(2 * self._growth, first), most)
        self._begin(now)

    def _lower_in_vain(self, now: float) -> None:
        """Where calls are refused at ever lower rates it is by chance."""
        self._n_in_vain += 1
        if self._n_in_vain >= MOST_IN_VAIN:
            self._is_strict, self._is_doubtful, self._n_in_vain = False, True, 0

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
        self._is_fresh, self._proven, self._went_back = False, self.rate, False
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
        if self._took_less(now):
            self._is_strict, self._n_returned = True, 0.0
            self._go_back(self._proven or self.rate)
            self._set(self.rate, now)
            return
        proven = self._proven if self._proven is not None and accepted < self._proven < self.rate else None
        self._proven, self._is_fresh, self._is_starting = None, proven is None, False
        self._went_back = proven is not None
        self._set(proven or max(accepted, SLOWEST), now)

    def _set(self, rate: float, now: float) -> None:
        self.rate, self._growth = rate, 0.0
        # Places that come back would go beyond the new rate, but for those of refusals that do not depend on it.
        self._set_at = now
        n_usual = self._usual_share / (1 - self._usual_share) * max(rate * RETURN_SECONDS, RETURN_CALLS)
        self._n_returned = min(self._n_returned, n_usual)
        self._due = max(self._due, now + 1 / rate)
        self._begin(now + self._warm_up())
