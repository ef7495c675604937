"""What the choices rest on, by occlusion: a row a cell, and its strongest heat map."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from omibench.results.load import Results
from omibench.schemas.saliency_row import map_file
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.sections.section import ReportSection, ReportTable, section
from omibench.stages.analyze.tables.saliency import (
    TIE,
    Salience,
    SaliencyComparison,
    compare_settings,
    saliences,
    saliency_records,
)
from omibench.stages.analyze.words import (
    MINUS,
    count_noun,
    describe_cell,
    format_decimals,
    format_share,
)
from omibench.web.pictures import link_file


@section("saliency")
class SaliencySection(ReportSection):
    """Occlusion saliency of the chosen options; left out where no setting is looked into."""

    template = "sections/saliency.html.j2"

    def __init__(self, analysis: Analysis) -> None:
        """Read what the stage `saliency` wrote of every cell."""
        super().__init__(analysis)
        self.saliences = saliences(self.results, analysis.folder / "saliency")

    def tables(self) -> Iterable[ReportTable]:
        """`saliency.csv`, where there is anything."""
        if self.saliences:
            yield ReportTable("saliency", saliency_records(self.results, self.saliences))

    def view(self) -> Mapping[str, Any] | None:
        """A row a cell, settings in pairs, and the strongest heat map of each cell."""
        return describe_saliency(self.results, self.saliences, self.analysis.report)


def describe_saliency(
    results: Results, rows: Sequence[Salience], report: Path
) -> dict[str, Any] | None:
    """What the template lays out; None where nothing was looked into."""
    if not rows:
        return None
    params = results.study.saliency
    return {
        "simulated": any(row.simulated for row in rows),
        "caption": f"A black square of {params.patch} pixels slides over each picture in steps of "
        f"{params.stride}. Log-probabilities and impacts in nats; the impact of a problem is the "
        "largest change of log P of the chosen option at any place, either way.",
        "rows": [_row(results, row) for row in rows],
        "pairs": [_pair(results, pair) for pair in compare_settings(list(rows))],
        "maps": [_map(results, row, report) for row in rows],
    }


def _row(results: Results, row: Salience) -> dict[str, Any]:
    impacts = list(row.impacts.values())
    return {
        **describe_cell(results, row.cell),
        "problems": len(impacts),
        "pictures": row.pictures,
        "logprob": _nats(fmean(row.logprobs.values())),
        "mean": format_decimals(fmean(impacts), 3),
        "median": format_decimals(median(impacts), 3),
        "largest": format_decimals(max(impacts), 3),
        "supportive": format_share(row.supportive),
        "simulated": row.simulated,
    }


def _nats(value: float) -> str:
    return format_decimals(value, 3).replace("-", MINUS)


def _pair(results: Results, pair: SaliencyComparison) -> str:
    later, earlier = (
        results.setting_label(name) for name in (pair.later_setting, pair.earlier_setting)
    )
    model, answered = results.label(pair.model), count_noun(pair.answered, "problem")
    if not pair.problems:
        return (
            f"{model}: of the {answered} answered under both, none is right under {later} and "
            f"under {earlier}, so the two are not compared."
        )
    return (
        f"{model}, over the {pair.problems:,} of {answered} that are right under both: "
        f"mean log P of the option {_nats(pair.logprobs[0])} under {later} and "
        f"{_nats(pair.logprobs[1])} under {earlier}; surer under {later} in {pair.wins:,}, less "
        f"sure in {pair.losses:,}, equal within {TIE} in {pair.ties:,}; mean impact "
        f"{format_decimals(pair.impacts[0], 3)} and {format_decimals(pair.impacts[1], 3)}."
    )


def _map(results: Results, row: Salience, report: Path) -> dict[str, str]:
    problem, image, option = row.strongest
    # Stages lie side by side below the folder of the results.
    folder = report.parent.parent / "saliency" / row.cell.model / row.cell.setting
    words = describe_cell(results, row.cell)
    return {
        "src": link_file(map_file(folder, problem, image, option), report),
        "alt": f"{words['label']}, {words['setting']}: {problem}, image {image + 1}, "
        f"option {option}",
    }
