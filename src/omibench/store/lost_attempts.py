"""The charge of attempts with an unknown outcome, estimated from the cost of known ones.

A process was killed, a connection broke, or a wait timed out. The worst case of an attempt is a
text of `max_tokens` and a token per byte, ten or more times the usual cost. So the lost attempts of
a model are charged together, at an upper bound on their cost that applies with a probability of
`SURE`:

- The mean cost of an attempt that had lived for a given time when it was lost is that of attempts
  that took longer, estimated as Kaplan and Meier do (J. Am. Stat. Assoc. 53, 1958): lost attempts
  and those in flight count as having taken at least as long as they have lived. That matters, since
  attempts in flight when a process is killed take long, and long ones are expensive. An attempt
  that outlives all observed ones counts as its worst case, and the mean is multiplied by `MARGIN`.
- Bernstein's inequality bounds the sum: each cost lies between zero and its worst case.

The charge never exceeds the sum of the worst cases, and equals it while little is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import groupby
from math import log, sqrt
from sqlite3 import Cursor
from typing import NamedTuple

Run = Callable[..., Cursor]

SURE = 0.999
MARGIN = 1.5
"""Factor on the observed mean, which is itself an estimate."""
ENOUGH = 20
"""Observed attempts required before less than the worst case is charged."""
_STEP = 1.25
"""Durations within this factor of each other are counted together."""
KILLED = "its process was killed, or the machine went down"
STOPPED = "the run was stopped while it was in flight"
TABLES = """
CREATE TABLE IF NOT EXISTS seen(
  study TEXT, model TEXT, took INTEGER, attempts INTEGER NOT NULL, shares REAL NOT NULL,
  PRIMARY KEY(study, model, took));
CREATE TABLE IF NOT EXISTS charge(
  study TEXT, model TEXT, share REAL NOT NULL, PRIMARY KEY(study, model));
CREATE TABLE IF NOT EXISTS worker(
  host TEXT, pid INTEGER, started TEXT, last REAL NOT NULL, PRIMARY KEY(host, pid, started));
CREATE TABLE IF NOT EXISTS day(
  study TEXT, model TEXT, day INTEGER, spent INTEGER NOT NULL, PRIMARY KEY(study, model, day));
CREATE TABLE IF NOT EXISTS settlement(
  study TEXT, at REAL NOT NULL, attempts INTEGER NOT NULL, charged INTEGER NOT NULL,
  usd INTEGER NOT NULL, source TEXT NOT NULL);
"""
COLUMNS = {"begun": "REAL", "lived": "INTEGER", "why": "TEXT"}
"""Columns of `attempt` that ledgers of earlier versions lack."""
CHARGED = (
    "SELECT a.model, COALESCE(a.why, ''), COUNT(*), SUM(a.worst),"
    " SUM(a.worst * CASE WHEN a.lived IS NULL THEN 1.0 ELSE COALESCE(c.share, 1.0) END)"
    " FROM attempt a LEFT JOIN charge c ON c.study=a.study AND c.model=a.model"
    " WHERE a.study=? AND a.unknown=1 GROUP BY 1, 2"
)
"""Model, reason, number, worst cases and charges of a study's lost attempts."""


class Loss(NamedTuple):
    """Attempts of one model lost for one reason: charge and maximum, in US dollars."""

    model: str
    why: str
    attempts: int
    charged: float
    at_most: float


class Group(NamedTuple):
    """Lost attempts of equal age: the sum, sum of squares and maximum of their worst cases."""

    lived: int
    worst: float
    squares: float
    largest: float


def add_columns(run: Run) -> None:
    """Add the missing columns to a new ledger, or to that of an earlier version.

    Processes that open one ledger at the same time add each column once.
    """
    if not _lacking_columns(run):
        return
    run("BEGIN IMMEDIATE")
    try:
        for name in _lacking_columns(run):
            run(f"ALTER TABLE attempt ADD COLUMN {name} {COLUMNS[name]}")
    except BaseException:
        run("ROLLBACK")
        raise
    run("COMMIT")


