"""`omibench results export` (tables, figures, logs) and `publish` (a leaderboard)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import ResultsArgument, find_results, make_group
from omibench.errors import EXIT_SOME_FAILED, ArgumentError
from omibench.extras import require_extra
from omibench.text.terminal import say, say_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omibench.params.setting import Cell
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
    others: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            metavar="RESULTS",
            help="With --paper: results of a further study of the paper; repeatable.",
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
    tables use booktabs; the best number of a column is bold, the second best underlined. Each is
    made from the first of the studies (RESULTS, --with) that has what it needs.

    With --eval or --all, cells are written as Inspect logs for `inspect view`, with the messages
    and pictures that were sent, the responses, and one score per verdict. `omibench score` reads
    them too.

    \b
    Example:
      omibench results export results --paper omibench --out paper/
      omibench results export results/emma --with results/emma-mini --paper emma --out paper/
      omibench results export results --out tables/ --intervals --pictures svg,pdf
      omibench results export results --eval sim-apex/cot --out logs/apex-cot.eval
      omibench results export results --all --out logs/
    """
    from omibench.cli.explore import find_results_and_study

    results, study = find_results_and_study(results, params)
    if eval_cell is None and not all_cells:
        _write_tables([results, *(others or ())], paper, out, pictures, intervals=intervals)
    elif paper is not None or intervals or (eval_cell is not None and all_cells):
        raise ArgumentError(
            "--eval, --all: give one of them, without --paper and --intervals, which concern tables"
        )
    else:
        _write_eval_logs(results, study, eval_cell, out)


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


