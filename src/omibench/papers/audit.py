"""The audit of a folder of printed tables; no study is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.errors import MissingInputError, OmibenchError
from omibench.files.csv_file import write_csv
from omibench.files.intake import open_regular, read_csv
from omibench.papers.checks import Finding, check_tables
from omibench.papers.layouts import read_layouts
from omibench.papers.tables import PrintedTable, make_table
from omibench.params.stages.analyze import LAYOUTS


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
    absent = [file for file in layouts if not (folder / file).exists()]
    tables: list[PrintedTable] = []
    errors: list[OmibenchError] = []
    for file, layout in layouts.items():
        if file not in absent:
            try:
                tables.append(make_table(folder / file, list(read_csv(folder / file)), layout))
            except OmibenchError as error:
                errors.append(error)
    errors += [
        MissingInputError(f"{path}: {LAYOUTS} does not describe its columns; add a block for it")
        for path in list_tables(folder)
        if path.name not in layouts
    ]
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
