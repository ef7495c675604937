"""`omibench results export`, tables and figures for a paper, and `publish`, a leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.text.terminal import say, say_lines


def export(
    results: Annotated[
        Path, typer.Argument(help="Results folder of a study that was analyzed.")
    ] = Path("results"),
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write.")] = Path("export"),
    paper: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Only a paper's tables and figures, by its own numbers: omibench, emma, usnco-v "
            "or mathreal.  [every result]",
            show_default=False,
        ),
    ] = None,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Write each number with its interval.")
    ] = False,
    pictures: Annotated[
        str,
        typer.Option(metavar="KINDS", help="Formats of figures: svg, pdf, png, with commas."),
    ] = "svg",
) -> None:
    """Write a study's tables as CSV, Markdown and LaTeX, and its figures as SVG and Vega-Lite.

    With --paper the files have the paper's own numbers (table2.tex, figure5a.svg), and README.md
    says of each whether it is measured, simulated, printed or missing, and why. In LaTeX (booktabs)
    the best number of a column is bold, the second best underlined.

    \b
    Example:
      omibench results export results --paper omibench --out paper/
      omibench results export results --out tables/ --intervals --pictures svg,pdf
    """
    from omibench.errors import EXIT_SOME_FAILED, ArgumentError
    from omibench.files.outputs import output_folder
    from omibench.paper_export.export import (
        PICTURE_KINDS,
        ExportOptions,
        export_paper,
        export_results,
    )
    from omibench.paper_export.overview import summarise_entries

    kinds = [kind.strip() for kind in pictures.split(",") if kind.strip()]
    for kind in kinds:
        if kind not in PICTURE_KINDS:
            raise ArgumentError(
                f"--pictures: {kind!r} is no format of figures; give {', '.join(PICTURE_KINDS)}"
            )
    if out.resolve().is_relative_to((results / "analyze").resolve()):
        raise ArgumentError(
            f"--out {out}: lies in the results of the study, which a run writes anew; "
            "name a folder beside them"
        )
    target = output_folder(out, "store")
    options = ExportOptions(intervals, tuple(kind for kind in PICTURE_KINDS if kind in kinds))
    done = (
        export_paper(results, paper, target, options)
        if paper
        else export_results(results, target, options)
    )
    summary = f"{target / 'README.md'}: {summarise_entries(done.entries)}"
    say_lines("\n".join([*(str(error) for error in done.errors), summary]), err=True)
    if done.errors:
        raise typer.Exit(EXIT_SOME_FAILED)


def publish(
    out: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write.")],
    results: Annotated[
        Path, typer.Option(metavar="RESULTS", help="Results folder of a study that was analyzed.")
    ] = Path("results"),
) -> None:
    """Write a study's leaderboard into a folder that a static host can serve.

    index.html is the report without what leads to single responses; board.json has the same
    numbers for programs, and board.schema.json says what is in it; tables (CSV, Parquet) and
    figures (SVG, Vega-Lite) lie beside. Responses, golds and pictures of problems stay where they
    are. Publish again to bring the folder up to date.

    \b
    Example:
      omibench results publish public
      omibench results publish public/2026-11 --results results
    """
    from omibench.errors import ArgumentError
    from omibench.files.outputs import spare_store
    from omibench.paper_export.publish import INDEX, publish_study

    if out.resolve().is_relative_to(results.resolve()):
        raise ArgumentError(
            f"{out}: lies in the results of the study, which a run writes anew; "
            "name a folder beside them"
        )
    board = publish_study(results, spare_store(out, "store", "DIR"))
    say(f"{out / INDEX}: {len(board.rows)} rows, on {board.dataset}", err=True)
