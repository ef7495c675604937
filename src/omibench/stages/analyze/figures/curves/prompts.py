"""The effect of changing the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.results.load import JUDGE_RULES
from omibench.stages.analyze.figures.curves.lines import (
    count_lines,
    describe_rules,
    draw_rows,
    finish_rows,
    head_lines,
    name_lines,
    pick_rules,
    scale_up,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.findings import count_differences
from omibench.stages.analyze.words import name_rules

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.figures.theme import Chart

_MEASURES = ("accuracy", "gptscore")


@figure(
    "prompt-differences",
    "prompt-differences",
    "Effect of changing the prompt",
    source="OMIBench, figure 4a and b",
    finding=lambda table: count_differences(table.filter(rules=pick_rules(table))),
)
def draw_prompts(table: pl.DataFrame) -> Chart | None:
    """Draw one row per model and prompt: its accuracy minus that under the reference prompt.

    Args:
        table: The result `prompt-differences`.
    """
    rules = pick_rules(table)
    part = table.filter(table["measure"].is_in(_MEASURES), rules=rules, slice="")
    rows = scale_up(part.to_dicts(), "estimate", "low", "high")
    named = name_lines(rows, "label")
    data = head_lines(named)
    if not data:
        return None
    references = sorted({row["baseline_prompt"] for row in data})
    measure = name_rules(rules) if rules == JUDGE_RULES else "Accuracy"
    title = f"{measure} minus that under {', '.join(references)}, points"
    chart = draw_rows(data, title, "prompt", "Prompt")
    return finish_rows(chart, "prompt-differences", data, describe_rules(rules), count_lines(named))
