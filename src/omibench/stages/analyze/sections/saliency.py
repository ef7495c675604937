"""Occlusion saliency of choices: one row per cell, and its strongest heat map."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan, nan
from pathlib import Path
from statistics import median
from typing import Any

from omibench.params.cell import Cell
from omibench.params.stages.saliency import SaliencyParams
from omibench.results.load import Results
from omibench.schemas.saliency_row import map_file
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.sections.section import ReportSection, ReportTable, section
from omibench.stages.analyze.tables.saliency import (
    TIE,
    Salience,
    SaliencyComparison,
    compare_settings,
    mean_or_nan,
    pair_settings,
    saliency_records,
)
from omibench.stages.analyze.words import (
    MINUS,
    NO_VALUE,
    count_noun,
    describe_cell,
    format_decimals,
    format_share,
)
from omibench.web.pictures import link_file

MOST_REASONS = 4
READINGS = {
    "final_letter": "the letter is scored at its position in the response",
    "before_answer": "the letter is requested after the response without its answer",
}


@section("saliency")
class SaliencySection(ReportSection):
    """The section on occlusion saliency of the chosen options; left out if no setting measures
    it."""

    title = "Parts of pictures behind the choices"
    template = "sections/saliency.html.j2"

    def __init__(self, analysis: Analysis) -> None:
        """Read the results of the stage `saliency` for every cell."""
        super().__init__(analysis)
        self.saliences = analysis.saliences

    def tables(self) -> Iterable[ReportTable]:
        """Return `saliency.csv`, if there is any."""
        if self.saliences:
            yield ReportTable(
                "saliency",
                saliency_records(self.results, self.analysis.study.saliency, self.saliences),
            )

    def view(self) -> Mapping[str, Any] | None:
        """Return one row per cell, settings in pairs, and the strongest heat map of each cell."""
        params = self.analysis.study.saliency
        return describe_saliency(self.results, params, self.saliences, self.analysis.report)


def describe_saliency(
    results: Results, params: SaliencyParams, rows: Sequence[Salience], report: Path
) -> dict[str, Any] | None:
    """Return the template's values; None without saliency results."""
    if not rows:
        return None
    pairs = pair_settings(rows, results.study.analyze.baselines.settings)
    return {
        "simulated": any(row.simulated for row in rows),
        "caption": f"A black square of {params.patch} pixels slides over each picture "
        f"({params.resolution}) in steps of {params.stride}; {READINGS[params.reading]}. "
        "Log-probabilities over the options, and impacts, in nats; the impact of a problem is the "
        "largest change of log P of the chosen option at any position, in either direction.",
        "rows": [_row(results, row) for row in rows],
        "pairs": [_pair(results, pair) for pair in compare_settings(pairs)],
        "hidden": [_describe_hidden(results, row) for row in rows if row.hidden],
        "unscored": [_describe_unscored(results, row) for row in rows if row.unscored],
        "maps": [_map(results, row.cell, row.strongest, report) for row in rows if row.strongest],
    }


def _row(results: Results, row: Salience) -> dict[str, Any]:
    impacts = list(row.impacts.values())
    return {
        **describe_cell(results, row.cell),
        "problems": len(impacts),
        "unscored": sum(row.unscored.values()),
        "declares": row.declares,
        "pictures": row.pictures,
        "logprob": _nats(mean_or_nan(row.logprobs)),
        "mean": _nats(mean_or_nan(row.impacts)),
        "median": _nats(median(impacts) if impacts else nan),
        "largest": _nats(max(impacts, default=nan)),
        "supportive": NO_VALUE if isnan(row.supportive) else f"{format_share(row.supportive)} %",
        "simulated": row.simulated,
    }


def _describe_unscored(results: Results, row: Salience) -> str:
    names = describe_cell(results, row.cell)
    total = count_noun(sum(row.unscored.values()), "problem")
    reasons = sorted(row.reasons.items(), key=lambda entry: (-entry[1], entry[0]))
    listed = "; ".join(f"{reason} ({count:,})" for reason, count in reasons[:MOST_REASONS])
    more = "; and others" if len(reasons) > MOST_REASONS else ""
    return f"{names['label']}, {names['setting']}: {total} not scored: {listed}{more}."


def _describe_hidden(results: Results, row: Salience) -> str:
    names = describe_cell(results, row.cell)
    return (
        f"{names['label']}, {names['setting']}: {count_noun(row.hidden, 'place')} removed the "
        "chosen option from the endpoint's list of likeliest tokens. Their effect is unknown, so "
        "the shown impacts are lower bounds."
    )


def _nats(value: float) -> str:
    return NO_VALUE if isnan(value) else format_decimals(value, 3).replace("-", MINUS)


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
        f"{_nats(pair.logprobs[1])} under {earlier}; more confident under {later} in "
        f"{pair.wins:,}, less confident in {pair.losses:,}, equal within {TIE} in {pair.ties:,}; "
        "mean impact "
        f"{format_decimals(pair.impacts[0], 3)} and {format_decimals(pair.impacts[1], 3)}."
    )


def _map(
    results: Results, cell: Cell, strongest: tuple[str, int, str], report: Path
) -> dict[str, str]:
    problem, image, option = strongest
    # The folders of stages are siblings in the folder of the results.
    folder = report.parent.parent / "saliency" / cell.model / cell.setting
    words = describe_cell(results, cell)
    return {
        "src": link_file(map_file(folder, problem, image, option), report),
        "alt": f"{words['label']}, {words['setting']}: {problem}, image {image + 1}, "
        f"option {option}",
    }
