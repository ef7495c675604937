"""What `analyze` reports first: where the report is, a sentence, the three leading numbers."""

from __future__ import annotations

from collections.abc import Sequence
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
    image_difference,
    judge_difference,
    leading_sentence,
    partial_cells,
)
from omibench.stages.analyze.tables.accuracy import ImageScore, Score
from omibench.stages.analyze.words import (
    NONE,
    counted,
    interval,
    level,
    percent,
    points,
    points_interval,
    scored_by,
)


class Number(NamedTuple):
    """One of the numbers that matter most, ready to be shown."""

    label: str
    value: str
    detail: str
    simulated: bool


class Headline(NamedTuple):
    """What `analyze` found: where the report is, one sentence, the three leading numbers."""

    report: Path
    sentence: str
    numbers: tuple[Number, ...]
    simulated: bool
    partial: Partial | None = None

    def __str__(self) -> str:
        mark = f"[{PARTIAL}] " if self.partial else ""
        mark += f"[{SIMULATED}] " if self.simulated else ""
        width = max(len(n.label) for n in self.numbers)
        lines = [f"  {n.label:<{width}}  {n.value:>12}  {n.detail}" for n in self.numbers]
        return "\n".join([mark + self.sentence, *lines, f"Report: {self.report}"])


def make_headline(analysis: Analysis) -> Headline:
    """The headline of a study."""
    results = analysis.results
    return Headline(
        report=analysis.report,
        sentence=leading_sentence(results, analysis.scores),
        numbers=leading_numbers(results, analysis.scores, analysis.image_scores),
        simulated=results.any_simulated,
        partial=results.partial,
    )


def leading_numbers(
    results: Results, rows: Sequence[Score], images: Sequence[ImageScore]
) -> tuple[Number, ...]:
    """The three numbers that matter most: best accuracy, effect of images, share of failures.

    Where the problems all have one number of images, GPTScore or the cells stand instead.
    """
    found = [_best(results, rows)]
    if effect := image_difference(results, images):
        few, many, difference = effect
        told = "" if difference.distinguishable else ", not distinguishable"
        found.append(
            Number(
                f"From {few.images} to {many.images} images",
                f"{points(difference.value)} points",
                f"{percent(few.acc.mean)} to {percent(many.acc.mean)} over all cells; "
                f"interval {points_interval(difference)}{told}",
                results.main_simulated,
            )
        )
    elif judged := judge_difference(results):
        found.append(
            Number(
                "Judge minus rule book",
                f"{points(judged[0].value)} points",
                f"interval {points_interval(judged[0])}; they disagree on "
                f"{counted(judged[1], 'response')}",
                results.any_simulated,
            )
        )
    found.append(_failures(results))
    if len(found) < 3:
        cells = counted(len(results.study.cells), "cell")
        problems = str(results.partial or counted(len(results.answers), "problem"))
        found.append(
            Number("Evaluated", cells, f"models under settings, on {problems}", simulated=False)
        )
    return tuple(found)


def _best(results: Results, rows: Sequence[Score]) -> Number:
    label, top = "Best accuracy", best(results, rows)
    if top is None:
        return Number(label, NONE, NO_LEADER, results.main_simulated)
    failed = results.failed_cells
    few = [cell for cell in partial_cells(results, rows) if cell not in failed]
    detail = (
        f"{cell_name(results, top.cell)}; {level(results.study.analyze.confidence)} interval "
        f"{interval(top.acc)}, by {scored_by(results.main_rules)}"
    )
    if few:
        detail += f"; {counted(len(few), 'cell')} with clearly fewer problems left out"
    if failed:
        detail += f"; {counted(len(failed), 'cell')} with too few answers left out"
    return Number(label, percent(top.acc.mean), detail, results.main_simulated)


def _failures(results: Results) -> Number:
    label, rules = "Responses without an answer", results.failure_rules
    if rules is None:
        return Number(label, "not known", UNKNOWN_FAILURES, simulated=False)
    verdicts = results.of(rules)
    failed = int(verdicts["failed"].sum())
    told = "counted as wrong and shown as bounds"
    if rules != results.main_rules:
        told = f"by {scored_by(rules)}; {UNKNOWN_FAILURES}"
    return Number(
        label,
        percent(failed / verdicts.height),
        f"{failed:,} of {verdicts.height:,}, {told}",
        results.rests_on_simulation(rules),
    )
