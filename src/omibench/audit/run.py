"""Audit of a folder of printed tables: every check on every table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.audit.correlations import check_correlations
from omibench.audit.counts import check_counts
from omibench.audit.findings import Finding
from omibench.audit.intervals import check_intervals
from omibench.audit.partitions import check_partitions
from omibench.audit.repeats import check_repeats
from omibench.audit.shares import check_shares
from omibench.audit.totals import check_averages, check_differences, check_sums, check_totals
from omibench.errors import MissingInputError, OmibenchError
from omibench.files.csv_file import write_csv
from omibench.files.intake import open_regular
from omibench.printed_tables.layouts import LAYOUTS, read_layouts
from omibench.printed_tables.table import PrintedTable, read_described_table


class Audit(NamedTuple):
    """All findings, and the tables that could not be read, each with its error."""

    tables: int
    findings: list[Finding]
    errors: list[OmibenchError]
    absent: list[str]
    """Tables described in `tables.yaml` but missing from the folder."""

    @property
    def contradictions(self) -> list[Finding]:
        """Findings that contradict a printed value."""
        return [finding for finding in self.findings if not finding.agrees]


def audit_tables(folder: Path) -> Audit:
    """Check the printed tables of a folder for internal and mutual consistency.

    Args:
        folder: Tables as CSV files and their `tables.yaml`.

    Returns:
        The findings, table by table. A table that cannot be read, or that is not in
        `tables.yaml`, is one of `errors`; the others are checked.

    Raises:
        MissingInputError: If the folder does not exist or has no `tables.yaml`.
        FileFormatError: If `tables.yaml` is invalid.
    """
    if not folder.is_dir():
        raise MissingInputError(
            f"{folder}: the folder does not exist; give the folder of the tables"
        )
    layouts = read_layouts(folder)
    tables: list[PrintedTable] = []
    errors: list[OmibenchError] = []
    for file, layout in layouts.items():
        if not (folder / file).exists():
            continue
        try:
            tables.append(read_described_table(folder / file, layout))
        except OmibenchError as error:
            errors.append(error)
    errors += [
        MissingInputError(f"{path}: {LAYOUTS} does not describe its columns; add a block for it")
        for path in list_tables(folder)
        if path.name not in layouts
    ]
    absent = [file for file in layouts if not (folder / file).exists()]
    return Audit(len(tables), check_tables(tables), errors, absent)


def list_tables(folder: Path) -> list[Path]:
    """Return the CSV files of a folder that are tables, sorted by name.

    Output of an earlier audit is excluded by its first line.
    """
    return [path for path in sorted(folder.glob("*.csv")) if not _is_audit(path)]


def _is_audit(path: Path) -> bool:
    head = ",".join(Finding._fields).encode()
    try:
        with open_regular(path) as file:
            return file.readline(len(head) + 2).rstrip(b"\r\n") == head
    except OmibenchError:
        return False


def check_tables(tables: Sequence[PrintedTable]) -> list[Finding]:
    """Check tables for internal and mutual consistency.

    Args:
        tables: Tables after reading.

    Returns:
        The findings table by table, then those across tables.
    """
    return list(_check(tables))


def _check(tables: Sequence[PrintedTable]) -> Iterator[Finding]:
    cells = [cell for table in tables for cell in table.cells]
    for file, layout, rows, own_cells in tables:
        yield from check_counts(own_cells)
        yield from check_totals(own_cells)
        yield from check_averages(file, rows, layout.columns)
        yield from check_intervals(file, rows, layout.columns)
        yield from check_differences(file, rows, layout.differences)
        yield from check_sums(file, rows, layout)
        yield from check_shares(file, rows, layout.shares)
        yield from check_correlations(file, rows, layout, cells)
    yield from check_partitions(cells)
    yield from check_repeats(cells)


def write_audit(findings: Sequence[Finding], out: Path) -> None:
    """Write findings as CSV, one row per finding.

    Raises:
        OutputError: If the file cannot be written.
    """
    write_csv(out, [finding._asdict() for finding in findings], columns=Finding._fields)


def summarise_audit(audit: Audit) -> list[str]:
    """Summarise the checks by kind, as lines of text."""
    checks = Counter(finding.kind for finding in audit.findings)
    wrong = Counter(finding.kind for finding in audit.contradictions)
    lines = [f"{audit.tables} tables, {len(audit.findings):,} checks"]
    if audit.absent:
        lines.append(f"not in the folder: {', '.join(audit.absent)}")
    lines += [
        f"{kind}: {number:,} checked, {number - wrong[kind]:,} agree, {wrong[kind]:,} do not"
        for kind, number in checks.items()
    ]
    return lines
