"""The totals under every scorer, with what a scorer says beside its accuracy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
from tests.stages.analyze.conftest import Folders

from omibench.results.load import load_results
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.sections.rules import RulesSection


def test_the_ratio_of_equation_6_stands_below_the_accuracy(made: Folders) -> None:
    results = load_results(made.freeze, made.infer, made.score, made.study)
    ratio = pl.when(pl.col("rules") == "omibench").then(0.8 * pl.col("verdict"))
    printed = replace(results, verdicts=results.verdicts.with_columns(ratio=ratio))
    view = RulesSection(Analysis(made.study, printed, Path(), Path())).view()
    assert view is not None
    names = [head["name"] for head in view["heads"]]
    assert len(view["rows"]) == len(results.study.cells)
    for row in view["rows"]:
        by_name = dict(zip(names, row["cells"], strict=True))
        parts = {name: cell["parts"].partition(" ")[0] for name, cell in by_name.items()}
        assert {name for name, part in parts.items() if part == "ratio"} == {"omibench"}
