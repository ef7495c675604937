"""The headline of `analyze`: the report's path, one sentence and three numbers."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from omibench.results.load import Results
from omibench.results.partial import PARTIAL, Partial
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.claims import (
    NO_LEADER,
    SIMULATED,
    UNKNOWN_FAILURES,
    best,
    cell_name,
    count_unanswered,
    describe_best_of_all,
    find_cell,
    image_difference,
    judge_difference,
    leading_sentence,
    name_reference,
    partial_cells,
)
from omibench.stages.analyze.words import (
    NO_VALUE,
    count_noun,
    describe_pool,
    format_interval,
    format_level,
    format_percent,
    format_points,
    format_points_interval,
    name_scorer,
)


class HeadlineNumber(NamedTuple):
    """A number of the headline with its label."""

    label: str
    value: str
    detail: str
    simulated: bool


class Headline(NamedTuple):
    """The headline of a study: the report's path, one sentence and three numbers."""

    report: Path
    sentence: str
    numbers: tuple[HeadlineNumber, ...]
    simulated: bool
    partial: Partial | None = None

    def __str__(self) -> str:
        mark = f"[{PARTIAL}] " if self.partial else ""
        mark += f"[{SIMULATED}] " if self.simulated else ""
        width = max(len(n.label) for n in self.numbers)
        lines = [f"  {n.label:<{width}}  {n.value:>12}  {n.detail}" for n in self.numbers]
        return "\n".join([mark + self.sentence, *lines, f"Report: {self.report}"])


def make_headline(analysis: Analysis) -> Headline:
    """Build the headline of a study."""
    results = analysis.results
    return Headline(
        report=analysis.report,
        sentence=leading_sentence(analysis),
        numbers=leading_numbers(analysis),
        simulated=results.any_simulated,
        partial=results.partial,
    )


def leading_numbers(analysis: Analysis) -> tuple[HeadlineNumber, ...]:
    """Return the three main numbers: best accuracy, effect of images, share of failures.

    If all problems have the same number of images, GPTScore or the number of cells replaces that
    effect.
    """
    results = analysis.results
    tiles = [_best(analysis)]
    if effect := image_difference(analysis):
        fewest, most, difference = effect
        doubt = "" if difference.distinguishable else ", not distinguishable"
        tiles.append(
            HeadlineNumber(
                f"From {fewest['value']} to {most['value']} images",
                f"{format_points(difference.value)} points",
                f"{format_percent(fewest['estimate'])} to {format_percent(most['estimate'])} "
                f"{describe_pool(results)}; "
                f"interval {format_points_interval(difference)}{doubt}",
                results.main_simulated,
            )
        )
    elif judged := judge_difference(analysis):
        tiles.append(
            HeadlineNumber(
                "Judge minus scorer",
                f"{format_points(judged[0].value)} points",
                f"interval {format_points_interval(judged[0])}; they disagree on "
                f"{count_noun(judged[1], 'response')}",
                results.any_simulated,
            )
        )
    tiles.append(_failures(analysis))
    if len(tiles) < 3:
        cells = count_noun(len(results.study.cells), "cell")
        problems = str(results.partial or count_noun(len(results.answers), "problem"))
        tiles.append(
            HeadlineNumber(
                "Evaluated", cells, f"models under settings, on {problems}", simulated=False
            )
        )
    return tuple(tiles)


def _best(analysis: Analysis) -> HeadlineNumber:
    results, top = analysis.results, best(analysis)
    label = _name_best(results)
    if top is None:
        return HeadlineNumber(label, NO_VALUE, NO_LEADER, results.main_simulated)
    failed = [cell for cell in results.failed_cells if cell in results.family.cells]
    small_cells = partial_cells(analysis)
    detail = (
        f"{cell_name(results, find_cell(top))}; {format_level(analysis.confidence)} interval "
        f"{format_interval(top['low'], top['high'])}, by {name_scorer(results.main_rules)}"
    )
    if overall := describe_best_of_all(analysis):
        detail += f"; of {overall}"
    if small_cells:
        detail += f"; {count_noun(len(small_cells), 'cell')} without all problems left out"
    if failed:
        detail += f"; {count_noun(len(failed), 'cell')} with too few answers left out"
    return HeadlineNumber(label, format_percent(top["estimate"]), detail, results.main_simulated)


def _name_best(results: Results) -> str:
    """Return the label of the best accuracy, which names the family that is compared."""
    settings = {cell.setting for cell in results.study.cells}
    if not results.family.settings or len(settings) == 1:
        return "Best accuracy"
    return f"Best accuracy under {name_reference(results)}"


def _failures(analysis: Analysis) -> HeadlineNumber:
    results = analysis.results
    label, rules = "Responses without an answer", results.failure_rules
    if rules is None:
        return HeadlineNumber(label, "not known", UNKNOWN_FAILURES, simulated=False)
    responses, empty, unjudged = count_unanswered(analysis, rules)
    note = "counted as wrong, with bounds"
    if rules != results.main_rules:
        note = f"by {name_scorer(rules)}; {UNKNOWN_FAILURES}"
    if unjudged:
        note += f"; {count_noun(unjudged, 'more answer')} without a judgement, counted likewise"
    return HeadlineNumber(
        label,
        format_percent(empty / responses),
        f"{empty:,} of {responses:,}, {note}",
        results.rests_on_simulation(rules),
    )
