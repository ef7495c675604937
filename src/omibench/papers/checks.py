"""The checks of printed values: counts, totals, intervals, differences, shares, repeats.

Each is a pure function from printed values to findings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import floor
from pathlib import Path
from typing import Literal, NamedTuple

from omibench.errors import MissingInputError, OmibenchError
from omibench.files.outputs import write_csv
from omibench.files.reading import open_regular, read_csv
from omibench.papers.layouts import AND, AVERAGE, TOTAL, read_layouts
from omibench.papers.tables import (
    TOLERANCE,
    PrintedCell,
    PrintedNumber,
    PrintedTable,
    make_table,
    normalise_name,
)
from omibench.params.stages.analyze import LAYOUTS
from omibench.results.statistics.correlation import spearman
from omibench.results.statistics.intervals import wilson

CheckKind = Literal[
    "count", "total", "average", "interval", "difference", "sum", "share", "correlation", "repeat"
]
AGREES = "agrees"
REACH = 10
"""Range around the stated number of problems in which another number is searched."""
WHOLE = 0.75
"""Share of parts explained by counts from which a row of ratios is treated as counts."""
BOUNDARY = 0.001
"""Tolerance in percentage points within which a bound of an interval rounds either way."""
Part = tuple[float, PrintedNumber | None]
"""A term of a sum: its weight and its number."""


class Finding(NamedTuple):
    """One check of one printed value: a row of audit.csv."""

    file: str
    model: str
    """Row of the table."""
    cell: str
    """Dataset, part and metric."""
    kind: CheckKind
    printed: float
    recomputed: float | None
    """Value implied by the other numbers; None if there is none."""
    n: int | None
    """Number of problems."""
    note: str
    """`agrees`, or the reason for a contradiction."""

    @property
    def agrees(self) -> bool:
        """Whether the check found no contradiction."""
        return self.note.startswith(AGREES)


def check_tables(tables: Sequence[PrintedTable]) -> list[Finding]:
    """Check tables for internal and mutual consistency.

    Args:
        tables: Tables after reading.

    Returns:
        The findings table by table, then those across tables.
    """
    cells = [cell for table in tables for cell in table.cells]
    findings: list[Finding] = []
    for table in tables:
        findings += [
            *check_counts(table.cells),
            *check_totals(table.cells),
            *check_averages(table),
            *check_intervals(table),
            *check_differences(table),
            *check_sums(table),
            *check_shares(table),
            *check_correlations(table, cells),
        ]
    return [*findings, *check_partitions(cells), *check_repeats(cells)]


# --------------------------------------------------------------------------- shares and counts


def find_count(number: PrintedNumber, n: int) -> int | None:
    """Return the count of n problems that rounds to a percentage; None if none does."""
    below = floor(number.value * n / 100)
    return next(
        (count for count in (below, below + 1) if number.admits(100 * count / n) and count <= n),
        None,
    )


def check_counts(cells: Sequence[PrintedCell]) -> Iterator[Finding]:
    """Check the shares of one table that must be whole counts of problems.

    These are the metrics of counts, and the rows of ratios that mostly fit counts.

    Args:
        cells: Cells of one table, grouped by row and metric.
    """
    counted: list[PrintedCell] = []
    for row in _group_shares(cells):
        parts = [cell for cell in row if cell.part != TOTAL]
        fitting = sum(find_count(cell.number, cell.n) is not None for cell in parts)
        if row[0].kind == "count" or (len(parts) > 1 and fitting >= WHOLE * len(parts)):
            counted += row
    others = _find_other_sizes([c for c in counted if find_count(c.number, c.n) is None])
    for cell in counted:
        note = AGREES
        if find_count(cell.number, cell.n) is None:
            note = f"no count of {cell.n} gives it"
            other = others.get(_get_column(cell))
            if other and (fit := find_count(cell.number, other)) is not None:
                note += f"; {fit} of {other} would"
        nearest = 100 * round(cell.number.value * cell.n / 100) / cell.n
        yield _describe_cell(cell, "count", nearest, note)


def check_intervals(table: PrintedTable) -> Iterator[Finding]:
    """Check both bounds of each printed 95 % interval against Wilson's of the nearest count."""
    for row in table.rows:
        for group in table.layout.columns:
            metric = next(iter(group.metrics))
            for part, n in group.parts.items() if group.interval else ():
                share = row.numbers.get(group.column(part, metric))
                if share is None or n is None:
                    continue
                count = find_count(share, n)
                count = round(share.value * n / 100) if count is None else count
                for pattern, bound in zip(
                    group.interval or (), wilson(count, n, 0.95), strict=True
                ):
                    column = pattern.format(part=part)
                    if printed := row.numbers.get(column):
                        yield Finding(
                            table.file, row.name, f"{group.dataset} {column}", "interval",
                            printed.value, round(100 * bound, 4), n,
                            _describe_bound(printed, 100 * bound, n),
                        )  # fmt: skip


