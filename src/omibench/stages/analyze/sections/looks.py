"""The cells that were stopped early, below the leaderboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omibench.models.cost import usd_text
from omibench.params.setting import Cell
from omibench.results.statistics.paired import AccuracyDifference
from omibench.stages.analyze.formatting import (
    count_noun,
    describe_cell,
    format_p,
    format_percent,
    format_points,
    format_points_interval,
    name_scorer,
)
from omibench.stages.analyze.page_table import (
    CELL_COLUMNS,
    Column,
    Entry,
    PageTable,
    name_row,
    show_share,
)
from omibench.stages.analyze.sections.section import ReportSection, section


@section("stopped")
class StoppedSection(ReportSection):
    """The cells that `infer.adaptive` stopped; left out if it stopped none."""

    title = "Stopped early"
    template = "sections/text_table.html.j2"

    def view(self) -> Mapping[str, Any] | None:
        """Return one row per stopped cell, and what it means."""
        rows, results = self.analysis.list_rows("stopped"), self.results
        if not rows:
            return None
        saved = sum(row["saved_requests"] for row in rows)
        dollars = [row["saved_usd"] for row in rows if row["saved_usd"]]
        money = f" and about {usd_text(sum(dollars))}" if dollars else ""
        adaptive, first = self.analysis.study.infer.adaptive, rows[0]
        alpha = adaptive.alpha if adaptive else 0.0
        text = (
            f"{count_noun(len(rows), 'cell')} of {len(rows) + len(results.cells)} could not be the "
            f"best any more and stopped, which saved {count_noun(saved, 'request')}{money}. The "
            f"best cell is among those stopped with a probability of at most {100 * alpha:g} %. "
            "This finds the best cell and is no ranking: a stopped cell is not first, but can "
            "be better than one that went on. Its interval is wider, since it has fewer problems, "
            "and is not corrected for the choice of the moment. Stopped cells are in no slice, "
            "figure or other table; ranks are those among cells with all problems."
        )
        table = PageTable(
            f"Accuracy by {name_scorer(first['rules'])} on the problems until the stop. "
            "Difference: leader of that look minus cell, on the problems that both answered.",
            [
                *CELL_COLUMNS, Column("Rank", "text"), Column("Stopped", "text"),
                Column("Problems"), Column("ACC", "share"), Column("Difference", "text"),
                Column("p"),
            ],
            [self._format_row(row) for row in rows],
            simulated=any(row["simulated"] for row in rows),
        )  # fmt: skip
        return {"text": text, "table": table}

    def _format_row(self, row: Mapping[str, Any]) -> list[object]:
        behind = describe_cell(self.results, Cell(row["behind_model"], row["behind_setting"]))
        value, low, high = (row[f"difference{end}"] for end in ("", "_low", "_high"))
        difference = AccuracyDifference(value, low, high, row["n"])
        return [
            *name_row(self.results, row),
            row["rank"],
            f"stopped at {format_percent(row['stopped_at'], 0)}, behind {behind}",
            f"{row['n']:,} of {row['of']:,}",
            show_share(row),
            Entry(f"{format_points(value)} points", (format_points_interval(difference),)),
            format_p(row["p"]),
        ]
