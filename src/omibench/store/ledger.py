"""The ledger of a budget: its attempts, what they cost, and what lost ones are charged."""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from itertools import groupby
from math import ceil, log, sqrt
from pathlib import Path
from sqlite3 import Cursor
from threading import RLock
from typing import NamedTuple, Self

from omibench.errors import StoreError, reason_of
from omibench.files.outputs import make_folder, open_new
from omibench.store.segments import read_process_start

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


# The SQLite file of a ledger: its tables, opening it, and copying it for reading.
#
# It uses a rollback journal: write-ahead logging needs memory shared by all writers and breaks on
# network disks, even if one host has the disk locally. The journal is kept between transactions,
# which saves an fsync: an attempt costs 0.7 ms of CPU, and 1 ms of wall time on a quiet local disk
# but 30 ms if other processes sync constantly. It survives a power cut.

BUSY_S = 60.0
_TABLES = """
CREATE TABLE IF NOT EXISTS total(
  study TEXT, model TEXT, spent INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
  excess REAL NOT NULL DEFAULT 1, PRIMARY KEY(study, model));
CREATE TABLE IF NOT EXISTS attempt(
  id INTEGER PRIMARY KEY AUTOINCREMENT, study TEXT NOT NULL, model TEXT NOT NULL,
  worst INTEGER NOT NULL, unknown INTEGER NOT NULL DEFAULT 0,
  host TEXT, pid INTEGER, started TEXT, until REAL NOT NULL);
CREATE TABLE IF NOT EXISTS month(
  study TEXT, month TEXT, before INTEGER NOT NULL, PRIMARY KEY(study, month));
CREATE INDEX IF NOT EXISTS by_study ON attempt(study);
"""


def open_ledger(path: Path, *, write: bool) -> sqlite3.Connection:
    """Open a ledger, created if missing; for reading only, a copy of it.

    Raises OSError and sqlite3.Error.
    """
    if not write:
        return _copy_to_memory(path)
    make_folder(path.parent)
    os.close(open_new(path, os.O_RDWR))  # SQLite gives its journal the same mode
    # Reservations are made by the sending thread, which can be another one.
    file = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    file.execute("PRAGMA journal_mode=PERSIST")
    file.execute("PRAGMA synchronous=FULL")
    file.executescript(_TABLES + TABLES)
    add_columns(file.execute)
    return file


