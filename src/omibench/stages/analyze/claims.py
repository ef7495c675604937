"""What the report says in sentences: a difference is told only where a paired test supports it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from omibench.params.cell import Cell
from omibench.results.load import JUDGE_RULES, Results
from omibench.results.present_cells import describe_missing
from omibench.schemas.certificate import ALL_TYPES
from omibench.stages.analyze.tables.accuracy import ALL_CELLS, TOTAL, ImageScore, Score
from omibench.stages.analyze.words import (
    count_noun,
    format_decimals,
    format_interval,
    format_level,
    format_percent,
    format_points,
    format_points_interval,
    name_image_bin,
    name_scorer,
)
from omibench.statistics.paired import (
    AccuracyDifference,
    count_pairs,
    independent_difference,
    paired_difference,
)

if TYPE_CHECKING:
    import polars as pl

SIMULATED = "SIMULATED"
NEARLY_ALL = 0.95
NO_LEADER = "No cell leads: each got too few answers."
UNKNOWN_FAILURES = "published verdicts do not say which responses hold no answer"


def best(results: Results, rows: Sequence[Score]) -> Score | None:
    """The cell with the highest total under the main rules; the first in the study's order.

    Cells that answered clearly fewer problems than others (recorded responses may cover only some
    subjects) cannot lead: their accuracy is about other problems. Nor can cells that got too few
    answers. None where no cell is left.
    """
    totals = [s for s in rows if s.subject == TOTAL and s.rules == results.main_rules]
    out = {*partial_cells(results, rows), *results.failed_cells}
    return max((s for s in totals if s.cell not in out), key=lambda s: s.acc.mean, default=None)


def partial_cells(results: Results, rows: Sequence[Score]) -> list[Cell]:
    """The cells that cannot lead, because others answered clearly more problems."""
    totals = [s for s in rows if s.subject == TOTAL and s.rules == results.main_rules]
    highest_count = max(s.acc.n for s in totals)
    return [s.cell for s in totals if s.acc.n < NEARLY_ALL * highest_count]


def compare_cells(results: Results, first: Cell, second: Cell) -> AccuracyDifference:
    """First minus second under the main rules, on the problems that both answered.

    The interval holds for all pairs of cells together (Bonferroni), because the cells that are
    compared were picked by looking at all of them: the best of many equal models looks better.
    """
    return _compare_frames(
        _per_problem(results.select_verdicts(results.main_rules, first)),
        _per_problem(results.select_verdicts(results.main_rules, second)),
        ["id"],
        results.study.analyze.confidence,
        comparisons=count_pairs(len(results.study.cells)),
    )


def leading_sentence(results: Results, rows: Sequence[Score]) -> str:
    """Which cell leads, from how many others it can be told apart, and how many cannot lead."""
    failed = results.failed_cells
    small_cells = [cell for cell in partial_cells(results, rows) if cell not in failed]
    part = f"On a part of the dataset, {results.partial}: " if results.partial else ""
    sentences = [part + made_up_problems(results) + _lead(results, rows)]
    if small_cells:
        sentences.append(
            f"{count_noun(len(small_cells), 'cell')} with clearly fewer problems cannot lead."
        )
    if failed:
        sentences.append(f"{count_noun(len(failed), 'cell')} with too few answers cannot lead.")
    return " ".join(part for part in [*sentences, describe_missing(results.missing)] if part)


def made_up_problems(results: Results) -> str:
    """What must be said first where the problems are made up; nothing where they are real."""
    if not results.has_synthetic_problems:
        return ""
    return f"On made-up problems ({results.manifest.synthetic}), which no benchmark holds: "


def _lead(results: Results, rows: Sequence[Score]) -> str:
    top = best(results, rows)
    if top is None:
        return NO_LEADER
    other_cells = [cell for cell in results.study.cells if cell != top.cell]
    lead = (
        f"{cell_name(results, top.cell)} leads with {format_percent(top.acc.mean)} of "
        f"{count_noun(top.acc.n, 'problem')} right "
        f"({format_level(results.study.analyze.confidence)} "
        f"interval {format_interval(top.acc)})"
    )
    if not other_cells:
        return lead + "."
    ahead = sum(compare_cells(results, top.cell, other_cell).lo > 0 for other_cell in other_cells)
    indistinguishable = len(other_cells) - ahead
    if indistinguishable == 0:
        whom = f"all {ahead} others" if ahead > 1 else "the other cell"
        return f"{lead}, ahead of {whom} on the same problems."
    if len(other_cells) == 1:
        return f"{lead}; on the same problems it is not distinguishable from the other cell."
    return (
        f"{lead}; on the same problems it is ahead of {ahead} of the {len(other_cells)} others, "
        f"and not distinguishable from {indistinguishable}."
    )


def runner_up_sentence(results: Results, rows: Sequence[Score]) -> str:
    """The leader against the best cell of any other model, or of its own when it is alone."""
    top = best(results, rows)
    if top is None:
        return leading_sentence(results, rows)
    apart = [s for s in rows if s.cell.model != top.cell.model] or [
        s for s in rows if s.cell != top.cell
    ]
    second = best(results, apart) if apart else None
    if second is None:
        return leading_sentence(results, rows)
    difference = compare_cells(results, top.cell, second.cell)
    names = f"{cell_name(results, top.cell)} against {cell_name(results, second.cell)}"
    if difference.n == 0:
        return f"{names}: no problem was answered by both, so they cannot be compared."
    verdict = "ahead" if difference.lo > 0 else "not distinguishable"
    return (
        f"{names}: {format_points(difference.value)} points on the same "
        f"{count_noun(difference.n, 'problem')} ({format_points_interval(difference)}): {verdict}."
    )


def image_difference(
    results: Results, rows: Sequence[ImageScore]
) -> tuple[ImageScore, ImageScore, AccuracyDifference] | None:
    """Fewest-image bin, most-image bin and the latter minus the former, over all cells."""
    pooled = [s for s in rows if s.cell == ALL_CELLS and s.rules == results.main_rules]
    if len(pooled) < 2:
        return None
    lowest_bin, highest_bin = pooled[0], pooled[-1]
    return lowest_bin, highest_bin, independent_difference(highest_bin.acc, lowest_bin.acc)


def images_sentence(results: Results, rows: Sequence[ImageScore]) -> str:
    """How accuracy differs between the fewest and the most images."""
    effect = image_difference(results, rows)
    if effect is None:
        return "All problems have the same number of images, so its effect cannot be seen here."
    lowest_bin, highest_bin, difference = effect
    direction = "a fall" if difference.value < 0 else "a rise"
    verdict = direction if difference.distinguishable else "not distinguishable from zero"
    return (
        f"With {name_image_bin(highest_bin.images)} accuracy over all cells is "
        f"{format_percent(highest_bin.acc.mean)}, "
        f"with {name_image_bin(lowest_bin.images)} {format_percent(lowest_bin.acc.mean)}: "
        f"{format_points(difference.value)} points "
        f"({format_points_interval(difference)}), {verdict}. These are different problems, so the "
        "number of images need not be the cause."
    )


def judge_difference(results: Results) -> tuple[AccuracyDifference, int] | None:
    """GPTScore minus the main rules on the same responses, and on how many they disagree."""
    if JUDGE_RULES not in results.rules or results.main_rules == JUDGE_RULES:
        return None
    keys = ["model", "setting", "id", "index"]
    judge, rules = results.select_verdicts(JUDGE_RULES), results.select_verdicts(results.main_rules)
    pairs = judge.join(rules, on=keys)
    disagree = (pairs["verdict"] - pairs["verdict_right"]).abs() >= 0.5
    difference = _compare_frames(judge, rules, keys, results.study.analyze.confidence)
    return difference, int(disagree.sum())


def judge_sentence(results: Results) -> str:
    """What the judge says that the rule book does not."""
    effect = judge_difference(results)
    if effect is None:
        return f"No judge was asked: ACC comes from {name_scorer(results.main_rules)}."
    difference, disagree = effect
    verdict = "distinguishable from zero" if difference.distinguishable else "not distinguishable"
    judge = f"The {SIMULATED} judge" if results.judge_simulated else "The judge"
    return (
        f"{judge} and {name_scorer(results.main_rules)} disagree on {disagree} of "
        f"{count_noun(difference.n, 'response')}; over all cells GPTScore is "
        f"{format_points(difference.value)} points from ACC "
        f"({format_points_interval(difference)}): {verdict}. " + calibration_sentence(results)
    )


def calibration_sentence(results: Results) -> str:
    """What people's labels say of the judge, or that nothing does."""
    certificate = results.certificate
    if certificate is None:
        return "The judge is not calibrated against people."
    quality = certificate.quality[ALL_TYPES]
    kappa = (
        "" if quality.kappa.value is None else f" (kappa {format_decimals(quality.kappa.value, 2)})"
    )
    mark = f" {SIMULATED}" if certificate.simulated else ""
    agreement = format_percent(quality.agreement.value or 0.0)
    rates = [
        f"{format_percent(rate.value)} of the {correctness} responses"
        for rate, correctness in ((quality.tpr, "right"), (quality.fpr, "wrong"))
        if rate.value is not None
    ]
    return (
        f"Against {certificate.n:,}{mark} labels it agrees on {agreement}{kappa} and calls "
        f"{' and '.join(rates)} right."
    )


