"""Accuracies over all problems, estimated from a sample, below the leaderboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omibench.stages.analyze.formatting import count_noun, name_scorer
from omibench.stages.analyze.page_table import (
    CELL_COLUMNS,
    Column,
    PageTable,
    name_row,
    show_share,
)
from omibench.stages.analyze.sections.section import ReportSection, section


@section("sampled")
class SampledSection(ReportSection):
    """The estimates of `analyze.full_results`; left out without it or without a sample."""

    title = "Estimates over all problems"
    template = "sections/text_table.html.j2"

    def view(self) -> Mapping[str, Any] | None:
        """Return one row per cell, and how its number was made."""
        rows = self.analysis.list_rows("sampled")
        if not rows:
            return None
        first = rows[0]
        text = (
            f"These cells answered a random sample of {first['n']:,} of {first['of']:,} problems. "
            f"Their accuracy over all {first['of']:,} is estimated from the sample and from how "
            f"often {count_noun(max(row['others'] for row in rows), 'other model')} of "
            f"{self.analysis.study.analyze.full_results}, who answered all, are right on each "
            "problem. It replaces no other number: leaderboard and tests are of the sample alone."
        )
        table = PageTable(
            f"Accuracy by {name_scorer(first['rules'])}. Worth: the number of problems in a plain "
            "sample with the same certainty.",
            [
                *CELL_COLUMNS, Column("Estimate", "share"), Column("Sample alone", "share"),
                Column("Worth"),
            ],
            [self._format_row(row) for row in rows],
            simulated=any(row["simulated"] for row in rows),
        )  # fmt: skip
        return {"text": text, "table": table}

    def _format_row(self, row: Mapping[str, Any]) -> list[object]:
        plain = {"estimate": row["plain"], "low": row["plain_low"], "high": row["plain_high"]}
        return [
            *name_row(self.results, row),
            show_share(row),
            show_share(plain),
            f"{row['n_eff']:,.0f} problems",
        ]
