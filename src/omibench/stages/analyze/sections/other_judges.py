"""Summaries of the judges in `judge.others`: mean marks or shares of labels, by cell."""

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
    """The section with one table of further judges; left out if `judge.others` is empty."""

    title = "Further judges"
    caption = (
        "Means of marks, and shares of labels in per cent, over problems, without failed "
        "judgements. These judges have no certificates: they are not calibrated with human labels."
    )

    def __init__(self, analysis: Analysis) -> None:
        """Summarise the results of the stage `judge` for every cell."""
        super().__init__(analysis)
        self.summaries = summarise_other_judges(self.results, analysis.folder / "judge")

    @property
    def is_simulated(self) -> bool:
        """Whether one of these judges or its input is simulated."""
        return any(summary.simulated for summary in self.summaries)

    def tables(self) -> Iterable[ReportTable]:
        """Return `other-judges.csv`, if there is any."""
        if self.summaries:
            rows = list_other_judge_rows(self.results, self.summaries)
            yield ReportTable("other-judges", rows)

    def view(self) -> Mapping[str, Any] | None:
        """Return one row per cell and judge, or per cell, judge and label."""
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
    """Return the kind of number, the number and its interval."""
    estimate = summary.estimate
    if summary.label is not None:
        share = format_share(estimate.mean) if estimate.n else NO_VALUE
        return name_outcome(summary.label), share, format_bounds(estimate)
    lo, hi = format_decimals(estimate.lo, 2), format_decimals(estimate.hi, 2)
    scale = f"mean, {summary.lowest:g} to {summary.highest:g}"
    return scale, format_decimals(estimate.mean, 2), f"[{lo}, {hi}]"
