"""The sentences of the report: a difference is claimed only if a paired test supports it."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import NamedTuple

from omibench.params.setting import Cell
from omibench.results.load import PARTIAL, Partial, Results, describe_missing
from omibench.results.statistics.paired import POWER
from omibench.schemas.certificate import ALL_TYPES
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.findings import (
    best,
    best_of_all,
    bound_leader,
    count_unanswered,
    find_cell,
    image_difference,
    judge_difference,
    partial_cells,
)
from omibench.stages.analyze.formatting import (
    NO_VALUE,
    count_noun,
    describe_pool,
    format_decimals,
    format_interval,
    format_level,
    format_p,
    format_percent,
    format_points,
    format_points_interval,
    format_share,
    name_image_bin,
    name_scorer,
)
from omibench.stages.analyze.results.accuracy import MIN_PROBLEMS

SIMULATED = "SIMULATED"
NO_LEADER = "No cell leads: each got too few answers."
UNKNOWN_FAILURES = "published verdicts do not show which responses have no answer"


def _explain_interval(analysis: Analysis) -> str:
    """Return a sentence on why the leader's interval differs from the table; empty if it does
    not."""
    top = best(analysis)
    chosen_from = bound_leader(analysis, top).chosen_from if top else 1
    if chosen_from < 2:
        return ""
    noun = "model" if analysis.results.family.settings else "cell"
    return (
        "The interval is wider than in the table, because these results also chose the best of "
        f"{count_noun(chosen_from, noun)} that the tests do not separate from it."
    )


def leading_sentence(analysis: Analysis) -> str:
    """Return the leading cell, the cells it is distinguishable from, and the number excluded."""
    results = analysis.results
    failed = [cell for cell in results.failed_cells if cell in results.family.cells]
    small_cells = partial_cells(analysis)
    part = f"On a part of the dataset, {results.partial}: " if results.partial else ""
    sentences = [part + made_up_problems(results) + _lead(analysis)]
    if compared := describe_best_of_all(analysis):
        sentences.append(f"Of {compared}.")
    sentences.append(_explain_interval(analysis))
    if small_cells:
        sentences.append(
            f"{count_noun(len(small_cells), 'cell')} without all of these problems cannot lead."
        )
    if failed:
        sentences.append(f"{count_noun(len(failed), 'cell')} with too few answers cannot lead.")
    if results.stopped:
        stopped = sum(len(look.stopped) for look in results.stopped.looks)
        sentences.append(f"{count_noun(stopped, 'cell')} stopped early, behind the leader.")
    return " ".join(part for part in [*sentences, describe_missing(results.missing)] if part)


def made_up_problems(results: Results) -> str:
    """Return the opening clause for synthetic problems; empty for real ones."""
    if not results.has_synthetic_problems:
        return ""
    return f"On made-up problems ({results.manifest.synthetic}), not those of a benchmark: "


def _lead(analysis: Analysis) -> str:
    results, top = analysis.results, best(analysis)
    if top is None:
        return NO_LEADER
    family, tests = results.family, results.family_tests
    leader = find_cell(top)
    other_cells = [cell for cell in family.cells if cell != leader]
    ahead = sum(tests.is_ahead(leader, cell) for cell in other_cells)
    behind = len(other_cells) - ahead
    interval = bound_leader(analysis, top)
    score = (
        f"{format_percent(top['estimate'])} of {count_noun(top['n'], 'problem')} right "
        f"({format_level(analysis.confidence)} "
        f"interval {format_interval(interval.low, interval.high)})"
    )
    if not other_cells:
        return f"{cell_name(results, leader)} has {score}."
    name = _name_in_scope(results, leader)
    others = _name_others(results, len(other_cells))
    if not behind:
        return (
            f"{name} leads with {score}, ahead of {others} on the same problems{_level(results)}."
        )
    lead = f"{name} has the highest accuracy, {score}"
    if not ahead:
        any_of = "any of " if behind > 1 else ""
        return (
            f"{lead}; on the same problems it is not distinguishable from {any_of}{others}"
            f"{_level(results)}."
        )
    return (
        f"{lead}; on the same problems it is ahead of {ahead} of {others}, "
        f"and not distinguishable from {behind}{_level(results)}."
    )


def describe_best_of_all(analysis: Analysis) -> str:
    """Describe the best of all cells: 'all 24 cells, A · Direct has the highest accuracy, 60 %'.

    Empty if all cells are in the family.
    """
    results, top = analysis.results, best(analysis)
    overall, compared = best_of_all(analysis)
    if overall is None or top is None or len(results.cells) == len(results.family.cells):
        return ""
    every = "all " if compared == len(results.cells) else ""
    cell = find_cell(overall)
    also = " also" if cell == find_cell(top) else ""
    return (
        f"{every}{count_noun(compared, 'cell')}, {cell_name(results, cell)}{also} has "
        f"the highest accuracy, {format_percent(overall['estimate'])}"
    )


def _name_in_scope(results: Results, cell: Cell) -> str:
    """Return 'Under Direct, Strong', or the cell's name where no two models share a setting."""
    family = results.family
    if not family.settings:
        return f"Of {count_noun(len(family.cells), 'cell')}, {cell_name(results, cell)}"
    mark = f" ({SIMULATED})" if results.simulated_cells[cell] else ""
    model = results.label(cell.model) + mark
    name = model if len(family.settings) == 1 else cell_name(results, cell)
    return f"Under {name_reference(results)}, {name}"


