"""`omibench results`: what printed results say of themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.export import export
from omibench.text.terminal import say_lines

results_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Results of a study as tables and figures; printed results, checked against themselves.",
)


@results_app.callback()
def results() -> None:
    """Keep `audit` a command of its own while it is the only one."""


results_app.command()(export)


@results_app.command()
def audit(
    tables: Annotated[
        Path,
        typer.Argument(
            metavar="[FOLDER]",
            help="Printed tables as CSV and their tables.yaml.  [those that ship with omibench]",
            show_default=False,
        ),
    ] = Path("published"),
    out: Annotated[Path, typer.Option(metavar="FILE.csv", help="CSV file to write.")] = Path(
        "audit.csv"
    ),
) -> None:
    """Check printed tables against themselves and each other; no study is needed.

    Percentages that no count of their problems gives, totals and averages that their parts do not
    give, intervals, differences, shares, correlations, and one value that two tables print
    differently.
    A row of audit.csv is a check; its note is `agrees`, or says what contradicts the value.

    \b
    Example:
      omibench results audit --out audit.csv
      omibench results audit my-tables/ --out audit.csv
    """
    from omibench.audit.run import audit_tables, list_tables, summarise_audit, write_audit
    from omibench.errors import EXIT_SOME_FAILED
    from omibench.files.outputs import output_file, spare_inputs
    from omibench.files.shipped import find_local_or_shipped

    folder = find_local_or_shipped(str(tables)) if tables == Path("published") else tables
    target = spare_inputs(output_file(out, "store"), *list_tables(folder))
    done = audit_tables(folder)
    write_audit(done.findings, target)
    say_lines("\n".join([*(str(error) for error in done.errors), *summarise_audit(done)]), err=True)
    if done.errors:
        raise typer.Exit(EXIT_SOME_FAILED)
