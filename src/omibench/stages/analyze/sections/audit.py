"""Check printed tables against themselves and each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from omibench.papers.checks import Finding, check_tables
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.sections.section import ReportSection, ReportTable, section
from omibench.stages.analyze.words import NO_VALUE, count_noun


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
