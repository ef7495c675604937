"""A folder for a static host: the report without pages of single responses, and its numbers."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from omibench.errors import MissingInputError, OutputError, reason_of
from omibench.files.outputs import made_folder, replace_atomically, unmark_formula
from omibench.files.reading import read_csv
from omibench.papers.export.folder import StudyTables
from omibench.schemas.certificate import Leaderboard, LeaderboardRow
from omibench.schemas.tables import write_json, write_text

if TYPE_CHECKING:
    import polars as pl

BOARD: Final = "board.json"
INDEX: Final = "index.html"
_PATTERNS: Final = (
    "*.csv", "metrics.json", "tables/*.csv", "tables/*.parquet",
    "figures/*.svg", "figures/*.vl.json",
)  # fmt: skip
_FOLDERS: Final = ("tables", "figures")
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
    main = results / "analyze" / "main.csv"
    if not main.is_file():
        raise MissingInputError(f"{main}: does not exist; run `omibench analyze` first")
    ranks = _index_ranks(tables.table("ranks")) if "ranks" in tables.names else {}
    rows = [{key: unmark_formula(value) for key, value in row.items()} for row in read_csv(main)]
    return Leaderboard(
        dataset=tables.dataset,
        partial=rows[0].get("partial", "") if rows else "",
        rows=[_describe_row(row, ranks) for row in rows],
    )


def remove_responses(page: str) -> str:
    """Return the report without links to single responses.

    Args:
        page: The HTML of a report, with all third-party text escaped.
    """
    return _LINK.sub(r"\1", _PARAGRAPH.sub("", page))


def _index_ranks(table: pl.DataFrame) -> dict[tuple[str, str, str], tuple[int, int, int]]:
    columns = ("model", "setting", "rules", "estimate", "low", "high")
    rows = table.filter(table["metric"] == "rank").select(columns).iter_rows()
    return {
        (model, setting, rules): (round(rank), round(low), round(high))
        for model, setting, rules, rank, low, high in rows
    }


def _describe_row(
    row: dict[str, str], ranks: dict[tuple[str, str, str], tuple[int, int, int]]
) -> LeaderboardRow:
    is_total = row["subject"] == "total"
    key = (row["model"], row["setting"], row["rules"])
    rank, low, high = ranks.get(key, (None,) * 3) if is_total else (None,) * 3
    return LeaderboardRow(
        **{name: row[name] for name in ("model", "label", "group", "setting", "rules", "subject")},
        n=int(row["n"]),
        estimate=float(row["acc"]),
        low=float(row["lo"]),
        high=float(row["hi"]),
        simulated="true" in (row["simulated"], row["judge_simulated"]),
        rank=rank,
        rank_low=low,
        rank_high=high,
    )


def _list_files(folder: Path) -> Iterator[Path]:
    return (path.relative_to(folder) for pattern in _PATTERNS for path in folder.glob(pattern))
