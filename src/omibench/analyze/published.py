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
from omibench.analyze.words import fixed
from omibench.errors import FileFormatError, MissingInputError, reason_of
from omibench.study import Cell

_KEYS = ("model", "strategy", "group")
_SUBJECTS = {"math": "mathematics", "overall": TOTAL}
_SIZES = {
    "emma": {"mathematics": 892, "physics": 156, "chemistry": 1176, "coding": 564, TOTAL: 2788},
    "emma_mini": {"mathematics": 100, "physics": 100, "chemistry": 100, "coding": 100, TOTAL: 400},
}
"""Problems of each dataset of a table that prints several (EMMA, tables 1 and 2)."""
_DEFAULT_STRATEGY = "cot"
HALF_DIGIT = 0.005 + 1e-9
"""Tables print two decimals: a larger distance, in percentage points, is a difference."""

ACC, GPTSCORE = "acc", "gptscore"


class Printed(NamedTuple):
    """One printed row: (subject, metric) -> per cent. `metric` is `acc` or `gptscore`.

    `sizes` is how many problems each subject of the printed dataset has, where that is known.
    """

    model: str
    strategy: str
    group: str
    values: dict[tuple[str, str], float]
    sizes: dict[str, int]


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
            f"analyze.published: {path}: cannot be read: {reason_of(error)}"
        ) from None
    if not rows or "model" not in rows[0]:
        raise FileFormatError(f"{path}: is no table of results: it lacks the column 'model'")
    names = [c for c in rows[0] if c not in _KEYS]
    columns, meant = _value_columns(path, names, dataset, problems)
    return [
        Printed(
            model=row["model"],
            strategy=row.get("strategy") or "",
            group=row.get("group") or "",
            values={key: _number(path, row, name) for name, key in columns.items() if row[name]},
            sizes=_SIZES.get(meant, {}),
        )
        for row in rows
    ]


def printed_row(results: Results, cell: Cell, printed: Sequence[Printed]) -> Printed | None:
    """The printed row of a cell: same model name, same strategy; None when it is not printed.

    A strategy is the name of a setting, or the part of it before the first hyphen (`cot-warm`). A
    table that names none was made with chain of thought (OMIBench, appendix B).
    """
    label = results.label(cell.model)
    names = (cell.setting, cell.setting.partition("-")[0])
    for row in printed:
        if row.model == label and (row.strategy or _DEFAULT_STRATEGY) in names:
            return row
    return None


def compare(
    results: Results, rows: Sequence[Score], printed: Sequence[Printed]
) -> list[Comparison]:
    """Every printed cell for whose problems we hold all responses, beside what these give.

    All means as many as the printed dataset has, or the frozen one where that is not known.
    ACC is compared under the stored verdicts (`published`) where there are any, else under the
    main rules; GPTScore with the judge's.
    """
    acc_rules = "published" if "published" in results.rules else results.main_rules
    rules_of = {ACC: acc_rules, GPTSCORE: JUDGE_RULES}
    found = []
    for cell in results.study.cells:
        row = printed_row(results, cell, printed)
        mine = {(s.subject, s.rules): s for s in rows if s.cell == cell}
        if row is None:
            continue
        for (subject, metric), value in row.values.items():
            score = mine.get((subject, rules_of[metric]))
            if score and score.acc.n == row.sizes.get(subject, _problems(results, subject)):
                judge = metric == GPTSCORE and results.judge_simulated
                simulated = score.simulated or judge
                found.append(
                    Comparison(
                        cell, subject, metric, score.rules, value, 100 * score.acc.mean,
                        score.acc.n, simulated,
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
            "ours": float(fixed(c.ours, 2)),
            "difference": float(fixed(c.ours - c.printed, 2)),
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
) -> tuple[dict[str, tuple[str, str]], str]:
    parts = {c: c.rsplit("_", 1) for c in columns}
    if all(len(p) == 2 and p[1] in (ACC, GPTSCORE) for p in parts.values()):
        return {c: (_SUBJECTS.get(s, s), metric) for c, (s, metric) in parts.items()}, ""
    datasets = list(dict.fromkeys(p[0] for p in parts.values()))
    meant = _which_dataset(datasets, dataset.lower().replace("-", "_"), problems)
    if meant is None:
        raise FileFormatError(
            f"{path}: prints results on {', '.join(datasets)}, but the frozen dataset is called "
            f"{dataset!r}; set freeze.name to the one that it is"
        )
    return {c: (_SUBJECTS.get(p[1], p[1]), ACC) for c, p in parts.items() if p[0] == meant}, meant


def _which_dataset(datasets: Sequence[str], name: str, problems: int) -> str | None:
    """By size where all sizes are known, as full and reduced sets often share a name."""
    if all(d in _SIZES for d in datasets):
        return min(datasets, key=lambda d: abs(_SIZES[d][TOTAL] - problems))
    return name if name in datasets else None


def _number(path: str | Path, row: dict[str, str], column: str) -> float:
    try:
        return float(row[column])
    except ValueError:
        raise FileFormatError(
            f"{path}: {row['model']}, {column}: {row[column]!r} is not a number"
        ) from None
