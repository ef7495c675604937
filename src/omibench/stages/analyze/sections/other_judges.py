"""What judges under `judge.others` say: a mean mark or shares of labels, by cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.sections.section import ReportSection, ReportTable, section
from omibench.stages.analyze.tables.other_judges import (
    JudgeSummary,
    list_other_judge_rows,
    summarise_other_judges,
)
from omibench.stages.analyze.words import (
    NO_VALUE,
    describe_cell,
    format_bounds,
    format_decimals,
    format_share,
    name_outcome,
)

HEADINGS = (
    "Model", "Setting", "Judge", "What", "Value", "Interval", "Problems", "Judge failed",
)  # fmt: skip


@section("other-judges")
class OtherJudgesSection(ReportSection):
    """One table, left out where `judge.others` names nobody."""

    title = "What further judges say"
    caption = (
        "Means of marks, and shares of labels in per cent, over problems; judgements that failed "
        "are in neither. No certificate is made of these judges: none is calibrated against people."
    )

    def __init__(self, analysis: Analysis) -> None:
        """Summarise what the stage `judge` wrote of every cell."""
        super().__init__(analysis)
        self.summaries = summarise_other_judges(self.results, analysis.folder / "judge")

    @property
    def is_simulated(self) -> bool:
        """Whether one of these judges, or what it judged, is simulated."""
        return any(summary.simulated for summary in self.summaries)

    def tables(self) -> Iterable[ReportTable]:
        """`other-judges.csv`, where there is anything."""
        if self.summaries:
            rows = list_other_judge_rows(self.results, self.summaries)
            yield ReportTable("other-judges", rows)

    def view(self) -> Mapping[str, Any] | None:
        """A row a cell and judge, or a cell, judge and label."""
        if not self.summaries:
            return None
        return {"columns": HEADINGS, "rows": [self._row(summary) for summary in self.summaries]}

    def _row(self, summary: JudgeSummary) -> list[str | int]:
        cell = describe_cell(self.results, summary.cell)
        mark = " SIMULATED" if summary.simulated else ""
        return [
            cell["label"], cell["setting"], f"{name_outcome(summary.instrument)}{mark}",
            *_describe(summary), summary.estimate.n, summary.failed,
        ]  # fmt: skip


def _describe(summary: JudgeSummary) -> tuple[str, str, str]:
    """What the number is, the number, and its interval."""
    estimate = summary.estimate
    if summary.label is not None:
        share = format_share(estimate.mean) if estimate.n else NO_VALUE
        return name_outcome(summary.label), share, format_bounds(estimate)
    lo, hi = format_decimals(estimate.lo, 2), format_decimals(estimate.hi, 2)
    scale = f"mean, {summary.lowest:g} to {summary.highest:g}"
    return scale, format_decimals(estimate.mean, 2), f"[{lo}, {hi}]"
