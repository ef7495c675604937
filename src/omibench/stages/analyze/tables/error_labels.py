"""Human labels of error types, in the columns of judgements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from omibench.params.cell import Cell
from omibench.results.four_way import RESPONSE
from omibench.results.load import Results
from omibench.stages.certify.labels import read_labels
from omibench.stages.certify.matching import match_labels
from omibench.stages.certify.reasoning import check_error_types

if TYPE_CHECKING:
    import polars as pl

_COLUMNS = ("id", "index", "error_type", "taxonomy", "outcome", "judge", "simulated", "cluster")
"""The columns of judgements for a distribution of errors."""


def read_error_labels(results: Results) -> dict[Cell, pl.DataFrame]:
    """Read human labels of error types, if the study has a file of them.

    Args:
        results: The study; the file is `judge.errors.labels`, otherwise `certify.labels`.

    Returns:
        One row per labelled response with the columns of judgements, by cell; empty without
        `judge.errors` or labels.

    Raises:
        FileFormatError: A label cannot be read, fits several responses, contradicts another or is
            not a type of the taxonomy.
        MissingInputError: The file does not exist.
    """
    import polars as pl

    errors = results.study.judge.errors
    file = (errors.labels or results.study.certify.labels) if errors else None
    if errors is None or file is None:
        return {}
    rows = [row for row in read_labels(Path(file)) if row.error_type]
    matched = match_labels(rows, results.read_responses(), Path(file), "analyze")
    check_error_types(matched, errors.taxonomy)
    simulated = {label.place: label.row.simulated for label in matched.labels}
    clusters = {answer.id: answer.group or answer.id for answer in results.answers.values()}
    places = [dict(zip(RESPONSE, place, strict=True)) for place in simulated]
    types = matched.column("error_type")
    labels: dict[Cell, list[tuple[object, ...]]] = {}
    for named, place in zip(places, simulated, strict=True):
        cell = Cell(named["model"], named["setting"])
        mark = simulated[place] or results.simulated_cells[cell]
        labels.setdefault(cell, []).append(
            (named["id"], named["index"], types[place], errors.taxonomy, "scored", None, mark,
             clusters[named["id"]])
        )  # fmt: skip
    schema = dict(zip(_COLUMNS, _list_types(), strict=True))
    return {cell: pl.DataFrame(rows, schema=schema, orient="row") for cell, rows in labels.items()}


def add_typed_failures(labels: pl.DataFrame, judgements: pl.DataFrame | None) -> pl.DataFrame:
    """Add the failures whose type follows from their outcome, without a label.

    Args:
        labels: Human labels of one cell.
        judgements: Judgements of the cell, if any.

    Returns:
        The labels, and one row per unlabelled failure that was classified without a judge.
    """
    import polars as pl

    if judgements is None:
        return labels
    typed = judgements.filter(
        pl.col("judge").is_null(), pl.col("error_type").is_not_null(), instrument="error_type"
    )
    others = typed.join(labels, on=["id", "index"], how="anti").select(_COLUMNS)
    return pl.concat([labels, others])


def _list_types() -> list[type[pl.DataType]]:
    import polars as pl

    return [
        pl.String, pl.Int64, pl.String, pl.String, pl.String, pl.String, pl.Boolean, pl.String,
    ]  # fmt: skip