def _name_others(results: Results, count: int) -> str:
    """Return a phrase for the other cells, such as 'the 2 other models'."""
    noun = "model" if results.family.settings else "cell"
    return f"the other {noun}" if count == 1 else f"the {count} other {noun}s"


def name_reference(results: Results) -> str:
    """Return the labels of the family's settings, such as 'Direct or Direct, T = 0.7'."""
    return " or ".join(results.setting_label(name) for name in results.family.settings)


def _level(results: Results) -> str:
    """Return the family's tests with their error level; empty for a single pair."""
    pairs = results.family.pairs
    alpha = format_decimals(results.family_tests.alpha, 4).rstrip("0")
    return f" (paired tests, Holm over all {pairs:,} pairs at {alpha})" if pairs > 1 else ""


def runner_up_sentence(analysis: Analysis) -> str:
    """Compare the leader with the second of the family by their paired test."""
    results, top = analysis.results, best(analysis)
    first = find_cell(top) if top else None
    rest = [cell for cell in results.family.cells if cell != first]
    row = best(analysis, rest)
    if first is None or row is None:
        return leading_sentence(analysis)
    second = find_cell(row)
    test = results.family_tests.compare(first, second)
    names = f"{cell_name(results, first)} against {cell_name(results, second)}"
    if test.difference.n == 0:
        return f"{names}: no problem was answered by both, so they cannot be compared."
    p = "" if isnan(test.adjusted) else f", p {format_p(test.adjusted)}"
    p += " by Holm" if p and results.family.pairs > 1 else ""
    verdict = "ahead" if results.family_tests.is_ahead(first, second) else "not distinguishable"
    smallest = (
        f"; the smallest detectable difference is {format_share(test.detectable)} points with a "
        "power of "
        f"{format_percent(POWER, 0)}"
        if verdict != "ahead" and not isnan(test.detectable)
        else ""
    )
    return (
        f"{names}: {format_points(test.difference.value)} points on the same "
        f"{count_noun(test.difference.n, 'problem')} "
        f"({format_level(results.study.analyze.confidence)} interval of this pair "
        f"{format_points_interval(test.difference)}{p}): {verdict}{smallest}."
    )


def images_sentence(analysis: Analysis) -> str:
    """Return a sentence on the difference in accuracy between the fewest and the most images."""
    effect = image_difference(analysis)
    if effect is None:
        bins = analysis.rows("accuracy-by-images")["value"].n_unique()
        reason = (
            "All problems have the same number of images"
            if bins < 2
            else f"Fewer than two numbers of images have {MIN_PROBLEMS} problems"
        )
        return f"{reason}, so its effect cannot be measured."
    fewest, most, raw, difference = effect
    several = (
        f"With {name_image_bin(most['value'])} accuracy {describe_pool(analysis.results)} is "
        f"{format_percent(most['estimate'])}, "
        f"with {name_image_bin(fewest['value'])} {format_percent(fewest['estimate'])}: "
        f"{format_points(raw.value)} points"
    )
    if isnan(difference.value):
        return f"{several}. No subject has problems of both, so this can be the effect of subjects."
    direction = "a fall" if difference.value < 0 else "a rise"
    verdict = direction if difference.distinguishable else "not distinguishable from zero"
    number = f", {format_points(difference.value)} within subjects" if difference.n else ""
    return (
        f"{several}{number} ({format_points_interval(difference)}), {verdict}. These are different "
        "problems, so the number of images need not be the cause."
    )