def check_shares(table: PrintedTable) -> Iterator[Finding]:
    """Check each percentage against the count in its row and that in the row of all problems."""
    shares = table.layout.shares
    whole = next((row for row in table.rows if shares and row.name == shares.of), None)
    total = whole.numbers.get(shares.values) if whole and shares else None
    if shares is None or total is None or not total.value:
        return
    for row in table.rows:
        share, count = row.numbers.get(shares.column), row.numbers.get(shares.values)
        if share and count:
            value = 100 * count.value / total.value
            otherwise = f"{count.value:g} of {total.value:g} gives another share"
            yield Finding(
                table.file, row.name, shares.column, "share", share.value, round(value, 4),
                int(total.value), AGREES if share.admits(value) else otherwise,
            )  # fmt: skip


def _group_shares(cells: Sequence[PrintedCell]) -> Iterator[list[PrintedCell]]:
    """Group the shares of known numbers of problems by row, dataset, setting and metric."""
    shares = [cell for cell in cells if cell.kind != "mean" and cell.n]
    for _, group in groupby(shares, key=lambda cell: (cell.row, *_get_column(cell)[:3])):
        yield list(group)


def _get_column(cell: PrintedCell) -> tuple[str, str, str, str]:
    return cell.dataset, cell.setting, cell.metric, cell.part


def _find_other_sizes(
    cells: Sequence[PrintedCell],
) -> Mapping[tuple[str, str, str, str], int]:
    """Return for each column the number of problems, near the stated one, that fits most shares."""
    columns: dict[tuple[str, str, str, str], list[PrintedCell]] = {}
    for cell in cells:
        columns.setdefault(_get_column(cell), []).append(cell)
    sizes = {}
    for column, members in columns.items():
        stated = members[0].n
        near = [n for n in range(max(1, stated - REACH), stated + REACH + 1) if n != stated]
        fits = {n: sum(find_count(c.number, n) is not None for c in members) for n in near}
        best = max(near, key=lambda n: (fits[n], -abs(n - stated)))
        if fits[best]:
            sizes[column] = best
    return sizes


def _describe_bound(printed: PrintedNumber, bound: float, n: int) -> str:
    if printed.admits(bound):
        return AGREES
    if abs(bound - printed.value) <= printed.half + BOUNDARY:
        return f"{AGREES}, at a rounding boundary"
    return f"differs from Wilson's interval of the count of {n}"


def _describe_cell(cell: PrintedCell, kind: CheckKind, value: float, note: str) -> Finding:
    return Finding(
        cell.file, cell.row, cell.place, kind, cell.number.value, round(value, 4), cell.n, note
    )


# ------------------------------------------------------------------------------ weighted sums


def check_totals(cells: Sequence[PrintedCell]) -> Iterator[Finding]:
    """Check each total of one table against the shares of its parts, weighted by problems."""
    for row in _group_shares(cells):
        parts = [cell for cell in row if cell.part != TOTAL]
        total = next((cell for cell in row if cell.part == TOTAL), None)
        if total:
            otherwise = "the parts, weighted by problems, give another total"
            yield from _check_whole(total, parts, otherwise)


def check_partitions(cells: Sequence[PrintedCell]) -> Iterator[Finding]:
    """Check each value against values in other tables that split its problems by an attribute.

    MathReal prints a category in table 2 and the same category by type of question in tables 9
    to 11. If the parts cover as many problems as the whole, their mean, weighted by problems, is
    the value of the whole.

    Args:
        cells: Values of all tables.
    """
    owners: dict[tuple[str, ...], dict[frozenset[tuple[str, str]], PrintedCell]] = {}
    for cell in cells:
        if cell.kind != "mean" and cell.n and cell.model:
            pairs = zip(cell.slice.split(AND), cell.value.split(AND), strict=True)
            place = frozenset(pair for pair in pairs if pair[0])
            owners.setdefault(_get_owner(cell), {}).setdefault(place, cell)
    for places in owners.values():
        attributes = {attribute for place in places for attribute, _ in place}
        for place, whole in places.items():
            for attribute in sorted(attributes - {name for name, _ in place}):
                parts = [
                    cell
                    for other, cell in places.items()
                    if place < other and {name for name, _ in other - place} == {attribute}
                ]
                files = list(dict.fromkeys(part.file for part in parts))
                if whole.file not in files:
                    otherwise = f"the parts in {', '.join(files)} give another value"
                    yield from _check_whole(whole, parts, otherwise)


def check_averages(table: PrintedTable) -> Iterator[Finding]:
    """Check each average against the values of its parts with equal weights."""
    for row in table.rows:
        for group in table.layout.columns:
            if group.average:
                metric = next(iter(group.metrics))
                columns = [group.column(part, metric) for part in group.parts]
                parts = [(1 / len(columns), row.numbers.get(column)) for column in columns]
                yield from _check_sum(
                    (table.file, row.name, f"{group.dataset} {group.average} {metric}"), "average",
                    row.numbers.get(group.average), parts,
                    f"the mean of {', '.join(columns)} is another value",
                )  # fmt: skip


