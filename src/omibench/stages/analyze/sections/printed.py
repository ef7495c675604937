"""Printed results compared with those of the responses.

Simulated models are not compared: they are not meant to reproduce printed values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from omibench.papers.checks import Finding, check_tables
from omibench.papers.comparison import describe_unmatched
from omibench.papers.layouts import AVERAGE
from omibench.papers.study import PrintedResult
from omibench.papers.tables import ACC, CONS5, GPTSCORE, PASS5, STRICT
from omibench.results.load import Results
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.formatting import (
    NO_VALUE,
    count_noun,
    format_decimals,
    format_points,
    name_rules,
)
from omibench.stages.analyze.sections.section import ReportSection, ReportTable, section
from omibench.stages.analyze.sentences import SIMULATED

COLUMNS = (
    "model", "label", "setting", "subject", "metric", "rules", "printed", "ours", "difference",
    "n", "differs", "simulated",
)  # fmt: skip
_NONE_HERE = "No printed cell belongs to a model and setting of this study with complete responses."


@section("published")
class PublishedSection(ReportSection):
    """The section that compares results with printed ones; left out without printed tables."""

    title = "Comparison with printed results"
    template = "sections/published.html.j2"

    def tables(self) -> Iterable[ReportTable]:
        """Return `differences.csv`: every comparison."""
        comparisons = self.analysis.printed_comparisons
        yield ReportTable("differences", list_differences(self.results, comparisons), COLUMNS)

    def view(self) -> Mapping[str, Any] | None:
        """Return the printed rows and the differing values; None without a printed table."""
        printed, comparisons = self.analysis.print_beside, self.analysis.printed_comparisons
        if not printed.tables and not printed.errors:
            return None
        files = dict.fromkeys(row.file for row in printed.rows)
        return {
            "sentence": describe_comparisons(comparisons),
            "errors": [str(error) for error in printed.errors],
            "unmatched": describe_unmatched(self.results, printed.rows),
            "tables": [
                _describe_table([row for row in printed.rows if row.file == file]) for file in files
            ],
            "differences": [
                {
                    "label": self.results.label(row["model"]),
                    "setting": self.results.setting_label(row["setting"]),
                    "subject": _name_part(row["subject"]),
                    "metric": _metric(row["printed_metric"]),
                    "printed": format_decimals(100 * row["printed"], row["digits"]),
                    "ours": format_decimals(100 * row["estimate"], 2),
                    "difference": format_points(row["difference"], 2),
                    "n": row["n"],
                }
                for row in comparisons.filter("differs").iter_rows(named=True)
            ],
        }


def list_differences(results: Results, comparisons: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of differences.csv, in percentage points as printed."""
    return [
        {
            "model": row["model"],
            "label": results.label(row["model"]),
            "setting": row["setting"],
            "subject": row["subject"],
            "metric": row["printed_metric"],
            "rules": row["rules"],
            "printed": round(100 * row["printed"], row["digits"]),
            "ours": float(format_decimals(100 * row["estimate"], 2)),
            "difference": float(format_decimals(100 * row["difference"], 2)),
            "n": row["n"],
            "differs": row["differs"],
            "simulated": row["simulated"],
        }
        for row in comparisons.iter_rows(named=True)
    ]


def _describe_table(rows: Sequence[PrintedResult]) -> dict[str, Any]:
    """Return the printed rows of one table, with their columns."""
    columns = list(dict.fromkeys(key for row in rows for key in row.values))
    return {
        "source": rows[0].source,
        "file": rows[0].file,
        "columns": [_column(subject, metric) for subject, metric in columns],
        "rows": [
            {
                "model": row.model,
                "strategy": row.strategy or row.group,
                "printed_values": [_print(row, key) for key in columns],
            }
            for row in rows
        ],
    }


