"""Several samples of a problem: one row per cell and k."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from omibench.params.cell import Cell
from omibench.stages.analyze.page_table import (
    Block,
    Entry,
    PageTable,
    Row,
    describe_card,
    name_cell,
    name_heads,
    show_share,
)
from omibench.stages.analyze.results.accuracy import cells_of
from omibench.stages.analyze.results.samples import RUNS
from omibench.stages.analyze.sections.section import ReportSection, section
from omibench.stages.analyze.words import format_level, format_share, name_scorer

METRICS = ("pass", "consistency")
NAMES = {
    "mean": "mean of all", "first": "the first", "majority": "majority", "best-of-n": "best of k",
    "tournament": "tournament",
}  # fmt: skip
_CAPTION = (
    "In per cent by {scorer}, with {level} intervals. One sample: mean and standard deviation over "
    "whole runs; pass@k: probability of a right one among k; consistency@k: share of the first k "
    "with the most frequent answer."
)


@section("samples")
class SamplesSection(ReportSection):
    """The section on runs, pass@k, consistency@k and aggregates; left out with one sample per
    problem."""

    title = "Several samples of a problem"
    files = ("samples",)
    template = "sections/tables.html.j2"

    def view(self) -> Mapping[str, Any] | None:
        """Return one row per cell and k, under the main scorer."""
        table, rules = self.analysis.find_rows("samples"), self.results.main_rules
        rows = None if table is None else table.filter(rules=rules)
        if rows is None or rows.is_empty():
            return None
        found = {
            (Cell(row["model"], row["setting"]), row["metric"], row["k"]): row
            for row in rows.to_dicts()
        }
        level = format_level(self.analysis.confidence)
        heads = [
            *name_heads("Model", "Setting"), Entry("One sample"), *name_heads("Aggregate"),
            *map(Entry, ("k", "Aggregated", "pass@k", "consistency@k")),
        ]  # fmt: skip
        page_table = PageTable(
            _CAPTION.format(scorer=name_scorer(rules), level=level),
            heads,
            [line for cell in dict.fromkeys(cells_of(rows)) for line in self._lines(cell, found)],
            simulated=bool(rows["simulated"].any()),
        )
        return describe_card([Block(page_table)])

    def _lines(
        self, cell: Cell, found: Mapping[tuple[Cell, str, int], Row]
    ) -> Iterator[list[Entry]]:
        aggregate = self.results.study.settings[cell.setting].aggregate
        is_joint = aggregate.marking == "joint"
        runs = next(row for key, row in found.items() if key[:2] == (cell, RUNS))
        ks = sorted({k for of, _, k in found if of == cell})
        how = NAMES[aggregate.how] + (", marked together" if is_joint else "")
        spread = Entry(_describe_spread(runs))
        names = [*name_cell(self.results, cell), spread, *name_heads(how)]
        for place, k in enumerate(ks):
            first = [entry._replace(span=len(ks)) for entry in names] if place == 0 else []
            chosen = found.get((cell, aggregate.how, k))
            shown = show_share(chosen)
            if is_joint:
                shown = shown._replace(lines=(*shown.lines, _describe_prompts(chosen)))
            metrics = (show_share(found.get((cell, metric, k))) for metric in METRICS)
            yield [*first, Entry(k), shown, *metrics]


def _describe_prompts(row: Row | None) -> str:
    """Return the number of prompts for the candidates, if they did not fit into one."""
    prompts = row["prompts"] if row else None
    return f"in {prompts:.1f} prompts" if prompts and prompts > 1 else ""


def _describe_spread(row: Row) -> str:
    mean, spread = format_share(row["estimate"]), row["sd"]
    return mean if spread is None else f"{mean} ± {format_share(spread)}"
