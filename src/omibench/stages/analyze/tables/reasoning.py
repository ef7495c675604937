"""Summaries of judgements of reasoning: marks of rationales, types of errors.

Means and shares are averaged over samples and then problems, with intervals clustered by shared
stem. Failed judgements, and answers that the judge found right, are excluded and counted
separately. Human labels of errors form a separate distribution.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.params.cell import Cell
from omibench.params.identity import is_certified
from omibench.results.judgements import read_judgements
from omibench.results.load import Results
from omibench.schemas.certificate import ReasoningCertificate
from omibench.schemas.marks import HIGHEST_MARK, LOWEST_MARK, MARKS_BY_INSTRUMENT, NO_ERROR
from omibench.stages.analyze.tables.error_labels import add_typed_failures, read_error_labels
from omibench.statistics.intervals import Estimate, clustered_mean, clustered_wilson

if TYPE_CHECKING:
    import polars as pl

JUDGE, PEOPLE = "judge", "people"


class Mark(NamedTuple):
    """The mean of one mark (1 to 5) over the problems of a cell, without `failed` judgements.

    `certificate` is that of this judge under this prompt, if any.
    """

    cell: Cell
    mark: str
    mean: Estimate
    failed: int
    judge: str
    simulated: bool
    certificate: ReasoningCertificate | None = None
    clusters: int = 0
    """The number of groups of problems."""


class ErrorShare(NamedTuple):
    """The share of one error type among a cell's wrong answers, and its number of responses."""

    cell: Cell
    error_type: str
    share: Estimate
    responses: int


class ErrorCell(NamedTuple):
    """The errors of one cell: classified ones, answers found right, failed judgements."""

    cell: Cell
    shares: list[ErrorShare]
    classified: int
    right_after_all: int
    failed: int
    taxonomy: str
    judge: str
    simulated: bool
    certificate: ReasoningCertificate | None = None
    by: str = JUDGE
    """The classifier: `judge` or `people`."""
    by_outcome: int = 0
    """The number classified by outcome because they have no answer."""


class Reasoning(NamedTuple):
    """All results of the stage `judge`; both are empty if it was not run."""

    marks: tuple[Mark, ...] = ()
    errors: tuple[ErrorCell, ...] = ()

    @property
    def types(self) -> list[str]:
        """The occurring types of errors, most frequent first."""
        counts: dict[str, int] = {}
        for share in (share for cell in self.errors for share in cell.shares):
            counts[share.error_type] = counts.get(share.error_type, 0) + share.responses
        return sorted(counts, key=lambda name: (-counts[name], name))


def reasoning(results: Results, folder: Path) -> Reasoning:
    """Summarise the judgements in `folder`, the results folder of the stage `judge`.

    Raises MissingInputError if a cell to be judged has no file.
    """
    marks: list[Mark] = []
    errors: list[ErrorCell] = []
    labels = read_error_labels(results)
    judged_cells = set(results.study.judged_cells)
    for cell in results.cells:
        rows = read_judgements(results, folder, cell) if cell in judged_cells else None
        if rows is not None:
            marks += _marks(results, cell, rows)
            errors += _errors(results, cell, rows)
        if cell in labels:
            labelled = add_typed_failures(labels[cell], rows)
            errors.append(_summarise_errors(results, cell, labelled, PEOPLE))
    return Reasoning(tuple(marks), tuple(errors))


def find_certificate(results: Results, rows: pl.DataFrame) -> ReasoningCertificate | None:
    """Return the certificate of the judge behind these judgements of one instrument, if any.

    It has the same models by identity and the same prompt.
    """
    judges, prompts, names = (
        rows[column].drop_nulls().unique().to_list()
        for column in ("judge", "prompt_sha256", "instrument")
    )
    if (len(judges), len(prompts), len(names)) != (1, 1, 1):
        return None
    named = [results.study.models.get(name) for name in judges[0].split("+")]
    models = [model for model in named if model]
    for certificate in results.reasoning_certificates:
        matches = (certificate.instrument, certificate.prompt_sha256) == (names[0], prompts[0])
        if matches and is_certified(certificate.identity, models):
            return certificate
    return None


