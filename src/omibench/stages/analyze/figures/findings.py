"""Sentences above figures: counts of significant tests, without further claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from omibench.stages.analyze.results.comparisons.baselines import DIFFERENCE
from omibench.stages.analyze.words import count_noun, name_rules

if TYPE_CHECKING:
    import polars as pl

_KINDS: Final = ("setting", "model")


def count_differences(table: pl.DataFrame) -> str | None:
    """Count the significant differences over all items by sign.

    Args:
        table: A table of differences with `p_holm` and `significant`; only its first scorer and
            measure are used, and differences between settings if it has both kinds.

    Returns:
        The sentence; None if nothing was tested over all items.
    """
    import polars as pl

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
    rules = rows["rules"][0]
    rows = rows.filter(pl.col("rules") == rules)
    measure = rows["measure"][0]
    rows = rows.filter(pl.col("measure") == measure)
    significant = rows.filter(pl.col("significant"))
    above = significant.filter(pl.col("estimate") > 0).height
    subject = f"{_name_measure(measure, rules)} over all items"
    tested = count_noun(rows.height, "difference")
    if significant.is_empty():
        return f"{subject}: none of {tested} is significant after Holm's correction."
    return (
        f"{subject}: {significant.height:,} of {tested} significant after Holm's correction, "
        f"{above:,} above zero and {significant.height - above:,} below."
    )


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


def _name_measure(measure: str, rules: str) -> str:
    """Return a phrase such as 'Accuracy by robust', or 'GPTScore' for the scorer of that name."""
    return (
        name_rules(rules) if measure == rules else f"{measure.capitalize()} by {name_rules(rules)}"
    )
