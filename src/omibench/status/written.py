"""Counts over the files of cells: a few columns of each, read together and only once."""

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
class Written:
    """One file of responses or verdicts: rows by (rule book, outcome), dollars, simulation.

    Responses have no rule book: it is empty.
    """

    rows: Counter[tuple[str, str]] = field(default_factory=Counter)
    usd: float | None = None
    simulated: bool = False

    @property
    def outcomes(self) -> dict[str, int]:
        """Rows by outcome, whatever the rule book."""
        found: Counter[str] = Counter()
        for (_, outcome), count in self.rows.items():
            found[outcome] += count
        return dict(found)

    def with_outcome(self, outcome: str) -> int:
        """Rows of one outcome."""
        return sum(count for (_, found), count in self.rows.items() if found == outcome)


class WrittenCells:
    """The counts of files; a file is read again when its size or time of change is another."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[FileState, Written]] = {}

    def read(self, paths: Iterable[Path]) -> dict[Path, Written]:
        """Those files that are there and can be read. A file may vanish or change meanwhile."""
        states = {path: state for path in paths if (state := _state(path)) is not None}
        stale = [p for p, state in states.items() if self._known.get(p, (None,))[0] != state]
        for path, written in _counted(stale).items():
            self._known[path] = (states[path], written)
        known = ((path, self._known.get(path)) for path in states)
        return {path: k[1] for path, k in known if k is not None and k[0] == states[path]}


def _state(path: Path) -> FileState | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _counted(paths: Sequence[Path]) -> dict[Path, Written]:
    import polars as pl

    if not paths:
        return {}
    try:
        return _scan(paths)
    except (OSError, pl.exceptions.PolarsError):
        # One of them was removed or is damaged: only that one is left out.
        if len(paths) == 1:
            return {}
        half = len(paths) // 2
        return _counted(paths[:half]) | _counted(paths[half:])


def _scan(paths: Sequence[Path]) -> dict[Path, Written]:
    import polars as pl

    responses = [path for path in paths if path.parents[1].name == "infer"]
    verdicts = [path for path in paths if path.parents[1].name != "infer"]
    frames = []
    if responses:
        frames.append(_groups(responses, pl.lit(""), pl.col("cost_usd")))
    if verdicts:
        frames.append(_groups(verdicts, pl.col("rules"), pl.lit(None, pl.Float64)))
    found: dict[Path, Written] = {path: Written() for path in paths}
    for path, rules, outcome, count, usd, told, simulated in pl.concat(frames).iter_rows():
        written = found[Path(path)]
        written.rows[rules, outcome] += count
        written.simulated |= bool(simulated)
        if told:
            written.usd = (written.usd or 0.0) + usd
    return found


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
