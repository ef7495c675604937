"""How numbers are written in tables, sentences and figures: shares as per cent."""

from __future__ import annotations

from math import isnan

from omibench.analyze.intervals import Estimate
from omibench.analyze.paired import Difference

RULES_NAMES = {"gptscore": "GPTScore", "published": "published verdicts"}
OUTCOME_NAMES = {
    "unparsed": "no answer found",
    "loop": "endless repetition",
    "refused": "refused",
    "truncated": "truncated",
    "empty": "empty",
    "provider_error": "provider error",
    "budget_stop": "budget stop",
    "judge_failed": "judge failed",
    "unjudged": "not judged",
}
MINUS = "\N{MINUS SIGN}"
NONE = "–"
PER_CENT = "\N{NO-BREAK SPACE}%"


def percent(share: float, digits: int = 1) -> str:
    """0.5714 -> '57.1 %'."""
    return f"{number(share, digits)}{PER_CENT}"


def number(share: float, digits: int = 1) -> str:
    """0.5714 -> '57.1': per cent without its sign, for columns of a table; NaN is a dash."""
    return NONE if isnan(share) else f"{100 * share:.{digits}f}"


def interval(acc: Estimate, digits: int = 0) -> str:
    """'39 to 74 %'."""
    return f"{bare_interval(acc, digits)}{PER_CENT}"


def bare_interval(acc: Estimate, digits: int = 0) -> str:
    """'39 to 74', for tables in per cent."""
    return f"{number(acc.lo, digits)} to {number(acc.hi, digits)}"


def points(difference: float, digits: int = 1) -> str:
    """A difference of two shares in percentage points: '+8.3', '−4.0'."""
    text = f"{100 * abs(difference):.{digits}f}"
    return text if float(text) == 0 else f"{MINUS if difference < 0 else '+'}{text}"


def points_interval(difference: Difference) -> str:
    """'−4.0 to +20.1 points'."""
    return f"{points(difference.lo)} to {points(difference.hi)} points"


def rules_name(rules: str) -> str:
    """A rule book's name in prose."""
    return RULES_NAMES.get(rules, rules)


def scored_by(rules: str) -> str:
    """What gave a verdict, in a sentence: 'the rule book robust', 'the published verdicts'."""
    if rules == "gptscore":
        return "the judge"
    return f"the {rules_name(rules)}" if rules in RULES_NAMES else f"the rule book {rules}"


def level(confidence: float) -> str:
    """0.95 -> '95 %'."""
    return f"{100 * confidence:.4g}{PER_CENT}"


def counted(count: int, noun: str) -> str:
    """'1 problem', '1,322 problems'."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
