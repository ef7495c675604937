"""Infers the layout of a printed table from its column names, if no `tables.yaml` describes it.

Supported are `<part>_<metric>` (OMIBench, table 2; USNCO-V, tables 1 and 2), `strict_<part>` and
`loose_<part>` (MathReal, table 2), one column per setting (MathReal, table 7), `real` next to
`clean` (table 8) and `<dataset>_<part>` (EMMA, table 2); all in per cent. The number of problems in
a part is then unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from omibench.errors import FileFormatError
from omibench.papers.layouts import AVERAGE, TOTAL, TableLayout
from omibench.schemas.problem import Subject
from omibench.schemas.validation import explain

_ROW = ("model", "strategy")
_ASIDE = ("group", "ocr_acc")
"""Columns that are not results of the problems."""
_METRICS: dict[str, str] = {
    "acc": "ratio", "gptscore": "count", "pass5": "count", "cons5": "ratio", "strict": "count",
    "loose": "ratio",
}  # fmt: skip
_BOUND = re.compile(r"(.+)_ci_(?:low|high)")
_TOTALS = (TOTAL, "overall", "avg")
_PERCEPTION = {
    "I": "i", "IUER": "iuer", "I+QM": "i-qm", "I+QG": "i-qg", "I+QM+DM": "i-qm-dm",
    "I+QG+DG": "i-qg-dg",
}  # fmt: skip
_PAIR = ("real", "clean")
_VALUES = {
    "math": "mathematics", "PG": "Plane Geometry", "SG": "Solid Geometry",
    "LR": "Logical Reasoning", "FG": "Function Graphs", "SC": "Statistical Charts",
}  # fmt: skip
_EXAMS = ("local", "national")


def guess_layout(path: str | Path, columns: Sequence[str]) -> TableLayout:
    """Infer the layout of a table from its columns.

    Args:
        path: The table, for messages.
        columns: The names of its columns.

    Returns:
        Its layout, with the file's name as its source.

    Raises:
        FileFormatError: It has no column `model`, or its columns match no known layout.
    """
    if "model" not in columns:
        raise FileFormatError(f"{path}: is not a table of results: the column 'model' is missing")
    names = [name for name in columns if name not in (*_ROW, *_ASIDE)]
    bounds = {match[1] for name in names if (match := _BOUND.fullmatch(name))}
    values = [name for name in names if not _BOUND.fullmatch(name)]
    groups, extra = _guess_groups(path, values, bounds)
    row = [name for name in _ROW if name in columns]
    try:
        return TableLayout.model_validate(
            {"source": Path(path).name, "row": row, "columns": groups, **extra}
        )
    except ValidationError as error:
        raise FileFormatError(
            f"{path}: its columns match no known layout: {explain(error, TableLayout)}"
        ) from None


def _guess_groups(
    path: str | Path, names: Sequence[str], bounds: set[str]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    if names and set(names) <= _PERCEPTION.keys():
        groups = [
            {"dataset": "mathreal", "setting": name, "names": name, "metrics": {"loose": "ratio"},
             "parts": {TOTAL: None}}
            for name in names
        ]  # fmt: skip
        return groups, {"asked_as": {name: [_PERCEPTION[name]] for name in names}}
    if set(names) == {*_PAIR, "delta"}:
        pair = _make_group("mathreal-pairs", "{part}", {"loose": "ratio"}, [*_PAIR])
        return [pair], {"differences": {"delta": _PAIR[::-1]}, "asked_as": {"": ["i"]}}
    if names and all(name == AVERAGE or _split_metric(name) for name in names):
        return _guess_metrics(names, bounds)
    datasets = list(dict.fromkeys(name.rpartition("_")[0] for name in names))
    if not names or "" in datasets:
        odd = next((name for name in names if "_" not in name), "")
        raise FileFormatError(
            f"{path}: its columns match no known layout{f' ({odd!r})' if odd else ''}; describe "
            "them in a tables.yaml next to it (docs/results.md)"
        )
    parts = {
        d: [n.rpartition("_")[2] for n in names if n.rpartition("_")[0] == d] for d in datasets
    }
    return [
        _make_group(
            dataset.replace("_", "-"), f"{dataset}_{{part}}", {"acc": "count"}, parts[dataset]
        )
        for dataset in datasets
    ], {}


def _guess_metrics(
    names: Sequence[str], bounds: set[str]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the column groups of a table of one dataset, one group per metric."""
    splits = [split for name in names if (split := _split_metric(name))]
    groups = []
    for metric in dict.fromkeys(metric for _, metric, _ in splits):
        parts = [part for part, name, _ in splits if name == metric]
        pattern = next(pattern for _, name, pattern in splits if name == metric)
        group = _make_group("", pattern, {metric: _METRICS[metric]}, parts)
        if metric == "acc":
            group |= {"average": AVERAGE} if AVERAGE in names else {}
            if bounds >= set(parts):
                group["interval"] = ("{part}_ci_low", "{part}_ci_high")
        groups.append(group)
    asked: dict[str, Any] = {}
    parts_of_all = {part for part, _, _ in splits}
    if {"strict", "loose"} & {metric for _, metric, _ in splits}:
        asked = {"asked_as": {"": ["i", "qg-dg"]}}
    elif {*_EXAMS} <= parts_of_all:
        runs = any(metric == "pass5" for _, metric, _ in splits)
        asked = {"asked_as": {"": ["zero-shot-5" if runs else "zero-shot"]}}
    return groups, asked


def _split_metric(column: str) -> tuple[str, str, str] | None:
    """Return the part, the metric and the pattern of a column; None without a metric."""
    head, _, tail = column.rpartition("_")
    if tail in _METRICS and head:
        return head, tail, "{part}_{metric}"
    if head in ("strict", "loose") and tail:
        return tail, head, "{metric}_{part}"
    return None


def _make_group(
    dataset: str, names: str, metrics: dict[str, str], parts: Sequence[str]
) -> dict[str, Any]:
    total = next((part for part in parts if part in _TOTALS), None)
    pieces = [part for part in parts if part != total]
    if total and not pieces:
        names = names.replace("{part}", total)
    group = {
        "dataset": dataset, "names": names, "metrics": metrics,
        "parts": dict.fromkeys(pieces or [TOTAL]), "slice": _guess_slice(pieces),
        "values": {part: _VALUES[part] for part in pieces if part in _VALUES},
    }  # fmt: skip
    return group | ({"total": total} if total and pieces else {})


def _guess_slice(parts: Sequence[str]) -> str:
    """Return the attribute of the problems whose values the parts probably are."""
    values = {_VALUES.get(part, part) for part in parts}
    if values <= {*_PAIR}:
        return "pair"
    if values <= {*_EXAMS}:
        return "exam"
    if values <= {*get_args(Subject)}:
        return "subject"
    return "year" if all(re.fullmatch(r"(?:19|20)\d\d", part) for part in parts) else "category"
