"""`omibench results export` (tables, figures, logs) and `publish` (a leaderboard)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import ResultsArgument, find_results
from omibench.errors import EXIT_SOME_FAILED, ArgumentError
from omibench.text.terminal import say, say_lines

if TYPE_CHECKING:
    from omibench.params.study import Study


def export(
    results: ResultsArgument = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder to write; with --eval, the file.")
    ] = Path("export"),
    paper: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Only the tables and figures of a paper, under its numbers: omibench, emma, "
            "usnco-v or mathreal.  [all results]",
            show_default=False,
        ),
    ] = None,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Add confidence intervals to the numbers.")
    ] = False,
    pictures: Annotated[
        str,
        typer.Option(metavar="KINDS", help="Figure formats, separated by commas: svg, pdf, png."),
    ] = "svg",
    eval_cell: Annotated[
        str | None,
        typer.Option(
            "--eval",
            metavar="MODEL/SETTING",
            help="Write one cell as an Inspect log instead of tables; needs --out FILE.eval.",
        ),
    ] = None,
    all_cells: Annotated[
        bool, typer.Option("--all", help="Write all cells as Inspect logs instead of tables.")
    ] = False,
    params: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --eval or --all: parameter file of the results, which gives the store.  "
            "[params.yaml, if its study.results matches]",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a study's tables as CSV, Markdown and LaTeX, and its figures as SVG and Vega-Lite.

    With --paper, files are named after the paper's tables and figures (table2.tex, figure5a.svg),
    and README.md lists each as measured, simulated, printed or missing, with the reason. LaTeX
    tables use booktabs; the best number of a column is bold, the second best underlined.

    With --eval or --all, cells are written as Inspect logs for `inspect view`, with the messages
    and pictures that were sent, the responses, and one score per verdict. `omibench score` reads
    them too.

    \b
    Example:
      omibench results export results --paper omibench --out paper/
      omibench results export results --out tables/ --intervals --pictures svg,pdf
      omibench results export results --eval sim-apex/cot --out logs/apex-cot.eval
      omibench results export results --all --out logs/
    """
    from omibench.cli.explore.sources import find_results_and_study

    results, study = find_results_and_study(results, params)
    if eval_cell is not None or all_cells:
        if paper is not None or intervals or (eval_cell is not None and all_cells):
            raise ArgumentError(
                "--eval, --all: give one of them, without --paper and --intervals, which are "
                "about tables"
            )
        _write_eval_logs(results, study, eval_cell, out)
        return
    from omibench.files.outputs import output_folder
    from omibench.papers.export.folder import (
        PICTURE_KINDS,
        ExportOptions,
        export_paper,
        export_results,
    )
    from omibench.papers.export.overview import summarise_entries

    kinds = [kind.strip() for kind in pictures.split(",") if kind.strip()]
    for kind in kinds:
        if kind not in PICTURE_KINDS:
            raise ArgumentError(
                f"--pictures: {kind!r} is not a figure format; "
                f"choose from {', '.join(PICTURE_KINDS)}"
            )
    _spare_results(out, results / "analyze")
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
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write.")],
    results: ResultsArgument = None,
) -> None:
    """Write a study's leaderboard as a folder for a static web host.

    The folder contains the report without single responses (index.html), the same numbers for
    programs (board.json, described by board.schema.json), tables (CSV, Parquet) and figures (SVG,
    Vega-Lite). It contains no responses, gold answers or pictures of problems. Run the command
    again to update the folder.

    \b
    Example:
      omibench results publish --out public
      omibench results publish results --out public/2026-11
    """
    from omibench.files.outputs import spare_store
    from omibench.papers.export.publish import INDEX, publish_study

    results = find_results(results)
    _spare_results(out, results)
    board = publish_study(results, spare_store(out, "store"))
    say(f"{out / INDEX}: {len(board.rows)} rows, on {board.dataset}", err=True)


def _spare_results(out: Path, folder: Path) -> None:
    if out.resolve().is_relative_to(folder.resolve()):
        raise ArgumentError(
            f"--out {out}: is inside the results folder, which a run overwrites; "
            "give a path outside of it"
        )


def _write_eval_logs(results: Path, study: Study | None, cell_name: str | None, out: Path) -> None:
    """Write cells of a study as Inspect logs and print their paths.

    Args:
        results: Results folder.
        study: Its parameters, if known.
        cell_name: The cell as `MODEL/SETTING`; None for all.
        out: The log file; the folder if all cells are written.

    Raises:
        ArgumentError: `cell_name` or `out` has the wrong form.
        MissingInputError: The folder does not contain results, or not this cell.
        FileFormatError: The file of a cell cannot be read.
        OutputError: A log cannot be written.
    """
    from omibench.eval_logs.export import LogWriter
    from omibench.files.outputs import output_file, output_folder
    from omibench.params.cell import Cell
    from omibench.results.folder import find_results_folder

    folder = find_results_folder(results)
    store = Path(study.study.store) if study else folder.parent / "store"
    _spare_results(out, folder)
    if cell_name is None:
        logs = LogWriter(folder, store).write_all(output_folder(out, store))
    else:
        model, _, setting = cell_name.partition("/")
        if not model or not setting or "/" in setting or ".." in (model, setting):
            raise ArgumentError(f"--eval {cell_name}: is not a cell; write MODEL/SETTING")
        if out.suffix != ".eval":
            raise ArgumentError(f"--out {out}: an Inspect log needs a name that ends in .eval")
        target = output_file(out, store)
        logs = [LogWriter(folder, store).write(Cell(model, setting), target)]
    for log in logs:
        marks = ["SIMULATED"] if log.is_simulated else []
        if log.unsent:
            marks.append(
                f"{log.unsent} with the problem instead of the messages sent, "
                f"which {store} does not contain"
            )
        notes = "".join(f"; {mark}" for mark in marks)
        say_lines(f"{log.path}: {log.samples} responses{notes}", err=True)
