"""The ledger: what each study of a store has spent, and what is reserved for attempts in flight.

One SQLite file beside the partitions, whoever sends. An attempt is in it before it is sent, at its
worst case, and stays until it is known what it cost; the sum of both never passes the cap. A
process that dies leaves its reservations behind: they may have been paid, so they stay counted,
as `unknown`, and are never given back. Deaths thus cannot break the cap, and telling the dead from
the living decides only whether it is worth waiting for a reservation to become cheaper.

The journal is a rollback journal: write-ahead logging needs memory shared by all writers and
breaks on network disks, also where one host has the same disk as its own. It is kept between
transactions, which saves an fsync: an attempt costs 0.7 ms of CPU, and 1 ms of wall time on a quiet
local disk but 30 ms beside others who sync all the time. It survives a power cut.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from threading import RLock
from typing import NamedTuple, Self

from omibench.errors import StoreError, reason_of
from omibench.modes import make_folder, open_new
from omibench.store.process import started_at

LEDGER = "ledger.sqlite3"
NANO = 1_000_000_000
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


class Account(NamedTuple):
    """US dollars of a study: known to be spent, possibly paid, and reserved for what is in flight.

    `unknown` is the worst case of the attempts whose outcome was never learned.
    """

    spent: float
    unknown: float
    reserved: float

    @property
    def committed(self) -> float:
        """What a cap must hold: all three."""
        return self.spent + self.unknown + self.reserved


class Purse(NamedTuple):
    """Whose dollars an attempt takes: a study's, up to its cap, for one of its models.

    After `lease_s` seconds an attempt counts as over, whatever its process does. `outlives` is for
    what goes on without its process: a batch, which a later one collects.
    """

    study: str
    model: str
    cap_usd: float
    lease_s: float
    outlives: bool = False


class Attempt(NamedTuple):
    """A reservation: its number in the ledger, and the US dollars that it holds."""

    id: int
    worst_usd: float


class Ledger:
    """The ledger of one store. Threads may share it; processes open their own."""

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / LEDGER
        self._lock = RLock()
        self._begun: set[tuple[str, str]] = set()
        self._owner = (socket.gethostname(), os.getpid(), started_at(os.getpid()))
        try:
            make_folder(self.path.parent)
            os.close(open_new(self.path, os.O_RDWR))  # SQLite gives its journal the same mode
            # Reservations are made where requests are sent, perhaps in another thread.
            self._file = sqlite3.connect(
                self.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
            )
            self._file.execute("PRAGMA journal_mode=PERSIST")
            self._file.execute("PRAGMA synchronous=FULL")
            self._file.executescript(_TABLES)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"{self.path}: the ledger cannot be opened: {reason_of(error)}"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def reserve(self, purse: Purse, worst_usd: float) -> Attempt | None:
        """Reserve the worst case of one attempt, or None when the cap does not hold it.

        Where the model has once cost more than its worst case, its worst cases are larger from
        then on.
        """
        study, model, cap, lease, outlives = purse
        with self._transaction() as run:
            known = run("SELECT excess FROM total WHERE study=? AND model=?", (study, model))
            row = known.fetchone()
            worst = _nano(worst_usd * (row[0] if row else 1.0))
            spent, unknown, reserved = self._sums(study)
            self._begin_month(study, spent + unknown)
            if spent + unknown + reserved + worst > int(cap * NANO):
                return None
            owner = (None, None, None) if outlives else self._owner
            number = run(
                "INSERT INTO attempt(study, model, worst, host, pid, started, until)"
                " VALUES(?,?,?,?,?,?,?)",
                (study, model, worst, *owner, time.time() + lease),
            ).lastrowid
        assert number is not None
        return Attempt(number, worst / NANO)

    def settle(self, number: int, cost_usd: float | None) -> None:
        """An attempt is over and cost so much; None: unknown, and its worst case stays counted.

        What was unknown may be settled later, by any process. Raises ValueError when the attempt
        was settled or given back before.
        """
        with self._transaction() as run:
            study, model, worst = self._attempt(number)
            if cost_usd is None:
                run("UPDATE attempt SET unknown=1 WHERE id=?", (number,))
                return
            cost = _nano(cost_usd)
            # More than the worst case is a wrong formula or price: the next are reserved dearer.
            excess = cost / worst if cost > worst > 0 else 1.0
            run("DELETE FROM attempt WHERE id=?", (number,))
            run(
                "INSERT INTO total(study, model, spent, attempts, excess) VALUES(?,?,?,1,?)"
                " ON CONFLICT DO UPDATE SET spent=spent+excluded.spent, attempts=attempts+1,"
                " excess=excess*excluded.excess", (study, model, cost, excess),
            )  # fmt: skip

    def give_back(self, number: int) -> None:
        """An attempt was certainly not paid. Raises as `settle` does."""
        with self._transaction() as run:
            self._attempt(number)
            run("DELETE FROM attempt WHERE id=?", (number,))

    def account(self, study: str) -> Account:
        """What a study has spent and reserved, the reservations of the dead among the unknown."""
        with self._transaction():
            self._bury(study)
            spent, unknown, reserved = self._sums(study)
        return Account(spent / NANO, unknown / NANO, reserved / NANO)

    def spent_since(self, study: str, month: str) -> float:
        """US dollars that a study has committed since the first attempt of a month (`2026-11`).

        0 when it made none in that month. What was in flight when the month began counts in both.
        """
        with self._transaction() as run:
            self._bury(study)
            found = run("SELECT before FROM month WHERE study=? AND month=?", (study, month))
            row = found.fetchone()
            committed = sum(self._sums(study))
        return max(0, committed - row[0]) / NANO if row else 0.0

    def _begin_month(self, study: str, before: int) -> None:
        began = (study, month_of(time.time()))
        if began not in self._begun:
            sql = "INSERT OR IGNORE INTO month(study, month, before) VALUES(?,?,?)"
            self._file.execute(sql, (*began, before))
            self._begun.add(began)

    def _sums(self, study: str) -> tuple[int, int, int]:
        run = self._file.execute
        total = run("SELECT COALESCE(SUM(spent), 0) FROM total WHERE study=?", (study,))
        (spent,) = total.fetchone()
        open_ = "SELECT unknown, SUM(worst) FROM attempt WHERE study=? GROUP BY unknown"
        by_state = dict(run(open_, (study,)).fetchall())
        return spent, by_state.get(1, 0), by_state.get(0, 0)

    def _attempt(self, number: int) -> tuple[str, str, int]:
        row: tuple[str, str, int] | None = self._file.execute(
            "SELECT study, model, worst FROM attempt WHERE id=?", (number,)
        ).fetchone()
        if row is None:
            raise ValueError(f"attempt {number} was settled or given back before")
        return row

    def _bury(self, study: str) -> None:
        """Mark what the dead have left: it may have been paid, so it stays counted."""
        rows = self._file.execute(
            "SELECT id, host, pid, started, until FROM attempt WHERE study=? AND unknown=0",
            (study,),
        ).fetchall()
        now = time.time()
        dead = [(r[0],) for r in rows if not self._lives(*r[1:], now=now)]
        self._file.executemany("UPDATE attempt SET unknown=1 WHERE id=?", dead)

    def _lives(
        self, host: str | None, pid: int | None, started: str | None, until: float, *, now: float
    ) -> bool:
        if host == self._owner[0] and pid is not None and started_at(pid) != started:
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


def month_of(now: float) -> str:
    """The calendar month (UTC) of a Unix time: `2026-11`."""
    return time.strftime("%Y-%m", time.gmtime(now))


def _nano(usd: float) -> int:
    return ceil(usd * NANO)
