"""Requests and replies of a response as stored."""

from __future__ import annotations

import re
import threading
from typing import Any, Final

import polars as pl

from omibench.errors import MissingInputError
from omibench.explore.app.live import Snapshot
from omibench.explore.run import Run
from omibench.params.cell import Cell
from omibench.stages.analyze.explorer.sent import describe_sent

_KEY: Final = re.compile(r"[0-9a-f]{64}")
_STORE: Final = threading.Lock()
"""Requests read files of the store one at a time."""
Values = dict[str, Any]


def find_sent(snapshot: Snapshot, key: str) -> Values:
    """Return the messages of a request, and the previous steps, as `describe_sent`.

    Args:
        snapshot: The study.
        key: The key of the request in the store: of a response, a step or a judgement.

    Raises:
        MissingInputError: The text is not a key.
    """
    if not _KEY.fullmatch(key):
        raise MissingInputError(f"request {key[:80]!r} not found")
    run = snapshot.study.run
    rows = run.responses.filter(key=key) if run else None
    row = rows.row(0, named=True) if rows is not None and rows.height else None
    question = snapshot.study.items.questions.get(row["id"]) if row else None
    images = [figure.sha256 for figure in question.images] if question else []
    with _STORE:
        steps = _read_steps(run, Cell(row["model"], row["setting"]), key) if run and row else []
        return describe_sent(snapshot.trail, key, steps, images, snapshot.pictures.link)


def _read_steps(run: Run, cell: Cell, key: str) -> list[str]:
    """Return the keys of the requests that led to a response, in order."""
    path = run.files.locate("infer", cell)
    if "steps" not in pl.read_parquet_schema(path):
        return []
    rows = pl.scan_parquet(path, glob=False).filter(pl.col("key") == key).select("steps").collect()
    return [str(step) for step in rows["steps"].to_list()[0] or []] if rows.height else []
