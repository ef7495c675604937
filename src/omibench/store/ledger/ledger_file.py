"""The SQLite file of a ledger: its tables, opening it, and copying it for reading.

It uses a rollback journal: write-ahead logging needs memory shared by all writers and breaks on
network disks, even if one host has the disk locally. The journal is kept between transactions,
which saves an fsync: an attempt costs 0.7 ms of CPU, and 1 ms of wall time on a quiet local disk
but 30 ms if other processes sync constantly. It survives a power cut.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from omibench.files.modes import make_folder, open_new
from omibench.store.ledger.lost_attempts import TABLES, add_columns

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
