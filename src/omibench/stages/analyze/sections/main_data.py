"""The data of the leaderboard's script: the numbers of every row under every scorer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from omibench.stages.analyze.tables.accuracy import TOTAL, Score, subjects
from omibench.stages.analyze.words import name_rules
from omibench.web.templates import embed_json

if TYPE_CHECKING:
    from markupsafe import Markup

    from omibench.params.cell import Cell
    from omibench.results.load import Results


def describe_rows(results: Results, cells: Sequence[Cell], scores: Sequence[Score]) -> Markup:
    """Return the data of the leaderboard's script, as JSON inside a page.

    Args:
        results: The study's results.
        cells: Cells of the table, in order of its rows.
        scores: Scores of the study.

    Returns:
        `main`, the name of the scorer of the table; `subjects`; `rules`, titles by name; `values`:
        by scorer a list of rows, each with mean, lower and upper bound in per cent of the total and
        of each subject, or null; and `simulated`: by scorer, whether each row is simulated.
    """
    names = [TOTAL, *subjects(results)]
    index = {(s.cell, s.rules, s.subject): s for s in scores}
    values = {
        rules: [[_bounds(index.get((cell, rules, name))) for name in names] for cell in cells]
        for rules in results.rules
    }
    return embed_json(
        {
            "main": results.main_rules,
            "subjects": subjects(results),
            "rules": {rules: name_rules(rules) for rules in results.rules},
            "values": values,
            "simulated": {
                rules: [_is_simulated(results, cell, rules) for cell in cells]
                for rules in results.rules
            },
        }
    )


def _is_simulated(results: Results, cell: Cell, rules: str) -> bool:
    return (
        results.simulated_cells[cell]
        or results.has_simulated_judge(rules)
        or results.has_synthetic_problems
    )


def _bounds(score: Score | None) -> list[float] | None:
    if score is None:
        return None
    return [round(100 * value, 2) for value in (score.acc.mean, score.acc.lo, score.acc.hi)]
