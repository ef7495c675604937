"""The tables of all results, with links to their files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omibench.stages.analyze.results.result import RESULTS
from omibench.stages.analyze.sections.section import ReportSection, section


@section("results")
class ResultsSection(ReportSection):
    """The section with every result of the study: title, source, rows and file."""

    title = "Tables of all results"
    template = "sections/results.html.j2"

    def view(self) -> Mapping[str, Any] | None:
        """Return the results by name."""
        parts = [RESULTS.get(name) for name in sorted(RESULTS)]
        tables = [(part, self.analysis.table(part.name)) for part in parts]
        rows = [
            {
                "name": part.name,
                "title": part.title,
                "source": part.source,
                "rows": table.height,
                "simulated": bool(table["simulated"].any()),
            }
            for part, table in tables
            if table is not None
        ]
        return {"rows": rows} if rows else None
