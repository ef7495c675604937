"""Several samples of a problem: one row per cell and k."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Any

from omibench.params.cell import Cell
from omibench.results.load import Results
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.sections.section import ReportSection, ReportTable, section
from omibench.stages.analyze.tables.samples import RUNS, SampleScore, sample_records, sample_scores
from omibench.stages.analyze.words import (
    NO_VALUE,
    describe_cell,
    format_bounds,
    format_level,
    format_share,
    name_scorer,
)

METRICS = ("pass", "consistency")
NAMES = {
    "mean": "mean of all", "first": "the first", "majority": "majority", "best-of-n": "best of k",
    "tournament": "tournament",
}  # fmt: skip


@section("samples")
class SamplesSection(ReportSection):
    """The section on runs, pass@k, consistency@k and aggregates; left out with one sample per
    problem."""

    title = "Several samples of a problem"
    template = "sections/samples.html.j2"

    def __init__(self, analysis: Analysis) -> None:
        """Read the results of the stage `aggregate` for every cell."""
        super().__init__(analysis)
        self.scores = sample_scores(self.results, analysis.folder / "aggregate")

    def tables(self) -> Iterable[ReportTable]:
        """Return `samples.csv`, if a cell draws several samples."""
        if self.scores:
            yield ReportTable("samples", sample_records(self.results, self.scores))

    def view(self) -> Mapping[str, Any] | None:
        """Return one row per cell and k, under the main scorer."""
        return describe_samples(self.results, self.scores)


def describe_samples(results: Results, rows: Sequence[SampleScore]) -> dict[str, Any] | None:
    """Return the template's values; None if every cell draws one sample."""
    main_scores = [s for s in rows if s.rules == results.main_rules]
    if not main_scores:
        return None
    index = {(s.cell, s.metric, s.k): s for s in main_scores}
    cells = list(dict.fromkeys(s.cell for s in main_scores))
    return {
        "simulated": any(s.simulated for s in main_scores),
        "caption": f"In per cent by {name_scorer(results.main_rules)}, with "
        f"{format_level(results.study.analyze.confidence)} intervals. One sample: mean and "
        f"standard "
        "deviation over whole runs; pass@k: probability of a right one among k; consistency@k: "
        "share of the first k with the most frequent answer.",
        "rows": [row for cell in cells for row in _rows(results, cell, index, main_scores)],
    }


def _rows(
    results: Results,
    cell: Cell,
    index: dict[tuple[Cell, str, int], SampleScore],
    scores: Sequence[SampleScore],
) -> list[dict[str, Any]]:
    aggregate = results.study.settings[cell.setting].aggregate
    aggregation, is_joint = aggregate.how, aggregate.marking == "joint"
    runs = next(s for s in scores if s.cell == cell and s.metric == RUNS)
    ks = sorted({s.k for s in scores if s.cell == cell})
    return [
        {
            **describe_cell(results, cell),
            "first": place == 0,
            "span": len(ks),
            "k": k,
            "single": _describe_spread(runs) if place == 0 else None,
            "how": NAMES[aggregation] + (", marked together" if is_joint else ""),
            "chosen": _value(index.get((cell, aggregation, k))),
            "prompts": _describe_prompts(index.get((cell, aggregation, k))) if is_joint else "",
            "metrics": [_value(index.get((cell, metric, k))) for metric in METRICS],
        }
        for place, k in enumerate(ks)
    ]


def _describe_prompts(score: SampleScore | None) -> str:
    """Return the number of prompts for the candidates, if they did not fit into one."""
    prompts = score.prompts if score else None
    return f"in {prompts:.1f} prompts" if prompts and prompts > 1 else ""


def _describe_spread(score: SampleScore) -> str:
    mean = format_share(score.value.mean)
    if score.runs is None or isnan(score.runs.sd):
        return mean
    return f"{mean} ± {format_share(score.runs.sd)}"


def _value(score: SampleScore | None) -> dict[str, str]:
    if score is None:
        return {"value": NO_VALUE, "interval": ""}
    return {"value": format_share(score.value.mean), "interval": format_bounds(score.value)}
