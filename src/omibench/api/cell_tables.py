"""Tables of problems, and joins of the rows of cells with problems and responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from omibench.errors import FileFormatError
from omibench.files.csv_file import unmark_formula
from omibench.files.intake import read_csv
from omibench.schemas.problem import Answer, Question

RESPONSE = ("model", "setting", "id", "index", "key")
OF_RESPONSE = ("text", "finish_reason", "input_tokens", "output_tokens", "cost_usd", "latency_s")
OF_PROBLEM = ("subject", "group", "language", "n_images", "answer_type", "gold")


def describe_problems(
    questions: Mapping[str, Question], golds: Mapping[str, Answer]
) -> pl.DataFrame:
    """Return one row per problem: question, gold answer and grouping columns."""
    return pl.DataFrame(
        [
            (
                question.id, question.question, golds[question.id].answer,
                golds[question.id].answer_type, question.subject, question.language,
                golds[question.id].group or question.id, golds[question.id].n_images,
            )
            for question in questions.values()
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
    lost = joined.filter(joined["subject"].is_null())
    if lost.height:
        first = lost.row(0, named=True)
        raise FileFormatError(
            f"{first['model']}/{first['setting']}.parquet: the row of {first['id']!r} has no "
            "problem in freeze/answers.jsonl; run this cell again"
        )
    return joined


def join_responses(verdicts: pl.DataFrame, responses: pl.DataFrame) -> pl.DataFrame:
    """Join verdicts with the responses they score."""
    facts = responses.select(
        *RESPONSE, *OF_RESPONSE, response_outcome="outcome", responded_simulated="simulated"
    ).unique(RESPONSE)
    return verdicts.join(facts, on=RESPONSE, how="left", maintain_order="left")


def read_report_table(path: Path) -> pl.DataFrame:
    """Read a CSV file of the report, with numbers parsed and spreadsheet guards removed.

    Raises:
        FileFormatError: If it is not a CSV file.
    """
    rows = [{name: unmark_formula(cell) for name, cell in row.items()} for row in read_csv(path)]
    names = list(rows[0]) if rows else []
    return pl.DataFrame([_read_column(name, [row[name] for row in rows]) for name in names])


def _read_column(name: str, cells: Sequence[str]) -> pl.Series:
    texts = pl.Series(name, [cell or None for cell in cells], dtype=pl.String)
    if texts.drop_nulls().is_in(["true", "false"]).all() and texts.null_count() < len(texts):
        return texts == "true"
    for dtype in (pl.Int64, pl.Float64):
        numbers = texts.cast(dtype, strict=False)
        if numbers.null_count() == texts.null_count() < len(texts):
            return numbers
    return texts
