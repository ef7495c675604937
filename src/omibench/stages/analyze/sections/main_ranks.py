"""Ranks of the leaderboard, with what the paired tests leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.params.cell import Cell
from omibench.stages.analyze.sections.main_rows import RankCell

if TYPE_CHECKING:
    from omibench.stages.analyze.analysis import Analysis


def word_ranks(analysis: Analysis) -> dict[Cell, RankCell]:
    """Word the ranks of the cells that the headline compares, under the main rules.

    Args:
        analysis: The study's results.

    Returns:
        By cell the rank by accuracy, and the best and worst that the tests allow; empty where the
        study compares none.
    """
    table = analysis.table("ranks")
    if table is None:
        return {}
    rows = table.filter(rules=analysis.results.main_rules).to_dicts()
    return {
        Cell(row["model"], row["setting"]): RankCell(
            f"{row['estimate']:.0f}",
            f"{row['low']:.0f} to {row['high']:.0f} of {len(rows)}",
            f"{row['estimate']:.0f}",
        )
        for row in rows
    }