def _lacking_columns(run: Run) -> list[str]:
    columns = {row[1] for row in run("PRAGMA table_info(attempt)").fetchall()}
    return [name for name in COLUMNS if name not in columns]


def classify_duration(seconds: float) -> int:
    """Return the class of a duration: durations of one class differ by less than a quarter."""
    return int(log(max(seconds, 0.001) / 0.001) / log(_STEP))


def note_share(run: Run, study: str, model: str, seconds: float, share: float) -> None:
    """Note an attempt's duration, and its cost as a share of its worst case."""
    run(
        "INSERT INTO seen VALUES(?,?,?,1,?) ON CONFLICT DO UPDATE SET attempts=attempts+1,"
        " shares=shares+excluded.shares", (study, model, classify_duration(seconds), share),
    )  # fmt: skip


def assess(run: Run, study: str, now: float) -> None:
    """Charge the lost attempts of a study by the knowledge at a moment (Unix time)."""
    lost = run(
        "SELECT model, lived, SUM(worst), SUM(1.0*worst*worst), MAX(worst), COUNT(*) FROM attempt"
        " WHERE study=? AND unknown=1 AND lived IS NOT NULL GROUP BY 1, 2 ORDER BY 1", (study,),
    ).fetchall()  # fmt: skip
    for model, rows in groupby(lost, lambda row: row[0]):
        groups = list(rows)
        alive: Counter[int] = Counter({row[1]: row[5] for row in groups})
        for (begun,) in run(
            "SELECT begun FROM attempt WHERE study=? AND model=? AND unknown=0", (study, model)
        ).fetchall():
            alive[classify_duration(now - begun) if begun is not None else 0] += 1
        ended = run(
            "SELECT took, attempts, shares FROM seen WHERE study=? AND model=?", (study, model)
        ).fetchall()
        means = build_tail_mean({took: (n, shares) for took, n, shares in ended}, alive)
        share = bound_losses([Group(*row[1:5]) for row in groups], means)
        run("INSERT OR REPLACE INTO charge VALUES(?,?,?)", (study, model, share))


def losses(run: Run, study: str, nano: int) -> list[Loss]:
    """Return the losses of a study, the most expensive first; an amount of `nano` is a dollar."""
    entries = [
        Loss(model, reason or KILLED, number, charged / nano, worst / nano)
        for model, reason, number, worst, charged in run(CHARGED, (study,)).fetchall()
    ]
    return sorted(entries, key=lambda loss: -loss.charged)


def build_tail_mean(
    ended: dict[int, tuple[int, float]], alive: Counter[int]
) -> Callable[[int], float]:
    """Return the mean cost share of attempts that take longer than a class of duration.

    `ended` maps a class to the number of finished attempts and the sum of their shares; `alive` to
    the number of those not finished.
    """
    if sum(number for number, _ in ended.values()) < ENOUGH:
        return lambda _: 1.0
    mean, at_risk = 1.0, 0
    beyond: dict[int, float] = {}
    for took in sorted({*ended, *alive}, reverse=True):
        beyond[took] = mean
        number, shares = ended.get(took, (0, 0.0))
        at_risk += number + alive[took]
        if number:
            mean = (shares + (at_risk - number) * mean) / at_risk
    return lambda took: min(1.0, MARGIN * beyond.get(took, 1.0))


def bound_losses(groups: list[Group], mean: Callable[[int], float]) -> float:
    """Bound the cost of lost attempts with probability `SURE`, as a share of the worst."""
    total = sum(group.worst for group in groups)
    if not total:
        return 1.0
    expected = sum(group.worst * mean(group.lived) for group in groups)
    variance = sum(group.squares * mean(group.lived) for group in groups)
    sure = -log(1 - SURE)
    step = max(group.largest for group in groups) * sure / 3
    return min(1.0, (expected + step + sqrt(step * step + 2 * variance * sure)) / total)
