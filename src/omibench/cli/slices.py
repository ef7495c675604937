"""`omibench results slice`: tabulate results by attributes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import ResultsArgument, find_results
from omibench.text.terminal import say_lines


def slice_results(
    results: ResultsArgument = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ATTRIBUTE[,ATTRIBUTE]",
            help="One or two attributes of problems, models or settings; repeatable.  [subject, "
            "n_images and answer_type]",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE.csv", help="CSV file to write.")] = Path(
        "slices.csv"
    ),
    metric: Annotated[
        str | None,
        typer.Option(
            help="Only this metric, such as accuracy, gptscore, strict, pass@4 or characters."
        ),
    ] = None,
    rules: Annotated[str | None, typer.Option(help="Only this scorer.")] = None,
    model: Annotated[str | None, typer.Option(help="Only this model.")] = None,
    setting: Annotated[str | None, typer.Option(help="Only this setting.")] = None,
) -> None:
    """Break down accuracy, samples, outcomes and lengths by one or two attributes.

    Attributes of problems come from the frozen dataset; attributes of models (family, weights,
    parameters_b, ...) and settings (prompt, images, shots, ...) from `omibench analyze`. Each row
    is a number with its clustered interval (docs/results.md).

    \b
    Example:
      omibench results slice results --by exam,image_type --out slices.csv
      omibench results slice results --by noise --by family --metric accuracy
    """
    import polars as pl

    from omibench.api.results import load_results
    from omibench.api.slices import SliceChoice, Slicer
    from omibench.errors import EXIT_SOME_FAILED, ArgumentError
    from omibench.files.csv_file import write_frame_csv
    from omibench.files.outputs import output_file
    from omibench.params.stages.analyze import split_slice
    from omibench.results.slices import DEFAULT_SLICES

    target = output_file(out, "store")
    slicer = Slicer(
        load_results(find_results(results)), SliceChoice(metric, rules, model, setting), 0.95
    )
    tables, errors = [], []
    for names in by or DEFAULT_SLICES:
        try:
            tables.append(slicer.tabulate(split_slice(names)))
        except ArgumentError as error:
            errors.append(error)
    if not tables:
        raise errors[0]
    table = pl.concat(tables, how="diagonal_relaxed")
    write_frame_csv(target, table)
    say_lines("\n".join([*map(str, errors), f"{target}: {table.height:,} rows"]), err=True)
    if errors:
        raise typer.Exit(EXIT_SOME_FAILED)
