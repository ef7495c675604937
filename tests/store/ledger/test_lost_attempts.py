"""Attempts whose outcome was never learned are charged by what was seen; the cap holds."""

from __future__ import annotations

import heapq
import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from omibench.store.ledger import ENOUGH, KILLED, LEDGER, MARGIN, BudgetAccount, Ledger

ACCOUNT = BudgetAccount("study", "model", cap_usd=100.0, lease_s=600)
WORST = 0.1


class Clock:
    """Time as the ledger reads it."""

    def __init__(self) -> None:
        self.now = 1_790_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr("omibench.store.ledger.time.time", found)
    return found


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Iterator[Ledger]:
    with Ledger(tmp_path) as opened:
        opened._file.execute("PRAGMA synchronous=OFF")
        yield opened


def reserve(ledger: Ledger) -> int:
    attempt = ledger.reserve(ACCOUNT, WORST)
    assert attempt is not None
    return attempt.id


def answers(ledger: Ledger, clock: Clock, count: int, seconds: float, share: float) -> None:
    for _ in range(count):
        number = reserve(ledger)
        clock.now += seconds
        ledger.settle(number, WORST * share)


def lose(ledger: Ledger, clock: Clock, count: int, lived: float, why: str | None = None) -> None:
    flying = [reserve(ledger) for _ in range(count)]
    clock.now += lived
    for number in flying:
        ledger.settle(number, None, why)


def test_before_enough_is_known_the_worst_case_is_charged(ledger: Ledger, clock: Clock) -> None:
    answers(ledger, clock, ENOUGH - 1, 5.0, 0.05)
    lose(ledger, clock, 40, 1.0)
    assert ledger.spending("study").unknown == pytest.approx(40 * WORST)
    answers(ledger, clock, 200, 5.0, 0.05)
    known = ledger.spending("study").unknown
    assert 40 * 0.05 * WORST * MARGIN < known < 0.35 * 40 * WORST
    answers(ledger, clock, 100, 5.0, 0.4)
    assert ledger.spending("study").unknown > 1.5 * known, "answers became dearer"


def test_one_lost_attempt_may_be_the_dearest(ledger: Ledger, clock: Clock) -> None:
    """Only of many is the sum known better than the worst case of each."""
    answers(ledger, clock, 2 * ENOUGH, 5.0, 0.05)
    lose(ledger, clock, 1, 1.0)
    assert ledger.spending("study").unknown == pytest.approx(WORST)


def test_what_lived_longer_than_answers_take_is_charged_whole(ledger: Ledger, clock: Clock) -> None:
    answers(ledger, clock, 100, 5.0, 0.05)
    lose(ledger, clock, 30, 60.0, "no answer within 60 s")
    assert ledger.spending("study").unknown == pytest.approx(30 * WORST)
    (loss,) = ledger.list_losses("study")
    assert (loss.why, loss.attempts) == ("no answer within 60 s", 30)


def test_only_attempts_that_took_as_long_are_looked_at(ledger: Ledger, clock: Clock) -> None:
    answers(ledger, clock, 200, 1.0, 0.02)
    answers(ledger, clock, 100, 50.0, 0.5)
    lose(ledger, clock, 30, 40.0)
    assert ledger.spending("study").unknown > 30 * WORST * 0.5


def test_what_never_ends_counts_among_those_that_take_long(ledger: Ledger, clock: Clock) -> None:
    """Killed after 20 s over and over, answers of five minutes are never seen to end."""
    answers(ledger, clock, 300, 1.0, 0.02)
    lose(ledger, clock, 30, 20.0)
    before = ledger.spending("study").unknown
    lose(ledger, clock, 30, 0.5)
    assert ledger.spending("study").unknown - before > 30 * WORST * 30 / 330


def test_a_killed_process_is_taken_to_have_died_at_its_last_sign_of_life(
    tmp_path: Path, ledger: Ledger, clock: Clock
) -> None:
    answers(ledger, clock, 100, 5.0, 0.05)
    dying = Ledger(tmp_path)
    dying._owner = (dying._owner[0], 2**22 + 1, "long ago")
    for _ in range(40):
        reserve(dying)
    clock.now += 2
    dying.beat()
    dying.close()
    clock.now += 3600
    assert ledger.spending("study").unknown < 0.5 * 40 * WORST
    (loss,) = ledger.list_losses("study")
    assert (loss.why, loss.attempts) == (KILLED, 40)
    assert loss.at_most == pytest.approx(40 * WORST)


