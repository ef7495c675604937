"""Judgements of the reasoning in each response, for the page of its problem."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from omibench.results.load import Results
from omibench.schemas.certificate import ReasoningCertificate
from omibench.schemas.marks import MARKS_BY_INSTRUMENT
from omibench.schemas.tables import JudgementRow, read_parquet
from omibench.stages.analyze.certificates import CALIBRATED, UNCALIBRATED, find_certificate
from omibench.stages.analyze.words import format_percent, name_outcome


class Judgement(NamedTuple):
    """One judge's judgement of one response, or the vote of several."""

    instrument: str
    judge: str
    words: str
    failed: bool
    key: str
    """The judge's reply in the store; empty if only the outcome is known."""
    simulated: bool
    left_out: bool
    """Whether it is one of several judges, whose vote counts instead."""
    calibration: str
    """The judge's agreement with human labels; empty if not applicable."""


Judgements = dict[tuple[str, str, str, int], list[Judgement]]
"""By model, setting, problem and sample."""


def judgements(results: Results, folder: Path) -> Judgements:
    """Return every judgement of a study in `folder`, the results folder of the stage `judge`.

    Cells without a file have none: `reasoning` has already rejected missing files.
    """
    judgements_by_response: Judgements = defaultdict(list)
    for cell in results.study.judged_cells:
        path = folder / cell.model / f"{cell.setting}.parquet"
        if path.is_file():
            rows = read_parquet(path, JudgementRow)
            certificates = {
                name: find_certificate(results, rows.filter("counts", instrument=name))
                for name in rows["instrument"].unique()
            }
            for row in rows.iter_rows(named=True):
                judgement = read_judgement(row, certificates[row["instrument"]])
                judgements_by_response[cell.model, cell.setting, row["id"], row["index"]].append(
                    judgement
                )
    return judgements_by_response


def read_judgement(row: dict[str, Any], certificate: ReasoningCertificate | None) -> Judgement:
    """Return a judgement for display.

    Args:
        row: A JudgementRow.
        certificate: The certificate of the judge.
    """
    failed = row["outcome"] != "scored"
    return Judgement(
        instrument=name_outcome(row["instrument"]),
        judge=row["judge"] or "",
        words=name_outcome(row["outcome"]) if failed else _words(row),
        failed=failed,
        key=row["judge_key"] or "",
        simulated=row["simulated"],
        left_out=not row["counts"],
        calibration=_calibration(row, certificate) if row["judge"] else "",
    )


def _calibration(row: dict[str, Any], certificate: ReasoningCertificate | None) -> str:
    """Describe the certificate as in the report: per mark, for the vote if there are several
    judges."""
    if certificate is None or not row["counts"]:
        return UNCALIBRATED
    marks = MARKS_BY_INSTRUMENT.get(row["instrument"], ())
    certified_marks = [name_outcome(name) for name in marks if name in certificate.marks]
    if len(certified_marks) == len(marks):
        return CALIBRATED
    return (
        f"{CALIBRATED} for {', '.join(certified_marks)} alone" if certified_marks else UNCALIBRATED
    )


def _words(row: dict[str, Any]) -> str:
    if row["mark"] is not None:
        return f"{row['mark']:g} of {row['lowest']:g} to {row['highest']:g}"
    if row["label"] is not None:
        return name_outcome(row["label"])
    if row["terms"] is not None:
        return (
            f"of the printed text, the transcript keeps {format_percent(row['terms'], 0)} of the "
            "key "
            f"terms and {format_percent(row['semantics'], 0)} of the meaning"
        )
    if row["instrument"] in MARKS_BY_INSTRUMENT:
        marks = {name: row[name] for name in MARKS_BY_INSTRUMENT[row["instrument"]]}
        mark_texts = [f"{name_outcome(n)} {m:g}" for n, m in marks.items() if m is not None]
        return f"{', '.join(mark_texts)} of 5"
    taxonomy = f" ({row['taxonomy']})" if row["taxonomy"] else ""
    return f"{name_outcome(row['error_type'] or 'none')}{taxonomy}"