def _copy_to_memory(path: Path) -> sqlite3.Connection:
    """Copy it into memory, so that changes leave the file alone."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    target = f"{path.resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(target, uri=True, timeout=BUSY_S)) as file:
        file.execute("SELECT COUNT(*) FROM attempt")
        file.backup(copy)
    copy.executescript(TABLES)
    add_columns(copy.execute)
    return copy


# The ledger: the spending of each study of a store, and the reservations of attempts in flight.
#
# One SQLite file next to the partitions, shared by all processes. An attempt is entered before it
# is sent, at its worst case, and stays until its cost is known; the total never exceeds the cap.
# The reservations of a killed process may have been billed, so they stay counted as `unknown`, at
# the observed cost of such attempts (`lost_attempts`), until a user settles them by the provider's
# bill.

LEDGER = "ledger.sqlite3"
NANO = 1_000_000_000


class Spending(NamedTuple):
    """US dollars of a study: spent, possibly billed, and reserved for calls in flight.

    `unknown` is the charge of attempts with an unknown outcome.
    """

    spent: float
    unknown: float
    reserved: float

    @property
    def committed_usd(self) -> float:
        """The sum of all three, which the cap limits."""
        return self.spent + self.unknown + self.reserved


class BudgetAccount(NamedTuple):
    """The account of an attempt: a study's, up to its cap, for one of its models.

    After `lease_s` seconds an attempt counts as over, whatever its process does. `outlives` is for
    a batch, which continues without its process and is collected later.
    """

    study: str
    model: str
    cap_usd: float
    lease_s: float
    outlives: bool = False


class Settlement(NamedTuple):
    """Settled lost attempts: Unix time, number, charge and cost in US dollars, and source."""

    at: float
    attempts: int
    charged: float
    usd: float
    source: str


class Attempt(NamedTuple):
    """A reservation: its id in the ledger, and its US dollars."""

    id: int
    worst_usd: float


class Ledger:
    """The ledger of one store. Threads can share it; each process opens its own.

    With `write=False` it is a copy of an existing one: changes are discarded, and the store can be
    read-only.
    """

    def __init__(self, folder: str | Path, *, write: bool = True) -> None:
        self.path = Path(folder) / LEDGER
        self._lock = RLock()
        self._begun: set[tuple[str, str]] = set()
        self._owner = (socket.gethostname(), os.getpid(), read_process_start(os.getpid()))
        try:
            self._file = open_ledger(self.path, write=write)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"{self.path}: the ledger cannot be opened: {reason_of(error)}"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def reserve(self, account: BudgetAccount, worst_usd: float) -> Attempt | None:
        """Reserve the worst case of one attempt, or return None if the cap does not allow it.

        If the model has once cost more than its worst case, its later worst cases are larger.
        """
        study, model, cap, lease, outlives = account
        now = time.time()
        with self._transaction() as run:
            cursor = run("SELECT excess FROM total WHERE study=? AND model=?", (study, model))
            row = cursor.fetchone()
            worst = _nano(worst_usd * (row[0] if row else 1.0))
            spent, unknown, reserved = self._sums(study)
            self._begin_month(study, spent + unknown)
            if unknown and spent + unknown + reserved + worst > int(cap * NANO):
                assess(run, study, now)
                spent, unknown, reserved = self._sums(study)
            if spent + unknown + reserved + worst > int(cap * NANO):
                return None
            owner = (None, None, None) if outlives else self._owner
            number = run(
                "INSERT INTO attempt(study, model, worst, host, pid, started, until, begun)"
                " VALUES(?,?,?,?,?,?,?,?)",
                (study, model, worst, *owner, now + lease, now),
            ).lastrowid
            self._live(now)
        assert number is not None
        return Attempt(number, worst / NANO)

    def settle(self, number: int, cost_usd: float | None, why: str | None = None) -> None:
        """Settle a finished attempt at its cost; None: unknown, charged as a lost one.

        `why` explains a lost one in `omibench budget show`. An unknown one can be settled later, by
        any process. Raises ValueError if the attempt was already settled or given back.
        """
        now = time.time()
        with self._transaction() as run:
            study, model, worst, begun, unknown = self._attempt(number)
            self._live(now)
            if cost_usd is None:
                lived = None if begun is None else classify_duration(now - begun)
                run(
                    "UPDATE attempt SET unknown=1, lived=COALESCE(lived, ?), why=COALESCE(?, why)"
                    " WHERE id=?", (lived, why, number),
                )  # fmt: skip
                assess(run, study, now)
                return
            cost = _nano(cost_usd)
            # More than the worst case means a wrong formula or price: later reservations are
            # larger.
            excess = cost / worst if cost > worst > 0 else 1.0
            run("DELETE FROM attempt WHERE id=?", (number,))
            self._book(study, model, cost, excess)
            if worst and begun is not None and not unknown:
                note_share(run, study, model, now - begun, min(1.0, cost / worst))
            if run(
                "SELECT 1 FROM attempt WHERE study=? AND unknown=1 LIMIT 1", (study,)
            ).fetchone():
                assess(run, study, now)

    def give_back(self, number: int) -> None:
        """Give back an attempt that was certainly not billed. Raises as `settle` does."""
        with self._transaction() as run:
            self._attempt(number)
            run("DELETE FROM attempt WHERE id=?", (number,))
            self._live(time.time())

    def beat(self) -> None:
        """Note that this process is alive, so that the time of a kill is known approximately."""
        with self._transaction():
            self._live(time.time())

    def spending(self, study: str) -> Spending:
        """Return a study's spending; reservations of killed processes count as unknown."""
        with self._transaction() as run:
            self._bury(study)
            assess(run, study, time.time())
            spent, unknown, reserved = self._sums(study)
        return Spending(spent / NANO, unknown / NANO, reserved / NANO)

    def list_losses(self, study: str) -> list[Loss]:
        """List the attempts of a study with an unknown outcome, by model and reason."""
        with self._transaction() as run:
            return losses(run, study, NANO)

    def find_loss_times(self, study: str, models: Collection[str]) -> tuple[float, float] | None:
        """Return the start of the first and last lost attempt of models (Unix time), or None."""
        with self._transaction() as run:
            self._bury(study)
            rows = run("SELECT model, begun FROM attempt WHERE study=? AND unknown=1", (study,))
            begun = [row[1] or 0.0 for row in rows.fetchall() if row[0] in models]
        return (min(begun), max(begun)) if begun else None

    def spent_on_days(self, study: str, models: Collection[str], first: int, last: int) -> float:
        """Return the US dollars spent on models in a range of days (days since 1970, UTC).

        Amounts entered by an earlier version are not included.
        """
        with self._transaction() as run:
            rows = run(
                "SELECT model, spent FROM day WHERE study=? AND day BETWEEN ? AND ?",
                (study, first, last),
            )
            spent: int = sum(spent for model, spent in rows.fetchall() if model in models)
        return spent / NANO

    def spent_by_month(self, study: str) -> dict[tuple[str, str], float]:
        """Return the US dollars of settled requests by month (UTC) and model, oldest first.

        Amounts entered by an earlier version are not included, nor are settled lost requests.
        """
        with self._transaction() as run:
            rows = run(
                "SELECT strftime('%Y-%m', day * 86400, 'unixepoch') AS month, model, SUM(spent)"
                " FROM day WHERE study=? GROUP BY month, model ORDER BY month, model", (study,),
            ).fetchall()  # fmt: skip
        return {(month, model): spent / NANO for month, model, spent in rows}

    def settlements(self, study: str) -> list[Settlement]:
        """List the manual and exported settlements, oldest first."""
        with self._transaction() as run:
            rows = run(
                "SELECT at, attempts, charged, usd, source FROM settlement WHERE study=?"
                " ORDER BY at", (study,),
            ).fetchall()  # fmt: skip
        return [
            Settlement(at, n, was / NANO, usd / NANO, source) for at, n, was, usd, source in rows
        ]

    def write_off(
        self,
        study: str,
        models: Collection[str] | None,
        usd: float,
        source: str,
        until: float | None = None,
    ) -> Loss:
        """Settle the lost attempts of a study, or of some of its models, at `usd` in total.

        `source` is stored with the amount. `until` excludes attempts that began later (Unix time).
        Returns the previous charge. Raises ValueError if there are none.
        """
        with self._transaction() as run:
            self._bury(study)
            assess(run, study, time.time())
            rows = run(
                "SELECT a.id, a.model, a.worst, a.worst * CASE WHEN a.lived IS NULL THEN 1.0"
                " ELSE COALESCE(c.share, 1.0) END FROM attempt a LEFT JOIN charge c"
                " ON c.study=a.study AND c.model=a.model WHERE a.study=? AND a.unknown=1"
                " AND (? IS NULL OR COALESCE(a.begun, 0)<=?)", (study, until, until),
            ).fetchall()  # fmt: skip
            attempts = [row for row in rows if models is None or row[1] in models]
            if not attempts:
                raise ValueError("no attempt has an unknown outcome")
            worst, charged = sum(row[2] for row in attempts), ceil(sum(row[3] for row in attempts))
            self._file.executemany(
                "DELETE FROM attempt WHERE id=?", [(row[0],) for row in attempts]
            )
            cost = _nano(usd)
            for name in {row[1] for row in attempts}:
                worst_cases = [row[2] for row in attempts if row[1] == name]
                share = sum(worst_cases) / worst if worst else len(worst_cases) / len(attempts)
                self._book(study, name, ceil(cost * share), lost=len(worst_cases))
            run(
                "INSERT INTO settlement VALUES(?,?,?,?,?,?)",
                (study, time.time(), len(attempts), charged, cost, source),
            )
        return Loss("", source, len(attempts), charged / NANO, worst / NANO)

    def sum_spending(self, study: str, month: str) -> float:
        """Return the US dollars committed since a study's first attempt of a month (`2026-11`).

        0 if it made none in that month. Calls in flight at the start of the month count in both.
        """
        with self._transaction() as run:
            self._bury(study)
            assess(run, study, time.time())
            cursor = run("SELECT before FROM month WHERE study=? AND month=?", (study, month))
            row = cursor.fetchone()
            committed = sum(self._sums(study))
        return max(0, committed - row[0]) / NANO if row else 0.0

    def _book(self, study: str, model: str, cost: int, excess: float = 1.0, lost: int = 0) -> None:
        self._file.execute(
            "INSERT INTO total(study, model, spent, attempts, excess) VALUES(?,?,?,?,?)"
            " ON CONFLICT DO UPDATE SET spent=spent+excluded.spent,"
            " attempts=attempts+excluded.attempts, excess=excess*excluded.excess",
            (study, model, cost, lost or 1, excess),
        )
        if lost:
            return  # it was spent on another, unknown day
        self._file.execute(
            "INSERT INTO day VALUES(?,?,?,?) ON CONFLICT DO UPDATE SET spent=spent+excluded.spent",
            (study, model, int(time.time() // 86400), cost),
        )

    def _live(self, now: float) -> None:
        sql = "INSERT INTO worker VALUES(?,?,?,?) ON CONFLICT DO UPDATE SET last=excluded.last"
        self._file.execute(sql, (*self._owner, now))

    def _begin_month(self, study: str, before: int) -> None:
        began = (study, format_month(time.time()))
        if began not in self._begun:
            sql = "INSERT OR IGNORE INTO month(study, month, before) VALUES(?,?,?)"
            self._file.execute(sql, (*began, before))
            self._begun.add(began)

    def _sums(self, study: str) -> tuple[int, int, int]:
        run = self._file.execute
        total = run("SELECT COALESCE(SUM(spent), 0) FROM total WHERE study=?", (study,))
        (spent,) = total.fetchone()
        unknown = sum(row[4] for row in run(CHARGED, (study,)).fetchall())
        open_ = "SELECT COALESCE(SUM(worst), 0) FROM attempt WHERE study=? AND unknown=0"
        (reserved,) = run(open_, (study,)).fetchone()
        return spent, ceil(unknown), reserved

    def _attempt(self, number: int) -> tuple[str, str, int, float | None, int]:
        row: tuple[str, str, int, float | None, int] | None = self._file.execute(
            "SELECT study, model, worst, begun, unknown FROM attempt WHERE id=?", (number,)
        ).fetchone()
        if row is None:
            raise ValueError(f"attempt {number} was already settled or given back")
        return row

    def _bury(self, study: str) -> None:
        """Mark reservations of killed processes as lost: possibly billed, so they stay counted."""
        rows = self._file.execute(
            "SELECT id, host, pid, started, until, begun FROM attempt WHERE study=? AND unknown=0",
            (study,),
        ).fetchall()
        now = time.time()
        for number, host, pid, started, until, begun in rows:
            if self._lives(host, pid, started, until, now=now):
                continue
            owner = (host, pid, started)
            worker = self._file.execute(
                "SELECT last FROM worker WHERE host IS ? AND pid IS ? AND started IS ?", owner
            ).fetchone()
            # It was killed soon after its last sign of life; without one, it counts as long-lived.
            died = worker[0] if worker else until
            lived = None if begun is None else classify_duration(died - begun)
            self._file.execute(
                "UPDATE attempt SET unknown=1, why=?, lived=? WHERE id=?", (KILLED, lived, number)
            )

    def _lives(
        self, host: str | None, pid: int | None, started: str | None, until: float, *, now: float
    ) -> bool:
        if host == self._owner[0] and pid is not None and read_process_start(pid) != started:
            return False
        return now < until

    @contextmanager
    def _transaction(self) -> Iterator[Callable[..., sqlite3.Cursor]]:
        with self._lock:
            try:
                self._file.execute("BEGIN IMMEDIATE")
                try:
                    yield self._file.execute
                except BaseException:
                    self._file.execute("ROLLBACK")
                    raise
                self._file.execute("COMMIT")
            except sqlite3.Error as error:
                raise StoreError(f"{self.path}: the ledger cannot be used: {error}") from None


def format_month(now: float) -> str:
    """Return the calendar month (UTC) of a Unix time: `2026-11`."""
    return time.strftime("%Y-%m", time.gmtime(now))


def _nano(usd: float) -> int:
    return ceil(usd * NANO)
