"""Comparison of two runs: differences by cell and in total, and the shares of changes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omibench.errors import ArgumentError
from omibench.judges.gptscore import GPTSCORE as INSTRUMENT
from omibench.params.cell import Cell
from omibench.run_comparison.cell_pair import pair_cell
from omibench.run_comparison.cell_shares import divide_cell
from omibench.run_comparison.changes import ChangeCounter
from omibench.run_comparison.problems import (
    ProblemChanges,
    compare_problems,
    describe_composition,
)
from omibench.run_comparison.replay import SIDES, CellReplay, Side
from omibench.run_comparison.report import (
    LISTED,
    MovedItem,
    RunComparison,
    ScoringComparison,
)
from omibench.run_comparison.run_files import (
    CellFrames,
    RunFiles,
    find_main_rules,
    list_missing_cells,
    name_cells,
    read_cell_run,
    select_samples,
    summarise_run,
)
from omibench.run_comparison.totals import ComparisonTotals
from omibench.schemas.problem import Answer

GPTSCORE = INSTRUMENT.name


def compare_run_folders(
    a: Path,
    b: Path,
    rules: tuple[str | None, str | None] = (None, None),
    confidence: float = 0.95,
    cache: Path | None = None,
) -> RunComparison:
    """Compare two results folders and attribute the difference in accuracies to changes.

    The difference over common problems is divided by Shapley values: the responses of each run are
    scored again with the gold answers, data and rules of the other, in every order. Components that
    only models can produce (responses, judgements) are switched as a whole. If a mixed state is
    unknown (a scorer in a version that is not installed, a judge on other responses), the affected
    components are joined for these problems. Problems in only one run change the accuracy through
    `data`.

    Args:
        a: The first results folder; params.yaml is not needed.
        b: The second one, over the same dataset or another version of it.
        rules: The scorer, or `gptscore`, of each run; None for its first scorer. If neither is
            given and both runs have judgements, GPTScore is compared as well.
        confidence: Two-sided level of the interval of each difference, in (0, 1).
        cache: A file of known verdicts (`stages.score.cache`) for replays.

    Returns:
        The comparison; the shares of every difference sum to it, up to rounding of floats.

    Raises:
        MissingInputError: A folder is not a results folder.
        ArgumentError: The runs share no dataset or cell, or lack verdicts of the rules.
        FileFormatError: A file is broken.
        UntrustedError: A file was edited or replaced.
        UnfinishedError: A folder was written to during the comparison.
    """
    import polars as pl

    run_a, run_b = RunFiles(a), RunFiles(b)
    if run_a.folder.resolve() == run_b.folder.resolve():
        raise ArgumentError(f"{a} and {b}: the same folder; pass two runs")
    problems = compare_problems(run_a, run_b)
    names = [find_main_rules(run, name) for run, name in zip((run_a, run_b), rules, strict=True)]
    tables = [ComparisonTable(run_a, run_b, (names[0], names[1]), confidence)]
    if rules == (None, None) and GPTSCORE not in names:
        tables.append(ComparisonTable(run_a, run_b, (GPTSCORE, GPTSCORE), confidence))
    for cell in sorted({*run_a.scored_cells} & {*run_b.scored_cells}):
        frames = read_cell_run(run_a, cell), read_cell_run(run_b, cell)
        for table in tables:
            table.add(cell, frames, problems, cache)
    main = tables[0]
    if not main.totals.cells:
        raise ArgumentError(
            f"{a} and {b}: share no scored cell; {a} has {name_cells(run_a.scored_cells)}, {b} has "
            f"{name_cells(run_b.scored_cells)}"
        )
    for run in (run_a, run_b):
        run.check_unchanged()
    judged = next((table for table in tables[1:] if table.totals.cells), None)
    filled = [main, *([judged] if judged else [])]
    missing = [list_missing_cells(run_a, run_b), list_missing_cells(run_b, run_a)]
    simulated = [any(table.totals.simulated[side] for table in filled) for side in SIDES]
    return RunComparison(
        **main.describe(),
        a=summarise_run(run_a, simulated[0]),
        b=summarise_run(run_b, simulated[1]),
        confidence=confidence,
        cells_only_a=missing[0],
        cells_only_b=missing[1],
        composition=describe_composition(run_a, run_b, problems),
        gptscore=ScoringComparison(**judged.describe()) if judged else None,
    ).attach_items(pl.concat([table.totals.join_items() for table in filled]))


class ComparisonTable:
    """The comparison under one scorer of each run, filled cell by cell."""

    def __init__(self, a: RunFiles, b: RunFiles, rules: tuple[str, str], confidence: float) -> None:
        """Start without cells."""
        self.totals = ComparisonTotals(a, b, rules, confidence)
        self._changes = ChangeCounter(a, b)
        self._answers: dict[Side, Mapping[str, Answer]] = {"a": a.answers, "b": b.answers}
        self._rules = rules

    def add(
        self,
        cell: Cell,
        frames: tuple[CellFrames, CellFrames],
        problems: ProblemChanges,
        cache: Path | None,
    ) -> None:
        """Compare a cell of both runs, if both have verdicts of the rules."""
        a, b = (
            select_samples(cell_frames, rules)
            for cell_frames, rules in zip(frames, self._rules, strict=True)
        )
        if a is None or b is None:
            self.totals.leave_out(cell, f"lacks verdicts of {self._rules[a is not None]}")
            return
        pair = pair_cell(a, b, problems)
        if not pair.ids:
            self.totals.leave_out(cell, "has no problem with a verdict in both runs")
            return
        self.totals.add(cell, pair, divide_cell(pair, CellReplay(pair, self._answers, cache)))
        self._changes.add(cell, pair)

    def describe(self) -> dict[str, Any]:
        """Return the fields of a ScoringComparison."""
        changes, left_out = self._changes.list_changes()
        items = self.totals.join_items()
        listed = [MovedItem(**row) for row in items.head(LISTED).iter_rows(named=True)]
        return {
            "scoring_a": self.totals.summarise_scoring("a"),
            "scoring_b": self.totals.summarise_scoring("b"),
            "total": self.totals.find_total(),
            "cells": self.totals.cells,
            "changes": changes,
            "changes_left_out": left_out,
            "moved": items.height,
            "moved_items": listed,
            "notes": self.totals.write_notes(),
        }
