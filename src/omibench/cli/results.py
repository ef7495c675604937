"""`omibench results`: check printed results and compare runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.export import export, publish
from omibench.cli.help import make_group
from omibench.cli.options import ResultsArgument, find_results
from omibench.cli.slices import slice_results
from omibench.text.terminal import say_lines

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
    from omibench.errors import EXIT_SOME_FAILED
    from omibench.files.outputs import output_file, spare_inputs
    from omibench.files.shipped import find_local_or_shipped
    from omibench.papers.audit import audit_tables, list_tables, summarise_audit, write_audit

    folder = find_local_or_shipped(str(tables)) if tables == Path("published") else tables
    target = spare_inputs(output_file(out, "store"), *list_tables(folder))
    done = audit_tables(folder)
    write_audit(done.findings, target)
    say_lines("\n".join([*(str(error) for error in done.errors), *summarise_audit(done)]), err=True)
    if done.errors:
        raise typer.Exit(EXIT_SOME_FAILED)


@results_app.command()
def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Results folder of the first run.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Results folder of the second run.")],
    out: Annotated[Path, typer.Option(metavar="FILE.json", help="JSON file to write.")] = Path(
        "compare.json"
    ),
    rules: Annotated[
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
    and what differs in the requests is listed. Sends no request and writes to neither folder.

    \b
    Example:
      omibench results compare results-before results-after --out compare.json
      omibench results compare A B --rules robust,omibench --items changed.csv
    """
    from omibench.api.run_comparisons import compare_runs
    from omibench.errors import ParamsError
    from omibench.files.csv_file import write_csv
    from omibench.files.outputs import output_file
    from omibench.run_comparison.summary import describe_comparison
    from omibench.schemas.tables import write_json

    names = rules.split(",") if rules is not None else []
    if rules is not None and (len(names) > 2 or not all(names)):
        raise ParamsError(f"--rules {rules}: give one scorer, or two separated by a comma")
    target = output_file(out, "store")
    table = output_file(items, "store", "--items") if items else None
    pair = (names[0], names[-1]) if names else None
    comparison = compare_runs(a, b, rules=pair, confidence=confidence)
    write_json(target, comparison)
    if table:
        write_csv(table, comparison.items.to_dicts(), columns=comparison.items.columns)
    say_lines(describe_comparison(comparison))
