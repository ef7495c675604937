"""`omibench results export`, tables, figures and logs, and `publish`, a leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.errors import EXIT_SOME_FAILED, ArgumentError
from omibench.text.terminal import say, say_lines


def export(
    results: Annotated[
        Path, typer.Argument(help="Results folder of a study that was analyzed.")
    ] = Path("results"),
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder to write; of one --eval the file.")
    ] = Path("export"),
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
    eval_cell: Annotated[
        str | None,
        typer.Option(
            "--eval",
            metavar="MODEL/SETTING",
            help="Write this cell as a log of Inspect in place of tables: --out FILE.eval.",
        ),
    ] = None,
    all_cells: Annotated[
        bool, typer.Option("--all", help="Write every cell as such a log: --out DIR.")
    ] = False,
    params: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Parameter file of the results, which names the store of what was sent.  "
            "[params.yaml, where it names them]",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a study's tables as CSV, Markdown and LaTeX, and its figures as SVG and Vega-Lite.

    With --paper the files have the paper's own numbers (table2.tex, figure5a.svg), and README.md
    says of each whether it is measured, simulated, printed or missing, and why. In LaTeX (booktabs)
    the best number of a column is bold, the second best underlined.

    With --eval or --all cells become logs of Inspect, which `inspect view` opens and `omibench
    score` reads: messages and pictures as they were sent, responses, a score for each verdict.

    \b
    Example:
      omibench results export results --paper omibench --out paper/
      omibench results export results --out tables/ --intervals --pictures svg,pdf
      omibench results export results --eval sim-apex/cot --out logs/apex-cot.eval
      omibench results export results --all --out logs/
    """
    if eval_cell is not None or all_cells:
        if paper is not None or intervals or (eval_cell is not None and all_cells):
            raise ArgumentError(
                "--eval, --all: one of them, and neither --paper nor --intervals: logs of Inspect "
                "are written in place of tables"
            )
        _write_eval_logs(results, eval_cell, out, params)
        return
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
    from omibench.files.outputs import spare_store
    from omibench.paper_export.publish import INDEX, publish_study

    if out.resolve().is_relative_to(results.resolve()):
        raise ArgumentError(
            f"{out}: lies in the results of the study, which a run writes anew; "
            "name a folder beside them"
        )
    board = publish_study(results, spare_store(out, "store", "DIR"))
    say(f"{out / INDEX}: {len(board.rows)} rows, on {board.dataset}", err=True)


def _write_eval_logs(results: Path, cell_name: str | None, out: Path, params: str | None) -> None:
    """Write cells of a study as logs of Inspect, and say what was written.

    Args:
        results: The folder of results.
        cell_name: The cell, as `MODEL/SETTING`; None for all.
        out: The file of the log; of all cells the folder.
        params: The parameter file as a person names it; None for the one beside, if it names these
            results.

    Raises:
        ArgumentError: The cell is named in another way, or `out` is no place for a log.
        MissingInputError: The folder holds no results, or not this cell.
        FileFormatError: The file of a cell cannot be read.
        OutputError: A log cannot be written.
    """
    from omibench.cli.explore.sources import find_study
    from omibench.eval_logs.export import LogWriter
    from omibench.files.outputs import output_file, output_folder
    from omibench.params.cell import Cell
    from omibench.results.folder import find_results_folder

    folder = find_results_folder(results)
    study = find_study(params, folder)
    store = Path(study.study.store) if study else folder.parent / "store"
    if out.resolve().is_relative_to(folder.resolve()):
        raise ArgumentError(f"--out {out}: lies in the results of the study; name a place beside")
    if cell_name is None:
        logs = LogWriter(folder, store).write_all(output_folder(out, store))
    else:
        model, _, setting = cell_name.partition("/")
        if not model or not setting or "/" in setting or ".." in (model, setting):
            raise ArgumentError(f"--eval {cell_name}: name a cell as MODEL/SETTING")
        if out.suffix != ".eval":
            raise ArgumentError(f"--out {out}: is a log of Inspect; name it *.eval")
        target = output_file(out, store)
        logs = [LogWriter(folder, store).write(Cell(model, setting), target)]
    for log in logs:
        marks = ["SIMULATED"] if log.is_simulated else []
        if log.unsent:
            marks.append(f"{log.unsent} show the problem: {store} does not hold what was sent")
        notes = "".join(f"; {mark}" for mark in marks)
        say_lines(f"{log.path}: {log.samples} responses{notes}", err=True)
