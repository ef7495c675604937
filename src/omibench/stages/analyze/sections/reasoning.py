"""Judgements of the reasoning: marks of rationales and types of errors, by cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from omibench.params.cell import Cell
from omibench.results.load import Results
from omibench.schemas.marks import ALIGNMENT_MARK, QUALITY_MARKS
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.sections.section import ReportSection, ReportTable, section
from omibench.stages.analyze.tables.reasoning import (
    JUDGE,
    PEOPLE,
    ErrorCell,
    Mark,
    Reasoning,
    reasoning_records,
)
from omibench.stages.analyze.words import (
    NO_VALUE,
    count_noun,
    describe_cell,
    format_decimals,
    format_level,
    format_percent,
    format_share,
)


@section("reasoning")
class ReasoningSection(ReportSection):
    """The section on marks of rationales and types of errors; left out if nothing was judged."""

    title = "Judgements of the reasoning"
    template = "sections/reasoning.html.j2"

    def __init__(self, analysis: Analysis) -> None:
        """Summarise the results of the stage `judge` for every cell."""
        super().__init__(analysis)
        self.reasoning = analysis.reasoning

    @property
    def is_simulated(self) -> bool:
        """Whether a judge of the reasoning is simulated."""
        marks, errors = self.reasoning
        return any(mark.simulated for mark in marks) or any(cell.simulated for cell in errors)

    def tables(self) -> Iterable[ReportTable]:
        """Return `rationales.csv` and `errors.csv`, if the study judges the reasoning."""
        if self.results.study.judge.is_named:
            marks, errors = reasoning_records(self.results, self.reasoning)
            yield ReportTable("rationales", marks, ("model", "setting", "mark", "mean"))
            yield ReportTable("errors", errors, ("model", "setting", "error_type", "share"))

    def view(self) -> Mapping[str, Any] | None:
        """Return one row per cell of either table."""
        card = describe_reasoning(self.results, self.reasoning)
        if card is None:
            return None
        confidence = format_level(self.results.study.analyze.confidence)
        return {**card, "simulated": self.is_simulated, "level": confidence}


def describe_reasoning(results: Results, summary: Reasoning) -> dict[str, Any] | None:
    """Return the template's values; None if nothing was judged."""
    if not summary.marks and not summary.errors:
        return None
    marked = {mark.mark for mark in summary.marks}
    columns = [name for name in (*QUALITY_MARKS, ALIGNMENT_MARK) if name in marked]
    return {
        "sentence": _sentence(results, summary),
        "columns": [
            {
                "name": name.replace("_", " ").capitalize(),
                "uncalibrated": _lacks_certificate(summary, name),
            }
            for name in columns
        ],
        "errors_uncalibrated": any(
            cell.by == JUDGE and cell.certificate is None for cell in summary.errors
        ),
        "marks": [
            {
                **describe_cell(results, cell),
                "cells": [_mark(summary.marks, cell, c) for c in columns],
            }
            for cell in dict.fromkeys(mark.cell for mark in summary.marks)
        ],
        "types": [name.replace("_", " ").capitalize() for name in summary.types],
        "errors": [_errors(results, cell, summary.types) for cell in summary.errors],
    }


def _sentence(results: Results, summary: Reasoning) -> str:
    sentences = []
    if summary.marks:
        judges = _names(results, summary.marks[0].judge)
        sentences.append(f"Rationales were marked from 1 to 5 by {judges}.")
    for by in (JUDGE, PEOPLE):
        cells = [cell for cell in summary.errors if cell.by == by]
        if cells:
            by_outcome = sum(cell.by_outcome for cell in cells)
            judged = sum(cell.classified for cell in cells) - by_outcome
            names = _names(results, _find_judges(cells)) if by == JUDGE else "people"
            rest = f"; {by_outcome:,} more have no answer and take the type of their outcome"
            sentences.append(
                f"Errors of {count_noun(judged, 'failure')} were classified by {names}, by the "
                f"taxonomy {cells[0].taxonomy}{rest if by_outcome else ''}."
            )
    return " ".join([*sentences, *_calibration(summary)])


def _find_judges(cells: Iterable[ErrorCell]) -> str:
    """Return the judges of the first judged cell."""
    return next((cell.judge for cell in cells if cell.judge), "")


def _calibration(summary: Reasoning) -> Iterator[str]:
    """Describe the agreement of these judges with human labels."""
    judged = [e.certificate for e in summary.errors if e.by == JUDGE]
    every = judged + [m.certificate for m in summary.marks]
    certificates = {certificate.instrument: certificate for certificate in every if certificate}
    if every and not certificates:
        yield "None of these judges is calibrated with human labels."
    for certificate in certificates.values():
        mark = "SIMULATED " if certificate.simulated else ""
        labels = count_noun(certificate.n, f"{mark}label")
        if certificate.agreement:
            kappa = certificate.kappa.value if certificate.kappa else None
            coefficient = "" if kappa is None else f" (kappa {format_decimals(kappa, 2)})"
            share = format_percent(certificate.agreement.value or 0.0)
            yield (
                f"Compared with {labels} of error types, their judge agrees on "
                f"{share}{coefficient}."
            )
        for name, quality in certificate.marks.items():
            share = format_percent(quality.within_one.value or 0.0)
            rank = quality.spearman.value
            coefficient = "" if rank is None else f" (Spearman {format_decimals(rank, 2)})"
            words = name.replace("_", " ")
            yield (
                f"Compared with {labels} of {words}, it is within one grade on "
                f"{share}{coefficient}."
            )


def _lacks_certificate(summary: Reasoning, name: str) -> bool:
    return any(m.certificate is None for m in summary.marks if m.mark == name)


def _names(results: Results, judges: str) -> str:
    names = [results.label(name) for name in judges.split("+") if name in results.study.models]
    return ", ".join(names) or "no judge"


def _mark(marks: Sequence[Mark], cell: Cell, name: str) -> dict[str, str]:
    mark = next((m for m in marks if (m.cell, m.mark) == (cell, name)), None)
    if mark is None or mark.mean.n == 0:
        return {"value": NO_VALUE, "interval": ""}
    lo, hi = format_decimals(mark.mean.lo, 2), format_decimals(mark.mean.hi, 2)
    return {"value": format_decimals(mark.mean.mean, 2), "interval": f"[{lo}, {hi}]"}


def _errors(results: Results, cell: ErrorCell, types: list[str]) -> dict[str, Any]:
    by_type = {share.error_type: share for share in cell.shares}
    return {
        **describe_cell(results, cell.cell),
        "simulated": cell.simulated,
        "by": cell.by,
        "cells": [
            {"value": format_share(by_type[t].share.mean), "count": by_type[t].responses}
            if t in by_type
            else {"value": format_share(0.0) if cell.classified else NO_VALUE, "count": 0}
            for t in types
        ],
        "classified": cell.classified,
        "right": cell.right_after_all,
        "failed": cell.failed,
    }
