"""Figures of accuracy with their numbers: by model and setting, by number of images, by scorer, and
the responses without an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from omibench.params.setting import Cell
from omibench.results.slices import sort_values
from omibench.schemas.verdict import FAILURES
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.formatting import (
    format_level,
    format_share,
    name_image_bin,
    name_outcome,
    name_scorer,
)
from omibench.stages.analyze.page_table import (
    CELL_COLUMNS,
    Column,
    Entry,
    PageTable,
    Row,
    head_scorers,
    name_cell,
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


class FigureSection(ReportSection):
    """A section of a figure with its numbers in a folded table."""

    template = "sections/figure.html.j2"
    sentence: ClassVar[Callable[[Analysis], str]]
    """Returns the sentence on the figure."""

    def takeaway(self) -> str:
        """Return the sentence on the figure."""
        return type(self).sentence(self.analysis)


@section("accuracy")
class AccuracySection(FigureSection):
    """The section with every cell's total and interval."""

    title = "Accuracy by model and setting"
    numbers = "main"
    shows = "accuracy"
    sentence = runner_up_sentence

    def view(self) -> Mapping[str, Any]:
        """Return nothing besides the figure: the leaderboard has its numbers."""
        return {}


@section("images")
class ImagesSection(FigureSection):
    """The section on accuracy by number of images; left out if all problems have the same
    number."""

    title = "Accuracy by number of images"
    files = ("by_images",)
    numbers = "by_images"
    shows = "images"
    sentence = images_sentence

    def view(self) -> Mapping[str, Any] | None:
        """Return the shares of every cell under the main scorer."""
        results = self.results
        rows = self.analysis.rows("accuracy-by-images").filter(rules=results.main_rules)
        bins = sort_values(rows["value"])
        if len(bins) < 2:
            return None
        table = PageTable(
            "Accuracy by number of images in per cent, n problems; by "
            f"{name_scorer(results.main_rules)}.",
            [*CELL_COLUMNS, *(Column(name_image_bin(name)) for name in bins)],
            [
                [*names, *(_show_with_n(row) for row in found)]
                for names, found in spread(results, results.study.cells, rows, "value", bins)
            ],
            simulated=results.main_simulated,
            summary="The numbers, with n",
        )
        return {"table": table}


@section("rules")
class RulesSection(FigureSection):
    """The section with totals under every scorer; left out if there is only one."""

    title = "Scorers and judge on the same responses"
    numbers = "main"
    shows = "rules"
    sentence = judge_sentence

    def view(self) -> Mapping[str, Any] | None:
        """Return the totals of every cell under every scorer and every voting judge."""
        results = self.results
        if len(results.rules) < 2:
            return None
        rules = [*results.rules, *results.votes]
        totals = self.analysis.scores.filter(subject=TOTAL)
        table = PageTable(
            _SCORERS.format(level=format_level(self.analysis.confidence)),
            [*CELL_COLUMNS, *head_scorers(results)],
            [
                [*names, *map(_show_total, found)]
                for names, found in spread(results, results.study.cells, totals, "rules", rules)
            ],
            simulated=results.any_simulated,
            summary="Every scorer, total",
        )
        return {"table": table}


@section("failures")
class FailuresSection(FigureSection):
    """The section on failures under the scorer that detects them; left out if there are none."""

    title = "Responses without an answer"
    files = ("failures",)
    numbers = "failures"
    shows = "failures"
    sentence = failures_sentence

    def view(self) -> Mapping[str, Any] | None:
        """Return the counts of every cell."""
        results, rules = self.results, self.results.failure_rules
        rows = self.analysis.rows("outcomes").filter(rules=rules or "")
        occurring = set(rows["value"])
        outcomes = [outcome for outcome in FAILURES if outcome in occurring]
        if rules is None or not outcomes:
            return None
        responses = {(row["model"], row["setting"]): row["n"] for row in rows.to_dicts()}
        lines = spread(results, results.cells, rows, "value", outcomes)
        table = PageTable(
            f"Responses without a scorable answer, by {name_scorer(rules)}; unparsed: no answer "
            "found, loop: endless repetition.",
            [*CELL_COLUMNS, *map(Column, map(name_outcome, outcomes)), Column("n")],
            [
                [*names, *(row["count"] if row else 0 for row in found), responses.get(cell, 0)]
                for cell, (names, found) in zip(results.cells, lines, strict=True)
            ],
            simulated=results.rests_on_simulation(rules),
            summary="The counts",
        )
        return {"table": table}


def _show_with_n(row: Row | None) -> Entry:
    return Entry(format_share(row["estimate"] if row else None), (f"n {row['n'] if row else 0}",))


def _show_total(row: Row | None) -> Entry:
    """Format a total with its interval, and the share of right parts that most specifies it."""
    for name in ("ratio", "strict", "credit") if row else ():
        if row and row[name] is not None:
            return show_share(row, f"{name} {format_share(row[name])}")
    return show_share(row)


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
        result, rules = self.analysis.find_rows("samples"), self.results.main_rules
        rows = None if result is None else result.filter(rules=rules)
        if rows is None or rows.is_empty():
            return None
        found = {
            (Cell(row["model"], row["setting"]), row["metric"], row["k"]): row
            for row in rows.to_dicts()
        }
        table = PageTable(
            _CAPTION.format(
                scorer=name_scorer(rules), level=format_level(self.analysis.confidence)
            ),
            [
                *CELL_COLUMNS, Column("One sample"), Column("Aggregate", "text"), Column("k"),
                *(Column(head, "share") for head in ("Aggregated", "pass@k", "consistency@k")),
            ],
            [line for cell in dict.fromkeys(cells_of(rows)) for line in self._lines(cell, found)],
            simulated=bool(rows["simulated"].any()),
        )  # fmt: skip
        return {"tables": [table]}

    def _lines(
        self, cell: Cell, found: Mapping[tuple[Cell, str, int], Row]
    ) -> Iterator[list[object]]:
        aggregate = self.results.study.settings[cell.setting].aggregate
        is_joint = aggregate.marking == "joint"
        runs = next(row for key, row in found.items() if key[:2] == (cell, RUNS))
        ks = sorted({k for of, _, k in found if of == cell})
        how = NAMES.get(aggregate.how, aggregate.how) + (", marked together" if is_joint else "")
        label, setting = name_cell(self.results, cell)
        values = (label, setting, _describe_spread(runs), how)
        entries = [value if isinstance(value, Entry) else Entry(value) for value in values]
        for k in ks:
            first = [entry._replace(span=len(ks)) for entry in entries] if k == ks[0] else []
            chosen = found.get((cell, aggregate.how, k))
            share = show_share(chosen, _describe_prompts(chosen) if is_joint else "")
            yield [*first, k, share, *(found.get((cell, metric, k)) for metric in METRICS)]


def _describe_prompts(row: Row | None) -> str:
    """Return the number of prompts for the candidates, if they did not fit into one."""
    prompts = row["prompts"] if row else None
    return f"in {prompts:.1f} prompts" if prompts and prompts > 1 else ""


def _describe_spread(row: Row) -> str:
    mean, spread = format_share(row["estimate"]), row["sd"]
    return mean if spread is None else f"{mean} ± {format_share(spread)}"
