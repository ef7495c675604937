"""Counts over the files of cells, from a few columns of each, read once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

FileState = tuple[int, int]


@dataclass
class FileCounts:
    """One file of responses or verdicts: rows by (scorer, outcome), dollars, simulation.

    The scorer of responses is empty.
    """

    rows: Counter[tuple[str, str]] = field(default_factory=Counter)
    usd: float | None = None
    simulated: bool = False

    @property
    def outcomes(self) -> dict[str, int]:
        """Rows by outcome, over all scorers."""
        counts: Counter[str] = Counter()
        for (_, outcome), count in self.rows.items():
            counts[outcome] += count
        return dict(counts)

    def count_outcome(self, outcome: str) -> int:
        """Count the rows of one outcome."""
        return sum(count for (_, row_outcome), count in self.rows.items() if row_outcome == outcome)


class WrittenCells:
    """The counts of files; a file is read again if its size or modification time changes."""

    def __init__(self) -> None:
        self._cache: dict[Path, tuple[FileState, FileCounts]] = {}

    def read(self, paths: Iterable[Path]) -> dict[Path, FileCounts]:
        """Read the counts of existing files. A file can vanish or change in the meantime."""
        states = {path: state for path in paths if (state := _read_state(path)) is not None}
        stale = [p for p, state in states.items() if self._cache.get(p, (None,))[0] != state]
        for path, written in _count_rows(stale).items():
            self._cache[path] = (states[path], written)
        entries = ((path, self._cache.get(path)) for path in states)
        return {path: k[1] for path, k in entries if k is not None and k[0] == states[path]}


def _read_state(path: Path) -> FileState | None:
    try:
        file_stat = path.stat()
    except OSError:
        return None
    return file_stat.st_size, file_stat.st_mtime_ns


def _count_rows(paths: Sequence[Path]) -> dict[Path, FileCounts]:
    import polars as pl

    if not paths:
        return {}
    try:
        return _scan(paths)
    except (OSError, pl.exceptions.PolarsError):
        # One of them was removed or is damaged; only that one is skipped.
        if len(paths) == 1:
            return {}
        half = len(paths) // 2
        return _count_rows(paths[:half]) | _count_rows(paths[half:])


def _scan(paths: Sequence[Path]) -> dict[Path, FileCounts]:
    import polars as pl

    responses = [path for path in paths if path.parents[1].name == "infer"]
    verdicts = [path for path in paths if path.parents[1].name != "infer"]
    frames = []
    if responses:
        frames.append(_groups(responses, pl.lit(""), pl.col("cost_usd")))
    if verdicts:
        frames.append(_groups(verdicts, pl.col("rules"), pl.lit(None, pl.Float64)))
    counts: dict[Path, FileCounts] = {path: FileCounts() for path in paths}
    for path, rules, outcome, count, usd, priced_rows, simulated in pl.concat(frames).iter_rows():
        written = counts[Path(path)]
        written.rows[rules, outcome] += count
        written.simulated |= bool(simulated)
        if priced_rows:
            written.usd = (written.usd or 0.0) + usd
    return counts


def _groups(paths: Sequence[Path], rules: pl.Expr, usd: pl.Expr) -> pl.DataFrame:
    import polars as pl

    return (
        pl.scan_parquet(list(paths), include_file_paths="path", glob=False)
        .select("path", "outcome", "simulated", rules=rules, usd=usd)
        .group_by("path", "rules", "outcome")
        .agg(
            count=pl.len().cast(pl.Int64),
            usd=pl.col("usd").sum(),
            told=pl.col("usd").count().cast(pl.Int64),
            simulated=pl.col("simulated").any(),
        )
        .collect()
    )
