"""The card on reasoning, already worded: marks of rationales and types of errors, by cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omibench.analyze.load import Results
from omibench.analyze.reasoning import ALIGNMENT, QUALITY, ErrorCell, Mark, Reasoning
from omibench.analyze.report.view import cell_words
from omibench.analyze.words import NONE, counted, fixed, number
from omibench.study import Cell


def reasoning_card(results: Results, found: Reasoning) -> dict[str, Any] | None:
    """What the template lays out; None where nothing was judged."""
    if not found.marks and not found.errors:
        return None
    marked = {mark.mark for mark in found.marks}
    columns = [name for name in (*QUALITY, ALIGNMENT) if name in marked]
    return {
        "simulated": any([p.simulated for p in found.marks] + [p.simulated for p in found.errors]),
        "sentence": _sentence(results, found),
        "columns": [name.replace("_", " ").capitalize() for name in columns],
        "marks": [
            {**cell_words(results, cell), "cells": [_mark(found.marks, cell, c) for c in columns]}
            for cell in dict.fromkeys(mark.cell for mark in found.marks)
        ],
        "types": [name.replace("_", " ").capitalize() for name in found.types],
        "errors": [_errors(results, cell, found.types) for cell in found.errors],
    }


def _sentence(results: Results, found: Reasoning) -> str:
    said = []
    if found.marks:
        judges = _names(results, found.marks[0].judge)
        said.append(f"Rationales were marked from 1 to 5 by {judges}.")
    if found.errors:
        first, wrong = found.errors[0], sum(cell.classified for cell in found.errors)
        said.append(
            f"Errors of {counted(wrong, 'wrong answer')} were classified by "
            f"{_names(results, first.judge)}, by the taxonomy {first.taxonomy}."
        )
    return " ".join([*said, "None of these judges is calibrated against people."])


def _names(results: Results, judges: str) -> str:
    names = [results.label(name) for name in judges.split("+") if name in results.study.models]
    return ", ".join(names) or "no judge"


def _mark(marks: Sequence[Mark], cell: Cell, name: str) -> dict[str, str]:
    mark = next((m for m in marks if (m.cell, m.mark) == (cell, name)), None)
    if mark is None or mark.mean.n == 0:
        return {"value": NONE, "interval": ""}
    lo, hi = fixed(mark.mean.lo, 2), fixed(mark.mean.hi, 2)
    return {"value": fixed(mark.mean.mean, 2), "interval": f"[{lo}, {hi}]"}


def _errors(results: Results, cell: ErrorCell, types: list[str]) -> dict[str, Any]:
    by_type = {share.error_type: share for share in cell.shares}
    return {
        **cell_words(results, cell.cell),
        "simulated": cell.simulated,
        "cells": [
            {"value": number(by_type[t].share.mean), "count": by_type[t].responses}
            if t in by_type
            else {"value": number(0.0) if cell.classified else NONE, "count": 0}
            for t in types
        ],
        "classified": cell.classified,
        "right": cell.right_after_all,
        "failed": cell.failed,
    }
