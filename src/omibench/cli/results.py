"""`omibench results`: printed results checked, and runs compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.export import export, publish
from omibench.cli.help import make_group
from omibench.cli.slices import slice_results
from omibench.text.terminal import say_lines

results_app = make_group(
    "results",
    "Results of a study as tables and figures; printed results checked; two runs compared.",
)

results_app.command()(export)
results_app.command()(publish)
results_app.command("slice")(slice_results)


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


@results_app.command()
def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="The results folder of the first run.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="That of the second one.")],
    out: Annotated[Path, typer.Option(metavar="FILE.json", help="JSON file to write.")] = Path(
        "compare.json"
    ),
    rules: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[,NAME]",
            help="The rule book, or gptscore, that is compared: one for both, or one for each run. "
            " [the first of each run, and gptscore where both have it]",
            show_default=False,
        ),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="CSV file of all verdicts that moved, and by what."),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Of the paired intervals.")] = 0.95,
) -> None:
    """Compare two runs: which share of their difference does each change between them have?

    What needs no model is replayed in every order: gold, data, rules, extraction, stored
    judgements. What was asked anew is one share, with what differs in it. Shares sum to the
    difference. Nothing is asked, and nothing is written to either folder.

    \b
    Example:
      omibench results compare results-before results-after --out compare.json
      omibench results compare A B --rules robust,omibench --items moved.csv
    """
    from omibench.api.run_comparisons import compare_runs
    from omibench.errors import ParamsError
    from omibench.files.csv_file import write_csv
    from omibench.files.outputs import output_file
    from omibench.run_comparison.summary import describe_comparison
    from omibench.schemas.tables import write_json

    names = rules.split(",") if rules is not None else []
    if rules is not None and (len(names) > 2 or not all(names)):
        raise ParamsError(f"--rules {rules}: name one rule book, or two joined by a comma")
    target = output_file(out, "store")
    table = output_file(items, "store", "--items") if items else None
    pair = (names[0], names[-1]) if names else None
    comparison = compare_runs(a, b, rules=pair, confidence=confidence)
    write_json(target, comparison)
    if table:
        write_csv(table, comparison.items.to_dicts(), columns=comparison.items.columns)
    say_lines(describe_comparison(comparison))
