"""Printed tables checked against themselves and each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from omibench.audit.findings import Finding
from omibench.audit.run import check_tables
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.sections.section import ReportSection, ReportTable, section
from omibench.stages.analyze.words import NO_VALUE, count_noun


@section("audit")
class AuditSection(ReportSection):
    """What the printed tables of the study say against each other; left out without tables."""

    title = "Printed tables checked against themselves"
    template = "sections/audit.html.j2"

    def __init__(self, analysis: Analysis) -> None:
        """Check the tables that stand beside the study."""
        super().__init__(analysis)
        self.printed_tables = analysis.print_beside.tables
        self.findings = check_tables(self.printed_tables)

    def tables(self) -> Iterable[ReportTable]:
        """`audit.csv`: every check."""
        yield ReportTable("audit", [f._asdict() for f in self.findings], Finding._fields)

    def view(self) -> Mapping[str, Any] | None:
        """The values that something else printed contradicts."""
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
    """Say how many printed values something else printed contradicts.

    Args:
        tables: How many tables were checked.
        checks: How many checks there were.
        contradictions: How many of them do not agree.
    """
    outcome = (
        "all agree"
        if not contradictions
        else f"{contradictions:,} {'does' if contradictions == 1 else 'do'} not agree with what "
        "else is printed"
    )
    checked = f"{count_noun(checks, 'check')} of {count_noun(tables, 'printed table')}"
    return (
        f"{checked}, of values against counts, totals, intervals and other tables: {outcome}. No "
        "response is needed for that, and none is judged by it."
    )