def _marks(results: Results, cell: Cell, rows: pl.DataFrame) -> Iterator[Mark]:
    import polars as pl

    confidence = results.study.analyze.confidence
    for instrument, names in MARKS_BY_INSTRUMENT.items():
        judgements = rows.filter(instrument=instrument)
        if judgements.is_empty():
            continue
        failed = judgements.filter(pl.col("outcome") != "scored").height
        certificate = find_certificate(results, judgements)
        for name in names:
            mark_certificate = certificate if certificate and name in certificate.marks else None
            values, clusters = average_by_problem(judgements.drop_nulls(name), name)
            mean = clustered_mean(values, clusters, confidence, LOWEST_MARK, HIGHEST_MARK)
            simulated = bool(judgements["simulated"].any())
            yield Mark(
                cell, name, mean, failed, find_judge(judgements), simulated, mark_certificate,
                len(set(clusters)),
            )  # fmt: skip


def _errors(results: Results, cell: Cell, rows: pl.DataFrame) -> Iterator[ErrorCell]:
    import polars as pl

    judgements = rows.filter(pl.col("outcome") != "unjudged", instrument="error_type")
    if results.study.judge.panels.get("error_type") and judgements.height:
        yield _summarise_errors(results, cell, judgements, JUDGE)


def _summarise_errors(results: Results, cell: Cell, judgements: pl.DataFrame, by: str) -> ErrorCell:
    """Return the distribution of judgements or labels of one cell."""
    import polars as pl

    confidence = results.study.analyze.confidence
    valid_judgements = judgements.drop_nulls("error_type")
    wrong = valid_judgements.filter(pl.col("error_type") != NO_ERROR)
    shares = []
    for (name,), part in wrong.group_by("error_type", maintain_order=True):
        marked = wrong.with_columns(is_it=(pl.col("error_type") == name).cast(pl.Float64))
        share = clustered_wilson(*average_by_problem(marked, "is_it"), confidence)
        shares.append(ErrorShare(cell, str(name), share, part.height))
    return ErrorCell(
        cell=cell,
        shares=sorted(shares, key=lambda share: (-share.responses, share.error_type)),
        classified=wrong.height,
        right_after_all=valid_judgements.height - wrong.height,
        failed=judgements.filter(pl.col("outcome") != "scored").height,
        taxonomy=str(judgements["taxonomy"].drop_nulls().first() or ""),
        judge=find_judge(judgements),
        simulated=bool(judgements["simulated"].any()),
        certificate=find_certificate(results, judgements) if by == JUDGE else None,
        by=by,
        by_outcome=wrong["judge"].null_count() if by == JUDGE else 0,
    )


def average_by_problem(rows: pl.DataFrame, column: str) -> tuple[list[float], list[str]]:
    """Return the mean of a column over the samples of each problem, and the problem's cluster."""
    import polars as pl

    problems = rows.group_by("id", maintain_order=True).agg(
        pl.col(column).mean(), pl.col("cluster").first()
    )
    return problems[column].to_list(), problems["cluster"].to_list()


def find_judge(rows: pl.DataFrame) -> str:
    """Return the judges of one instrument, joined by `+`; empty if none was run."""
    return str(rows["judge"].drop_nulls().first() or "")


def reasoning_records(
    results: Results, summary: Reasoning
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of rationales.csv and errors.csv; numbers are rounded to 6 digits."""
    from omibench.stages.analyze.tables.accuracy import cell_names, round_number

    def numbers(value: Estimate, name: str) -> dict[str, Any]:
        return {
            name: round_number(value.mean),
            "lo": round_number(value.lo),
            "hi": round_number(value.hi),
        }

    marks = [
        {
            **cell_names(results, m.cell), "mark": m.mark, "n": m.mean.n, **numbers(m.mean, "mean"),
            "judge_failed": m.failed, "judge": m.judge, "calibrated": m.certificate is not None,
            "simulated": m.simulated,
        }
        for m in summary.marks
    ]  # fmt: skip
    errors = [
        {
            **cell_names(results, e.cell), "taxonomy": e.taxonomy, "error_type": s.error_type,
            "count": s.responses, "classified": e.classified, **numbers(s.share, "share"),
            "right_after_all": e.right_after_all, "judge_failed": e.failed, "judge": e.judge,
            "calibrated": e.certificate is not None if e.by == JUDGE else None,
            "simulated": e.simulated, "by": e.by,
        }
        for e in summary.errors
        for s in e.shares
    ]  # fmt: skip
    return marks, errors
