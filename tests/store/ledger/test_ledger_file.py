"""The file of a ledger is made and extended once, however many processes open it at a time."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from omibench.store.ledger import COLUMNS, add_columns, open_ledger


class Overtaken:
    """A connection during whose first look another process opens the same ledger."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = sqlite3.connect(path, isolation_level=None)
        self.looks = 0

    def run(self, statement: str) -> sqlite3.Cursor:
        if not statement.startswith("PRAGMA"):
            return self.file.execute(statement)
        self.looks += 1
        if self.looks > 1:
            return self.file.execute(statement)
        copy = sqlite3.connect(":memory:")
        self.file.backup(copy)
        open_ledger(self.path, write=True).close()
        return copy.execute(statement)


def test_columns_that_another_process_adds_meanwhile_are_not_added_again(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    with sqlite3.connect(path) as earlier:
        earlier.execute("CREATE TABLE attempt(id INTEGER PRIMARY KEY, study TEXT)")
    slow = Overtaken(path)
    add_columns(slow.run)
    assert slow.looks == 2
    rows = slow.file.execute("PRAGMA table_info(attempt)").fetchall()
    assert [row[1] for row in rows] == ["id", "study", *COLUMNS]
    assert not slow.file.in_transaction, "others may write"
    slow.file.close()
