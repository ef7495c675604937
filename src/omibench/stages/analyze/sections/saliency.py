"""Occlusion saliency of choices: one row per cell, and its strongest heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import Any

from omibench.params.setting import Cell
from omibench.params.stages.saliency import SaliencyParams
from omibench.results.load import Results
from omibench.schemas.tables import map_file
from omibench.stages.analyze.formatting import (
    MINUS,
    NO_VALUE,
    count_noun,
    describe_cell,
    format_decimals,
    format_share,
)
from omibench.stages.analyze.page_table import CELL_COLUMNS, Column, PageTable, Row, name_row
from omibench.stages.analyze.results.saliency import (
    TIE,
    UNSCORED,
    LargestEffect,
    Salience,
    list_cells,
    list_right,
    measure_gains,
    pair_settings,
)
from omibench.stages.analyze.sections.section import ReportSection, section
from omibench.web.pictures import link_file

HEADS = (
    "Problems", "Not scored", "Declared before", "Pictures", "log P chosen", "Impact, mean",
    "median", "largest", "Supportive positions",
)  # fmt: skip
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
    files = ("saliency",)
    template = "sections/saliency.html.j2"

    def view(self) -> Mapping[str, Any] | None:
        """Return one row per cell, settings in pairs, and the strongest heat map of each cell."""
        params = self.analysis.study.saliency
        return describe_saliency(
            self.results, params, self.analysis.saliences, self.analysis.report
        )


def describe_saliency(
    results: Results, params: SaliencyParams, rows: Sequence[Salience], report: Path
) -> dict[str, Any] | None:
    """Return the template's values; None without saliency results."""
    if not rows:
        return None
    pairs = pair_settings(rows, results.study.analyze.baselines.settings)
    table = PageTable(
        f"A black square of {params.patch} pixels slides over each picture "
        f"({params.resolution}) in steps of {params.stride}; {READINGS[params.reading]}. "
        "Log-probabilities over the options, and impacts, in nats; the impact of a problem is the "
        "largest change of log P of the chosen option at any position, in either direction.",
        [*CELL_COLUMNS, *map(Column, HEADS)],
        [_format_row(results, row) for row in list_cells(params, rows)],
        simulated=any(row.simulated for row in rows),
    )
    return {
        "table": table,
        "pairs": [line for pair in pairs if (line := _compare(results, *pair))],
        "hidden": [_describe_hidden(results, row) for row in rows if row.hidden],
        "unscored": [_describe_unscored(results, row) for row in rows if row.unscored],
        "maps": [
            _map(results, row.cell, problem, effect, report)
            for row in rows
            for problem, effect in [*row.chosen_drops.items()][:1]
        ],
    }


def _format_row(results: Results, row: Row) -> list[object]:
    share = row["supportive"]
    impacts = (row[name] for name in ("estimate", "impact_median", "impact_max"))
    return [
        *name_row(results, row),
        row["n"], sum(row[outcome] for outcome in UNSCORED), row["declares"], row["pictures"],
        *map(_nats, (row["logprob"], *impacts)),
        NO_VALUE if isnan(share) else f"{format_share(share)} %",
    ]  # fmt: skip


def _describe_unscored(results: Results, row: Salience) -> str:
    total = count_noun(sum(row.unscored.values()), "problem")
    reasons = sorted(row.reasons.items(), key=lambda entry: (-entry[1], entry[0]))
    listed = "; ".join(f"{reason} ({count:,})" for reason, count in reasons[:MOST_REASONS])
    more = "; and others" if len(reasons) > MOST_REASONS else ""
    return f"{describe_cell(results, row.cell)}: {total} not scored: {listed}{more}."


def _describe_hidden(results: Results, row: Salience) -> str:
    return (
        f"{describe_cell(results, row.cell)}: {count_noun(row.hidden, 'place')} removed the "
        "chosen option from the endpoint's list of likeliest tokens. Their effect is unknown, so "
        "the shown impacts are lower bounds."
    )


def _nats(value: float) -> str:
    return NO_VALUE if isnan(value) else format_decimals(value, 3).replace("-", MINUS)


def _compare(results: Results, salience: Salience, baseline: Salience) -> str:
    """Describe the confidence of two settings (USNCO-V, figure 7b to e); empty if no problem has an
    option under both."""
    answered = count_noun(len(salience.logprobs.keys() & baseline.logprobs.keys()), "problem")
    later, earlier = (results.setting_label(s.cell.setting) for s in (salience, baseline))
    model, right = results.label(salience.cell.model), list_right(salience, baseline)
    if answered.startswith("0 "):
        return ""
    if not right:
        return (
            f"{model}: of the {answered} answered under both, none is right under {later} and "
            f"under {earlier}, so the two are not compared."
        )
    logprobs, other_logprobs, impacts, other_impacts = (
        fmean(values[n] for n in right)
        for values in (salience.logprobs, baseline.logprobs, salience.impacts, baseline.impacts)
    )
    gains = measure_gains(salience, baseline, right)
    wins, losses = (sum(way * gain > TIE for gain in gains) for way in (1, -1))
    return (
        f"{model}, over the {len(right):,} of {answered} that are right under both: mean log P of "
        f"the option {_nats(logprobs)} under {later} and {_nats(other_logprobs)} under {earlier}; "
        f"more confident under {later} in {wins:,}, less confident in {losses:,}, equal within "
        f"{TIE} in {len(right) - wins - losses:,}; mean impact {format_decimals(impacts, 3)} and "
        f"{format_decimals(other_impacts, 3)}."
    )


def _map(
    results: Results, cell: Cell, problem: str, effect: LargestEffect, report: Path
) -> dict[str, str]:
    image, option, _ = effect
    # The folders of stages are siblings in the folder of the results.
    folder = report.parent.parent / "saliency" / cell.model / cell.setting
    return {
        "src": link_file(map_file(folder, problem, image, option), report),
        "alt": f"{describe_cell(results, cell)}: {problem}, image {image + 1}, option {option}",
    }
