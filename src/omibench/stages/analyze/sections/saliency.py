"""Occlusion saliency of choices: one row per cell, and its strongest heat map."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from omibench.params.cell import Cell
from omibench.params.stages.saliency import SaliencyParams
from omibench.results.load import Results
from omibench.schemas.saliency_row import map_file
from omibench.stages.analyze.page_table import CELL_HEADS, Entry, PageTable, Row, name_cell
from omibench.stages.analyze.results.saliency import (
    TIE,
    UNSCORED,
    Salience,
    SaliencyComparison,
    compare_settings,
    list_cells,
    pair_settings,
)
from omibench.stages.analyze.sections.section import (
    ReportSection,
    ReportTable,
    pivot_table,
    section,
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
    template = "sections/saliency.html.j2"

    def tables(self) -> Iterable[ReportTable]:
        """Return `saliency.csv`, if there is any."""
        return pivot_table(self.analysis, "saliency")

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
        [*CELL_HEADS, *map(Entry, HEADS)],
        [_format_row(results, row) for row in list_cells(params, rows)],
        simulated=any(row.simulated for row in rows),
    )
    return {
        "table": table,
        "pairs": [_pair(results, pair) for pair in compare_settings(pairs)],
        "hidden": [_describe_hidden(results, row) for row in rows if row.hidden],
        "unscored": [_describe_unscored(results, row) for row in rows if row.unscored],
        "maps": [_map(results, row.cell, row.strongest, report) for row in rows if row.strongest],
    }


def _format_row(results: Results, row: Row) -> list[Entry]:
    cell, share = Cell(row["model"], row["setting"]), row["supportive"]
    impacts = (row[name] for name in ("estimate", "impact_median", "impact_max"))
    texts = [
        row["n"], sum(row[outcome] for outcome in UNSCORED), row["declares"], row["pictures"],
        *map(_nats, (row["logprob"], *impacts)),
        NO_VALUE if isnan(share) else f"{format_share(share)} %",
    ]  # fmt: skip
    return [*name_cell(results, cell, simulated=row["simulated"]), *map(Entry, texts)]


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
