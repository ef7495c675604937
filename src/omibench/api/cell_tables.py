"""The files of all cells as one frame, and joins with problems and responses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from omibench.errors import FileFormatError
from omibench.files.csv_file import unmark_formula
from omibench.files.intake import read_csv
from omibench.schemas.columns import polars_schema
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import read_parquet

if TYPE_CHECKING:
    import polars as pl

RESPONSE = ("model", "setting", "id", "index", "key")
OF_RESPONSE = ("text", "finish_reason", "input_tokens", "output_tokens", "cost_usd", "latency_s")
OF_PROBLEM = ("subject", "group", "language", "n_images", "answer_type", "gold")


def read_cells(folder: Path, stage: str, row: type[BaseModel]) -> pl.DataFrame:
    """Read the file that a stage wrote for each cell.

    Args:
        folder: Results folder.
        stage: Stage that wrote the files, such as `infer`.
        row: Type of their rows.

    Returns:
        All rows with the leading columns `model` and `setting`, sorted by cell; without files an
        empty frame with these columns.

    Raises:
        FileFormatError: If a file cannot be read or lacks a column.
    """
    import polars as pl

    schema = {"model": pl.String(), "setting": pl.String(), **polars_schema(row)}
    frames = [
        read_parquet(path, row).select(
            pl.lit(path.parent.name).alias("model"),
            pl.lit(path.stem).alias("setting"),
            *row.model_fields,
        )
        for path in sorted((folder / stage).glob("*/*.parquet"))
    ]
    return pl.concat([pl.DataFrame(schema=schema), *frames])


def describe_problems(questions: Sequence[Question], answers: Sequence[Answer]) -> pl.DataFrame:
    """Return one row per problem: question, gold answer and grouping columns."""
    import polars as pl

    golds = {answer.id: answer for answer in answers}
    return pl.DataFrame(
        [
            (
                question.id, question.question, golds[question.id].answer,
                golds[question.id].answer_type, question.subject, question.language,
                golds[question.id].group or question.id, golds[question.id].n_images,
            )
            for question in questions
            if question.id in golds
        ],
        schema={
            "id": pl.String, "question": pl.String, "gold": pl.List(pl.String),
            "answer_type": pl.String, "subject": pl.String, "language": pl.String,
            "group": pl.String, "n_images": pl.Int64,
        },
        orient="row",
    )  # fmt: skip


def join_problems(rows: pl.DataFrame, problems: pl.DataFrame) -> pl.DataFrame:
    """Join rows with the columns of their problems.

    Raises:
        FileFormatError: If a row refers to a problem that is not in the dataset.
    """
    facts = problems.select("id", *OF_PROBLEM)
    joined = rows.join(facts, on="id", how="left", maintain_order="left")
    _check_partners(joined, "subject", "problem in freeze/answers.jsonl")
    return joined


def join_responses(verdicts: pl.DataFrame, responses: pl.DataFrame) -> pl.DataFrame:
    """Join verdicts with the responses they score.

    Raises:
        FileFormatError: If the response of a verdict is missing.
    """
    facts = responses.select(
        *RESPONSE, *OF_RESPONSE, response_outcome="outcome", responded_simulated="simulated"
    ).unique(RESPONSE)
    joined = verdicts.join(facts, on=RESPONSE, how="left", maintain_order="left")
    _check_partners(joined, "responded_simulated", "response")
    return joined


def read_report_table(path: Path) -> pl.DataFrame:
    """Read a CSV file of the report, with numbers parsed and spreadsheet guards removed.

    Raises:
        FileFormatError: If it is not a CSV file.
    """
    import polars as pl

    rows = [{name: unmark_formula(cell) for name, cell in row.items()} for row in read_csv(path)]
    names = list(rows[0]) if rows else []
    return pl.DataFrame([_read_column(name, [row[name] for row in rows]) for name in names])


def _read_column(name: str, cells: Sequence[str]) -> pl.Series:
    import polars as pl

    texts = pl.Series(name, [cell or None for cell in cells], dtype=pl.String)
    if texts.drop_nulls().is_in(["true", "false"]).all() and texts.null_count() < len(texts):
        return texts == "true"
    for dtype in (pl.Int64, pl.Float64):
        numbers = texts.cast(dtype, strict=False)
        if numbers.null_count() == texts.null_count() < len(texts):
            return numbers
    return texts


def _check_partners(joined: pl.DataFrame, column: str, partner: str) -> None:
    lost = joined.filter(joined[column].is_null())
    if lost.height:
        first = lost.row(0, named=True)
        raise FileFormatError(
            f"{first['model']}/{first['setting']}.parquet: the row of {first['id']!r} has no "
            f"{partner}; run this cell again"
        )
