"""A folder for a static host: the report without pages of single responses, and its numbers."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import polars as pl

from omibench.errors import MissingInputError, OutputError, reason_of
from omibench.files.outputs import made_folder, replace_atomically
from omibench.papers.export.folder import StudyTables
from omibench.papers.export.wide_tables import Labels
from omibench.schemas.certificate import Leaderboard, LeaderboardRow
from omibench.schemas.tables import write_json, write_text

BOARD: Final = "board.json"
INDEX: Final = "index.html"
_PATTERNS: Final = (
    "*.csv", "metrics.json", "tables/*.csv", "tables/*.parquet",
    "figures/*.svg", "figures/*.vl.json",
)  # fmt: skip
_FOLDERS: Final = ("tables", "figures")
_CELL: Final = ("model", "setting", "rules")
_LINK: Final = re.compile(r'<a href="explorer/[^"]*">(.*?)</a>', re.DOTALL)
_PARAGRAPH: Final = re.compile(
    r'<(p|details) class="[^"]*\bresponses\b[^"]*">.*?</\1>\n?', re.DOTALL
)


def publish_study(results: Path, out: Path) -> Leaderboard:
    """Write a study's report and numbers into a folder for a static host.

    Responses, gold answers and pictures of problems are excluded. Tables and figures of an earlier
    publication that the study no longer has are removed.

    Args:
        results: Results folder of an analyzed study.
        out: Output folder: `index.html`, `board.json` with `board.schema.json`, tables and figures.

    Returns:
        The content of `board.json`.

    Raises:
        MissingInputError: The results contain no report, or no tables.
        FileFormatError: A table cannot be read.
        OutputError: The folder cannot be written, or contains an unrelated `index.html`.
    """
    board = read_leaderboard(results)
    report = results / "analyze" / "report.html"
    if not report.is_file():
        raise MissingInputError(
            f"{report}: does not exist, so there is no report to publish; run `omibench analyze` "
            "first"
        )
    names = set(_list_files(results / "analyze"))
    if not (out / BOARD).is_file():
        _refuse_others_files(out, names)
    made_folder(out)
    try:
        for name in sorted(names):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            with replace_atomically(out / name) as partial:
                shutil.copyfile(results / "analyze" / name, partial)
        for name in set(_list_files(out)) - names:
            if name.parts[0] in _FOLDERS:
                (out / name).unlink()
        write_json(out / "board.schema.json", Leaderboard.model_json_schema())
        write_json(out / BOARD, board)
        write_text(out / INDEX, remove_responses(report.read_text("utf-8")))
    except OSError as error:
        raise OutputError(f"{out}: cannot be written: {reason_of(error, True)}") from None
    return board


def _refuse_others_files(out: Path, names: Iterable[Path]) -> None:
    """Raise OutputError if a first publication would overwrite other files."""
    paths = [Path(INDEX), *map(Path, _FOLDERS), *sorted(names)]
    taken = next((path for path in paths if (out / path).exists()), None)
    if taken is not None:
        raise OutputError(
            f"{out / taken}: exists, but {BOARD} does not; give an empty folder, or one that was "
            "published before"
        )


def read_leaderboard(results: Path) -> Leaderboard:
    """Return the leaderboard of an analyzed study.

    Args:
        results: Its results folder.

    Raises:
        MissingInputError: It contains no tables.
        FileFormatError: A table cannot be read.
    """
    tables = StudyTables(results)
    if "accuracy" not in tables.names:
        raise MissingInputError(
            f"{tables.folder / 'accuracy.parquet'}: does not exist; run `omibench analyze` first"
        )
    totals = tables.table("accuracy").with_columns(slice=pl.lit("subject"), value=pl.lit("total"))
    parts = [totals, tables.table("slices")] if "slices" in tables.names else [totals]
    is_accuracy = pl.col("metric").is_in(["accuracy", "gptscore"])
    cells = totals.filter(is_accuracy).select(_CELL)
    rows = pl.concat(parts, how="diagonal").filter(is_accuracy, slice="subject")
    ranks = _index_ranks(tables.table("ranks")) if "ranks" in tables.names else {}
    return Leaderboard(
        dataset=tables.dataset,
        partial=totals["partial"][0] if "partial" in totals.columns else "",
        rows=[
            _describe_row(row, tables.labels, ranks)
            for row in cells.join(rows, on=_CELL, maintain_order="left_right").to_dicts()
        ],
    )


def remove_responses(page: str) -> str:
    """Return the report without links to single responses.

    Args:
        page: The HTML of a report, with all third-party text escaped.
    """
    return _LINK.sub(r"\1", _PARAGRAPH.sub("", page))


def _index_ranks(table: pl.DataFrame) -> dict[tuple[str, str, str], tuple[int, int, int]]:
    columns = (*_CELL, "estimate", "low", "high")
    rows = table.filter(table["metric"] == "rank").select(columns).iter_rows()
    return {
        (model, setting, rules): (round(rank), round(low), round(high))
        for model, setting, rules, rank, low, high in rows
    }


def _describe_row(
    row: dict[str, Any], labels: Labels, ranks: dict[tuple[str, str, str], tuple[int, int, int]]
) -> LeaderboardRow:
    key = (row["model"], row["setting"], row["rules"])
    rank, low, high = ranks.get(key, (None,) * 3) if row["value"] == "total" else (None,) * 3
    numbers = ("model", "setting", "rules", "n", "estimate", "low", "high", "simulated")
    return LeaderboardRow(
        **{name: row[name] for name in numbers},
        label=labels.models.get(row["model"], ""),
        group=labels.groups.get(row["model"], ""),
        subject=row["value"],
        rank=rank,
        rank_low=low,
        rank_high=high,
    )


def _list_files(folder: Path) -> Iterator[Path]:
    return (path.relative_to(folder) for pattern in _PATTERNS for path in folder.glob(pattern))