def judge_sentence(analysis: Analysis) -> str:
    """Return a sentence on the difference between judge and scorer."""
    results, effect = analysis.results, judge_difference(analysis)
    if effect is None:
        return f"No judge was run: ACC comes from {name_scorer(results.main_rules)}."
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
    """Return a sentence on the judge's agreement with human labels."""
    certificate = results.certificate
    if certificate is None:
        return "The judge is not calibrated with human labels."
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


def failures_sentence(analysis: Analysis) -> str:
    """Return a sentence on responses without an answer and their effect on the leading cell."""
    rules = analysis.results.failure_rules
    if rules is None:
        return f"{UNKNOWN_FAILURES[0].upper()}{UNKNOWN_FAILURES[1:]}."
    scorer = name_scorer(rules)
    n, failed, unjudged = count_unanswered(analysis, rules)
    rest = f" {count_noun(unjudged, 'answer')} of {n:,} got no judgement." if unjudged else ""
    if not failed:
        held = "have an answer" if unjudged else f"have an answer that {scorer} could score"
        return f"All {n:,} responses {held}.{rest}"
    moved, top = "", best(analysis)
    if top and top["failures"] == 0:
        moved = ", none of them in the leading cell"
    elif top and top["failures"] is not None:
        those = "they and the answers without a judgement" if unjudged else "they"
        moved = (
            f"; counted as right {those} would move the leading cell from "
            f"{format_percent(top['estimate'])} to {format_percent(top['failures_right'])}"
        )
    have = "has" if failed == 1 else "have"
    return (
        f"{count_noun(failed, 'response')} of {n:,} ({format_percent(failed / n)}) {have} no "
        f"answer for {scorer} to score{moved}.{rest}"
    )


def describe_simulation(results: Results) -> str:
    """Return a sentence that lists the simulated parts of a study; empty if there are none."""
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
        f"{' and '.join(sources)} come from a seeded simulation, not from a model."
        if sources
        else ""
    )
    if results.has_synthetic_problems:
        sentence = f"The problems are synthetic ({results.manifest.synthetic}). {sentence}".strip()
    if counts := results.manifest.simulated:
        names = ", ".join(f"{name.replace('_', ' ')} of {count}" for name, count in counts.items())
        sentence = (
            f"{sentence} Simulated models judged the problems before they were frozen ({names})."
        )
    return sentence.strip()


def cell_name(results: Results, cell: Cell) -> str:
    """Return the name of a cell, such as 'Strong (SIMULATED) · Chain of thought'."""
    mark = f" ({SIMULATED})" if results.simulated_cells[cell] else ""
    return f"{results.label(cell.model)}{mark} · {results.setting_label(cell.setting)}"


# The headline of `analyze`: the report's path, one sentence and three numbers.


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

    If the effect of images cannot be measured, GPTScore or the number of cells replaces that
    effect.
    """
    results = analysis.results
    tiles = [_best(analysis)]
    effect = image_difference(analysis)
    if effect and not isnan(effect.difference.value):
        fewest, most, raw, difference = effect
        doubt = "" if difference.distinguishable else ", not distinguishable"
        within = (
            f"within subjects; without this adjustment {format_points(raw.value)}, "
            if difference.n
            else ""
        )
        tiles.append(
            HeadlineNumber(
                f"From {fewest['value']} to {most['value']} images",
                f"{format_points(difference.value)} points",
                f"{within}{format_percent(fewest['estimate'])} to "
                f"{format_percent(most['estimate'])} {describe_pool(results)}; "
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
    if len(tiles) < 2:
        cells = count_noun(len(results.study.cells), "cell")
        problems = str(results.partial or count_noun(len(results.answers), "problem"))
        tiles.append(
            HeadlineNumber(
                "Evaluated", cells, f"models under settings, on {problems}", simulated=False
            )
        )
    tiles.append(_failures(analysis))
    return tuple(tiles)


def _best(analysis: Analysis) -> HeadlineNumber:
    results, top = analysis.results, best(analysis)
    label = _name_best(results)
    if top is None:
        return HeadlineNumber(label, NO_VALUE, NO_LEADER, results.main_simulated)
    failed = [cell for cell in results.failed_cells if cell in results.family.cells]
    small_cells = partial_cells(analysis)
    interval = bound_leader(analysis, top)
    reason = (
        f" (corrected for the choice among {interval.chosen_from})"
        if interval.chosen_from > 1
        else ""
    )
    detail = (
        f"{cell_name(results, find_cell(top))}; {format_level(analysis.confidence)} interval "
        f"{format_interval(interval.low, interval.high)}{reason}, by "
        f"{name_scorer(results.main_rules)}"
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
