"""Run B held against run A: differences by cell and in total, and the shares of what differs."""

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
    check_unchanged,
    find_main_rules,
    list_missing_cells,
    name_cells,
    read_cell_run,
    read_run,
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
    """Compare two results folders: what did each change between them do to the accuracies?

    The difference between two runs over their common problems is divided by Shapley values: the
    responses of each run are scored again under the gold, the data and the rules of the other one,
    in every order. What only models can make again (responses, judgements) is switched as a whole.
    Where a mixed state cannot be known (a rule book in a version that is not installed, a judge on
    other responses), the components that it would tell apart are joined on these problems. Problems
    that only one run has change the accuracy through `data`.

    Args:
        a: The first results folder; params.yaml is not needed.
        b: The second one, over the same dataset or another version of it.
        rules: The rule book, or `gptscore`, of each run; None for the first by which it was scored.
            Where none is named and both runs have judgements, GPTScore is compared, too.
        confidence: The two-sided level of the intervals, in (0, 1), for one difference each.
        cache: A file of known verdicts (`stages.score.cache`), where replays are kept.

    Returns:
        The comparison; the shares of every difference sum to it, up to rounding of floats.

    Raises:
        MissingInputError: A folder is no results folder.
        ArgumentError: The runs share no dataset, no cell, or lack verdicts of the rules.
        FileFormatError: A file is broken.
        UntrustedError: A file was edited or exchanged.
        UnfinishedError: A folder was written to meanwhile.
    """
    import polars as pl

    run_a, run_b = read_run(a), read_run(b)
    if run_a.folder.resolve() == run_b.folder.resolve():
        raise ArgumentError(f"{a} and {b}: are the same folder; give two runs")
    problems = compare_problems(run_a, run_b)
    names = [find_main_rules(run, name) for run, name in zip((run_a, run_b), rules, strict=True)]
    tables = [ComparisonTable(run_a, run_b, (names[0], names[1]), confidence)]
    if rules == (None, None) and GPTSCORE not in names:
        tables.append(ComparisonTable(run_a, run_b, (GPTSCORE, GPTSCORE), confidence))
    for cell in sorted({*run_a.cells} & {*run_b.cells}):
        frames = read_cell_run(run_a, cell), read_cell_run(run_b, cell)
        for table in tables:
            table.add(cell, frames, problems, cache)
    main = tables[0]
    if not main.totals.cells:
        raise ArgumentError(
            f"{a} and {b}: share no scored cell; {a} holds {name_cells(run_a.cells)}, {b} holds "
            f"{name_cells(run_b.cells)}"
        )
    for run in (run_a, run_b):
        check_unchanged(run)
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
    """The comparison under one rule book of each run, filled cell by cell."""

    def __init__(self, a: RunFiles, b: RunFiles, rules: tuple[str, str], confidence: float) -> None:
        """Begin without cells."""
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
        """Compare a cell of both runs, where both have verdicts of the rules."""
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
        """The fields of a ScoringComparison."""
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
