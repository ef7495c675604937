"""What a figure shows, in a sentence: counts of what the tests behind it say, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from omibench.stages.analyze.results.comparisons.differences import DIFFERENCE
from omibench.stages.analyze.words import count_noun, name_rules

if TYPE_CHECKING:
    import polars as pl

_KINDS: Final = ("setting", "model")


def count_differences(table: pl.DataFrame) -> str | None:
    """Say how many differences over all items are significant, and of which sign.

    Args:
        table: A table of differences with `p_holm` and `significant`; its first rule book and
            measure count, and differences between settings where it has both kinds.

    Returns:
        The sentence; None where nothing was tested over all items.
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
    """Say how many cells may be the best, and of how many the tests settle the rank.

    Args:
        table: The result `ranks`; its first rule book counts.
    """
    rows = table.filter(table["rules"] == table["rules"][0])
    if rows.height < 2:
        return None
    first = int((rows["low"] == 1).sum())
    settled = int((rows["low"] == rows["high"]).sum())
    of = count_noun(rows.height, "cell")
    return (
        f"Paired tests by {rows['rules'][0]} leave the first rank open to {first:,} of {of}; "
        f"they settle the rank of {settled or 'none'}."
    )


def _name_measure(measure: str, rules: str) -> str:
    """'Accuracy by robust'; 'GPTScore', whose measure has the name of its rule book."""
    return (
        name_rules(rules) if measure == rules else f"{measure.capitalize()} by {name_rules(rules)}"
    )
