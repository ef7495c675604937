"""Ranks of the leaderboard, with the ranges that paired tests allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.params.cell import Cell
from omibench.stages.analyze.sections.main_rows import RankCell

if TYPE_CHECKING:
    from omibench.stages.analyze.analysis import Analysis


def word_ranks(analysis: Analysis) -> dict[Cell, RankCell]:
    """Format the ranks of the headline's cells under the main scorer.

    Args:
        analysis: The study's results.

    Returns:
        By cell: the rank by accuracy, and the best and worst rank that the tests allow; empty if no
        cells are compared.
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