def _print(row: PrintedResult, key: tuple[str, str]) -> str:
    """Return the value as printed, with its interval or deviation if printed."""
    cell = row.cells_by_key.get(key)
    if cell is None:
        return NO_VALUE
    text = format_decimals(cell.number.value, row.digits)
    if cell.interval:
        low, high = (format_decimals(bound.value, bound.digits) for bound in cell.interval)
        return f"{text} [{low}, {high}]"
    if cell.deviation:
        return f"{text} ± {format_decimals(cell.deviation.value, cell.deviation.digits)}"
    return text


def describe_comparisons(comparisons: pl.DataFrame) -> str:
    """Return the numbers of printed cells with responses, and of those with a simulated value."""
    simulated = int(comparisons["simulated"].sum())
    comparable = comparisons.filter(~comparisons["simulated"])
    sentences = []
    if comparable.height:
        differing = int(comparable["differs"].sum())
        verdict = f"{differing} cannot be reproduced" if differing else "and none differs"
        rules = ", ".join(map(name_rules, comparable["rules"].unique(maintain_order=True)))
        sentences.append(
            f"Of {count_noun(comparable.height, 'printed cell')} with complete responses, "
            f"{comparable.height - differing} follow from the responses ({rules}), {verdict}."
        )
    elif not simulated:
        sentences.append(_NONE_HERE)
    if simulated:
        sentences.append(
            f"differences.csv lists {SIMULATED} values for "
            f"{count_noun(simulated, 'printed cell')}; they are not compared, since simulated "
            "models are not meant to reproduce printed values."
        )
    return " ".join(sentences)


def _column(subject: str, metric: str) -> str:
    name = _name_part(subject)
    name = name[:1].upper() + name[1:]
    return name if metric == ACC else f"{name}, {_metric(metric)}"


def _name_part(subject: str) -> str:
    return "macro average" if subject == AVERAGE else subject


def _metric(metric: str) -> str:
    return {
        ACC: "ACC", GPTSCORE: "GPTScore", STRICT: "strict", PASS5: "pass@5", CONS5: "consistency@5",
    }.get(metric, metric)  # fmt: skip


# Check printed tables against themselves and each other.


@section("audit")
class AuditSection(ReportSection):
    """The section on checks of the study's printed tables; left out without tables."""

    title = "Printed tables checked against themselves"
    template = "sections/audit.html.j2"

    def __init__(self, analysis: Analysis) -> None:
        """Check the printed tables of the study."""
        super().__init__(analysis)
        self.printed_tables = analysis.print_beside.tables
        self.findings = check_tables(self.printed_tables)

    def tables(self) -> Iterable[ReportTable]:
        """Return `audit.csv`: every check."""
        yield ReportTable("audit", [f._asdict() for f in self.findings], Finding._fields)

    def view(self) -> Mapping[str, Any] | None:
        """Return the values that contradict other printed values."""
        if not self.findings:
            return None
        contradictions = [finding for finding in self.findings if not finding.agrees]
        return {
            "sentence": describe_audit(
                len(self.printed_tables), len(self.findings), len(contradictions)
            ),
            "rows": [
                {
                    **finding._asdict(),
                    "printed": f"{finding.printed:g}",
                    "recomputed": NO_VALUE
                    if finding.recomputed is None
                    else f"{finding.recomputed:g}",
                    "n": NO_VALUE if finding.n is None else finding.n,
                }
                for finding in contradictions
            ],
        }


def describe_audit(tables: int, checks: int, contradictions: int) -> str:
    """Describe the number of printed values that contradict other printed values.

    Args:
        tables: Number of checked tables.
        checks: Number of checks.
        contradictions: Number of failed checks.
    """
    outcome = (
        "all agree"
        if not contradictions
        else f"{contradictions:,} {'does' if contradictions == 1 else 'do'} not agree with other "
        "printed values"
    )
    checked = f"{count_noun(checks, 'check')} of {count_noun(tables, 'printed table')}"
    return (
        f"{checked}, of values against counts, totals, intervals and other tables: {outcome}. "
        "These checks use no responses and do not affect any."
    )
