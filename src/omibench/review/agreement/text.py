"""Output of `omibench review agree` and the rows of its file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from omibench.review.calibration import CalibrationResult
from omibench.review.own_answers import FIELD as OWN_ANSWER
from omibench.review.report import AgreementFigure
from omibench.review.sampling.strata import ResidualError
from omibench.text.terminal import align_columns, printable

RESIDUAL = "residual error rate"


@dataclass(frozen=True)
class QualityReport:
    """The quality of human work by three measures.

    Attributes:
        agreement: Agreement between people.
        residual: Errors that remain in settled work.
        calibration: Results of the calibration sets.
        confidence: Two-sided level of all intervals.
        doubted_keys: Tasks in which several readers answered, and none as the key says.
    """

    agreement: Sequence[AgreementFigure]
    residual: Sequence[ResidualError] = ()
    calibration: Sequence[CalibrationResult] = ()
    confidence: float = 0.95
    doubted_keys: Sequence[str] = ()


def describe_quality(report: QualityReport) -> str:
    """Return the text of `omibench review agree`: one table per available measure."""
    interval = f"{100 * report.confidence:g} % interval"
    lines = _describe_agreement(report.agreement, interval) if report.agreement else []
    if all(figure.field == OWN_ANSWER for figure in report.agreement):
        lines.append("No task was read by two people independently: agreement is not measured.")
    if any(figure.field == OWN_ANSWER for figure in report.agreement):
        lines.append('"I cannot answer it" counts as not equal to the key.')
    if report.doubted_keys:
        names = ", ".join(map(printable, report.doubted_keys))
        lines += ["", f"no reader's own answer is the official one, check the key: {names}"]
    if report.residual:
        lines += ["", *_describe_residual(report.residual, interval)]
    if report.calibration:
        lines += ["", describe_calibration(report.calibration)]
    return "\n".join(lines)


def describe_calibration(results: Sequence[CalibrationResult]) -> str:
    """Return the table of calibration results per person."""
    head = (
        "person", "kind", "set", "calibration", "agreeing", "decided", "needed", "kappa", "hurried",
    )  # fmt: skip
    rows = [
        (
            _mark(result.person, result.simulated),
            result.kind,
            result.set_name,
            result.status,
            result.agreeing,
            result.decided,
            result.needed,
            "-" if result.kappa is None else f"{result.kappa:.2f}",
            result.hurried,
        )
        for result in results
    ]
    return "\n".join(align_columns([head, *rows])) if rows else "no calibration set was done"


def list_quality_rows(report: QualityReport) -> list[dict[str, Any]]:
    """Return the figures as rows of a CSV file with the columns of `AgreementFigure`.

    The residual error rate of a kind is a row without a field; its tasks are those judged again.
    """
    residual = (
        AgreementFigure(
            kind=error.kind,
            field="",
            measure=RESIDUAL,
            value=round(error.rate, 6),
            low=round(error.low, 6),
            high=round(error.high, 6),
            tasks=error.judged,
            units=error.judged,
            simulated=error.simulated,
        )
        for error in report.residual
    )
    return [asdict(figure) for figure in (*report.agreement, *residual)]


def _describe_agreement(figures: Iterable[AgreementFigure], interval: str) -> list[str]:
    head = ("kind", "field", "measure", "value", interval, "units", "tasks", "people", "")
    rows = [
        (
            _mark(figure.kind, figure.simulated),
            figure.title,
            figure.measure,
            _write_number(figure.value),
            _write_interval(figure.low, figure.high),
            figure.units,
            figure.tasks,
            figure.people,
            figure.between,
        )
        for figure in figures
    ]
    return align_columns([head, *rows])


def _describe_residual(errors: Iterable[ResidualError], interval: str) -> list[str]:
    head = ("kind", "settled", "judged again", "overturned", "error rate", interval, "remaining")
    rows = []
    overturned: list[str] = []
    for error in errors:
        number, low, high = error.remaining
        rows.append(
            (
                _mark(error.kind, error.simulated),
                error.settled,
                error.judged,
                len(error.overturned),
                _write_number(error.rate),
                _write_interval(error.low, error.high),
                f"{number:.0f} ({low:.0f} to {high:.0f})",
            )
        )
        overturned += error.overturned
    lines = align_columns([head, *rows])
    if overturned:
        lines.append(f"overturned, to correct: {', '.join(overturned)}")
    return lines


def _mark(name: str, is_simulated: bool) -> str:
    return f"{name} (SIMULATED)" if is_simulated else name


def _write_number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _write_interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.3f} to {high:.3f}"