def failures_sentence(results: Results, rows: Sequence[Score]) -> str:
    """How many responses are no answer, and what that could hide in the leading cell."""
    rules = results.failure_rules
    if rules is None:
        return f"{UNKNOWN_FAILURES[0].upper()}{UNKNOWN_FAILURES[1:]}."
    verdicts = results.select_verdicts(rules)
    failed, n = int(verdicts["failed"].sum()), verdicts.height
    if not failed:
        return f"All {n:,} responses hold an answer that {name_scorer(rules)} could score."
    moved, top = "", best(results, rows)
    bounds = top.failures if top else None
    if bounds and bounds.failed == 0:
        moved = ", none of them in the leading cell"
    elif bounds:
        moved = (
            "; counted as right they would move the leading cell from "
            f"{format_percent(bounds.as_wrong)} to {format_percent(bounds.as_right)}"
        )
    hold = "holds" if failed == 1 else "hold"
    return (
        f"{count_noun(failed, 'response')} of {n:,} ({format_percent(failed / n)}) {hold} no "
        f"answer for "
        f"{name_scorer(rules)} to score{moved}."
    )


def describe_simulation(results: Results) -> str:
    """What of a study is simulated; nothing where nothing is."""
    cells = sum(results.simulated_cells.values())
    sources = []
    if cells:
        every = cells == len(results.simulated_cells)
        sources.append(
            "All responses" if every else f"The responses of {count_noun(cells, 'cell')}"
        )
    if results.judge_simulated:
        sources.append("the judgements" if sources else "The judgements")
    sentence = (
        f"{' and '.join(sources)} come from seeded stand-ins, not from a model." if sources else ""
    )
    if results.has_synthetic_problems:
        sentence = f"The problems are made up ({results.manifest.synthetic}). {sentence}".strip()
    if counts := results.manifest.simulated:
        names = ", ".join(f"{name.replace('_', ' ')} of {count}" for name, count in counts.items())
        sentence = (
            f"{sentence} Simulated models judged the problems before they were frozen ({names})."
        )
    return sentence.strip()


def cell_name(results: Results, cell: Cell) -> str:
    """'Strong (SIMULATED) · Chain of thought'."""
    mark = f" ({SIMULATED})" if results.simulated_cells[cell] else ""
    return f"{results.label(cell.model)}{mark} · {results.setting_label(cell.setting)}"


def _per_problem(rows: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return rows.group_by("id", "cluster", maintain_order=True).agg(pl.col("verdict").mean())


def _compare_frames(
    first: pl.DataFrame,
    second: pl.DataFrame,
    keys: list[str],
    confidence: float,
    comparisons: int = 1,
) -> AccuracyDifference:
    pairs = first.join(second, on=keys, maintain_order="left")
    return paired_difference(
        pairs["verdict"].to_list(),
        pairs["verdict_right"].to_list(),
        pairs["cluster"].to_list(),
        confidence,
        comparisons,
    )