def check_differences(table: PrintedTable) -> Iterator[Finding]:
    """Check each difference against its two operands."""
    for row in table.rows:
        for column, (minuend, subtrahend) in table.layout.differences.items():
            parts = [(1.0, row.numbers.get(minuend)), (-1.0, row.numbers.get(subtrahend))]
            yield from _check_sum(
                (table.file, row.name, column), "difference", row.numbers.get(column), parts,
                f"{minuend} minus {subtrahend} is another value",
            )  # fmt: skip


def check_sums(table: PrintedTable) -> Iterator[Finding]:
    """Check each row that is a sum of others, in a table with one value per row."""
    columns = table.rows[0].texts if table.rows else {}
    column = next((name for name in columns if name not in table.layout.row), "")
    values = {row.name: row.numbers.get(column) for row in table.rows}
    for entry in table.layout.sums:
        parts = [(1.0, values.get(part)) for part in entry.parts]
        yield from _check_sum(
            (table.file, entry.of, entry.of), "sum", values.get(entry.of), parts,
            f"{' + '.join(entry.parts)} is another value",
        )  # fmt: skip


def _check_whole(
    whole: PrintedCell, parts: Sequence[PrintedCell], otherwise: str
) -> Iterator[Finding]:
    """Check a value against parts that cover its problems; nothing if they do not."""
    if len(parts) > 1 and sum(part.n for part in parts) == whole.n:
        value, agrees = _combine([(part.n / whole.n, part.number) for part in parts], whole.number)
        yield _describe_cell(whole, "total", value, AGREES if agrees else otherwise)


def _check_sum(
    where: tuple[str, str, str],
    kind: CheckKind,
    printed: PrintedNumber | None,
    parts: Sequence[Part],
    otherwise: str,
) -> Iterator[Finding]:
    """Check a number against a weighted sum; nothing if one of them is not printed."""
    present = [(weight, number) for weight, number in parts if number]
    if printed and len(present) == len(parts):
        value, agrees = _combine(present, printed)
        note = AGREES if agrees else otherwise
        yield Finding(*where, kind, printed.value, round(value, 4), None, note)


def _combine(
    parts: Sequence[tuple[float, PrintedNumber]], printed: PrintedNumber
) -> tuple[float, bool]:
    """Return a weighted sum of printed numbers, and whether the printed sum can round from it."""
    value = sum(weight * number.value for weight, number in parts)
    slack = sum(abs(weight) * number.half for weight, number in parts)
    return value, abs(value - printed.value) <= slack + printed.half + TOLERANCE


# ----------------------------------------------------------------------------- several tables


def check_correlations(table: PrintedTable, cells: Sequence[PrintedCell]) -> Iterator[Finding]:
    """Check each printed Spearman correlation of two metrics over the rows of another table.

    Args:
        table: The table of correlations, with two metrics in its first columns.
        cells: Values of all tables.
    """
    source = table.layout.correlation
    if source is None:
        return
    for row in table.rows:
        printed = row.numbers.get(source.value)
        first, second = (
            {
                cell.row: cell.number.value
                for cell in cells
                if (cell.file, cell.part, cell.metric)
                == (source.table, source.part, row.texts[column])
            }
            for column in table.layout.row[:2]
        )
        models = [model for model in first if model in second]
        if printed and len(models) > 2:
            values = ([first[model] for model in models], [second[model] for model in models])
            rho, _, _ = spearman(*values, models, 0.95)
            otherwise = f"the {len(models)} rows of {source.table} differ"
            yield Finding(
                table.file, row.name, source.value, "correlation", printed.value, round(rho, 4),
                len(models), AGREES if printed.admits(rho) else otherwise,
            )  # fmt: skip


def check_repeats(cells: Sequence[PrintedCell]) -> Iterator[Finding]:
    """Check each value against the first other table that prints it.

    Two values are the same if they agree in dataset, model, setting, part of the problems and
    metric, whatever their tables call them. Values with different numbers of decimals agree if
    one can be rounded to the other. Dataset statistics, which have no model, are not compared.
    """
    first: dict[tuple[str, ...], PrintedCell] = {}
    for cell in cells:
        if not cell.model or cell.part == AVERAGE:
            continue
        before = first.setdefault((*_get_owner(cell), cell.slice, cell.value), cell)
        if before.file != cell.file:
            slack = abs(before.number.half - cell.number.half) + TOLERANCE
            agrees = abs(before.number.value - cell.number.value) <= slack
            yield Finding(
                cell.file, cell.row, cell.place, "repeat", cell.number.value, before.number.value,
                cell.n, AGREES if agrees else f"{before.file} prints another value",
            )  # fmt: skip


def _get_owner(cell: PrintedCell) -> tuple[str, str, str, str]:
    return cell.dataset, normalise_name(cell.model), cell.full_setting, cell.metric_name


# The audit of a folder of printed tables; no study is needed.


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
