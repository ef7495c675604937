"""Tables that papers print, read as they print them.

Five layouts are known: `<subject>_acc` / `<subject>_gptscore` (OMIBench, table 2; the same with
`local` and `national` and with pass@5 and consistency@5: USNCO-V, tables 1 and 2),
`<dataset>_<subject>` (EMMA, table 2), `strict_<category>` / `loose_<category>` (MathReal, table
2), a column a setting (MathReal, table 7) and `real` beside `clean` (table 8); all in per cent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.errors import FileFormatError, OmibenchError
from omibench.files.intake import read_csv
from omibench.stages.analyze.tables.accuracy import TOTAL

ACC, GPTSCORE, STRICT, PASS5, CONS5 = "acc", "gptscore", "strict", "pass5", "cons5"
METRICS = (ACC, GPTSCORE, STRICT, PASS5, CONS5)
AVERAGE = "average"
"""The mean of the values of the parts before it in the row, each weighing the same."""
_KEYS = ("model", "strategy", "group", "ocr_acc")
_BOUND = re.compile(r".+_ci_(?:low|high)")
_PARTS = {
    "math": "mathematics", "overall": TOTAL, "avg": TOTAL, "PG": "plane geometry",
    "SG": "solid geometry", "LR": "logical reasoning", "FG": "function graphs",
    "SC": "statistical charts",
}  # fmt: skip
SIZES: dict[str, dict[str, int]] = {
    "emma": {"mathematics": 892, "physics": 156, "chemistry": 1176, "coding": 564, TOTAL: 2788},
    "emma_mini": {"mathematics": 100, "physics": 100, "chemistry": 100, "coding": 100, TOTAL: 400},
    "usnco_v": {"local": 204, "national": 269},
    "mathreal": {TOTAL: 480, "real": 175, "clean": 175},
}
"""Problems of a printed dataset, where a table tells which it is (EMMA, tables 1 and 2; USNCO-V,
table 3; MathReal, testmini, and those of it that have both pictures)."""
_SETTINGS = {"usnco_v": ("zero-shot",), "mathreal": ("i", "qg-dg")}
"""USNCO-V, tables 1 and 2; MathReal, table 2: the photograph, to models without sight the texts."""
_RUNS = ("zero-shot-5",)
"""USNCO-V, table 1: five runs, for pass@5."""
_SIX = {"I", "IUER", "I+QM", "I+QG", "I+QM+DM", "I+QG+DG"}
_PAIR = ("real", "clean")
"""The columns of MathReal, table 8, beside `delta`: Acc under I over the problems with both."""
Columns = dict[str, tuple[str, str]]
"""Column -> the part of the problems and the metric."""


class Printed(NamedTuple):
    """One printed row: (part, metric) -> per cent.

    A part is a subject, another part of the dataset, the `total` or the `average` of the parts.
    `sizes` is how many problems each part of the printed dataset has, where that is known, and
    `digits` how many decimals the row prints. Of a table that names no strategy, `settings` are
    those of our ready-made study that it prints, where there is one. `loose` says that ACC counts
    the share of parts that are right (MathReal's Acc, loose accuracy: section 4).
    """

    model: str
    strategy: str
    group: str
    values: dict[tuple[str, str], float]
    sizes: dict[str, int]
    digits: int = 2
    file: str = ""
    settings: tuple[str, ...] = ()
    loose: bool = False


def read_tables(paths: Sequence[str], dataset: str, problems: int) -> list[Printed]:
    """The rows of several tables; raises as `read_published` does."""
    return [row for path in paths for row in read_published(path, dataset, problems)]


def read_published(path: str | Path, dataset: str, problems: int) -> list[Printed]:
    """Read the printed rows about `dataset` (its name), which holds `problems` problems.

    Raises MissingInputError when the file is not there, FileFormatError when it is no such table
    or when it cannot be told which of its datasets is meant.
    """
    try:
        rows = list(read_csv(path))
    except OmibenchError as error:
        raise type(error)(f"analyze.published: {error}") from None
    if not rows or "model" not in rows[0]:
        raise FileFormatError(f"{path}: is no table of results: it lacks the column 'model'")
    names = [c for c in rows[0] if c not in _KEYS and not _BOUND.fullmatch(c)]
    if set(names) == _SIX:
        return [printed_row for row in rows for printed_row in _split_by_setting(path, row, names)]
    if set(names) == {*_PAIR, "delta"}:
        pair = {name: (name, ACC) for name in _PAIR}
        printed_rows = [_read_row(path, row, pair, SIZES["mathreal"]) for row in rows]
        return [row._replace(settings=("i",), loose=True) for row in printed_rows]
    columns, meant = _value_columns(path, names, dataset, problems)
    five = any(metric == PASS5 for _, metric in columns.values())
    settings = _RUNS if five else _SETTINGS.get(meant, ())
    sizes = SIZES.get(meant, {})
    loose = any(metric == STRICT for _, metric in columns.values())
    printed_rows = [_read_row(path, row, columns, sizes) for row in rows]
    return [row._replace(settings=settings, loose=loose) for row in printed_rows]


def _split_by_setting(
    path: str | Path, row: dict[str, str], names: Sequence[str]
) -> Iterator[Printed]:
    for name in names:
        printed_row = _read_row(path, row, {name: (TOTAL, ACC)}, SIZES["mathreal"])
        yield printed_row._replace(strategy=name, loose=True)


def _read_row(
    path: str | Path, row: dict[str, str], columns: Columns, sizes: Mapping[str, int]
) -> Printed:
    filled = {name: key for name, key in columns.items() if row[name]}
    return Printed(
        model=row["model"],
        strategy=row.get("strategy") or "",
        group=row.get("group") or "",
        values={key: _number(path, row, name) for name, key in filled.items()},
        sizes=dict(sizes),
        digits=max((len(row[name].partition(".")[2]) for name in filled), default=2),
        file=Path(path).name,
    )


def _value_columns(
    path: str | Path, columns: Sequence[str], dataset: str, problems: int
) -> tuple[Columns, str]:
    by_metric = _read_metric_columns(columns)
    if by_metric:
        return by_metric
    parts = {c: c.rsplit("_", 1) for c in columns}
    datasets = list(dict.fromkeys(p[0] for p in parts.values()))
    meant = _which_dataset(datasets, dataset.lower().replace("-", "_"), problems)
    if meant is None:
        raise FileFormatError(
            f"{path}: prints results on {', '.join(datasets)}, but the frozen dataset is called "
            f"{dataset!r}; set freeze.name to the one that it is"
        )
    return {c: (_PARTS.get(p[1], p[1]), ACC) for c, p in parts.items() if p[0] == meant}, meant


def _read_metric_columns(columns: Sequence[str]) -> tuple[Columns, str] | None:
    """The columns of a table of one dataset, and which it is; None for a table of several."""
    columns_read: Columns = {}
    for column in columns:
        head, _, tail = column.rpartition("_")
        if column == AVERAGE:
            columns_read[column] = (AVERAGE, ACC)
        elif tail in METRICS and head:
            columns_read[column] = (_PARTS.get(head, head), tail)
        elif head in ("strict", "loose"):
            columns_read[column] = (_PARTS.get(tail, tail), STRICT if head == STRICT else ACC)
        else:
            return None
    if any(metric == STRICT for _, metric in columns_read.values()):
        return columns_read, "mathreal"
    return columns_read, "usnco_v" if {"local", "national"} <= {
        part for part, _ in columns_read.values()
    } else ""


def _which_dataset(datasets: Sequence[str], name: str, problems: int) -> str | None:
    """By size where all sizes are known, as full and reduced sets often share a name."""
    if all(d in SIZES for d in datasets):
        return min(datasets, key=lambda d: abs(SIZES[d][TOTAL] - problems))
    return name if name in datasets else None


def _number(path: str | Path, row: dict[str, str], column: str) -> float:
    try:
        return float(row[column])
    except ValueError:
        raise FileFormatError(
            f"{path}: {row['model']}, {column}: {row[column]!r} is not a number"
        ) from None