def test_a_ledger_of_an_earlier_version_goes_on(tmp_path: Path, clock: Clock) -> None:
    with sqlite3.connect(tmp_path / LEDGER) as old:
        old.executescript(
            "CREATE TABLE total(study TEXT, model TEXT, spent INTEGER NOT NULL DEFAULT 0,"
            " attempts INTEGER NOT NULL DEFAULT 0, excess REAL NOT NULL DEFAULT 1,"
            " PRIMARY KEY(study, model));"
            "CREATE TABLE attempt(id INTEGER PRIMARY KEY AUTOINCREMENT, study TEXT NOT NULL,"
            " model TEXT NOT NULL, worst INTEGER NOT NULL, unknown INTEGER NOT NULL DEFAULT 0,"
            " host TEXT, pid INTEGER, started TEXT, until REAL NOT NULL);"
            "CREATE TABLE month(study TEXT, month TEXT, before INTEGER NOT NULL,"
            " PRIMARY KEY(study, month));"
            "INSERT INTO attempt(study, model, worst, unknown, until)"
            " VALUES('study', 'model', 250000000, 1, 0), ('study', 'model', 100000000, 0, 9e9);"
        )
    for write in (False, True):
        with Ledger(tmp_path, write=write) as ledger:
            assert ledger.spending("study") == (0, 0.25, 0.1)
    with Ledger(tmp_path) as ledger:
        answers(ledger, clock, 2 * ENOUGH, 5.0, 0.05)
        assert ledger.spending("study").unknown == 0.25, "nobody knows how long it lived"


class Asked(NamedTuple):
    """A request: the share of its worst case that it costs, and how long its answer takes."""

    share: float
    seconds: float


def even(rng: random.Random) -> Asked:
    """Answers of about one length."""
    share = min(1.0, rng.lognormvariate(-2.7, 0.5))
    return Asked(share, 0.2 + 20 * share)


def thinking(rng: random.Random) -> Asked:
    """Most answers are short; one in ten thinks to the end of its tokens."""
    share = rng.uniform(0.5, 1.0) if rng.random() < 0.1 else rng.uniform(0.02, 0.06)
    return Asked(share, 300 * share)


def heavy(rng: random.Random) -> Asked:
    """A long tail, and times that tell little of what is paid."""
    share = min(1.0, 0.03 * rng.paretovariate(1.2))
    return Asked(share, rng.uniform(1, 10) + 30 * share)


Draw = Callable[[random.Random], Asked]


class Study:
    """A study that is killed over and over, and what its provider really bills."""

    def __init__(self, folder: Path, clock: Clock, draw: Draw, seed: int, cap: float) -> None:
        self.folder, self.clock, self.rng = folder, clock, random.Random(seed)
        self.account = ACCOUNT._replace(cap_usd=cap)
        self.waiting = [draw(self.rng) for _ in range(5000)]
        self.billed = self.billed_lost = 0.0
        self.lives = 0

    def live(self, until: float, width: int = 8) -> bool:
        """Send until a moment, then die; whether the budget still holds anything."""
        self.lives += 1
        with Ledger(self.folder) as ledger:
            ledger._file.execute("PRAGMA synchronous=OFF")  # no machine goes down here
            ledger._owner = (ledger._owner[0], 2**22 + self.lives, "gone")
            ledger.spending("study")
            flying: list[tuple[float, int, Asked]] = []
            while True:
                while len(flying) < width:
                    attempt = ledger.reserve(self.account, WORST)
                    if attempt is None:
                        break
                    asked = self.waiting.pop()
                    self.billed += WORST * asked.share
                    heapq.heappush(flying, (self.clock.now + asked.seconds, attempt.id, asked))
                assert self.billed <= self.account.cap_usd
                if not flying or flying[0][0] > until:
                    break
                self.clock.now, number, asked = heapq.heappop(flying)
                ledger.settle(number, WORST * asked.share)
            if flying:
                self.clock.now = until
                ledger.beat()
            # The provider ends what it has begun, and bills it; later the same is asked again.
            self.billed_lost += sum(WORST * asked.share for _, _, asked in flying)
            self.waiting += [asked for _, _, asked in flying]
        return bool(flying)


@pytest.mark.parametrize("draw", [even, thinking, heavy])
@pytest.mark.parametrize("seed", range(3))
def test_real_spending_never_passes_the_cap_however_often_it_is_killed(
    tmp_path: Path, clock: Clock, draw: Draw, seed: int
) -> None:
    study = Study(tmp_path, clock, draw, seed, cap=40 * WORST)
    while study.live(clock.now + study.rng.expovariate(1 / 20)) and study.lives < 200:
        clock.now += 5
    with Ledger(tmp_path) as ledger:
        spending = ledger.spending("study")
    assert study.lives > 2
    assert study.billed <= spending.committed_usd <= study.account.cap_usd + 1e-9


def test_ten_kills_burn_no_budget(tmp_path: Path, clock: Clock) -> None:
    """They turned seven cents into 86 that may have been paid."""
    study = Study(tmp_path, clock, even, 1, cap=100 * WORST)
    for _ in range(10):
        assert study.live(clock.now + 20)
        clock.now += 5
    with Ledger(tmp_path) as ledger:
        spending = ledger.spending("study")
        (loss,) = ledger.list_losses("study")
    assert loss.attempts == 80
    assert loss.at_most == pytest.approx(8.0)
    assert study.billed_lost <= spending.unknown < 0.45 * loss.at_most
