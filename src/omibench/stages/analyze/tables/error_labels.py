"""Types of errors as people labelled them, in the columns of judgements."""

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
"""Those of judgements that a distribution of errors is made from."""


def read_error_labels(results: Results) -> dict[Cell, pl.DataFrame]:
    """Read people's types of errors, where the study names a file of them.

    Args:
        results: The study; the file is `judge.errors.labels`, else `certify.labels`.

    Returns:
        Cell -> a row a labelled response, with columns of judgements; without cells where `judge`
        names no errors or people labelled none.

    Raises:
        FileFormatError: A label cannot be read, fits several responses, contradicts another or is
            no type of the taxonomy.
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
    """Add the failures whose outcome says their type: nobody has to read these.

    Args:
        labels: What people said of one cell.
        judgements: What the stage `judge` wrote of it, if it did.

    Returns:
        The labels, and a row a failure that was typed without a judge and that nobody labelled.
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
