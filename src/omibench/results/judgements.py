"""Scorer x judge on the same responses: if they disagree, one of them is wrong."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from omibench.errors import MissingInputError
from omibench.params.setting import Cell
from omibench.results.load import JUDGE_RULES, Results
from omibench.results.study_files import StudyFiles
from omibench.schemas.certificate import QuadrantCounts
from omibench.schemas.verdict import RIGHT

QUADRANTS = ("both_right", "both_wrong", "judge_only", "rules_only")
DISAGREE = ("judge_only", "rules_only")
RESPONSE = ("model", "setting", "id", "index")


def side_by_side(results: Results, rules: str) -> pl.DataFrame:
    """Return one row per judged response, with `quadrant`, `by_rules` and `by_judge`.

    `by_rules` and `by_judge` are the two verdicts in [0, 1]; a response without an answer for the
    scorer counts as wrong for it. Failed judgements are excluded.
    """
    judged = results.select_verdicts(JUDGE_RULES).filter(pl.col("outcome") == "scored")
    rule_verdicts = results.select_verdicts(rules).select(
        *RESPONSE, "extracted", "method", by_rules="verdict", rules_outcome="outcome"
    )
    judge_verdicts = judged.select(
        *RESPONSE, "key", "answer_type", "cluster", "judge", "judge_key", by_judge="verdict"
    )
    return with_quadrants(judge_verdicts.join(rule_verdicts, on=RESPONSE, maintain_order="left"))


def with_quadrants(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the `quadrant` to rows with `by_judge` and `by_rules`."""
    judge, rule = pl.col("by_judge") >= RIGHT, pl.col("by_rules") >= RIGHT
    quadrant = (
        pl.when(judge & rule)
        .then(pl.lit("both_right"))
        .when(judge)
        .then(pl.lit("judge_only"))
        .when(rule)
        .then(pl.lit("rules_only"))
        .otherwise(pl.lit("both_wrong"))
    )
    return rows.with_columns(quadrant=quadrant)


def count_quadrants(rows: pl.DataFrame) -> list[QuadrantCounts]:
    """Return the table of every model in the order of the rows, then of all of them (`model` "").

    `rows` come from `side_by_side`; if they have a column `label` (human, null for no label) each
    of the four counts its right labels.
    """
    models = rows["model"].unique(maintain_order=True).to_list()
    parts = [(model, rows.filter(model=model)) for model in models]
    return [_table(model, part) for model, part in [*parts, ("", rows)]]


def _table(model: str, rows: pl.DataFrame) -> QuadrantCounts:
    counts = {name: rows.filter(quadrant=name).height for name in QUADRANTS}
    labelled = {}
    if "label" in rows.columns:
        for name in QUADRANTS:
            labels = rows.filter(quadrant=name)["label"].drop_nulls()
            labelled[name] = (int((labels >= RIGHT).sum()), len(labels))
    return QuadrantCounts(model=model, labelled_right=labelled, **counts)


# Judgements of the reasoning in responses, from the stage `judge`.


def read_judgements(results: Results, folder: Path, cell: Cell) -> pl.DataFrame:
    """Read the judgements of a cell that count.

    Args:
        results: The study of the cell.
        folder: The results folder of the stage `judge`.
        cell: The cell.

    Returns:
        `model, setting`, the columns of JudgementRow, and `cluster`, the group of the problem.

    Raises:
        MissingInputError: The study judges the cell, but its file does not exist.
    """
    files = StudyFiles(folder.parent, judge=folder)
    if not files.locate("judge", cell).is_file():
        raise MissingInputError(
            f"{files.locate('judge', cell)}: the file does not exist; run `omibench judge` for "
            f"{cell.model} under {cell.setting} first, or remove `judge` from the params"
        )
    clusters = {answer.id: answer.group or answer.id for answer in results.answers.values()}
    counting = files.read_judgements(cell).filter("counts")
    return counting.with_columns(
        cluster=pl.col("id").replace_strict(clusters, default=None, return_dtype=pl.String)
    )


def read_all_judgements(results: Results, folder: Path) -> pl.DataFrame:
    """Read the counting judgements of all cells that the study judges.

    Args:
        results: The study.
        folder: The results folder of the stage `judge`.

    Returns:
        The columns of `read_judgements`.

    Raises:
        MissingInputError: A cell that the study judges has no file.
    """
    return pl.concat(read_judgements(results, folder, cell) for cell in results.study.judged_cells)
