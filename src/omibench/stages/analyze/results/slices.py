"""Results by one or two attributes of items, models or settings (`analyze.slices`)."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from omibench.errors import ArgumentError, ParamsError
from omibench.params.stages.analyze import split_slice
from omibench.results.slices import (
    CELL,
    DEFAULT_SLICES,
    LENGTHS,
    MEANS,
    VALUES,
    ItemMatrix,
    SlicePlan,
    arrange_items,
    arrange_outcomes,
    arrange_samples,
    label_items,
    slice_lengths,
    slice_values,
)
from omibench.results.study_files import StudyFiles
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.result import result


def list_item_slices(analysis: Analysis) -> list[str]:
    """List the slices of the study that depend only on attributes of items."""
    slices = analysis.study.analyze.slices
    attributes = analysis.attributes.of_items
    return [
        names
        for names in (DEFAULT_SLICES if slices is None else slices)
        if all(name in attributes for name in split_slice(names))
    ]


def slice_items(analysis: Analysis) -> pl.DataFrame:
    """Label every item in every slice of items and in the whole, where slice and value are "".

    Returns:
        Rows of `id`, `slice` and `value`, the whole first.
    """
    parts = [label_items(analysis.items, names) for names in list_item_slices(analysis)]
    return pl.concat([label_whole(analysis.items), *parts])


def label_whole(items: pl.DataFrame) -> pl.DataFrame:
    """Return rows of `id`, `slice` and `value` that put all items together: both are ""."""
    return items.select("id", slice=pl.lit(""), value=pl.lit(""))


def list_plans(analysis: Analysis) -> list[SlicePlan]:
    """List the slices of the study; by default subject, number of images and answer type.

    Args:
        analysis: The study's results.

    Raises:
        ParamsError: No item, model or setting has an attribute in `analyze.slices`.
    """
    named = analysis.study.analyze.slices
    try:
        return [_plan(analysis, names) for names in (DEFAULT_SLICES if named is None else named)]
    except ArgumentError as error:
        raise ParamsError(f"analyze.slices: {error}") from None


def _plan(analysis: Analysis, names: str) -> SlicePlan:
    marks = analysis.simulated_cells
    return SlicePlan.make(split_slice(names), analysis.attributes, marks, analysis.confidence)


def slice_accuracy(analysis: Analysis, names: str) -> pl.DataFrame:
    """Tabulate one slice of accuracy, GPTScore, partial credit, ratio and strict accuracy.

    Args:
        analysis: The study's results.
        names: One attribute, or two separated by a comma.

    Returns:
        Rows as in `slices`, whether `analyze.slices` lists it or not.
    """
    return slice_values(_arrange_verdicts(analysis), _plan(analysis, names))


def _arrange_verdicts(analysis: Analysis) -> ItemMatrix:
    return arrange_items(analysis.item_values, VALUES, [*MEANS])


@result("slices", "Accuracy by attributes", source="OMIBench, table 2; EMMA, tables 8-11")
def tabulate_slices(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate accuracy, GPTScore, partial credit, ratio and strict accuracy by attributes.

    Accuracies by subject are those of table 2 (OMIBench), by category those of EMMA's tables 8 to
    11 and MathReal's tables 2 and 9 to 11, by exam and image type those of USNCO-V's figure 4.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell, scorer, slice, value and metric, with n, clusters and a clustered
        interval; for attributes of models or settings, `cells` is the number of cells over which an
        item's value is averaged.
    """
    return _stack(analysis, _arrange_verdicts(analysis))


@result("slice-samples", "pass@k and consistency@k by attributes", source="USNCO-V, eq. 3-4")
def tabulate_samples(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate pass@k, consistency@k and accuracies of selection among k samples by attributes.

    Args:
        analysis: The study's results.

    Returns:
        Rows as in `slices`, with metrics such as `pass@4`; None if no problem was sampled several
        times.
    """
    files = StudyFiles(analysis.folder)
    frames = [
        frame.select("model", "setting", "id", "rules", "metric", "k", "value")
        for cell in analysis.results.study.aggregated_cells
        if (frame := files.read_shares(cell)) is not None
    ]
    if not frames:
        return None
    return _stack(analysis, arrange_samples(analysis.add_clusters(pl.concat(frames))))


@result("slice-outcomes", "Responses without an answer by attributes")
def tabulate_outcomes(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the share of each outcome without an answer by attributes.

    Args:
        analysis: The study's results.

    Returns:
        Rows as in `slices`, with metrics such as `outcome-refused`; None if every response has an
        answer.
    """
    return _stack(analysis, arrange_outcomes(analysis.results.counting_verdicts))


@result("slice-lengths", "Length of responses and reasoning by attributes")
def tabulate_lengths(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the mean length of responses, in characters and tokens, by attributes.

    Args:
        analysis: The study's results.

    Returns:
        Rows as in `slices`, without a scorer: `characters` of the visible text, `output_tokens` and
        `reasoning_tokens` as providers counted them.
    """
    lengths = arrange_items(analysis.add_clusters(analysis.results.responses), CELL, LENGTHS)
    return _stack(analysis, lengths, slice_lengths)


def _stack(
    analysis: Analysis,
    matrix: ItemMatrix,
    tabulate: Callable[[ItemMatrix, SlicePlan], pl.DataFrame] = slice_values,
) -> pl.DataFrame | None:
    """Concatenate the tables of all slices; None if they are empty."""
    frames = [frame for plan in list_plans(analysis) if (frame := tabulate(matrix, plan)).height]
    return pl.concat(frames) if frames else None
