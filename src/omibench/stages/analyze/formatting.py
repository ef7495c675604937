"""Format numbers, shares and names in tables, sentences and figures."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from math import isnan

from omibench.params.setting import Cell
from omibench.results.load import Results
from omibench.results.statistics.paired import AccuracyDifference

RULES_NAMES = {"gptscore": "GPTScore", "published": "published verdicts"}
MINUS = "\N{MINUS SIGN}"
NO_VALUE = "–"
NAMED_SETTINGS = 3
"""The number of settings that a sentence lists."""
PER_CENT = "\N{NO-BREAK SPACE}%"


def format_decimals(value: float, digits: int) -> str:
    """Format a number, rounded half up: (0.125, 2) -> '0.13'."""
    # Round to nine digits first: 57.5 computed as 57.49999999999999 is a half.
    exact = Decimal(repr(round(float(value), 9)))
    return f"{exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP) + 0:f}"


def format_percent(share: float, digits: int = 1) -> str:
    """0.5714 -> '57.1 %'."""
    return f"{format_share(share, digits)}{PER_CENT}"


def format_share(share: float | None, digits: int = 1) -> str:
    """Format a share as per cent without the sign, for table columns: 0.5714 -> '57.1'; a missing
    one is a dash."""
    return format_number(None if share is None else 100 * share, digits)


def format_number(value: float | None, digits: int = 2) -> str:
    """Format a number for table columns: 3.14159 -> '3.14'; a missing one is a dash."""
    return NO_VALUE if value is None or isnan(value) else format_decimals(value, digits)


def format_interval(low: float, high: float) -> str:
    """Format an interval of shares for sentences: '39.1 to 74.2 %'."""
    return f"{format_share(low)} to {format_share(high)}{PER_CENT}"


def format_bounds(low: float | None, high: float | None) -> str:
    """Format an interval of shares for tables, in per cent: '[39.1, 74.2]'; empty without one."""
    return "" if low is None or high is None else f"[{format_share(low)}, {format_share(high)}]"


def format_limits(low: float | None, high: float | None, digits: int = 2) -> str:
    """Format an interval of numbers for tables: '[2.13, 3.50]'; empty without one."""
    if low is None or high is None:
        return ""
    return f"[{format_number(low, digits)}, {format_number(high, digits)}]"


def format_points(difference: float, digits: int = 1) -> str:
    """Format a difference of two shares in percentage points: '+8.3', '−4.0'."""
    text = format_decimals(100 * abs(difference), digits)
    return text if float(text) == 0 else f"{MINUS if difference < 0 else '+'}{text}"


def format_points_interval(difference: AccuracyDifference) -> str:
    """'−4.0 to +20.1 points'."""
    return f"{format_points(difference.lo)} to {format_points(difference.hi)} points"


def format_p(p: float) -> str:
    """Return a p value: '0.034', '< 0.0001'."""
    return "< 0.0001" if p < 0.0001 else f"{float(f'{p:.2g}'):f}".rstrip("0").rstrip(".")


def name_outcome(outcome: str) -> str:
    """Return the display form of an outcome: 'budget_stop' -> 'budget stop'."""
    return outcome.replace("_", " ")


def name_rules(rules: str) -> str:
    """Return a scorer's name in prose; 'GPTScore by a' for the vote of one of several judges."""
    scorer, _, judge = rules.partition("/")
    return RULES_NAMES.get(scorer, scorer) + (f" by {judge}" if judge else "")


def name_scorer(rules: str) -> str:
    """Return a phrase for the source of a verdict: 'the scorer robust', 'the published
    verdicts'."""
    if rules == "gptscore":
        return "the judge"
    return f"the {name_rules(rules)}" if rules in RULES_NAMES else f"the scorer {rules}"


def format_level(confidence: float) -> str:
    """0.95 -> '95 %'."""
    return f"{100 * confidence:.4g}{PER_CENT}"


def count_noun(count: int, noun: str) -> str:
    """'1 problem', '1,322 problems'."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def name_image_bin(image_bin: str) -> str:
    """Return the label of a bin of image counts: '1 image', '2 images', '6+ images'."""
    return f"{image_bin} image{'' if image_bin == '1' else 's'}"


def describe_pool(results: Results) -> str:
    """Return the phrase for the cells behind a pooled number: 'over all cells', 'under Direct'."""
    settings = results.pooled_settings
    is_all = {cell.setting for cell in results.study.cells} == set(settings)
    return name_pool([results.setting_label(setting) for setting in settings], is_all=is_all)


def name_pool(settings: Sequence[str], *, is_all: bool) -> str:
    """Return the phrase of `describe_pool`.

    Args:
        settings: Labels of the pooled settings.
        is_all: Whether the study has no other settings.
    """
    if is_all:
        return "over all cells"
    names = [*settings[:NAMED_SETTINGS]]
    more = len(settings) - len(names)
    names += [f"{count_noun(more, 'more setting')}"] if more else []
    return f"under {' and '.join([', '.join(names[:-1]), names[-1]] if names[1:] else names)}"


def describe_cell(results: Results, cell: Cell) -> str:
    """Return the labels of a cell: 'Strong, Chain of thought'."""
    return f"{results.label(cell.model)}, {results.setting_label(cell.setting)}"
