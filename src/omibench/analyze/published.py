"""Printed results beside ours: read their tables, and name every cell that differs.

Two layouts are known, each as its paper prints it: `<subject>_acc` / `<subject>_gptscore`
(OMIBench, table 2) and `<dataset>_<subject>` (EMMA, table 2), in per cent. Model names
are compared with our labels, the column `strategy` with our settings' names.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from omibench.analyze.load import JUDGE_RULES, Results
from omibench.analyze.tables import TOTAL, Score
from omibench.errors import FileFormatError, MissingInputError
from omibench.study import Cell

_KEYS = ("model", "strategy", "group")
_SUBJECTS = {"math": "mathematics", "overall": TOTAL}
_DATASETS = {"emma": 2788, "emma_mini": 400}
"""Problems of each dataset that one printed table covers (EMMA, table 1)."""
_DEFAULT_STRATEGY = "cot"
HALF_DIGIT = 0.005 + 1e-9
"""Tables print two decimals: a larger distance, in percentage points, is a difference."""

ACC, GPTSCORE = "acc", "gptscore"


class Printed(NamedTuple):
    """One printed row: (subject, metric) -> per cent. `metric` is `acc` or `gptscore`."""

    model: str
    strategy: str
    group: str
    values: dict[tuple[str, str], float]


class Comparison(NamedTuple):
    """One printed cell beside what the responses give under `rules`, both in per cent."""

    cell: Cell
    subject: str
    metric: str
    rules: str
    printed: float
    ours: float
    n: int
    simulated: bool

    @property
    def differs(self) -> bool:
        """Whether rounding to two decimals cannot explain the distance."""
        return abs(self.ours - self.printed) > HALF_DIGIT


def read_published(path: str | Path, dataset: str, problems: int) -> list[Printed]:
    """Read the printed rows about `dataset` (its name), which holds `problems` problems.

    Raises MissingInputError when the file is not there, FileFormatError when it is no such table
    or when it cannot be told which of its datasets is meant.
    """
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise MissingInputError(
            f"analyze.published: {path}: cannot be read: {error.strerror}"
        ) from None
    if not rows or "model" not in rows[0]:
        raise FileFormatError(f"{path}: is no table of results: it lacks the column 'model'")
    columns = _value_columns(path, [c for c in rows[0] if c not in _KEYS], dataset, problems)
    return [
        Printed(
            model=row["model"],
            strategy=row.get("strategy") or "",
            group=row.get("group") or "",
            values={key: _number(path, row, name) for name, key in columns.items() if row[name]},
        )
        for row in rows
    ]


def printed_row(results: Results, cell: Cell, printed: Sequence[Printed]) -> Printed | None:
    """The printed row of a cell: same model name, same strategy; None when it is not printed.

    A table that names no strategy was made with chain of thought (OMIBench, appendix B).
    """
    label = results.label(cell.model)
    for row in printed:
        if row.model == label and (row.strategy or _DEFAULT_STRATEGY) == cell.setting:
            return row
    return None


def compare(
    results: Results, rows: Sequence[Score], printed: Sequence[Printed]
) -> list[Comparison]:
    """Every printed cell for whose problems we hold all responses, beside what these give.

    ACC is compared under the stored verdicts (`published`) where there are any, else under the
    main rules; GPTScore with the judge's.
    """
    acc_rules = "published" if "published" in results.rules else results.main_rules
    rules_of = {ACC: acc_rules, GPTSCORE: JUDGE_RULES}
    found = []
    for cell in results.study.cells:
        row = printed_row(results, cell, printed)
        mine = {(s.subject, s.rules): s for s in rows if s.cell == cell}
        for (subject, metric), value in row.values.items() if row else ():
            score = mine.get((subject, rules_of[metric]))
            if score and score.acc.n >= _problems(results, subject):
                found.append(
                    Comparison(
                        cell, subject, metric, score.rules, value, 100 * score.acc.mean,
                        score.acc.n, score.simulated,
                    )
                )  # fmt: skip
    return found


def comparison_records(results: Results, rows: Sequence[Comparison]) -> list[dict[str, Any]]:
    """The rows of differences.csv, in percentage points as printed."""
    return [
        {
            "model": c.cell.model,
            "label": results.label(c.cell.model),
            "setting": c.cell.setting,
            "subject": c.subject,
            "metric": c.metric,
            "rules": c.rules,
            "printed": c.printed,
            "ours": round(c.ours, 2),
            "difference": round(c.ours - c.printed, 2),
            "n": c.n,
            "differs": c.differs,
            "simulated": c.simulated,
        }
        for c in rows
    ]


def _problems(results: Results, subject: str) -> int:
    return sum(subject in (TOTAL, a.subject) for a in results.answers.values())


def _value_columns(
    path: str | Path, columns: Sequence[str], dataset: str, problems: int
) -> dict[str, tuple[str, str]]:
    if all(c.endswith((f"_{ACC}", f"_{GPTSCORE}")) for c in columns):
        split = {c: c.rsplit("_", 1) for c in columns}
        return {c: (_SUBJECTS.get(s, s), metric) for c, (s, metric) in split.items()}
    datasets = dict.fromkeys(c.rsplit("_", 1)[0] for c in columns)
    name = dataset.lower().replace("-", "_")
    chosen = name if name in datasets else None
    chosen = chosen or next((d for d in datasets if _DATASETS.get(d) == problems), None)
    if chosen is None:
        raise FileFormatError(
            f"{path}: prints results on {', '.join(datasets)}, but the frozen dataset is called "
            f"{dataset!r}; set freeze.name to the one that it is"
        )
    parts = {c: c.rsplit("_", 1) for c in columns}
    return {c: (_SUBJECTS.get(s, s), ACC) for c, (d, s) in parts.items() if d == chosen}


def _number(path: str | Path, row: dict[str, str], column: str) -> float:
    try:
        return float(row[column])
    except ValueError:
        raise FileFormatError(
            f"{path}: {row['model']}, {column}: {row[column]!r} is not a number"
        ) from None
