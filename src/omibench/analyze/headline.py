"""What `analyze` reports first: where the report is, a sentence, the three leading numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.analyze.claims import (
    SIMULATED,
    best,
    cell_name,
    image_difference,
    judge_difference,
    leading_sentence,
)
from omibench.analyze.load import Results
from omibench.analyze.summary import Summary
from omibench.analyze.tables import ImageScore, Score
from omibench.analyze.words import (
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


class Headline(NamedTuple):
    """What `analyze` found: where the report is, one sentence, the three leading numbers."""

    report: Path
    sentence: str
    numbers: tuple[Number, ...]
    simulated: bool

    def __str__(self) -> str:
        mark = f"[{SIMULATED}] " if self.simulated else ""
        width = max(len(n.label) for n in self.numbers)
        lines = [f"  {n.label:<{width}}  {n.value:>12}  {n.detail}" for n in self.numbers]
        return "\n".join([mark + self.sentence, *lines, f"Report: {self.report}"])


def headline(results: Results, summary: Summary, report: Path) -> Headline:
    """The headline of a study whose report stands at `report`."""
    return Headline(
        report=report,
        sentence=leading_sentence(results, summary.scores),
        numbers=numbers(results, summary.scores, summary.images),
        simulated=results.any_simulated,
    )


def numbers(
    results: Results, rows: Sequence[Score], images: Sequence[ImageScore]
) -> tuple[Number, ...]:
    """The three numbers that matter most: best accuracy, effect of images, share of failures.

    Where the problems all have one number of images, GPTScore or the cells stand instead.
    """
    top = best(results, rows)
    found = [
        Number(
            "Best accuracy",
            percent(top.acc.mean),
            f"{cell_name(results, top.cell)}; {level(results.study.analyze.confidence)} interval "
            f"{interval(top.acc)}, by {scored_by(results.main_rules)}",
        )
    ]
    if effect := image_difference(results, images):
        few, many, difference = effect
        told = "" if difference.distinguishable else ", not distinguishable"
        found.append(
            Number(
                f"From {few.images} to {many.images} images",
                f"{points(difference.value)} points",
                f"{percent(few.acc.mean)} to {percent(many.acc.mean)} over all cells; "
                f"interval {points_interval(difference)}{told}",
            )
        )
    elif judged := judge_difference(results):
        found.append(
            Number(
                "Judge minus rule book",
                f"{points(judged[0].value)} points",
                f"interval {points_interval(judged[0])}; they disagree on {judged[1]} responses",
            )
        )
    verdicts = results.of(results.main_rules)
    failed = int(verdicts["failed"].sum())
    found.append(
        Number(
            "Responses without an answer",
            percent(failed / verdicts.height),
            f"{failed:,} of {verdicts.height:,}, counted as wrong and shown as bounds",
        )
    )
    if len(found) < 3:
        cells = counted(len(results.study.cells), "cell")
        problems = counted(len(results.answers), "problem")
        found.append(Number("Evaluated", cells, f"models under settings, on {problems}"))
    return tuple(found)
