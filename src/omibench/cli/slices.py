"""`omibench results slice`: results by attributes, as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.text.terminal import say_lines


def slice_results(
    results: Annotated[Path, typer.Argument(help="Results folder of a study.")] = Path("results"),
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ATTRIBUTE[,ATTRIBUTE]",
            help="One attribute of items, models or settings, or two; may be given several times.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE.csv", help="CSV file to write.")] = Path(
        "slices.csv"
    ),
    metric: Annotated[
        str | None,
        typer.Option(help="Only this metric: accuracy, gptscore, strict, pass@4, characters, ..."),
    ] = None,
    rules: Annotated[str | None, typer.Option(help="Only this rule book.")] = None,
    model: Annotated[str | None, typer.Option(help="Only this model.")] = None,
    setting: Annotated[str | None, typer.Option(help="Only this setting.")] = None,
) -> None:
    """Tell accuracy, samples, outcomes and lengths apart by one or two attributes.

    params.yaml is not needed. Attributes of items stand in the frozen answers; those of models
    (family, weights, parameters_b, ...) and settings (prompt, images, shots, ...) are known once
    the study was analyzed. A row is a number with its clustered interval (docs/results.md). Without
    --by: subject, n_images and answer_type.

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
    slicer = Slicer(load_results(results), SliceChoice(metric, rules, model, setting), 0.95)
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
