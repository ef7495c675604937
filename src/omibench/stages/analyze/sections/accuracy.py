"""Figures of accuracy with their numbers: by model and setting, by number of images, by scorer, and
the responses without an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from omibench.params.setting import Cell
from omibench.results.slices import sort_values
from omibench.schemas.verdict import FAILURES
from omibench.stages.analyze.formatting import (
    format_level,
    format_share,
    name_image_bin,
    name_outcome,
    name_scorer,
)
from omibench.stages.analyze.page_table import (
    CELL_HEADS,
    Block,
    Entry,
    PageTable,
    Row,
    describe_card,
    head_scorers,
    name_cell,
    name_heads,
    show_share,
    spread,
)
from omibench.stages.analyze.results.accuracy import TOTAL, cells_of
from omibench.stages.analyze.results.samples import RUNS
from omibench.stages.analyze.sections.section import ReportSection, section
from omibench.stages.analyze.sentences import (
    failures_sentence,
    images_sentence,
    judge_sentence,
    runner_up_sentence,
)

_SCORERS = (
    "Total accuracy in per cent with {level} interval, under every scorer; credit: mean share of "
    "right parts; strict: share with all parts right, if the accuracy counts parts; ratio: mean of "
    "OMIBench's eq. 6. By subject in main.csv."
)


@section("accuracy")
class AccuracySection(ReportSection):
    """The section with every cell's total and interval."""

    title = "Accuracy by model and setting"
    numbers = "main"
    shows = "accuracy"
    template = "sections/figure.html.j2"

    def takeaway(self) -> str:
        """Return the sentence of `claims` on the figure."""
        return runner_up_sentence(self.analysis)

    def view(self) -> Mapping[str, Any]:
        """Return nothing besides the figure."""
        return {}


@section("images")
class ImagesSection(ReportSection):
    """The section on accuracy by number of images; left out if all problems have the same
    number."""

    title = "Accuracy by number of images"
    files = ("by_images",)
    numbers = "by_images"
    shows = "images"
    template = "sections/figure.html.j2"

    def takeaway(self) -> str:
        """Return the sentence of `claims` on the figure."""
        return images_sentence(self.analysis)

    def view(self) -> Mapping[str, Any] | None:
        """Return the numbers of every cell under the main scorer."""
        results = self.results
        rows = self.analysis.rows("accuracy-by-images").filter(rules=results.main_rules)
        bins = sort_values(rows["value"])
        if len(bins) < 2:
            return None
        caption = (
            "Accuracy by number of images in per cent, n problems; by "
            f"{name_scorer(results.main_rules)}."
        )
        table = PageTable(
            caption,
            [*CELL_HEADS, *(Entry(name_image_bin(name)) for name in bins)],
            spread(results, results.study.cells, rows, ("value", bins), _show_with_n),
            simulated=results.main_simulated,
        )
        return {"summary": "The numbers, with n", "table": table}


@section("rules")
class RulesSection(ReportSection):
    """The section with totals under every scorer; left out if there is only one."""

    title = "Scorers and judge on the same responses"
    numbers = "main"
    shows = "rules"
    template = "sections/figure.html.j2"

    def takeaway(self) -> str:
        """Return the sentence of `claims` on the figure."""
        return judge_sentence(self.analysis)

    def view(self) -> Mapping[str, Any] | None:
        """Return the totals of every cell under every scorer and every voting judge."""
        results = self.results
        if len(results.rules) < 2:
            return None
        names = [*results.rules, *results.votes]
        totals = self.analysis.scores.filter(subject=TOTAL)
        table = PageTable(
            _SCORERS.format(level=format_level(self.analysis.confidence)),
            [*CELL_HEADS, *head_scorers(results)],
            spread(results, results.study.cells, totals, ("rules", names), _show_total),
            simulated=results.any_simulated,
        )
        return {"summary": "Every scorer, total", "table": table}


@section("failures")
class FailuresSection(ReportSection):
    """The section on failures under the scorer that detects them; left out if there are none."""

    title = "Responses without an answer"
    files = ("failures",)
    numbers = "failures"
    shows = "failures"
    template = "sections/figure.html.j2"

    def takeaway(self) -> str:
        """Return the sentence of `claims` on the figure."""
        return failures_sentence(self.analysis)

    def view(self) -> Mapping[str, Any] | None:
        """Return the counts of every cell."""
        results, rules = self.results, self.results.failure_rules
        rows = self.analysis.rows("outcomes").filter(rules=rules or "")
        occurring = set(rows["value"])
        names = [outcome for outcome in FAILURES if outcome in occurring]
        if rules is None or not names:
            return None
        responses = {(row["model"], row["setting"]): row["n"] for row in rows.to_dicts()}
        counts = spread(results, results.cells, rows, ("value", names), show_count)
        table = PageTable(
            f"Responses without a scorable answer, by {name_scorer(rules)}; unparsed: no answer "
            "found, loop: endless repetition.",
            [*CELL_HEADS, *(Entry(name_outcome(name)) for name in names), Entry("n")],
            [
                [*line, Entry(responses.get(cell, 0))]
                for cell, line in zip(results.cells, counts, strict=True)
            ],
            simulated=results.rests_on_simulation(rules),
        )
        return {"summary": "The counts", "table": table}


def show_count(row: Row | None) -> Entry:
    """Format a count; 0 without a row."""
    return Entry(row["count"] if row else 0)


def _show_with_n(row: Row | None) -> Entry:
    return Entry(format_share(row["estimate"] if row else None), (f"n {row['n'] if row else 0}",))


def _show_total(row: Row | None) -> Entry:
    """Format a total with its interval, and the share of right parts that most specifies it."""
    shown = show_share(row)
    for name in ("ratio", "strict", "credit") if row else ():
        if row and row[name] is not None:
            return shown._replace(lines=(*shown.lines, f"{name} {format_share(row[name])}"))
    return shown


# Several samples of a problem: one row per cell and k.

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