def _write_tables(
    folders: Sequence[Path], paper: str | None, out: Path, pictures: str, *, intervals: bool
) -> None:
    """Write the tables and figures of studies and print how many.

    Args:
        folders: Results folders: the study's, and with a paper those of its further studies.
        paper: Its name; None for all results.
        out: The folder to write.
        pictures: Figure formats, separated by commas.
        intervals: Whether numbers have their confidence intervals.

    Raises:
        ArgumentError: A format or paper is unknown, or `out` is in a results folder.
        MissingInputError: A folder does not contain results.
        OutputError: The folder cannot be written.
    """
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
    if len(folders) > 1 and not paper:
        raise ArgumentError("--with: needs --paper, which it adds a study of")
    for folder in folders:
        _spare_results(out, folder / "analyze")
    target = output_folder(out, "store")
    options = ExportOptions(intervals, tuple(kind for kind in PICTURE_KINDS if kind in kinds))
    done = (
        export_paper(folders, paper, target, options)
        if paper
        else export_results(folders[0], target, options)
    )
    summary = f"{target / 'README.md'}: {summarise_entries(done.entries)}"
    say_lines("\n".join([*(str(error) for error in done.errors), summary]), err=True)
    if done.errors:
        raise typer.Exit(EXIT_SOME_FAILED)


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
        MissingExtraError: inspect_ai is not installed.
    """
    from omibench.files.outputs import output_file, output_folder
    from omibench.results.study_files import find_results_folder

    folder = find_results_folder(results)
    store = Path(study.study.store) if study else folder.parent / "store"
    _spare_results(out, folder)
    cell = None if cell_name is None else _parse_cell(cell_name)
    if cell and out.suffix != ".eval":
        raise ArgumentError(f"--out {out}: an Inspect log needs a name that ends in .eval")
    require_extra("inspect", "a log of Inspect")
    from omibench.datasets.eval_logs.export import LogWriter

    writer = LogWriter(folder, store)
    if cell is None:
        logs = writer.write_all(output_folder(out, store))
    else:
        logs = [writer.write(cell, output_file(out, store))]
    for log in logs:
        marks = ["SIMULATED"] if log.is_simulated else []
        if log.unsent:
            marks.append(
                f"{log.unsent} with the problem instead of the messages sent, "
                f"which {store} does not contain"
            )
        notes = "".join(f"; {mark}" for mark in marks)
        say_lines(f"{log.path}: {log.samples} responses{notes}", err=True)


def _parse_cell(name: str) -> Cell:
    from omibench.params.setting import Cell

    model, _, setting = name.partition("/")
    if not model or not setting or "/" in setting or ".." in (model, setting):
        raise ArgumentError(f"--eval {name}: is not a cell; write MODEL/SETTING")
    return Cell(model, setting)


# `omibench results slice`: tabulate results by attributes.


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
    scorer: Annotated[str | None, typer.Option(help="Only this scorer.")] = None,
    model: Annotated[str | None, typer.Option(help="Only this model.")] = None,
    setting: Annotated[str | None, typer.Option(help="Only this setting.")] = None,
) -> None:
    """Break down accuracy, samples, outcomes and lengths by one or two attributes.

    Attributes of problems come from the frozen dataset; attributes of models (family, weights,
    parameters_b, ...) and settings (prompt, images, shots, ...) from `omibench analyze`. Each row
    is a number with its clustered interval (docs/results.md). A file of `omibench score` can be
    given instead of a folder: its further columns are attributes.

    \b
    Example:
      omibench results slice results --by exam,image_type --out slices.csv
      omibench results slice verdicts.parquet --by category
      omibench results slice results --by noise --by family --metric accuracy
    """
    import polars as pl

    from omibench.api.results import load_results
    from omibench.api.scored_files import open_results
    from omibench.api.slices import SliceChoice, Slicer
    from omibench.files.outputs import output_file, write_frame_csv
    from omibench.params.stages.analyze import split_slice
    from omibench.results.slices import DEFAULT_SLICES

    target = output_file(out, "store")
    tables, errors = [], []
    with open_results(find_results(results)) as folder:
        choice = SliceChoice(metric, scorer, model, setting)
        slicer = Slicer(load_results(folder), choice, 0.95)
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


# `omibench results`: check printed results and compare runs.

results_app = make_group(
    "results",
    "Export results as tables and figures, check printed tables, compare two runs.",
)

results_app.command()(export)
results_app.command()(publish)
results_app.command("slice")(slice_results)


@results_app.command()
def leftovers(
    results: ResultsArgument = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove them.")] = False,
) -> None:
    """List files of cells that the study no longer has.

    After a model, a setting or `judge` was removed from the parameters, the files of its cells stay
    in the results; the report, tables, slices, comparisons and the explorer ignore them. With
    --remove, they are deleted. Responses stay in the store: if you add the cell again, none is
    requested twice.

    \b
    Example:
      omibench results leftovers
      omibench results leftovers results --remove
    """
    from omibench.errors import MissingInputError
    from omibench.results.study_files import RECORD, read_record
    from omibench.results.study_record import list_leftovers, remove_leftovers

    folder = find_results(results)
    record = read_record(folder)
    if record is None:
        raise MissingInputError(
            f"{folder / RECORD}: the file does not exist, so the cells of the study are unknown; "
            "run the study with `omibench run` first"
        )
    paths = list_leftovers(folder, record)
    if remove:
        remove_leftovers(paths)
    say_lines(
        "\n".join([*map(str, paths), f"{'removed' if remove else 'left over'}: {len(paths)}"])
    )


@results_app.command()
def audit(
    tables: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="Folder with printed tables as CSV and a tables.yaml.  [the tables of the papers]",
            show_default=False,
        ),
    ] = Path("published"),
    out: Annotated[Path, typer.Option(metavar="FILE.csv", help="CSV file to write.")] = Path(
        "audit.csv"
    ),
) -> None:
    """Check printed tables for contradictions; no study is needed.

    Checks percentages against the number of problems, totals and averages against their parts,
    intervals, differences, shares and correlations, and values that appear in two tables. Each row
    of audit.csv is one check; its note is `agrees` or describes the contradiction.

    \b
    Example:
      omibench results audit --out audit.csv
      omibench results audit my-tables/ --out audit.csv
    """
    from omibench.files.locations import find_local_or_shipped
    from omibench.files.outputs import output_file, spare_inputs
    from omibench.papers.checks import audit_tables, list_tables, summarise_audit, write_audit

    folder = find_local_or_shipped(str(tables)) if tables == Path("published") else tables
    target = spare_inputs(output_file(out, "store"), *list_tables(folder))
    done = audit_tables(folder)
    write_audit(done.findings, target)
    say_lines("\n".join([*(str(error) for error in done.errors), *summarise_audit(done)]), err=True)
    if done.errors:
        raise typer.Exit(EXIT_SOME_FAILED)


@results_app.command()
def compare(
    a: Annotated[
        Path, typer.Argument(metavar="A", help="Results folder or scored file of the first run.")
    ],
    b: Annotated[Path, typer.Argument(metavar="B", help="That of the second run.")],
    out: Annotated[Path, typer.Option(metavar="FILE.json", help="JSON file to write.")] = Path(
        "compare.json"
    ),
    scorer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[,NAME]",
            help="Scorer, or gptscore: one for both runs, or one per run.  [the first of each run, "
            "and gptscore if both have it]",
            show_default=False,
        ),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv", help="CSV file of all changed verdicts with their causes."
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="Confidence level of the paired intervals.")
    ] = 0.95,
) -> None:
    """Compare two runs: each changed verdict with the first thing that differs.

    These are, in this order, the problem, its gold answer, the scorer or judge, the samples that
    count, and the response; the changes by cause add up to the difference over common problems,
    and what differs in the requests is listed. Sends no request and writes to neither folder. Files
    of `omibench score` can be given instead of folders.

    \b
    Example:
      omibench results compare results-before results-after --out compare.json
      omibench results compare before.parquet after.parquet
      omibench results compare A B --scorer robust,omibench --items changed.csv
    """
    from omibench.api.comparisons import compare_runs
    from omibench.errors import ParamsError
    from omibench.files.outputs import output_file, write_csv
    from omibench.results.comparison.text import describe_comparison
    from omibench.schemas.tables import write_json

    names = scorer.split(",") if scorer is not None else []
    if scorer is not None and (len(names) > 2 or not all(names)):
        raise ParamsError(f"--scorer {scorer}: give one scorer, or two separated by a comma")
    target = output_file(out, "store")
    table = output_file(items, "store", "--items") if items else None
    pair = (names[0], names[-1]) if names else None
    comparison = compare_runs(a, b, scorer=pair, confidence=confidence)
    write_json(target, comparison)
    if table:
        write_csv(table, comparison.items.to_dicts(), columns=comparison.items.columns)
    say_lines(describe_comparison(comparison))
