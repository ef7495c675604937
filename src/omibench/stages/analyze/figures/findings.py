"""Sentences above figures: counts of significant tests and of intervals, without further claims.

Where a table has intervals but no tests, they count intervals that lie on one side of zero, or of
another interval. Each interval is separate, without a correction for their number, and the
sentences say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from omibench.stages.analyze.figures.charts import pick_rules
from omibench.stages.analyze.formatting import count_noun, format_p, format_points, name_rules
from omibench.stages.analyze.people import MAJORITY
from omibench.stages.analyze.results.baselines import DIFFERENCE
from omibench.stages.analyze.results.cutoffs import OVER_MODELS
from omibench.stages.analyze.results.items import (
    ALL,
    AS_SCORED,
    DIFFICULTY,
    INVERTED,
    LEFT_OUT,
    NONE,
    REPLACED,
    SUSPECTED,
)
from omibench.stages.analyze.results.people_estimates import ESTIMATED, MODEL

if TYPE_CHECKING:
    Finding = Callable[[pl.DataFrame], str | None]

_KINDS: Final = ("setting", "model")
_ALONE: Final = "The intervals are not corrected for their number."
_MOST_NAMES: Final = 3
_ENDS: Final = "Overlapping intervals decide nothing."


def count_differences(table: pl.DataFrame) -> str | None:
    """Count the significant differences over all items by sign.

    Args:
        table: A table of differences with `p_holm` and `significant`; only its first scorer and
            measure are used, and differences between settings if it has both kinds.

    Returns:
        The sentence; None if nothing was tested over all items.
    """
    if not {"p_holm", "significant", "measure"} <= set(table.columns):
        return None
    rows = table.filter(
        pl.col("metric") == DIFFERENCE, pl.col("slice") == "", pl.col("p_holm").is_not_null()
    )
    if rows.is_empty():
        return None
    if "kind" in rows.columns:
        kinds = rows["kind"].unique(maintain_order=True).to_list()
        kind = next((name for name in _KINDS if name in kinds), kinds[0])
        rows = rows.filter(pl.col("kind") == kind)
    rows = _select_first(rows, ("measure",))
    rules, measure = rows["rules"][0], rows["measure"][0]
    by = "" if measure == rules else f"{measure.capitalize()} by "
    subject = f"{by}{name_rules(rules)} over all problems"
    if not rows["significant"].any():
        tested = count_noun(rows.height, "difference")
        return f"{subject}: none of {tested} is significant after Holm's correction."
    return f"{subject}: {_count_significant(rows)}"


def count_open_ranks(table: pl.DataFrame) -> str | None:
    """Count the cells that may be the best, and the cells with a determined rank.

    Args:
        table: The result `ranks`; only its first scorer is used.
    """
    rows = table.filter(table["rules"] == table["rules"][0])
    if rows.height < 2:
        return None
    first = int((rows["low"] == 1).sum())
    settled = int((rows["low"] == rows["high"]).sum())
    of = count_noun(rows.height, "cell")
    return (
        f"Paired tests by {rows['rules'][0]} allow the first rank for {first:,} of {of}; "
        f"they determine the rank of {settled or 'none'}."
    )


class SideCounts(NamedTuple):
    """The number of intervals above a value, below it, and in total."""

    above: int
    below: int
    total: int


def count_sides(intervals: Iterable[tuple[float | None, float | None]]) -> SideCounts:
    """Count the intervals on either side of zero; those without bounds are not counted.

    Args:
        intervals: Lower and upper bounds.
    """
    bounded = [(low, high) for low, high in intervals if low is not None and high is not None]
    return SideCounts(
        sum(low > 0 for low, _ in bounded), sum(high < 0 for _, high in bounded), len(bounded)
    )


def compare_ends(axis: str, place: str, lines: Sequence[str]) -> Finding:
    """Build a finding on curves that compares the intervals at their ends.

    Args:
        axis: Column of the axis of a curve.
        place: Phrase for the largest value: "largest budget".
        lines: Columns that distinguish curves.

    Returns:
        A function from a table to a sentence, or to None if no curve has two points. It uses the
        scorer of the figures and the first slice and metric.
    """

    def describe(table: pl.DataFrame) -> str | None:
        drawn = table.filter(table[axis].is_not_null(), rules=pick_rules(table))
        rows = _select_first(drawn, ("slice", "metric"))
        ordered = rows.sort(axis, maintain_order=True)
        sides = []
        for curve in ordered.partition_by(lines, maintain_order=True):
            first, last = curve.row(0, named=True), curve.row(-1, named=True)
            if first[axis] == last[axis] or None in (first["low"], last["low"]):
                continue
            sides.append((last["low"] - first["high"], last["high"] - first["low"]))
        counts = count_sides(sides)
        if not counts.total:
            return None
        return (
            f"At the {place} the interval lies above that at the other end in {counts.above:,} of "
            f"{count_noun(counts.total, 'curve')}, and below it in {counts.below:,}. {_ENDS}"
        )

    return describe


def count_gains(metric: str, noun: str, topic: str) -> Finding:
    """Build a finding that counts intervals above and below zero.

    Args:
        metric: Metric of the rows.
        noun: Singular noun for an estimate: "slope".
        topic: Phrase after the noun: "of votes on log2 k".

    Returns:
        A function from a table to a sentence, or to None if no estimate has an interval. It uses
        the first scorer and slice.
    """

    def describe(table: pl.DataFrame) -> str | None:
        rows = _select_first(table.filter(metric=metric), ("slice",))
        counts = count_sides(rows.select("low", "high").iter_rows())
        if not counts.total:
            return None
        return f"Of {count_noun(counts.total, noun)} {topic}, {_word_sides(counts)}. {_ALONE}"

    return describe


def count_adjusted(table: pl.DataFrame, axis: str, ends: str) -> str | None:
    """Count the curves that differ at their ends within subjects, and their raw differences.

    Args:
        table: Accuracies with the columns of `within_subjects.add_differences`; only the scorer of
            the figures is used.
        axis: Column of the axis.
        ends: The compared ends: "the last year minus the first".

    Returns:
        The sentence; None if no end has enough problems.
    """
    drawn = table.filter(pl.col("adjusted_low").is_not_null(), rules=pick_rules(table))
    lines = [name for name in ("model", "setting", "exam") if name in table.columns]
    last = drawn.filter(pl.col(axis) == pl.col(axis).max().over(lines))
    counts = count_sides(last.select("adjusted_low", "adjusted_high").iter_rows())
    if not counts.total:
        return None
    raw = count_sides((value, value) for value in last["raw"])
    return (
        f"Within subjects, {ends}: of {count_noun(counts.total, 'difference')}, "
        f"{_word_sides(counts)}. Without this adjustment {raw.above:,} differences are above zero "
        f"and {raw.below:,} below. {_ALONE}"
    )


def describe_cutoffs(table: pl.DataFrame) -> str | None:
    """Count the cells that differ before and after their cut-off, and compare the models.

    Args:
        table: The result `cutoffs`; only the scorer of the figures is used.

    Returns:
        The sentences, with what each comparison cannot show; None if nothing was tested.
    """
    rows = table.filter(rules=pick_rules(table))
    counts = _count_significant(rows)
    if counts is None:
        return None
    sentences = (
        f"Older minus newer exams, within subjects: {counts} Newer problems may be harder: alone "
        "this shows no leak."
    )
    for row in rows.filter(metric=OVER_MODELS).drop_nulls("p").iter_rows(named=True):
        sentences += (
            f" On the same problems, models with a cut-off after the exam score "
            f"{format_points(row['estimate'])} points [{format_points(row['low'])}, "
            f"{format_points(row['high'])}] (p {format_p(row['p'])}) relative to models with one "
            "before it, beyond their difference on other exams. This is free of each problem's "
            "difficulty, but assumes that models otherwise differ equally in all years."
        )
    return sentences


def describe_fresh(table: pl.DataFrame) -> str | None:
    """Count the cells that differ on public and fresh problems.

    Args:
        table: The result `fresh`; only the scorer of the figures is used.
    """
    counts = _count_significant(table.filter(rules=pick_rules(table)))
    words = "Public minus fresh problems, within templates or else subjects"
    return counts and f"{words}: {counts}"


def _count_significant(rows: pl.DataFrame) -> str | None:
    tests = rows.filter(pl.col("p_holm").is_not_null())
    if tests.is_empty():
        return None
    significant = tests.filter("significant")
    above = significant.filter(pl.col("estimate") > 0).height
    return (
        f"{significant.height:,} of {count_noun(tests.height, 'difference')} significant after "
        f"Holm's correction, {above:,} above zero and {significant.height - above:,} below."
    )


def count_vote_slopes(table: pl.DataFrame) -> str | None:
    """Count the votes that gain from more samples, by the interval of the slope on log2 k.

    Args:
        table: The result `accuracy-by-k`; pass@k, which cannot fall, is not counted.
    """
    find = count_gains("slope", "slope", "of majority votes on log2 k")
    return find(table.filter(curve="majority@k", rules=pick_rules(table)))


def count_stars(table: pl.DataFrame) -> str | None:
    """Count the points significantly above no examples by Welch's one-sided test.

    Args:
        table: The result `accuracy-by-shots`; by exam if known.
    """
    drawn = table.filter(rules=pick_rules(table))
    exams = drawn.filter(drawn["value"] != "")
    tested = (drawn if exams.is_empty() else exams).filter(pl.col("p").is_not_null())
    if tested.is_empty():
        return None
    better = int((tested["stars"].fill_null("") != "").sum())
    return (
        f"By {name_rules(tested['rules'][0])}, {better:,} of {count_noun(tested.height, 'point')} "
        f"with examples {'is' if better == 1 else 'are'} above no examples by Welch's one-sided "
        "test over runs, with Holm's correction for their number."
    )


def count_people_differences(table: pl.DataFrame) -> str | None:
    """Count cells above and below groups of people, by intervals of the difference.

    Args:
        table: The result `people`; only its first scorer is used.
    """
    every = _select_first(table.filter(metric="difference", slice=""), ())
    rows, best = (every.filter((pl.col("kind") == MAJORITY) == vote) for vote in (False, True))
    counts, votes = (count_sides(part.select("low", "high").iter_rows()) for part in (rows, best))
    if not counts.total:
        return None
    ceiling = (
        f" Minus the majority of people on each problem: {votes.above:,} above zero and "
        f"{votes.below:,} below, of {votes.total:,}."
    ) * bool(votes.total)
    few = " Groups of few people have wide intervals." if rows["few_people"].any() else ""
    return (
        f"Models minus groups of people on the same problems, by {name_rules(rows['rules'][0])}: "
        f"of {count_noun(counts.total, 'difference')}, {_word_sides(counts)}.{ceiling} {_ALONE}"
        f"{few}"
    )


def count_estimated_people(table: pl.DataFrame) -> str | None:
    """Count accuracies by year above and below the estimated scores of participants.

    Args:
        table: The result `people-estimates`; only its first scorer is used.
    """
    models = _select_first(table.filter(kind=MODEL, metric="accuracy"), ())
    people = {
        (row["exam"], row["year"]): row["estimate"]
        for row in table.filter(kind=ESTIMATED).iter_rows(named=True)
    }
    sides = [
        (row["low"] - place, row["high"] - place)
        for row in models.iter_rows(named=True)
        if (place := people.get((row["exam"], row["year"]))) is not None
    ]
    counts = count_sides(sides)
    if not counts.total:
        return None
    found = _word_sides(counts, "the participants' estimated mean")
    return (
        f"Of {count_noun(counts.total, 'point')} of models by year, {found}. The mean is "
        f"estimated from cut-offs, and its uncertainty is ignored. {_ALONE}"
    )


def count_flags(table: pl.DataFrame) -> str:
    """Count the problems to check: by the scorer of the figures, and suspected keys by the first.

    Args:
        table: The result `items`.
    """
    rows = table.filter(rules=pick_rules(table), metric=DIFFICULTY)
    none, every, inverted = (_count_flag(rows, flag) for flag in (NONE, ALL, INVERTED))
    found = (
        f"Of {count_noun(rows.height, 'problem')}, no model solves {none:,}, all models solve "
        f"{every:,}, and weak models but not strong ones solve {inverted:,}."
    )
    first = table.filter(table["guessed"].is_not_null(), rules=table["rules"][0])
    if first.is_empty():
        return found
    suspected, by = _count_flag(first, SUSPECTED), name_rules(first["rules"][0])
    if not suspected:
        return f"{found} By {by}, no key is suspected."
    return (
        f"{found} By {by}, {suspected} {_have(suspected)} a suspected key: most strong models "
        f"agree on another answer. Guesses would agree on {first['guessed'].sum():.0f}."
    )


def describe_key_effects(table: pl.DataFrame) -> str:
    """State which model would be first, and how many ranks would change, with other keys.

    Args:
        table: The result `key-effects`; only its first scorer is used.
    """
    rows = table.filter(rules=table["rules"][0], metric="rank").drop_nulls("estimate")
    ranks = {
        keys: dict(rows.filter(keys=keys).select("model", "estimate").iter_rows())
        for keys in (AS_SCORED, LEFT_OUT, REPLACED)
    }
    before = ranks[AS_SCORED]

    def describe(keys: str) -> str:
        moved = sum(ranks[keys][model] != rank for model, rank in before.items())
        verb, models = "changes" if moved == 1 else "change", count_noun(len(before), "model")
        return f"{moved} of {models} {verb} rank and {_name_first(ranks[keys])}"

    return (
        f"By {name_rules(rows['rules'][0])}, strong models contradict "
        f"{count_noun(rows['suspected'][0], 'key')}. As scored, {_name_first(before)}. If these "
        f"keys are left out, {describe(LEFT_OUT)}; if the answer of the strong models replaces "
        f"them, {describe(REPLACED)}. The strong models gain by this choice of problems."
    )


def _name_first(ranks: Mapping[str, float]) -> str:
    first = sorted(model for model, rank in ranks.items() if rank == 1)
    if len(first) > _MOST_NAMES:
        return f"{len(first)} models are first"
    return f"{' and '.join(first)} {'is' if len(first) == 1 else 'are'} first"


def _count_flag(rows: pl.DataFrame, flag: str) -> int:
    return int(rows["flags"].str.contains(flag, literal=True).sum())


def _select_first(table: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Return the rows of the first scorer, and of the first value of each of some columns."""
    rows = table
    for name in ("rules", *columns):
        if name in rows.columns and not rows.is_empty():
            rows = rows.filter(rows[name] == rows[name][0])
    return rows


def _word_sides(counts: SideCounts, of: str = "zero") -> str:
    above, below, _ = counts
    return f"{above:,} {_have(above)} an interval above {of} and {below:,} below"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
